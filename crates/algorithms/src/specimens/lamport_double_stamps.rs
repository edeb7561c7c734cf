//! Lamport's algorithm with floating-point stamps (E15b).
//!
//! The stamp is one number, as printed: the count, and the node's number in hundredths as tie-break. A node that receives a larger
//! number takes it over as its clock, fraction and all, and has lost its own tie-break: two nodes can then stamp their requests
//! alike. Of two equal requests neither is older, so neither waits for the other.
//!
//! Two nodes with fifo channels and eleven steps suffice. 1 asks with 1.01; 2 takes that over and answers with 3.01, and 1 enters
//! and leaves with 4.01. When the RELEASE has arrived both ask, both with 5.01; both REQUESTs arrive, and each REPLY lets one in.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, NodeSet, Out, Specimen};
use serde::Serialize;

use super::double_stamps::{started, widen};
use super::lamport_equal_stamps::EqualStamps;
use super::spoiled::{Fault, Spoiled};
use crate::message::lamport::{ABOUT, Lamport, Msg};

/// The clock counts in hundredths, and stamps are compared as the numbers that they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct DoubleStamps;

impl Fault for DoubleStamps {
    type Of = Lamport;

    fn on_request(of: &mut Lamport, out: &mut Out<Msg>) {
        widen(&mut of.clock, 1);
        of.on_request(out);
    }

    fn on_message(of: &mut Lamport, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        if let Msg::Request(stamp) = msg {
            // Its receipt and the REPLY to it are two events, both after the merge.
            of.clock.merge(stamp.counter);
            widen(&mut of.clock, 2);
        }
        EqualStamps::on_message(of, from, msg, out);
    }

    fn on_release(of: &mut Lamport, out: &mut Out<Msg>) {
        widen(&mut of.clock, 1);
        of.on_release(out);
    }

    fn waits_for(of: &Lamport) -> NodeSet {
        EqualStamps::waits_for(of)
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<DoubleStamps>> {
    Entry {
        about: About {
            name: "lamport/double-stamps",
            title: "Lamport with floating-point stamps",
            source: include_str!("lamport_double_stamps.rs"),
            specimen: Some(Specimen {
                id: "E15b",
                of: "lamport",
                wrong: "a stamp is the count plus a hundredth of the node's number, and a clock takes over the fraction of others",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| {
                let mut of = Lamport::new(me, members, start);
                of.clock = started(me);
                Spoiled::new(of)
            }))
        },
    }
}
