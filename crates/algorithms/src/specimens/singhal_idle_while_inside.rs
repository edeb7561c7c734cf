//! Singhal's algorithm in which a node that enters with the idle token goes on being a holder (E10).
//!
//! A node that holds the idle token, state H, may enter without a message. Here it forgets to become E, executing,
//! when it does. A REQUEST that arrives then meets a holder who seems to have no use for the token and takes it away.
//!
//! Two nodes and four steps suffice: 1 holds the token and enters; 2 asks; its REQUEST arrives and is answered with the
//! TOKEN; the TOKEN arrives, and both are inside.

use doorway_core::{About, Algorithm, Entry, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::singhal::{self, Msg, Singhal, State};

/// The state stays at H.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct IdleWhileInside;

impl Fault for IdleWhileInside {
    type Of = Singhal;

    fn on_request(of: &mut Singhal, out: &mut Out<Msg>) {
        of.on_request(out);
        let mine = &mut of.known[of.me].state;
        if *mine == State::E {
            *mine = State::H;
        }
    }

    /// Whose token was taken away has none to pass on.
    fn on_release(of: &mut Singhal, out: &mut Out<Msg>) {
        match of.token {
            Some(_) => of.on_release(out),
            None => of.known[of.me].state = State::N,
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<IdleWhileInside>> {
    Entry {
        about: About {
            name: "singhal/idle-while-inside",
            title: "Singhal, idle while inside",
            source: include_str!("singhal_idle_while_inside.rs"),
            specimen: Some(Specimen {
                id: "E10",
                of: "singhal",
                wrong: "entering with the idle token leaves the state at H, so that a REQUEST takes the token away",
                verdict: "exclusion violated",
            }),
            ..singhal::ABOUT
        },
        bind: |options| singhal::arbitrated(options, Spoiled::new),
    }
}
