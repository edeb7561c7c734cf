//! Lamport's algorithm in which a request is stamped before its node knows of it (E14).
//!
//! The application stamps its request when it asks and tells the node by a message to itself; only when that message
//! arrives is the request queued and sent to the others. Meanwhile the node answers as one that does not want in. Who got
//! such an answer believes that nothing older than it can still come from there, and then comes the request with the
//! early stamp.
//!
//! Two nodes with fifo channels and six steps suffice. Both ask, with the stamps (1, 1) and (1, 2); 2 learns of its own
//! request first, sends it to 1 and is answered. Now 1 learns of its own request, which is the older one, and enters. The
//! answer reaches 2, which has heard something younger from 1 and of no older request, and enters as well.

use doorway_core::{About, Algorithm, Entry, Explain, Factory, NodeId, NodeSet, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::lamport::{ABOUT, Lamport, Msg};

/// The stamp is taken in one step, and the request queued and sent in another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StampedEarly;

impl Fault for StampedEarly {
    type Of = Lamport;

    fn on_request(of: &mut Lamport, out: &mut Out<Msg>) {
        let stamp = of.clock.stamp(of.me);
        out.rule("ask");
        out.send(of.me, Msg::Request(stamp));
    }

    fn on_message(of: &mut Lamport, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(stamp) if from == of.me => {
                of.requests[of.me] = Some(stamp);
                out.rule("ask");
                out.multicast(&of.others, Msg::Request(stamp));
                of.enter_if_oldest(out);
            }
            Msg::Request(_) | Msg::Reply(_) | Msg::Release(_) => of.on_message(from, msg, out),
        }
    }

    /// Until its request has reached it, a node waits for itself.
    fn waits_for(of: &Lamport) -> NodeSet {
        if of.requests[of.me].is_some() { of.waits_for() } else { [of.me].into_iter().collect() }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<StampedEarly>> {
    Entry {
        about: About {
            name: "lamport/stamped-early",
            title: "Lamport, stamped early",
            source: include_str!("lamport_stamped_early.rs"),
            specimen: Some(Specimen {
                id: "E14",
                of: "lamport",
                wrong: "a request is stamped when the application asks, before the node's state changes",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_| Ok(Factory::simple(|me, members, start| Spoiled::new(Lamport::new(me, members, start)))),
    }
}
