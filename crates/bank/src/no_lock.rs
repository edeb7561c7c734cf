//! No lock at all: every node enters at once.
//!
//! It has the form of an algorithm, so that the bank runs without a lock exactly as it runs with one.

use doorway_core::{Algorithm, Explain, Factory, Field, NodeId, NodeSet, Out, Rule};
use serde::Serialize;

/// A node that never sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NoLock;

impl NoLock {
    pub fn factory() -> Factory<Self> {
        Factory::simple(|_, _, _| NoLock)
    }
}

impl Algorithm for NoLock {
    type Msg = ();

    fn on_request(&mut self, out: &mut Out<()>) {
        out.enter();
    }

    fn on_message(&mut self, _: NodeId, (): (), out: &mut Out<()>) {
        out.broken("a message to a node that never asks");
    }

    fn on_release(&mut self, _: &mut Out<()>) {}
}

impl Explain for NoLock {
    fn fields(&self) -> Vec<Field> {
        Vec::new()
    }

    fn waits_for(&self) -> NodeSet {
        NodeSet::new()
    }

    const RULES: &'static [Rule] = &[];
}
