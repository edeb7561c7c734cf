//! The lemmas and theorems on Singhal's algorithm, to be checked in every reachable state: as printed, and corrected.
//!
//! The paper argues the correctness of the algorithm from its vectors. Some lemmas are false as printed. A node that is
//! given the idle token is inside, and the token still says that it requests (E22). And while a REQUEST is in flight, the
//! news can overtake it by way of the token, so that of two nodes neither will ask the other when all is quiet again
//! (E11): first-in first-out channels do not prevent it, causal delivery does. With the chase that still happens, but does
//! no harm, because a request now also follows the track of the token.
//!
//! The printed wording of the lemmas 4.1.2 to 4.1.5 was not available, only which of them hold on the printed code and after
//! how many steps the others fail. What stands here under these numbers is our reading ([`Form::Read`]). It was chosen by these
//! outcomes, among about forty statements of the kind by which one would argue from the vectors to theorems 4.2 and 4.3; so that the
//! outcomes agree says nothing for the wording, and several other statements have the same ones.
//!
//! These are not invariants of the algorithm. To find out where one holds, let a checker run the algorithm [`held`] to it.
//!
//! ```
//! use doorway_algorithms::lemmas::{Form, Lemma};
//! use doorway_algorithms::message::singhal::Singhal;
//!
//! let printed = Lemma::<Singhal>::ALL.iter().filter(|lemma| lemma.form == Form::Printed);
//! assert_eq!(printed.map(|lemma| lemma.number).collect::<Vec<_>>(), ["L4.1.1", "S4.2", "S4.3", "C45"]);
//! let read = Lemma::<Singhal>::ALL.iter().filter(|lemma| lemma.form == Form::Read);
//! assert_eq!(read.map(|lemma| lemma.number).collect::<Vec<_>>(), ["L4.1.2", "L4.1.3", "L4.1.4", "L4.1.5"]);
//! ```

mod held;

use doorway_core::{Algorithm, Cut, InFlightMessage, Invariant, NodeId, NodeSet, Phase};

use crate::message::singhal::proof::tokens;
use crate::message::singhal::{Msg, Singhal, State};
use crate::specimens::spoiled::{Fault, Spoiled};
pub use held::{CountedTogether, Held, LemmaAt, NeverFalls, Statement, held};

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
    /// Our reading of a lemma whose printed wording was not available.
    Read,
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
            number: "L4.1.2",
            form: Form::Read,
            says: Invariant {
                name: "one node holds the token or is inside with it, or the token is on its way to a node that waits",
                holds: token_is_in_one_place,
            },
        },
        Lemma {
            number: "L4.1.3",
            form: Form::Read,
            says: Invariant {
                name: "when no REQUEST is in flight, every request is known where the token is, or to the token",
                holds: every_request_has_reached_the_token,
            },
        },
        Lemma {
            number: "L4.1.4",
            form: Form::Read,
            says: Invariant {
                name: "when all is quiet, every node takes the one with the token for requesting",
                holds: every_node_would_ask_the_holder,
            },
        },
        Lemma {
            number: "L4.1.5",
            form: Form::Read,
            says: Invariant {
                name: "when all is quiet, there is no ring of nodes that each take the next for requesting",
                holds: no_ring_of_vectors,
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

/// The states of the paper and the phases of the nodes say the same: a node inside has the state E and the token.
fn token_is_in_one_place<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let has_it = |node: &NodeId| matches!(own_state(cut, *node), State::E | State::H);
    let is_consistent = |(node, state): (NodeId, &A)| {
        let is_inside = cut.phase(node) == Phase::Inside;
        is_inside == (own_state(cut, node) == State::E) && has_it(&node) == state.vectors().token.is_some()
    };
    let flying = destinations(cut).collect::<Vec<_>>();
    cut.states().all(is_consistent)
        && NodeId::first(cut.nodes.len()).filter(has_it).count() + flying.len() == 1
        && flying.iter().all(|node| own_state(cut, *node) == State::R)
}

fn every_request_has_reached_the_token<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let is_request = |letter: &InFlightMessage<'_, Msg>| matches!(letter.msg, Msg::Request { .. });
    let place = cut.states().find(|(_, node)| node.vectors().token.is_some()).map(|(node, _)| node);
    let Some(place) = place.or_else(|| destinations(cut).next()) else { return false };
    let is_known = |node: NodeId| {
        let mine = cut.state(node).vectors().known[node];
        cut.state(place).vectors().known[node] == mine
            || tokens(cut, A::vectors).any(|token| token[node] == mine)
    };
    let mut waiting = cut.states().map(|(node, _)| node).filter(|&node| own_state(cut, node) == State::R);
    cut.in_flight.iter().any(is_request) || waiting.all(|node| node == place || is_known(node))
}

fn every_node_would_ask_the_holder<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let mut holders = cut.states().filter(|(_, node)| node.vectors().token.is_some());
    let is_asked = |holder: NodeId| cut.states().all(|(node, _)| node == holder || takes(cut, node, holder));
    !is_quiet(cut) || holders.all(|(holder, _)| is_asked(holder))
}

/// As long as there is a node that takes none of the rest for requesting, it can be left out: only a ring stays.
fn no_ring_of_vectors<A: Vectors>(cut: &Cut<'_, A>) -> bool {
    let mut rest: NodeSet = NodeId::first(cut.nodes.len()).collect();
    let takes_none = |node: NodeId, rest: &NodeSet| !rest.iter().any(|other| takes(cut, node, other));
    while let Some(first) = rest.iter().find(|node| takes_none(*node, &rest)) {
        rest = rest.without(first);
    }
    !is_quiet(cut) || rest.is_empty()
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

/// To where tokens are in flight.
fn destinations<A: Vectors>(cut: &Cut<'_, A>) -> impl Iterator<Item = NodeId> {
    let tokens = cut.in_flight.iter().filter(|letter| matches!(letter.msg, Msg::Token(_)));
    tokens.map(|letter| letter.to)
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
