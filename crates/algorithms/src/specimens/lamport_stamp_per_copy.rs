//! Lamport's algorithm in which each copy of a REQUEST has a stamp of its own (E13).
//!
//! The request goes to one node after the other, to its own node last or in between, and each sending ticks the clock and
//! stamps its copy. The copy that a node sends to itself is the one that it queues. The others are asked with older stamps
//! than that, so a REPLY that is younger than the copy which it answers need not be younger than the request that waits
//! for it; and no second REPLY comes.
//!
//! Three nodes and seven steps suffice, and only 3 needs to ask: 3 sends itself the last and youngest copy, (3, 3);
//! the REPLY of 1 to its first copy has the stamp (3, 1), which is older. All six messages arrive, and 3 waits for ever.

use doorway_core::{About, Entry, Explain, Factory, NodeId, NodeSet, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::lamport::{ABOUT, Lamport, Msg};

/// A stamp for each copy, and a copy for oneself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StampPerCopy;

impl Fault for StampPerCopy {
    type Of = Lamport;

    fn on_request(of: &mut Lamport, out: &mut Out<Msg>) {
        out.rule("ask");
        for node in NodeId::first(of.requests.len()) {
            out.send(node, Msg::Request(of.clock.stamp(of.me)));
        }
    }

    /// Until its request has come back to it, a node waits for itself.
    fn waits_for(of: &Lamport) -> NodeSet {
        if of.requests[of.me].is_some() { of.waits_for() } else { [of.me].into_iter().collect() }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<StampPerCopy>> {
    Entry {
        about: About {
            name: "lamport/stamp-per-copy",
            title: "Lamport with a stamp per copy",
            source: include_str!("lamport_stamp_per_copy.rs"),
            specimen: Some(Specimen {
                id: "E13",
                of: "lamport",
                wrong: "each copy of a REQUEST carries its own stamp",
                verdict: "a lone node waits for ever",
            }),
            ..ABOUT
        },
        bind: |_| Ok(Factory::simple(|me, members, start| Spoiled::new(Lamport::new(me, members, start)))),
    }
}
