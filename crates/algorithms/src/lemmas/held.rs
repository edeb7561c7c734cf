//! An algorithm that is held to one statement instead of its own invariants, so that a checker decides the statement.

use std::marker::PhantomData;

use doorway_core::{
    Algorithm, Cut, Data, Explain, Factory, Field, Group, Hints, Invariant, LamportClock, NodeId, NodeSet,
    Out, Permission, Plan, Rule,
};
use serde::Serialize;

use super::{Form, Lemma, Vectors};
use crate::message::singhal::{Known, Msg, Singhal};
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

    /// The counters of a node of which only differences matter: see [`Hints::counters`].
    fn counters(_of: &mut Self::Of, _show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        false
    }

    /// The same counters in a message.
    fn counters_in(_msg: &mut MsgOf<Self>, _show: &mut dyn FnMut(Group, &mut u64)) {}
}

/// One node of an algorithm that is held to a statement. It does just what it would do without.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Held<S: Statement> {
    of: S::Of,
    #[serde(skip)]
    statement: S,
}

/// Holds the nodes of a factory to a statement.
pub fn held<S: Statement>(of: Factory<S::Of>, statement: S) -> Factory<Held<S>> {
    Factory::new(move |members| {
        let (plan, statement) = (of.plan(members)?, statement.clone());
        Ok(Plan::new(move |me, start| Held { of: plan.make(me, start), statement: statement.clone() }))
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

/// It promises only what the statement does: a statement may be about any state.
impl<S: Statement> Hints for Held<S> {
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        S::counters(&mut self.of, show)
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Self::Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        S::counters_in(msg, show);
    }
}

impl<S: Statement<Of: Vectors>> Vectors for Held<S>
where
    Self: Algorithm<Msg = <Singhal as Algorithm>::Msg>,
{
    fn vectors(&self) -> &Singhal {
        self.of.vectors()
    }
}

/// The lemma at a place of [`Lemma::ALL`]. The place is a value, so that a checker is compiled once for all lemmas.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LemmaAt<A> {
    place: usize,
    of: PhantomData<A>,
}

impl<A: Vectors> LemmaAt<A> {
    /// The lemma of this number in this form, if there is one.
    #[must_use]
    pub fn find(number: &str, form: Form) -> Option<Self> {
        let place = Lemma::<A>::ALL.iter().position(|lemma| lemma.number == number && lemma.form == form)?;
        Some(Self { place, of: PhantomData })
    }
}

impl<A: Explain + Vectors> LemmaAt<A>
where
    Self: Data,
{
    /// The lemma at this place, for nodes that are held to it; true for all others.
    const fn at<const PLACE: usize>() -> Invariant<Held<Self>> {
        Invariant { name: Lemma::<Held<Self>>::ALL[PLACE].says.name, holds: Self::holds_at::<PLACE> }
    }

    fn holds_at<const PLACE: usize>(cut: &Cut<'_, Held<Self>>) -> bool {
        let is_meant = cut.states().all(|(_, node)| node.statement.place == PLACE);
        !is_meant || (Lemma::<Held<Self>>::ALL[PLACE].says.holds)(cut)
    }
}

impl<A: Explain + Vectors> Statement for LemmaAt<A>
where
    Self: Data,
{
    type Of = A;

    fn invariants() -> &'static [Invariant<Held<Self>>] {
        const {
            &[
                Self::at::<0>(),
                Self::at::<1>(),
                Self::at::<2>(),
                Self::at::<3>(),
                Self::at::<4>(),
                Self::at::<5>(),
                Self::at::<6>(),
                Self::at::<7>(),
                Self::at::<8>(),
                Self::at::<9>(),
            ]
        }
    }
}

/// Of Singhal's algorithm: that the numbers of all nodes matter only by their differences. The arbitration by the smallest
/// number compares numbers of different nodes, and where all nodes ask equally often, its states are finite only if all
/// numbers are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CountedTogether;

impl Statement for CountedTogether {
    type Of = Singhal;

    fn counters(of: &mut Singhal, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        let vectors = std::iter::once(&mut of.known).chain(&mut of.token);
        vectors.for_each(|vector| vector.iter_mut().for_each(|(_, known)| together(known, show)));
        true
    }

    fn counters_in(msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request { number, .. } => show(Group::Time, number),
            Msg::Token(token) => token.iter_mut().for_each(|(_, known)| together(known, show)),
        }
    }
}

fn together(known: &mut Known, show: &mut dyn FnMut(Group, &mut u64)) {
    show(Group::Time, &mut known.number);
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
