//! For how long a command may stay inside, kept by its own process.
//!
//! Whatever the daemon does, or does not do any more: a margin before the deadline the command is asked to stop, and at the deadline
//! it is stopped. A renewal moves both; once a command has been asked, or its lock is lost, nothing takes that back.

use doorway_client::clock;
use doorway_core::Ticks;

/// What is done to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is asked to stop.
    Ask,
    /// It is stopped.
    Stop,
}

/// The stay of one command.
#[derive(Debug)]
pub(super) struct Stay {
    until: Ticks,
    margin: Ticks,
    /// What is done next, if anything is.
    next: Option<Step>,
    /// Whether the lock is lost: no later word moves the deadline.
    is_lost: bool,
}

impl Stay {
    /// A stay until a deadline.
    pub(super) fn new(until: Ticks, margin: Ticks) -> Self {
        Self { until, margin, next: Some(Step::Ask), is_lost: false }
    }

    /// It may be longer.
    pub(super) fn renew(&mut self, until: Ticks) {
        if self.next == Some(Step::Ask) && !self.is_lost {
            self.until = until;
        }
    }

    /// The lock is lost: it is over by this moment, and not later than it would have been anyway.
    pub(super) fn end_by(&mut self, moment: Ticks) {
        self.is_lost = true;
        self.until = self.until.min(moment);
        self.margin = self.margin.max(Ticks(self.until.0.saturating_sub(clock::now().0)));
    }

    /// Whether the command has been asked to stop.
    pub(super) fn is_over(&self) -> bool {
        self.next != Some(Step::Ask)
    }

    /// Whether there is time before the command has to be asked to stop.
    pub(super) fn has_time(&self, now: Ticks) -> bool {
        self.next == Some(Step::Ask) && now < self.moment(Step::Ask)
    }

    /// Whether the deadline has passed.
    pub(super) fn has_passed(&self, now: Ticks) -> bool {
        now >= self.until
    }

    /// The moment at which it ends.
    pub(super) fn deadline(&self) -> Ticks {
        self.until
    }

    /// When something is to be done.
    pub(super) fn alarm(&self) -> Option<Ticks> {
        self.next.map(|step| self.moment(step))
    }

    /// What is to be done by now.
    pub(super) fn due(&mut self, now: Ticks) -> Option<Step> {
        let step = self.next.filter(|step| self.moment(*step) <= now)?;
        self.next = match step {
            Step::Ask => Some(Step::Stop),
            Step::Stop => None,
        };
        Some(step)
    }

    fn moment(&self, step: Step) -> Ticks {
        match step {
            Step::Ask => Ticks(self.until.0.saturating_sub(self.margin.0)),
            Step::Stop => self.until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_asked_a_margin_before_the_deadline_and_stopped_at_it() {
        let mut stay = Stay::new(Ticks(1_000), Ticks(200));
        assert_eq!((stay.alarm(), stay.due(Ticks(799))), (Some(Ticks(800)), None));
        stay.renew(Ticks(2_000));
        assert_eq!((stay.due(Ticks(1_799)), stay.is_over()), (None, false));
        assert_eq!((stay.due(Ticks(1_800)), stay.is_over()), (Some(Step::Ask), true));
        stay.renew(Ticks(9_000));
        assert_eq!((stay.alarm(), stay.due(Ticks(1_999))), (Some(Ticks(2_000)), None), "too late for that");
        assert_eq!((stay.due(Ticks(2_000)), stay.alarm()), (Some(Step::Stop), None));
        assert_eq!(stay.due(Ticks(u64::MAX)), None);
    }

    #[test]
    fn who_wakes_up_after_the_deadline_does_all_that_was_due() {
        let mut stay = Stay::new(Ticks(1_000), Ticks(200));
        assert_eq!(stay.due(Ticks(5_000)), Some(Step::Ask));
        assert_eq!(stay.due(Ticks(5_000)), Some(Step::Stop));
    }

    #[test]
    fn what_is_lost_is_asked_at_once_and_never_stopped_later_than_before() {
        let (now, second) = (clock::now(), Ticks(1_000_000));
        let mut stay = Stay::new(now + second, Ticks(1));
        stay.end_by(now + second + second);
        stay.renew(now + second + second);
        assert_eq!((stay.due(clock::now()), stay.alarm()), (Some(Step::Ask), Some(now + second)));
        let mut stay = Stay::new(now + second, Ticks(1));
        stay.end_by(now);
        assert_eq!((stay.due(now), stay.due(now)), (Some(Step::Ask), Some(Step::Stop)));
    }
}
