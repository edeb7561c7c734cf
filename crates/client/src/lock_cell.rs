//! The state of one request that its owner and the watchdog share, from request to release.
//!
//! Whether its holder may continue is one atomic number, the deadline or [`OVER`], so that the check never waits for a lock. Once a check has
//! seen the deadline pass, it has passed for ever: a late renewal does not revive it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use doorway_core::{Fence, SectionName, Ticks};

use crate::clock;
use crate::error::{Error, Lost};
use crate::watched::{Watched, Woken};

/// No deadline at all: not inside yet, or not any more.
const OVER: u64 = 0;

/// The state that the owner of a request and the watchdog of its client share.
pub(crate) struct LockCell {
    valid_until: AtomicU64,
    pub(crate) progress: Arc<Watched<LockProgress>>,
}

/// The progress of a request.
pub(crate) struct LockProgress {
    pub(crate) state: LockState,
    /// The last deadline that the daemon told.
    pub(crate) until: Ticks,
    /// The sections that another client waits for.
    pub(crate) wanted: BTreeSet<SectionName>,
}

/// The state of a request.
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

impl LockCell {
    pub(crate) fn new() -> Arc<Self> {
        let progress = LockProgress { state: LockState::Waiting, until: Ticks(0), wanted: BTreeSet::new() };
        Arc::new(Self { valid_until: AtomicU64::new(OVER), progress: Watched::new(progress) })
    }

    /// Whether its owner may continue at this moment.
    pub(crate) fn is_valid(&self) -> bool {
        let until = self.valid_until.load(Ordering::Acquire);
        if clock::now().0 < until {
            return true;
        }
        let end = || self.valid_until.compare_exchange(until, OVER, Ordering::AcqRel, Ordering::Acquire);
        // If the exchange fails, a message of the daemon has changed the deadline meanwhile: look again.
        until != OVER && end().is_err() && self.is_valid()
    }

    /// The request is granted.
    pub(crate) fn enter(&self, fences: Vec<(SectionName, Fence)>, until: Ticks) -> Woken {
        self.valid_until.store(until.0, Ordering::Release);
        self.progress.change(|progress| {
            progress.state = LockState::Held(fences);
            progress.until = until;
        })
    }

    /// Moves its deadline, unless that has passed.
    pub(crate) fn renew(&self, until: Ticks, now: Ticks) -> bool {
        let old = self.valid_until.load(Ordering::Acquire);
        let swap =
            || self.valid_until.compare_exchange(old, until.0, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let is_renewed = now.0 < old && now < until && swap();
        if is_renewed {
            self.progress.amend(|progress| progress.until = until);
        }
        is_renewed
    }

    /// Moves its deadline even if that has passed: only where the owner never asks whether it is valid.
    pub(crate) fn extend(&self, until: Ticks) {
        self.valid_until.store(until.0, Ordering::Release);
        self.progress.amend(|progress| progress.until = until);
    }

    /// Ends the request in this state, unless it has ended before.
    pub(crate) fn end(&self, state: LockState) -> Woken {
        self.valid_until.store(OVER, Ordering::Release);
        self.progress.change(|progress| {
            if matches!(progress.state, LockState::Waiting | LockState::Held(_)) {
                progress.state = state;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_seen_to_pass_is_not_revived() {
        let cell = LockCell::new();
        let now = clock::now();
        cell.enter(Vec::new(), now).for_each(drop);
        // A renewal was read before the deadline, and takes effect after a check has seen the deadline pass.
        assert!(!cell.is_valid());
        assert!(!cell.renew(Ticks(u64::MAX), Ticks(now.0 - 1)));
        assert!(!cell.is_valid());
    }

    #[test]
    fn a_deadline_moves_as_long_as_it_has_not_passed() {
        let cell = LockCell::new();
        let far = Ticks(clock::now().0 + 3_600_000_000);
        cell.enter(Vec::new(), far).for_each(drop);
        assert!(cell.is_valid());
        assert!(cell.renew(Ticks(far.0 + 1), Ticks(far.0 - 1)));
        assert!(!cell.renew(Ticks(far.0 + 2), Ticks(far.0 + 1)), "it is too late");
        assert_eq!(cell.progress.look(|progress| progress.until), Ticks(far.0 + 1));
        cell.end(LockState::Lost(Lost::Daemon)).for_each(drop);
        cell.end(LockState::Lost(Lost::Deadline)).for_each(drop);
        assert!(!cell.is_valid());
        assert_eq!(cell.progress.look(|progress| progress.state.clone()), LockState::Lost(Lost::Daemon));
    }
}
