//! The structures of Sanders' algorithm, and the conditions under which they exclude.

use std::fmt;

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

/// Which nodes each node asks and informs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// R: the nodes that each node asks.
    pub asks: PerNode<NodeSet>,
    /// I: the nodes that each node informs.
    pub informs: PerNode<NodeSet>,
}

/// A way in which a structure breaks the conditions of the theorem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructureFlaw {
    /// R of this node is empty.
    AsksNoNode(NodeId),
    /// I of this node does not lie in its R.
    InformsUnasked(NodeId),
    /// I of these nodes do not meet, and not both keep their own vote and ask each other.
    CanMeet(NodeId, NodeId),
}

impl Structure {
    /// A structure that keeps the conditions of the theorem.
    ///
    /// # Errors
    /// Names the node, or the pair of nodes, that breaks them.
    pub fn new(asks: PerNode<NodeSet>, informs: PerNode<NodeSet>) -> Result<Self, Refusal> {
        Self { asks, informs }.checked()
    }

    /// The same structure, if it keeps the conditions of the theorem.
    ///
    /// # Errors
    /// Names the node, or the pair of nodes, that breaks them.
    pub fn checked(self) -> Result<Self, Refusal> {
        let first = self.flaws().next();
        first.map_or(Ok(self), |flaw| Err(Refusal::new(flaw.to_string())))
    }

    /// Every way in which it breaks the conditions of the theorem, node by node.
    pub fn flaws(&self) -> impl Iterator<Item = StructureFlaw> + '_ {
        let nodes = || NodeId::first(self.asks.len());
        nodes().flat_map(move |i| {
            let empty = self.asks[i].is_empty().then_some(StructureFlaw::AsksNoNode(i));
            let unasked =
                (!self.informs[i].is_subset(&self.asks[i])).then_some(StructureFlaw::InformsUnasked(i));
            let before = nodes().take(i.index());
            let pairs =
                before.filter(move |&j| !self.excludes(i, j)).map(move |j| StructureFlaw::CanMeet(j, i));
            empty.into_iter().chain(unasked).chain(pairs)
        })
    }

    /// St: the nodes that inform `node`, so that it can reserve its vote for them.
    #[must_use]
    pub fn informed_by(&self, node: NodeId) -> NodeSet {
        self.informs
            .iter()
            .filter(|(_, informed)| informed.contains(node))
            .map(|(informer, _)| informer)
            .collect()
    }

    /// Whether two nodes exclude each other: their I meet, or each keeps its own vote and asks the other.
    #[must_use]
    pub fn excludes(&self, i: NodeId, j: NodeId) -> bool {
        self.informs[i].intersects(&self.informs[j]) || self.ask_each_other(i, j)
    }

    /// Whether each of two nodes keeps its own vote and asks the other.
    #[must_use]
    pub fn ask_each_other(&self, i: NodeId, j: NodeId) -> bool {
        let keeps_own_vote = |node: NodeId| self.informs[node].contains(node);
        keeps_own_vote(i) && keeps_own_vote(j) && self.asks[i].contains(j) && self.asks[j].contains(i)
    }
}

impl fmt::Display for StructureFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructureFlaw::AsksNoNode(i) => write!(f, "node {i} asks no node, so no node keeps it out"),
            StructureFlaw::InformsUnasked(i) => {
                write!(f, "node {i} informs a node that it does not ask: I must lie in R")
            }
            StructureFlaw::CanMeet(i, j) => write!(
                f,
                "nodes {i} and {j} can be inside together: their I do not meet, and not both keep their own vote and ask \
                 each other"
            ),
        }
    }
}
