//! Suzuki and Kasami's algorithm in which a node that leaves looks up its own entry of the token for every node (E2).
//!
//! Whether node j still waits is told by its entries: `RN[j] = LN[j] + 1` if it has asked once more than it was served.
//! Here the node i that leaves compares with `LN[i] + 1` instead. As soon as i has been served more often than j, the
//! request of j is taken for an old one. The token then lies idle at i, and j, whose REQUEST has been delivered, never
//! asks again.
//!
//! Two nodes and six steps suffice: 1 has the token and enters and leaves, then enters again; 2 asks for the first time,
//! its REQUEST arrives, and 1 leaves. `LN[1] + 1` is 3 and `RN[2]` is 1, so 2 waits for ever.

use doorway_core::{About, Entry, Factory, Invariant, ONE_TOKEN, Out, Phase, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::suzuki_kasami::{self, Msg, SuzukiKasami};

/// The wrong entry is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct OwnEntry;

impl Fault for OwnEntry {
    type Of = SuzukiKasami;

    fn on_release(of: &mut SuzukiKasami, out: &mut Out<Msg>) {
        of.phase = Phase::Outside;
        let Some(token) = &mut of.token else { return out.broken("left without the token") };
        token.served[of.me] = of.requested[of.me];
        for node in of.me.around(of.requested.len()) {
            if !token.queue.contains(node) && of.requested[node] == token.served[of.me] + 1 {
                token.queue.push(node);
            }
        }
        of.pass_on(out);
    }

    fn invariants() -> &'static [Invariant<Spoiled<Self>>] {
        &[Invariant {
            name: ONE_TOKEN,
            holds: |cut| {
                cut.tokens(|_, node| node.of.token.is_some(), |msg| matches!(msg, Msg::Token(_))) == 1
            },
        }]
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<OwnEntry>> {
    Entry {
        about: About {
            name: "suzuki-kasami/own-entry",
            title: "Suzuki–Kasami with the wrong entry",
            source: include_str!("suzuki_kasami_own_entry.rs"),
            specimen: Some(Specimen {
                id: "E2",
                of: "suzuki-kasami",
                wrong: "who leaves tests RN[j] = LN[i] + 1, with its own entry i, instead of LN[j] + 1",
                verdict: "deadlock",
            }),
            ..suzuki_kasami::ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| Spoiled::new(SuzukiKasami::new(me, members, start))))
        },
    }
}
