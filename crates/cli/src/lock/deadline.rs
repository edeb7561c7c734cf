//! The deadline of a command, enforced by `doorway lock` itself.
//!
//! It does not depend on the daemon, which may have ended or hang: a margin before the deadline the command is asked to stop, and at the
//! deadline it is killed. A renewal moves both; once the command has been asked, or the lock is lost, no renewal counts.

use doorway_client::clock;
use doorway_core::Ticks;

/// What `doorway lock` does to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escalation {
    /// Ask it to stop.
    Ask,
    /// Kill it.
    Stop,
}

/// When to ask one command to stop, and when to kill it.
#[derive(Debug)]
pub(super) struct Deadline {
    until: Ticks,
    margin: Ticks,
    /// The next step; none after the last.
    next: Option<Escalation>,
    /// Whether the lock is lost: then no renewal moves the deadline.
    is_lost: bool,
}

impl Deadline {
    /// A deadline at `until`; the command is asked to stop `margin` before it.
    pub(super) fn new(until: Ticks, margin: Ticks) -> Self {
        Self { until, margin, next: Some(Escalation::Ask), is_lost: false }
    }

    /// Moves the deadline, unless it is too late for that.
    pub(super) fn renew(&mut self, until: Ticks) {
        if self.next == Some(Escalation::Ask) && !self.is_lost {
            self.until = until;
        }
    }

    /// The lock is lost: the deadline is `moment`, but never later than it was.
    pub(super) fn end_by(&mut self, moment: Ticks) {
        self.is_lost = true;
        self.until = self.until.min(moment);
        self.margin = self.margin.max(Ticks(self.until.0.saturating_sub(clock::now().0)));
    }

    /// Whether the command has been asked to stop.
    pub(super) fn is_over(&self) -> bool {
        self.next != Some(Escalation::Ask)
    }

    /// Whether there is time before the command has to be asked to stop.
    pub(super) fn has_time(&self, now: Ticks) -> bool {
        self.next == Some(Escalation::Ask) && now < self.moment(Escalation::Ask)
    }

    /// Whether the deadline has passed.
    pub(super) fn has_passed(&self, now: Ticks) -> bool {
        now >= self.until
    }

    /// The deadline itself.
    pub(super) fn until(&self) -> Ticks {
        self.until
    }

    /// When the next step is due.
    pub(super) fn alarm(&self) -> Option<Ticks> {
        self.next.map(|step| self.moment(step))
    }

    /// The next step, if it is due; call again until there is none.
    pub(super) fn due(&mut self, now: Ticks) -> Option<Escalation> {
        let step = self.next.filter(|step| self.moment(*step) <= now)?;
        self.next = match step {
            Escalation::Ask => Some(Escalation::Stop),
            Escalation::Stop => None,
        };
        Some(step)
    }

    fn moment(&self, step: Escalation) -> Ticks {
        match step {
            Escalation::Ask => Ticks(self.until.0.saturating_sub(self.margin.0)),
            Escalation::Stop => self.until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_asked_a_margin_before_the_deadline() {
        let mut deadline = Deadline::new(Ticks(1_000), Ticks(200));
        assert_eq!((deadline.alarm(), deadline.due(Ticks(799))), (Some(Ticks(800)), None));
        deadline.renew(Ticks(2_000));
        assert_eq!((deadline.due(Ticks(1_799)), deadline.is_over()), (None, false));
        assert_eq!((deadline.due(Ticks(1_800)), deadline.is_over()), (Some(Escalation::Ask), true));
        deadline.renew(Ticks(9_000));
        assert_eq!(
            (deadline.alarm(), deadline.due(Ticks(1_999))),
            (Some(Ticks(2_000)), None),
            "too late for that"
        );
        assert_eq!((deadline.due(Ticks(2_000)), deadline.alarm()), (Some(Escalation::Stop), None));
        assert_eq!(deadline.due(Ticks(u64::MAX)), None);
    }

    #[test]
    fn waking_up_late_takes_every_step_at_once() {
        let mut deadline = Deadline::new(Ticks(1_000), Ticks(200));
        assert_eq!(deadline.due(Ticks(5_000)), Some(Escalation::Ask));
        assert_eq!(deadline.due(Ticks(5_000)), Some(Escalation::Stop));
    }

    #[test]
    fn losing_the_lock_never_extends_the_deadline() {
        let (now, second) = (clock::now(), Ticks(1_000_000));
        let mut deadline = Deadline::new(now + second, Ticks(1));
        deadline.end_by(now + second + second);
        deadline.renew(now + second + second);
        assert_eq!(
            (deadline.due(clock::now()), deadline.alarm()),
            (Some(Escalation::Ask), Some(now + second))
        );
        let mut deadline = Deadline::new(now + second, Ticks(1));
        deadline.end_by(now);
        assert_eq!((deadline.due(now), deadline.due(now)), (Some(Escalation::Ask), Some(Escalation::Stop)));
    }
}
