//! Lamport's algorithm with stamps that can be equal (E15).
//!
//! A program that keeps the stamp in one floating-point number, with a hundredth of the node's number as tie-break, takes
//! over the fraction of others when it merges its clock, and then two requests can have the very same stamp. The model of
//! that is a stamp whose node does not count. Of two equal requests neither is older, so neither waits for the other.
//!
//! Two nodes and six steps suffice: both ask with the same count, both REQUESTs arrive, and each REPLY lets one in.

use doorway_core::{About, Entry, Factory, NodeId, NodeSet, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::lamport::{ABOUT, Lamport, Msg};

/// Stamps are compared by their counts alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct EqualStamps;

impl Fault for EqualStamps {
    type Of = Lamport;

    fn on_message(of: &mut Lamport, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        of.take_note(from, msg, out);
        let waits = of.requests[of.me].is_some() && !of.inside;
        if waits && Self::waits_for(of).is_empty() {
            of.inside = true;
            out.enter();
        }
    }

    fn waits_for(of: &Lamport) -> NodeSet {
        let Some(mine) = of.requests[of.me] else { return NodeSet::new() };
        let is_ahead = |node: &NodeId| {
            of.last[*node].counter <= mine.counter
                || of.requests[*node].is_some_and(|theirs| theirs.counter < mine.counter)
        };
        of.others.iter().filter(is_ahead).collect()
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<EqualStamps>> {
    Entry {
        about: About {
            name: "lamport/equal-stamps",
            title: "Lamport with equal stamps",
            source: include_str!("lamport_equal_stamps.rs"),
            specimen: Some(Specimen {
                id: "E15",
                of: "lamport",
                wrong: "stamps have no node as tie-break, so that two requests can be equally old",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| Ok(Factory::simple(|me, members, start| Spoiled::new(Lamport::new(me, members, start)))),
    }
}
