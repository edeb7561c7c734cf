//! Lamport's clock. L. Lamport, "Time, clocks, and the ordering of events in a distributed system",
//! Communications of the ACM 21(7), 1978.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// A counter that is never behind anything its node has heard of: if one event can have caused another, the
/// other has the larger count. The converse does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LamportClock(u64);

impl LamportClock {
    /// A clock that will not be read again. Ticks and merges leave it unchanged.
    pub const STOPPED: Self = Self(u64::MAX);

    /// A clock that shows `count`.
    #[must_use]
    pub const fn at(count: u64) -> Self {
        Self(count)
    }

    /// Its count.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Its count, to shift it together with all counts that it is compared with; `None` for a stopped clock,
    /// which is compared with none.
    pub fn counter(&mut self) -> Option<&mut u64> {
        Some(&mut self.0).filter(|count| **count != Self::STOPPED.0)
    }

    /// Counts one local event.
    pub fn tick(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// Catches up with a count that came in a message.
    pub fn merge(&mut self, heard: u64) {
        self.0 = self.0.max(heard);
    }

    /// Counts one event and returns its stamp.
    pub fn stamp(&mut self, me: NodeId) -> Stamp {
        self.tick();
        Stamp { counter: self.0, node: me }
    }
}

/// The time of a request: a count, with the node as tie-break, so that no two requests have the same age. The
/// smaller stamp is the *older* request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The count of the node's clock.
    pub counter: u64,
    /// The node that made the request.
    pub node: NodeId,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.counter, self.node)
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.counter, self.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_later_than_its_sending() {
        let (mut sender, mut receiver) = (LamportClock::at(41), LamportClock::at(7));
        let sent = sender.stamp(NodeId::new(0));
        receiver.merge(sent.counter);
        receiver.tick();
        assert_eq!((sent.counter, receiver.count()), (42, 43));
    }

    #[test]
    fn a_stopped_clock_never_changes_and_has_no_counter() {
        let mut clock = LamportClock::STOPPED;
        clock.tick();
        clock.merge(7);
        assert_eq!((clock, clock.counter()), (LamportClock::STOPPED, None));
        assert_eq!(LamportClock::at(7).counter(), Some(&mut 7));
    }

    #[test]
    fn stamps_are_ordered_by_count_then_by_node() {
        let stamp = |counter, index| Stamp { counter, node: NodeId::new(index) };
        assert!(stamp(1, 7) < stamp(2, 0));
        assert!(stamp(2, 0) < stamp(2, 1));
    }
}
