//! What a checker may use to search less.

use crate::{Algorithm, NodeId};

/// Promises of an algorithm that let a checker leave out interleavings, or take states for the same that nobody can ever tell
/// apart. Each promise must be tested against the full search; an algorithm that promises nothing is checked in full.
pub trait Hints: Algorithm {
    /// Whether the delivery of `msg` to this node, in this state, can as well be made at once as at any later time: whatever
    /// else the node does before it (other deliveries, asking, leaving) gives the same sends and, together with it, the same
    /// state in either order. It must not let the node in, and no run may consist of such deliveries for ever.
    fn commutes(&self, _from: NodeId, _msg: &Self::Msg, _ahead: Ahead) -> bool {
        false
    }

    /// Forgets what only matters to requests yet to come, such as a clock from which nothing but their stamps is taken. Called
    /// after every step from when on no node will ask again.
    fn forget(&mut self) {}

    /// Forgets the same in a message.
    fn forget_in(_msg: &mut Self::Msg) {}

    /// Shows every counter of this node of which only differences to others of its group matter, and tells whether it has shown
    /// all of them: then the same number can be taken from a whole group, in all nodes and messages, and nothing changes.
    fn counters(&mut self, _show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        false
    }

    /// Shows the counters of a message between two nodes.
    fn counters_in(_from: NodeId, _to: NodeId, _msg: &mut Self::Msg, _show: &mut dyn FnMut(Group, &mut u64)) {
    }
}

/// Which requests are still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Whether this node will ask again.
    pub mine: bool,
    /// Whether any node will.
    pub any: bool,
}

/// Counters that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Logical time.
    Time,
    /// How many requests this node has made.
    Requests(NodeId),
}
