//! G. Ricart, A. K. Agrawala: "An optimal algorithm for mutual exclusion in computer networks", Communications of the
//! ACM 24(1), 1981.
//!
//! Every node is asked, so one crash stops all. The largest quorum, and the baseline for the others.

use doorway_core::{NodeSet, PerNode};

/// All `n` nodes for each of them.
pub(crate) fn assignment(n: usize) -> PerNode<NodeSet> {
    PerNode::same(n, NodeSet::first(n))
}
