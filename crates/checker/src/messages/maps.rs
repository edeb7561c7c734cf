//! Maps that merge indistinguishable states: they erase ghost variables and counters that no longer matter.

use doorway_core::Group;

/// A node's state or a message, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StateOrMessage {
    Local(u32),
    Letter(u32),
}

/// How it is mapped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Map {
    /// No node will request again: erases what only matters to future requests.
    Quiet,
    /// The request of this node is no longer open.
    Served(u32),
    /// Subtracts this from the counters of each group.
    Shift(Box<[u64]>),
}

/// The index of a group.
pub(super) fn place(group: Group) -> usize {
    match group {
        Group::Time => 0,
        Group::Requests(node) => node.index() + 1,
    }
}

/// Stands for the least counter of a group without counters.
pub(super) const NO_COUNTER: u64 = u64::MAX;
