//! The participants of a section, and the register in which a process looks them up.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{Algorithm, Factory, Fenced, Members, NodeId, NodeSet, Plan, Refusal, SectionName, Start, To};

/// The participants of a section, and how their nodes are made.
pub struct Charter<A> {
    /// The processes in order: the i-th of them runs the algorithm's node with index i.
    participants: Vec<NodeId>,
    plan: Plan<A>,
}

impl<A: Algorithm> Charter<A> {
    /// A section for these processes.
    ///
    /// # Errors
    /// If there are none, or the algorithm cannot run with this number of nodes.
    pub fn new(participants: &NodeSet, factory: &Factory<A>) -> Result<Self, Refusal> {
        let plan = factory.plan(&Members::new(participants.len())?)?;
        Ok(Self { participants: participants.iter().collect(), plan })
    }

    /// The processes that take part, in order.
    #[must_use]
    pub fn participants(&self) -> &[NodeId] {
        &self.participants
    }

    /// The algorithm's node at a process, if the process takes part.
    #[must_use]
    pub fn node_of(&self, process: NodeId) -> Option<NodeId> {
        self.participants.binary_search(&process).ok().map(NodeId::new)
    }

    /// The process that runs this node of the algorithm.
    ///
    /// # Panics
    /// If the section has no such node.
    #[must_use]
    pub fn process_of(&self, node: NodeId) -> NodeId {
        self.participants[node.index()]
    }

    /// The node of a process in its initial state, if the process takes part.
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

/// Looks up the charter of a section by its name; `None` if there is no such section.
///
/// It is the same for all processes and never changes, so the state that the checker compares leaves it out:
/// any two registers are equal.
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
