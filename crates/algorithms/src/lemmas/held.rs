//! An algorithm that is held to one statement instead of its own invariants, so that a checker decides the statement.

use std::marker::PhantomData;

use doorway_core::{
    Algorithm, Data, Explain, Factory, Field, Hints, Invariant, LamportClock, NodeId, NodeSet, Out,
    Permission, Plan, Rule,
};
use serde::Serialize;

use super::{Lemma, Vectors};
use crate::message::singhal::Singhal;
use crate::message::suzuki_kasami::SuzukiKasami;

/// The messages of what a statement is about.
type MsgOf<S> = <<S as Statement>::Of as Algorithm>::Msg;

/// Something that is said of an algorithm: of its states, or of its steps.
pub trait Statement: Data {
    /// The algorithm.
    type Of: Explain;

    /// What every state must be.
    fn invariants() -> &'static [Invariant<Held<Self>>] {
        &[]
    }

    /// What is wrong with a step of one node, from the one state to the other.
    fn objects(_before: &Self::Of, _after: &Self::Of) -> Option<&'static str> {
        None
    }
}

/// One node of an algorithm that is held to a statement. It does just what it would do without.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Held<S: Statement> {
    of: S::Of,
    #[serde(skip)]
    statement: PhantomData<S>,
}

/// Holds the nodes of a factory to a statement.
pub fn held<S: Statement>(of: Factory<S::Of>) -> Factory<Held<S>> {
    Factory::new(move |members| {
        let plan = of.plan(members)?;
        Ok(Plan::new(move |me, start| Held { of: plan.make(me, start), statement: PhantomData }))
    })
}

impl<S: Statement> Held<S> {
    /// Makes a step, and objects to it if the statement does.
    fn step(&mut self, out: &mut Out<MsgOf<S>>, step: impl FnOnce(&mut S::Of, &mut Out<MsgOf<S>>)) {
        let before = self.of.clone();
        step(&mut self.of, out);
        if let Some(objection) = S::objects(&before, &self.of) {
            out.broken(objection);
        }
    }
}

impl<S: Statement> Algorithm for Held<S> {
    type Msg = MsgOf<S>;
    const PERPETUAL: bool = S::Of::PERPETUAL;

    fn on_start(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, S::Of::on_start);
    }

    fn on_request(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, S::Of::on_request);
    }

    fn on_message(&mut self, from: NodeId, msg: Self::Msg, out: &mut Out<Self::Msg>) {
        self.step(out, |of, out| of.on_message(from, msg, out));
    }

    fn on_release(&mut self, out: &mut Out<Self::Msg>) {
        self.step(out, S::Of::on_release);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.of.clock()
    }
}

impl<S: Statement> Explain for Held<S> {
    const WAITS_FOR_ALL: bool = S::Of::WAITS_FOR_ALL;

    fn fields(&self) -> Vec<Field> {
        self.of.fields()
    }

    fn waits_for(&self) -> NodeSet {
        self.of.waits_for()
    }

    fn permission(&self) -> Permission {
        self.of.permission()
    }

    const RULES: &'static [Rule] = S::Of::RULES;

    fn invariants() -> &'static [Invariant<Self>] {
        S::invariants()
    }
}

/// It promises nothing: a statement may be about any state.
impl<S: Statement> Hints for Held<S> {}

impl<S: Statement<Of: Vectors>> Vectors for Held<S>
where
    Self: Algorithm<Msg = <Singhal as Algorithm>::Msg>,
{
    fn vectors(&self) -> &Singhal {
        self.of.vectors()
    }
}

/// The lemma at this place of [`Lemma::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LemmaAt<A, const PLACE: usize>(PhantomData<A>);

impl<A: Explain + Vectors, const PLACE: usize> Statement for LemmaAt<A, PLACE>
where
    Self: Data,
{
    type Of = A;

    fn invariants() -> &'static [Invariant<Held<Self>>] {
        std::slice::from_ref(&Lemma::<Held<Self>>::ALL[PLACE].says)
    }
}

/// Of Suzuki and Kasami's algorithm: no number in RN ever falls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NeverFalls;

impl Statement for NeverFalls {
    type Of = SuzukiKasami;

    fn objects(before: &SuzukiKasami, after: &SuzukiKasami) -> Option<&'static str> {
        let falls = before.requested.iter().any(|(node, number)| after.requested[node] < *number);
        falls.then_some("a number in RN falls")
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::{Members, Start};

    use super::*;

    #[test]
    fn a_number_that_falls_is_objected_to_and_one_that_rises_is_not() {
        let members = Members::new(2).expect("two nodes");
        let early = SuzukiKasami::new(NodeId::new(1), &members, Start::Empty);
        let mut late = early.clone();
        late.on_message(NodeId::new(0), crate::message::suzuki_kasami::Msg::Request(1), &mut Out::default());
        assert_eq!(NeverFalls::objects(&early, &late), None);
        assert_eq!(NeverFalls::objects(&late, &early), Some("a number in RN falls"));
    }
}
