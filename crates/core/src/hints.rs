//! Hints with which the checker reduces the state space.

use crate::{Algorithm, NodeId};

/// Promises of an algorithm that let the checker skip interleavings or merge indistinguishable states. Each
/// promise must be tested against the full search; an algorithm that promises nothing is checked in full.
pub trait Hints: Algorithm {
    /// Whether delivering `msg` to this node in this state commutes with everything else the node can do
    /// before it (other deliveries, a request, a release): in either order each makes the same sends, and
    /// both together lead to the same state. The delivery must not let the node enter, and no run may consist
    /// of such deliveries for ever.
    fn commutes(&self, _from: NodeId, _msg: &Self::Msg, _ahead: Ahead) -> bool {
        false
    }

    /// Erases state that only matters to future requests, such as a clock that only stamps them. Called after
    /// every step once no node will request again.
    fn forget(&mut self) {}

    /// Erases the same in a message.
    fn forget_in(_msg: &mut Self::Msg) {}

    /// Passes to `show` every counter of this node that matters only by its difference to the others of its
    /// group. Returns true if these are all its counters: then subtracting one number from a whole group, in
    /// all nodes and messages, changes nothing.
    fn counters(&mut self, _show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        false
    }

    /// Passes to `show` the counters of a message between two nodes.
    fn counters_in(_from: NodeId, _to: NodeId, _msg: &mut Self::Msg, _show: &mut dyn FnMut(Group, &mut u64)) {
    }
}

/// Whether more requests will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Whether this node will request again.
    pub mine: bool,
    /// Whether any node will.
    pub any: bool,
}

/// Counters that are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Logical time.
    Time,
    /// The number of requests that this node has made.
    Requests(NodeId),
}
