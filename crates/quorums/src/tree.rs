//! D. Agrawal, A. El Abbadi: "An efficient and fault-tolerant solution for distributed mutual exclusion", ACM
//! Transactions on Computer Systems 9(1), 1991.
//!
//! The nodes are a binary tree, numbered as in a heap: the children of node i are 2i and 2i + 1. A quorum of a
//! subtree is its root with a quorum of one child, or, where the root has crashed, a quorum of both. Without crashes
//! that is a path of about log₂ N nodes from the root to a leaf; with them it grows, in a full tree to at most
//! (N + 1)/2. By induction two quorums of a subtree meet: both have its root, or one has a quorum of both children and the
//! other one of at least one of them.
//!
//! The tree may have any number of nodes. A missing child counts as crashed, so a node with a single child is
//! always in a quorum together with it. Node i is assigned the path through i that goes left below it.

use doorway_core::{NodeId, NodeSet, PerNode};

/// A binary tree in the numbering of a heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    n: usize,
}

impl Tree {
    pub(crate) fn new(n: usize) -> Self {
        Self { n }
    }

    /// For each node, the path from the root through it, then to the left.
    pub(crate) fn assignment(self) -> PerNode<NodeSet> {
        PerNode::from_fn(self.n, |node| {
            let up = std::iter::successors(Some(node.index()), |&place| (place > 0).then(|| (place - 1) / 2));
            let down = std::iter::successors(self.left(node.index()), |&place| self.left(place));
            up.chain(down).map(NodeId::new).collect()
        })
    }

    /// A path of live nodes, with a detour through both subtrees around each crashed one.
    pub(crate) fn choose(self, alive: &NodeSet) -> Option<NodeSet> {
        self.choose_below(0, alive)
    }

    fn choose_below(self, root: usize, alive: &NodeSet) -> Option<NodeSet> {
        let node = NodeId::new(root);
        if self.is_leaf(root) {
            return alive.contains(node).then(|| [node].into_iter().collect());
        }
        let left = || self.choose_below(self.left(root)?, alive);
        let right = || self.choose_below(self.right(root)?, alive);
        if alive.contains(node) {
            left().or_else(right).map(|below| with(below, node))
        } else {
            Some(union(&left()?, &right()?))
        }
    }

    /// All quorums, unless there are more than `most`. None contains another.
    pub(crate) fn quorums(self, most: usize) -> Option<Vec<NodeSet>> {
        (self.count(0) <= most).then(|| self.quorums_below(0))
    }

    fn quorums_below(self, root: usize) -> Vec<NodeSet> {
        let node = NodeId::new(root);
        if self.is_leaf(root) {
            return vec![[node].into_iter().collect()];
        }
        let left = self.left(root).map_or(Vec::new(), |left| self.quorums_below(left));
        let right = self.right(root).map_or(Vec::new(), |right| self.quorums_below(right));
        let alive = left.iter().chain(&right).map(|below| with(below.clone(), node));
        let crashed = left.iter().flat_map(|left| right.iter().map(move |right| union(left, right)));
        alive.chain(crashed).collect()
    }

    fn count(self, root: usize) -> usize {
        if self.is_leaf(root) {
            return 1;
        }
        let left = self.left(root).map_or(0, |left| self.count(left));
        let right = self.right(root).map_or(0, |right| self.count(right));
        left.saturating_add(right).saturating_add(left.saturating_mul(right))
    }

    fn is_leaf(self, place: usize) -> bool {
        self.left(place).is_none()
    }

    /// The number of nodes.
    pub(crate) fn n(self) -> usize {
        self.n
    }

    /// The left child of the node at this place.
    pub(crate) fn left(self, place: usize) -> Option<usize> {
        Some(2 * place + 1).filter(|&child| child < self.n)
    }

    /// The right child of the node at this place.
    pub(crate) fn right(self, place: usize) -> Option<usize> {
        Some(2 * place + 2).filter(|&child| child < self.n)
    }
}

fn with(mut set: NodeSet, node: NodeId) -> NodeSet {
    set.insert(node);
    set
}

fn union(one: &NodeSet, other: &NodeSet) -> NodeSet {
    one.iter().chain(other).collect()
}
