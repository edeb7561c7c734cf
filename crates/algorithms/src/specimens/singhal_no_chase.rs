//! Singhal's algorithm as printed, without the chase (E11).
//!
//! A node asks only those whom it takes for requesting, and learns from the token who no longer is. So it can strike a
//! peer off its list while its own REQUEST to that peer is still under way: the news in the token has overtaken it. When
//! the REQUEST arrives at last it is an old one or comes too late, the peer in turn asks somebody who has no token, and
//! everybody asks someone who cannot help. Fifo channels do not prevent that, since the overtaking goes through a third
//! node; causal delivery does, and under it the algorithm is right, with about N/2 messages at light load.
//!
//! Three nodes with fifo channels and fifteen steps suffice: 2 and 3 ask, 3 gets the token from 1, 1 asks again, gets it
//! back from 3, who asks a second time, and passes it to 2; all the time the first REQUEST from 3 to 2 is under way. 2 has
//! left and holds the token when it arrives. It is old news by now, since the token has told 2 of it, and the second
//! REQUEST of 3 went to 1 alone. 3 waits for ever.

use doorway_core::*;
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
            name: "there is exactly one token",
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
            messages: "≈ N/2 … N",
            cost: |Scale { n, .. }| if n > 1.0 { [0.0, n] } else { [0.0; 2] },
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
