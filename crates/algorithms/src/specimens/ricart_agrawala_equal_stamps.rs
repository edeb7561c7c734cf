//! Ricart and Agrawala's algorithm with stamps that can be equal (E15).
//!
//! A program that keeps the stamp in one floating-point number, with a hundredth of the node's number as tie-break, takes
//! over the fraction of others when it merges its clock, and then two requests can have the very same stamp. The model of
//! that is a stamp whose node does not count. A node that waits defers only what is younger than its own request; what is
//! equally old it answers at once.
//!
//! Two nodes and six steps suffice: both ask with the same count, both REQUESTs arrive and are answered, and each REPLY
//! lets one in.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::ricart_agrawala::{ABOUT, Msg, RicartAgrawala, State};

/// Of two requests with the same count neither is deferred.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct EqualStamps;

impl Fault for EqualStamps {
    type Of = RicartAgrawala;

    fn on_message(of: &mut RicartAgrawala, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match (&msg, of.state) {
            (Msg::Request(theirs), State::Wanted(mine)) if theirs.counter == mine.counter => {
                out.rule("reply");
                out.send(from, Msg::Reply { counter: theirs.counter, clock: of.clock });
            }
            _ => of.on_message(from, msg, out),
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<EqualStamps>> {
    Entry {
        about: About {
            name: "ricart-agrawala/equal-stamps",
            title: "Ricart–Agrawala with equal stamps",
            source: include_str!("ricart_agrawala_equal_stamps.rs"),
            specimen: Some(Specimen {
                id: "E15",
                of: "ricart-agrawala",
                wrong: "stamps have no node as tie-break, so that two requests can be equally old",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| Spoiled::new(RicartAgrawala::new(me, members, start))))
        },
    }
}
