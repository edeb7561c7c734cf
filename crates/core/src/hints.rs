//! What a checker may use to search less.

use crate::{Algorithm, NodeId};

/// Promises of an algorithm that let a checker leave out interleavings. Each one must be tested against the full
/// search; an algorithm that promises nothing is checked in full.
pub trait Hints: Algorithm {
    /// Whether the delivery of `msg` to this node, in this state, gives the same result before and after every step
    /// that another delivery to the node could make meanwhile.
    fn commutes(&self, _from: NodeId, _msg: &Self::Msg) -> bool {
        false
    }
}
