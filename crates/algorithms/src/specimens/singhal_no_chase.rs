//! Singhal's algorithm as printed, without the chase (E11).
//!
//! A node asks only the nodes that it takes for requesting, and learns from the token who no longer is. So it can strike a
//! peer off its list while its own REQUEST to that peer is still under way, and then ask again without asking that peer.
//! If the token goes there meanwhile, with the news of the first request, then the first REQUEST is old when it arrives,
//! and of the second the peer never hears. Fifo channels do not prevent that, since the news comes through a third node.
//! Causal delivery does, and under it the algorithm is right, with about N/2 messages at light load.
//!
//! Three nodes with fifo channels and fifteen steps suffice: 2 and 3 ask, 3 gets the token from 1, enters and leaves; 1
//! asks for it, 3 gives it back and asks a second time, which now means to ask 1 alone. 1 enters, leaves, and gives the
//! token to 2, which enters, leaves and keeps it. Only now the first REQUEST of 3 reaches 2, which knows it from the
//! token. 3 waits for ever.

use doorway_core::{About, Channels, Cost, Entry, Invariant, NodeSet, ONE_TOKEN, Out, Scale, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::singhal::{self, Msg, Singhal, State};

/// Only those are asked that are taken for requesting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NoChase;

impl Fault for NoChase {
    type Of = Singhal;

    fn on_request(of: &mut Singhal, out: &mut Out<Msg>) {
        let mine = &mut of.known[of.me];
        mine.number += 1;
        if mine.state == State::H {
            mine.state = State::E;
            return out.enter();
        }
        mine.state = State::R;
        let likely: NodeSet = of.requesting().collect();
        out.rule("ask");
        out.multicast(&likely, of.my_request(false));
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
pub fn entry() -> Entry<Spoiled<NoChase>> {
    Entry {
        about: About {
            name: "singhal/no-chase",
            title: "Singhal as printed",
            needs: Channels::Causal,
            messages: Cost {
                formula: "≈ N/2 … N",
                bounds: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] },
            },
            source: include_str!("singhal_no_chase.rs"),
            specimen: Some(Specimen {
                id: "E11",
                of: "singhal",
                wrong: "without the chase a node drops a peer from its list while its REQUEST to it is in flight",
                verdict: "deadlock, even on fifo channels; right under causal delivery",
            }),
            ..singhal::ABOUT
        },
        bind: |options| singhal::arbitrated(options, Spoiled::new),
    }
}
