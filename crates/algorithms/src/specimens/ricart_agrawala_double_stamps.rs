//! Ricart and Agrawala's algorithm with floating-point stamps (E15b).
//!
//! The stamp is one number, as printed: the count, and the node's number in hundredths as tie-break. A node that receives a larger
//! number takes it over as its clock, fraction and all, and has lost its own tie-break: two nodes can then stamp their requests
//! alike. A node that waits defers only what is younger than its own request; what is equally old it answers at once.
//!
//! Two nodes and ten steps suffice. 1 asks with 1.01, and its REQUEST arrives: 2 takes 1.01 over, answers, and asks with 2.01.
//! The answer arrives; 1 enters, leaves, and asks again, with 2.01 too. Both REQUESTs arrive and are answered, and each REPLY lets
//! one in.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, Out, Specimen};
use serde::Serialize;

use super::double_stamps::{started, widen};
use super::ricart_agrawala_equal_stamps::EqualStamps;
use super::spoiled::{Fault, Spoiled};
use crate::message::ricart_agrawala::{ABOUT, Msg, RicartAgrawala};

/// The clock counts in hundredths, and stamps are compared as the numbers that they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DoubleStamps;

impl Fault for DoubleStamps {
    type Of = RicartAgrawala;

    fn on_request(of: &mut RicartAgrawala, out: &mut Out<Msg>) {
        widen(&mut of.clock, 1);
        of.on_request(out);
    }

    fn on_message(of: &mut RicartAgrawala, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        EqualStamps::on_message(of, from, msg, out);
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<DoubleStamps>> {
    Entry {
        about: About {
            name: "ricart-agrawala/double-stamps",
            title: "Ricart–Agrawala with floating-point stamps",
            source: include_str!("ricart_agrawala_double_stamps.rs"),
            specimen: Some(Specimen {
                id: "E15b",
                of: "ricart-agrawala",
                wrong: "a stamp is the count plus a hundredth of the node's number, and a clock takes over the fraction of others",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| {
                let mut of = RicartAgrawala::new(me, members, start);
                of.clock = started(me);
                Spoiled::new(of)
            }))
        },
    }
}
