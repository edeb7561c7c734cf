//! Raymond's algorithm in which the token is handed over even while its holder is inside (E12).
//!
//! A REQUEST that reaches the node with the token is answered at once, without a look at whether that node is in its
//! section. The one who asked enters with the token while the other has not left.
//!
//! Two nodes and four steps suffice: 1, the root, enters; 2 asks; its REQUEST arrives; the TOKEN arrives, and both are
//! inside.

use doorway_core::{About, Algorithm, Entry, NodeId, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::raymond::{self, Msg, Raymond};

/// A message is handled as if the node were not inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct TokenAwayWhileInside;

impl Fault for TokenAwayWhileInside {
    type Of = Raymond;

    fn on_message(of: &mut Raymond, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        let was_using = std::mem::take(&mut of.using);
        of.on_message(from, msg, out);
        of.using |= was_using;
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<TokenAwayWhileInside>> {
    Entry {
        about: About {
            name: "raymond/token-away-while-inside",
            title: "Raymond without a look inside",
            source: include_str!("raymond_token_away_while_inside.rs"),
            specimen: Some(Specimen {
                id: "E12",
                of: "raymond",
                wrong: "the root sends the token away while it is inside",
                verdict: "exclusion violated",
            }),
            ..raymond::ABOUT
        },
        bind: |options| raymond::planted(options, Spoiled::new),
    }
}
