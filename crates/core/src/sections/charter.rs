//! Who takes part in a section, and where that is looked up.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{Algorithm, Factory, Fenced, Members, NodeId, NodeSet, Plan, Refusal, SectionName, Start, To};

/// Who takes part in a section, and how their nodes are made.
pub struct Charter<A> {
    /// The processes in order: the node with index i of the algorithm is at the i-th of them.
    participants: Vec<NodeId>,
    plan: Plan<A>,
}

impl<A: Algorithm> Charter<A> {
    /// A section for these processes.
    ///
    /// # Errors
    /// If there are none, or the algorithm cannot run among so many.
    pub fn new(participants: &NodeSet, factory: &Factory<A>) -> Result<Self, Refusal> {
        let plan = factory.plan(&Members::new(participants.len())?)?;
        Ok(Self { participants: participants.iter().collect(), plan })
    }

    /// The processes that take part, in order.
    #[must_use]
    pub fn participants(&self) -> &[NodeId] {
        &self.participants
    }

    /// The number that the algorithm gives to a process, if it takes part.
    #[must_use]
    pub fn node_of(&self, process: NodeId) -> Option<NodeId> {
        self.participants.binary_search(&process).ok().map(NodeId::new)
    }

    /// The process that the algorithm gives this number to.
    ///
    /// # Panics
    /// If the algorithm speaks of a node that it was never told of.
    #[must_use]
    pub fn process_of(&self, node: NodeId) -> NodeId {
        self.participants[node.index()]
    }

    /// The node of a process that has not heard anything yet, if the process takes part.
    pub(super) fn node(&self, process: NodeId) -> Option<Fenced<A>> {
        self.node_of(process).map(|me| Fenced::from_plan(&self.plan, me, Start::Empty))
    }

    pub(super) fn processes_of(&self, to: To) -> To {
        match to {
            To::One(node) => To::One(self.process_of(node)),
            To::Set(nodes) => To::Set(nodes.iter().map(|node| self.process_of(node)).collect()),
        }
    }
}

/// Where a process looks up the charter of a section by its name; for a name that means nothing there is none.
///
/// It is the same for all processes and never changes, so it is no part of the state that a checker compares: any two
/// are equal.
pub struct Register<A>(Arc<Charters<A>>);

type Charters<A> = dyn Fn(&SectionName) -> Option<Arc<Charter<A>>> + Send + Sync;

impl<A> Register<A> {
    /// A register from the function that looks names up.
    pub fn new(look_up: impl Fn(&SectionName) -> Option<Arc<Charter<A>>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look_up))
    }

    /// The charter of a section.
    #[must_use]
    pub fn charter(&self, section: &SectionName) -> Option<Arc<Charter<A>>> {
        (self.0)(section)
    }
}

impl<A> Clone for Register<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A> fmt::Debug for Register<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Register")
    }
}

impl<A> PartialEq for Register<A> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<A> Eq for Register<A> {}

impl<A> Hash for Register<A> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
