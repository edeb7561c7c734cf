//! A value for every node.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use crate::NodeId;

/// One `T` for each of the nodes 0 to n − 1, indexed by [`NodeId`]. Serde passes the type's name to the
/// serializer: [`crate::check_sound`] uses it to tell tables from other lists; formats do not write it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PerNode<T>(Box<[T]>);

impl<T> PerNode<T> {
    /// A table of `n` values, each made for its node.
    pub fn from_fn(n: usize, make: impl FnMut(NodeId) -> T) -> Self {
        Self(NodeId::first(n).map(make).collect())
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of `node`, or `None` if there is no such node.
    #[must_use]
    pub fn get(&self, node: NodeId) -> Option<&T> {
        self.0.get(node.index())
    }

    /// Each node with its value.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &T)> + ExactSizeIterator {
        self.0.iter().enumerate().map(|(index, value)| (NodeId::new(index), value))
    }

    /// Each node with a mutable reference to its value.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut T)> {
        self.0.iter_mut().enumerate().map(|(index, value)| (NodeId::new(index), value))
    }

    /// The values in the order of the nodes.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> PerNode<T> {
    /// A table in which every node has the same value.
    #[must_use]
    pub fn same(n: usize, value: T) -> Self {
        Self(vec![value; n].into_boxed_slice())
    }
}

impl<T> From<Vec<T>> for PerNode<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values.into_boxed_slice())
    }
}

impl<T> Index<NodeId> for PerNode<T> {
    type Output = T;

    fn index(&self, node: NodeId) -> &T {
        &self.0[node.index()]
    }
}

impl<T> IndexMut<NodeId> for PerNode<T> {
    fn index_mut(&mut self, node: NodeId) -> &mut T {
        &mut self.0[node.index()]
    }
}
