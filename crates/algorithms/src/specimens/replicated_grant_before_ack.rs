//! The replicated coordinator that does not wait for its backups (E30).
//!
//! The primary sends its book to the backups and lets the first client in at once, as if all had acknowledged. If it crashes
//! before its UPDATE arrives, the next primary does not know who is inside.
//!
//! Three nodes suffice: 3 asks and is let in; 1 crashes; 2 hears of that and takes over with an empty book; it asks itself,
//! and enters while 3 is inside.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::replicated::{self, Msg, Replicated};

/// Every book counts as acknowledged as soon as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct GrantBeforeAck;

fn pretend(of: &mut Replicated, out: &mut Out<Msg>) {
    let last = of.book.last;
    of.acknowledged.iter_mut().for_each(|(_, acknowledged)| *acknowledged = Some(last));
    of.serve(out);
    of.answer_self(out);
}

impl Fault for GrantBeforeAck {
    type Of = Replicated;

    fn on_request(of: &mut Replicated, out: &mut Out<Msg>) {
        of.on_request(out);
        pretend(of, out);
    }

    fn on_message(of: &mut Replicated, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        of.on_message(from, msg, out);
        pretend(of, out);
    }

    fn on_crash(of: &mut Replicated, node: NodeId, out: &mut Out<Msg>) {
        of.on_crash(node, out);
        pretend(of, out);
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<GrantBeforeAck>> {
    Entry {
        about: About {
            name: "replicated/grant-before-ack",
            title: "Replicated coordinator that does not wait",
            source: include_str!("replicated_grant_before_ack.rs"),
            specimen: Some(Specimen {
                id: "E30",
                of: "replicated",
                wrong: "the primary lets a client in before its backups know of it",
                verdict: "exclusion violated after a crash",
            }),
            ..replicated::ABOUT
        },
        bind: |_| Ok(Factory::simple(|me, members, start| Spoiled::new(Replicated::new(me, members, start)))),
    }
}
