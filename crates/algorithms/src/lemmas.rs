//! The lemmas and theorems on Singhal's algorithm, to be checked in every reachable state: as printed, and corrected.
//!
//! The paper argues the correctness of the algorithm from its vectors. Some lemmas are false as printed. A node that is
//! given the idle token is inside, and the token still says that it requests (E22). And while a REQUEST is in flight, the
//! news can overtake it by way of the token, so that of two nodes neither will ask the other when all is quiet again
//! (E11): first-in first-out channels do not prevent it, causal delivery does. With the chase that still happens, but does
//! no harm, because a request now also follows the track of the token.
//!
//! These are not invariants of the algorithm. To find out where one holds, let a checker run the algorithm [`held`] to it.
//!
//! ```
//! use doorway_algorithms::lemmas::{Form, Lemma};
//! use doorway_algorithms::message::singhal::Singhal;
//!
//! let printed = Lemma::<Singhal>::ALL.iter().filter(|lemma| lemma.form == Form::Printed);
//! assert_eq!(printed.map(|lemma| lemma.number).collect::<Vec<_>>(), ["L4.1.1", "S4.2", "S4.3", "C45"]);
//! ```

mod held;

use doorway_core::{Algorithm, Cut, Invariant, NodeId, NodeSet, Phase};

use crate::message::singhal::proof::tokens;
use crate::message::singhal::{Msg, Singhal, State};
use crate::specimens::spoiled::{Fault, Spoiled};
pub use held::{Held, LemmaAt, NeverFalls, Statement, held};

/// A statement about all states, true or not.
pub struct Lemma<A: Algorithm> {
    /// Its number: `L4.1.1` is a lemma, `S4.2` a theorem.
    pub number: &'static str,
    /// Whether it is as printed.
    pub form: Form,
    /// What it says.
    pub says: Invariant<A>,
}

/// Which form of a lemma it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As printed.
    Printed,
    /// Corrected, so that it is true.
    Corrected,
}

/// An algorithm with the vectors of Singhal's: itself, or itself with a fault.
pub trait Vectors: Algorithm<Msg = Msg> {
    /// What has them.
    fn vectors(&self) -> &Singhal;
}

impl Vectors for Singhal {
    fn vectors(&self) -> &Singhal {
        self
    }
}

impl<F: Fault<Of = Singhal>> Vectors for Spoiled<F> {
    fn vectors(&self) -> &Singhal {
        &self.of
    }
}

impl<A: Vectors> Lemma<A> {
    /// All of them, each as printed and then, if that is not true, corrected.
    pub const ALL: &'static [Lemma<A>] = &[
        Lemma {
            number: "L4.1.1",
            form: Form::Printed,
            says: Invariant {
                name: "a node that the token takes for requesting waits",
                holds: token_knows_who_waits,
            },
        },
        Lemma {
            number: "L4.1.1",
            form: Form::Corrected,
            says: Invariant {
                name: "a node that the token takes for requesting waits or is inside",
                holds: token_knows_who_waits_or_is_inside,
            },
        },
        Lemma {
            number: "S4.2",
            form: Form::Printed,
            says: Invariant {
                name: "when all is quiet, of any two nodes one takes the other for requesting",
                holds: every_pair_is_acquainted,
            },
        },
        Lemma {
            number: "S4.2",
            form: Form::Corrected,
            says: Invariant {
                name: "when all is quiet, the track of the token leads from every node to the one that has it",
                holds: every_track_leads_to_the_token,
            },
        },
        Lemma {
            number: "S4.3",
            form: Form::Printed,
            says: Invariant {
                name: "when all is quiet, whom each node takes for requesting orders the nodes totally",
                holds: vectors_are_totally_ordered,
            },
        },
        Lemma {
            number: "C45",
            form: Form::Printed,
            says: Invariant {
                name: "the exchange of news on leaving is the same case by case as by the larger number",
                holds: exchange_is_told_by_cases,
            },
        },
    ];
}

fn token_knows_who_waits<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    taken_for_requesting(cut).all(|node| own_state(cut, node) == State::R)
}

fn token_knows_who_waits_or_is_inside<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    taken_for_requesting(cut).all(|node| matches!(own_state(cut, node), State::R | State::E))
}

fn every_pair_is_acquainted<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let is_acquainted = |i: NodeId| NodeId::first(i.index()).all(|j| takes(cut, i, j) || takes(cut, j, i));
    !is_quiet(cut) || cut.states().all(|(i, _)| is_acquainted(i))
}

fn every_track_leads_to_the_token<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let leads = |(me, _)| {
        let track = std::iter::successors(Some(me), |&node| Some(cut.state(node).vectors().to));
        track.take(cut.nodes.len()).any(|node| cut.state(node).vectors().token.is_some())
    };
    !is_quiet(cut) || cut.states().all(leads)
}

/// One of each pair takes the other for requesting, and no two nodes take equally many: that is a total order.
fn vectors_are_totally_ordered<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let nodes = || NodeId::first(cut.nodes.len());
    let is_one_sided = |i: NodeId| NodeId::first(i.index()).all(|j| takes(cut, i, j) != takes(cut, j, i));
    let ranks = nodes().map(|i| NodeId::new(nodes().filter(|&j| takes(cut, i, j)).count()));
    !is_quiet(cut) || (nodes().all(is_one_sided) && ranks.collect::<NodeSet>().len() == cut.nodes.len())
}

fn exchange_is_told_by_cases<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    cut.states().all(|(_, node)| node.vectors().exchanges_case_by_case())
}

fn taken_for_requesting<'a, A: Vectors>(cut: &Cut<'a, A>) -> impl Iterator<Item = NodeId> {
    let entries = tokens(cut, A::vectors).flat_map(|token| token.iter());
    entries.filter(|(_, told)| told.state == State::R).map(|(node, _)| node)
}

fn own_state<A: Vectors>(cut: &Cut<'_, A>, node: NodeId) -> State {
    cut.state(node).vectors().known[node].state
}

/// Whether i takes another node j for requesting.
fn takes<A: Vectors>(cut: &Cut<'_, A>, i: NodeId, j: NodeId) -> bool {
    i != j && cut.state(i).vectors().known[j].state == State::R
}

/// No message is in flight, and no node waits or is inside.
fn is_quiet<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    cut.in_flight.is_empty() && cut.nodes.iter().all(|node| node.phase() == Phase::Outside)
}
