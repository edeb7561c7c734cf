//! Who takes part: a node's number.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A participant. Code indexes nodes from 0; everything that people see or write counts from 1, as the literature
/// does, so a `NodeId` prints and serialises as its index plus one.
///
/// It is stored that way too, which makes an `Option<NodeId>` as small as a `NodeId`. A serializer hears its name, by
/// which [`crate::check_sound`] knows nodes from other numbers; no format writes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    /// The node with this index, counted from 0.
    ///
    /// # Panics
    /// If the index does not fit: there are at most 2³² − 1 nodes.
    #[must_use]
    pub const fn new(index: usize) -> Self {
        assert!(index < u32::MAX as usize, "there are at most 2^32 - 1 nodes");
        match NonZeroU32::new(index as u32 + 1) {
            Some(number) => Self(number),
            None => unreachable!(),
        }
    }

    /// The node that people call `number`, counted from 1; `None` for 0.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// Its index, counted from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Its number as people write it, counted from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The nodes with index 0 to `n` − 1, in order.
    pub fn first(n: usize) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        (0..n).map(NodeId::new)
    }

    /// The other nodes of `n` in the order of a ring, beginning after this one.
    pub fn around(self, n: usize) -> impl Iterator<Item = NodeId> + Clone {
        let me = self.index();
        (me + 1..n).chain(0..me).map(NodeId::new)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_count_from_one() {
        let first = NodeId::new(0);
        assert_eq!((first.index(), first.number(), first.to_string()), (0, 1, "1".to_owned()));
        assert_eq!(NodeId::from_number(1), Some(first));
        assert_eq!(NodeId::from_number(0), None);
    }

    #[test]
    fn an_optional_node_costs_nothing_more() {
        assert_eq!(size_of::<Option<NodeId>>(), 4);
    }

    #[test]
    fn around_visits_everybody_else_once_beginning_with_the_successor() {
        let order: Vec<usize> = NodeId::new(2).around(5).map(NodeId::index).collect();
        assert_eq!(order, [3, 4, 0, 1]);
        assert_eq!(NodeId::new(0).around(1).count(), 0);
    }
}
