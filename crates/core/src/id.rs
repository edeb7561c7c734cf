//! A node's number.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A node. Code indexes nodes from 0; people count them from 1, as the literature does, so a `NodeId` prints
/// and serialises as its index plus one.
///
/// It is stored that way too, so that an `Option<NodeId>` is as small as a `NodeId`. Serde passes the type's
/// name to the serializer: [`crate::check_sound`] uses it to tell nodes from other numbers; formats do not
/// write it.
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

    /// The node with this number, counted from 1; `None` for 0.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// Its index, counted from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Its number, counted from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The nodes with index 0 to `n` − 1, in order.
    pub fn first(n: usize) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        (0..n).map(NodeId::new)
    }

    /// The other nodes of `n` in ring order, starting after this one.
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
    fn an_optional_node_takes_no_extra_space() {
        assert_eq!(size_of::<Option<NodeId>>(), 4);
    }

    #[test]
    fn around_visits_every_other_node_once_from_the_successor_on() {
        let order: Vec<usize> = NodeId::new(2).around(5).map(NodeId::index).collect();
        assert_eq!(order, [3, 4, 0, 1]);
        assert_eq!(NodeId::new(0).around(1).count(), 0);
    }
}
