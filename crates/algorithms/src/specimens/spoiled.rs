//! A correct algorithm with some of its handlers replaced: what a specimen is made of wherever that is possible.
//!
//! The wrong handlers stand alone in the specimen's file, and all the rest is the very code that is right without them.

// tidy: not an algorithm, because it only joins a fault to the algorithm that it spoils.

use std::marker::PhantomData;

use doorway_core::{
    Algorithm, Data, Explain, Field, Hints, Invariant, LamportClock, NodeId, NodeSet, Out, Permission, Rule,
};
use serde::Serialize;

/// The messages of what a fault spoils.
pub type MsgOf<F> = <<F as Fault>::Of as Algorithm>::Msg;

/// What is wrong: those handlers that differ from the correct algorithm's.
pub trait Fault: Data {
    /// The correct algorithm.
    type Of: Explain;

    /// The application asks to enter.
    fn on_request(of: &mut Self::Of, out: &mut Out<MsgOf<Self>>) {
        of.on_request(out);
    }

    /// A message has arrived.
    fn on_message(of: &mut Self::Of, from: NodeId, msg: MsgOf<Self>, out: &mut Out<MsgOf<Self>>) {
        of.on_message(from, msg, out);
    }

    /// The application has left.
    fn on_release(of: &mut Self::Of, out: &mut Out<MsgOf<Self>>) {
        of.on_release(out);
    }

    /// The oracle reports a crash.
    fn on_crash(of: &mut Self::Of, node: NodeId, out: &mut Out<MsgOf<Self>>) {
        of.on_crash(node, out);
    }

    /// The nodes from which something is missing, while this one waits.
    fn waits_for(of: &Self::Of) -> NodeSet {
        of.waits_for()
    }

    /// The invariants that hold in spite of it.
    fn invariants() -> &'static [Invariant<Spoiled<Self>>] {
        &[]
    }
}

/// One node of a correct algorithm with a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Spoiled<F: Fault> {
    /// What is spoiled.
    pub(crate) of: F::Of,
    #[serde(skip)]
    fault: PhantomData<F>,
}

impl<F: Fault> Spoiled<F> {
    /// A correct node, spoiled.
    pub fn new(of: F::Of) -> Self {
        Self { of, fault: PhantomData }
    }
}

impl<F: Fault> Algorithm for Spoiled<F> {
    type Msg = MsgOf<F>;
    const PERPETUAL: bool = F::Of::PERPETUAL;
    const WATCHES_CRASHES: bool = F::Of::WATCHES_CRASHES;

    fn on_start(&mut self, out: &mut Out<Self::Msg>) {
        self.of.on_start(out);
    }

    fn on_request(&mut self, out: &mut Out<Self::Msg>) {
        F::on_request(&mut self.of, out);
    }

    fn on_message(&mut self, from: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>) {
        F::on_message(&mut self.of, from, msg, out);
    }

    fn on_release(&mut self, out: &mut Out<Self::Msg>) {
        F::on_release(&mut self.of, out);
    }

    fn on_crash(&mut self, node: NodeId, out: &mut Out<Self::Msg>) {
        F::on_crash(&mut self.of, node, out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.of.clock()
    }
}

impl<F: Fault> Explain for Spoiled<F> {
    const WAITS_FOR_ALL: bool = F::Of::WAITS_FOR_ALL;

    fn fields(&self) -> Vec<Field> {
        self.of.fields()
    }

    fn waits_for(&self) -> NodeSet {
        F::waits_for(&self.of)
    }

    fn permission(&self) -> Permission {
        self.of.permission()
    }

    const RULES: &'static [Rule] = F::Of::RULES;

    fn invariants() -> &'static [Invariant<Self>] {
        F::invariants()
    }
}

impl<F: Fault> Hints for Spoiled<F> {}
