//! How the nodes of a system are made.

use std::fmt;
use std::sync::Arc;

use crate::{Algorithm, Node, NodeId, NodeSet};

/// The members of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    n: usize,
}

impl Members {
    /// The nodes 0 to `n` − 1.
    ///
    /// # Errors
    /// There must be at least one node, and no more than fit a [`NodeId`].
    pub fn new(n: usize) -> Result<Self, Refusal> {
        match n {
            0 => Err(Refusal::new("a system needs at least one node")),
            _ if n >= u32::MAX as usize => {
                Err(Refusal::new(format!("{n} nodes are more than can be numbered")))
            }
            _ => Ok(Self { n }),
        }
    }

    /// Their number: N.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        NodeId::first(self.n)
    }

    /// All members but `me`.
    #[must_use]
    pub fn others(&self, me: NodeId) -> NodeSet {
        NodeSet::first(self.n).without(me)
    }

    /// Whether there is such a node.
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        node.index() < self.n
    }
}

/// The two initial states of every algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// No node is inside.
    #[default]
    Empty,
    /// This node is already inside: a section continues like this after a view change.
    Inside(NodeId),
}

impl Start {
    /// Whether `node` starts inside.
    #[must_use]
    pub fn is_inside(self, node: NodeId) -> bool {
        self == Start::Inside(node)
    }

    /// The node that starts inside.
    #[must_use]
    pub fn holder(self) -> Option<NodeId> {
        match self {
            Start::Empty => None,
            Start::Inside(node) => Some(node),
        }
    }

    /// The node that starts inside, or else the first node: where most token algorithms put the token.
    #[must_use]
    pub fn holder_or_first(self) -> NodeId {
        self.holder().unwrap_or(NodeId::new(0))
    }
}

/// Makes any node of one list of members, in either start state. What the nodes share (quorums, a tree) is
/// computed once, when the plan is made.
pub struct Plan<A>(Box<MakeNode<A>>);

type MakeNode<A> = dyn Fn(NodeId, Start) -> A + Send + Sync;

impl<A: Algorithm> Plan<A> {
    /// A plan from the function that makes a node's algorithm.
    pub fn new(make: impl Fn(NodeId, Start) -> A + Send + Sync + 'static) -> Self {
        Self(Box::new(make))
    }

    /// One node's algorithm.
    #[must_use]
    pub fn make(&self, me: NodeId, start: Start) -> A {
        (self.0)(me, start)
    }

    /// One node inside its contract.
    #[must_use]
    pub fn node(&self, me: NodeId, start: Start) -> Node<A> {
        let algorithm = self.make(me, start);
        if start.is_inside(me) { Node::inside(algorithm) } else { Node::new(algorithm) }
    }
}

/// Makes a [`Plan`] for any list of members: a real node needs a new one in each view.
pub struct Factory<A>(Arc<MakePlan<A>>);

type MakePlan<A> = dyn Fn(&Members) -> Result<Plan<A>, Refusal> + Send + Sync;

impl<A: Algorithm> Factory<A> {
    /// A factory from the function that makes a plan.
    pub fn new(plan: impl Fn(&Members) -> Result<Plan<A>, Refusal> + Send + Sync + 'static) -> Self {
        Self(Arc::new(plan))
    }

    /// A factory for an algorithm that needs nothing but its own number, the members and the start.
    pub fn simple(make: fn(NodeId, &Members, Start) -> A) -> Self {
        Self::new(move |&members| Ok(Plan::new(move |me, start| make(me, &members, start))))
    }

    /// Computes what the nodes of these members share.
    ///
    /// # Errors
    /// If the algorithm cannot run with this number of nodes, for instance because its quorum system does not
    /// exist for this N.
    pub fn plan(&self, members: &Members) -> Result<Plan<A>, Refusal> {
        (self.0)(members)
    }
}

impl<A> Clone for Factory<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Why a request was refused: one sentence that says what was wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(Box<str>);

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(sentence: impl Into<Box<str>>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
