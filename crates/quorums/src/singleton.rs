//! D. Peleg, A. Wool: "The availability of quorum systems", Information and Computation 123(2), 1995.
//!
//! One node is everybody's quorum: the central coordinator, seen as a quorum system. It costs the fewest messages,
//! and carries all of the load. When nodes crash with probability above one half nothing is more available; below one
//! half it gains nothing from all the nodes that might have helped. It is the one construction in which a node is not
//! in its own quorum.

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
