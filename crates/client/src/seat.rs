//! The seat of one request: what its owner sees of it from asking to leaving.
//!
//! Whether it may go on is one number, so that this can be asked at any moment without waiting for anybody: the deadline, or
//! [`OVER`]. A deadline that somebody has seen pass has passed for ever: a word that comes too late does not revive it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use doorway_core::{Fence, SectionName, Ticks};

use crate::clock;
use crate::error::{Error, Lost};
use crate::watched::{Watched, Woken};

/// No deadline at all: not inside yet, or not any more.
const OVER: u64 = 0;

/// What the owner of a request and the keeper of its client share.
pub(crate) struct Seat {
    valid_until: AtomicU64,
    pub(crate) course: Arc<Watched<Course>>,
}

/// How far a request has come.
pub(crate) struct Course {
    pub(crate) state: LockState,
    /// The last deadline that was told.
    pub(crate) until: Ticks,
    /// The sections that somebody else waits for.
    pub(crate) wanted: BTreeSet<SectionName>,
}

/// What has become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockState {
    /// It waits for its grant.
    Waiting,
    /// It is granted: its sections, each with its fence, in the order in which they were asked for.
    Held(Vec<(SectionName, Fence)>),
    /// It was not granted.
    Refused(Error),
    /// It was granted and is lost.
    Lost(Lost),
}

impl Seat {
    pub(crate) fn new() -> Arc<Self> {
        let course = Course { state: LockState::Waiting, until: Ticks(0), wanted: BTreeSet::new() };
        Arc::new(Self { valid_until: AtomicU64::new(OVER), course: Watched::new(course) })
    }

    /// Whether its owner may go on at this moment.
    pub(crate) fn is_valid(&self) -> bool {
        let until = self.valid_until.load(Ordering::Acquire);
        if clock::now().0 < until {
            return true;
        }
        let end = || self.valid_until.compare_exchange(until, OVER, Ordering::AcqRel, Ordering::Acquire);
        // Whoever fails here was overtaken by a word of the daemon, and looks again.
        until != OVER && end().is_err() && self.is_valid()
    }

    /// Its owner is in.
    pub(crate) fn enter(&self, fences: Vec<(SectionName, Fence)>, until: Ticks) -> Woken {
        self.valid_until.store(until.0, Ordering::Release);
        self.course.change(|course| {
            course.state = LockState::Held(fences);
            course.until = until;
        })
    }

    /// Moves its deadline, unless that has passed.
    pub(crate) fn renew(&self, until: Ticks, now: Ticks) -> bool {
        let old = self.valid_until.load(Ordering::Acquire);
        let swap =
            || self.valid_until.compare_exchange(old, until.0, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let is_renewed = now.0 < old && now < until && swap();
        if is_renewed {
            self.course.amend(|course| course.until = until);
        }
        is_renewed
    }

    /// Moves its deadline although that may have passed: only for a seat of which nobody asks whether it is valid.
    pub(crate) fn extend(&self, until: Ticks) {
        self.valid_until.store(until.0, Ordering::Release);
        self.course.amend(|course| course.until = until);
    }

    /// It ends in this way, unless it has ended before.
    pub(crate) fn end(&self, state: LockState) -> Woken {
        self.valid_until.store(OVER, Ordering::Release);
        self.course.change(|course| {
            if matches!(course.state, LockState::Waiting | LockState::Held(_)) {
                course.state = state;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_seen_to_pass_is_not_revived() {
        let seat = Seat::new();
        let now = clock::now();
        seat.enter(Vec::new(), now).for_each(drop);
        // The word of a renewal that was read before the deadline, and is acted on after somebody saw that it had passed.
        assert!(!seat.is_valid());
        assert!(!seat.renew(Ticks(u64::MAX), Ticks(now.0 - 1)));
        assert!(!seat.is_valid());
    }

    #[test]
    fn a_deadline_moves_as_long_as_it_has_not_passed() {
        let seat = Seat::new();
        let far = Ticks(clock::now().0 + 3_600_000_000);
        seat.enter(Vec::new(), far).for_each(drop);
        assert!(seat.is_valid());
        assert!(seat.renew(Ticks(far.0 + 1), Ticks(far.0 - 1)));
        assert!(!seat.renew(Ticks(far.0 + 2), Ticks(far.0 + 1)), "it is too late");
        assert_eq!(seat.course.look(|course| course.until), Ticks(far.0 + 1));
        seat.end(LockState::Lost(Lost::Daemon)).for_each(drop);
        seat.end(LockState::Lost(Lost::Deadline)).for_each(drop);
        assert!(!seat.is_valid());
        assert_eq!(seat.course.look(|course| course.state.clone()), LockState::Lost(Lost::Daemon));
    }
}
