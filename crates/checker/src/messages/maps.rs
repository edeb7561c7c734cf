//! Other states of nodes and other messages that stand for the same: when a ghost or a counter no longer matters.

use doorway_core::Group;

/// A node's state or a message, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thing {
    Local(u32),
    Letter(u32),
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Map {
    /// Nobody will ask any more: what only matters to requests is forgotten.
    Quiet,
    /// The request of this node is no longer open.
    Served(u32),
    /// So much is taken from the counters of each group.
    Down(Box<[u64]>),
}

/// The place of a group among the groups.
pub(super) fn place(group: Group) -> usize {
    match group {
        Group::Time => 0,
        Group::Requests(node) => node.index() + 1,
    }
}

/// The least counter of a group that has none here.
pub(super) const NO_COUNTER: u64 = u64::MAX;
