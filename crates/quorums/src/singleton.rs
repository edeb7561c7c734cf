//! D. Peleg, A. Wool: "The availability of quorum systems", Information and Computation 123(2), 1995.
//!
//! One node is the quorum of every node: the central coordinator as a quorum system. It needs the fewest
//! messages, and that node carries the whole load. When nodes crash with probability above one half no system
//! is more available; below one half the other nodes add nothing. It is the only construction in which a node
//! may not be in its own quorum.

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

/// The same `keeper` for each of `n` nodes.
pub(crate) fn assignment(n: usize, keeper: NodeId) -> Result<PerNode<NodeSet>, Refusal> {
    if keeper.index() >= n {
        return Err(Refusal::new(format!(
            "node {keeper} cannot decide for all: there are only nodes 1 to {n}"
        )));
    }
    Ok(PerNode::same(n, [keeper].into_iter().collect()))
}
