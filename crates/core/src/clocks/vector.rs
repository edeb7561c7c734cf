//! Vector clocks. C. Fidge, "Timestamps in message-passing systems that preserve the partial ordering", 1988;
//! F. Mattern, "Virtual time and global states of distributed systems", 1989.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::{NodeId, PerNode};

/// The number of events of each node in the causal past. Unlike [`super::LamportClock`] it decides whether
/// one event can have caused another; it costs a count per node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VectorClock(PerNode<u64>);

impl VectorClock {
    /// The clock of `n` nodes before any event.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self(PerNode::same(n, 0))
    }

    /// Counts one event of node `me`.
    pub fn tick(&mut self, me: NodeId) {
        self.0[me] += 1;
    }

    /// Adds the causal past of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (node, &count) in other.0.iter() {
            self.0[node] = self.0[node].max(count);
        }
    }

    /// The number of events of `node` in the causal past.
    #[must_use]
    pub fn count(&self, node: NodeId) -> u64 {
        self.0[node]
    }

    /// Whether this event can have caused `other`.
    #[must_use]
    pub fn happened_before(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Less)
    }

    /// Whether neither can have caused the other.
    #[must_use]
    pub fn is_concurrent_with(&self, other: &Self) -> bool {
        self.partial_cmp(other).is_none()
    }
}

/// `Less` is Lamport's *happened before*; concurrent events have no order.
impl PartialOrd for VectorClock {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let mut order = Ordering::Equal;
        for (mine, theirs) in self.0.values().iter().zip(other.0.values()) {
            match (order, mine.cmp(theirs)) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, differs) => order = differs,
                (so_far, differs) if so_far == differs => {}
                _ => return None,
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_causal_order_from_concurrency() {
        let (one, two) = (NodeId::new(0), NodeId::new(1));
        let mut sender = VectorClock::new(2);
        let mut receiver = VectorClock::new(2);
        sender.tick(one);
        receiver.tick(two);
        let apart = receiver.clone();
        assert!(sender.is_concurrent_with(&apart));
        receiver.merge(&sender);
        receiver.tick(two);
        assert!(sender.happened_before(&receiver) && apart.happened_before(&receiver));
        assert!(!receiver.happened_before(&sender));
        assert_eq!((receiver.count(one), receiver.count(two)), (1, 2));
    }
}
