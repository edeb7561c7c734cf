//! Carvalho and Roucairol's algorithm in which a permission that is given up is not asked back (E27a).
//!
//! A node that waits and hears of an older request replies and so loses the permission of the one who asked. It did not
//! ask for that permission when its own request began, because it had it then; so it must ask now. Here it does not, and
//! waits for a reply to a REQUEST that was never sent.
//!
//! Three nodes with fifo channels and 21 steps suffice. 1 and 2 ask, and 3 after it has heard of 1; 1 enters, leaves and
//! asks again, with the permission of 3 still in hand. Only now the older request of 3 reaches 1, which replies and has
//! no longer that permission. 2 enters and leaves, then 3 does. Nothing is in flight, and 1 waits for 3.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::carvalho_roucairol::{self, CarvalhoRoucairol, Msg};

/// The reply is sent, and that is all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NoAskingBack;

impl Fault for NoAskingBack {
    type Of = CarvalhoRoucairol;

    fn on_message(of: &mut CarvalhoRoucairol, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) if !of.state.goes_before(request) => {
                of.clock.merge(request.counter);
                of.clock.tick();
                of.missing.insert(from);
                out.rule("reply");
                out.send(from, Msg::Reply(request));
            }
            Msg::Request(_) | Msg::Reply(_) => of.on_message(from, msg, out),
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<NoAskingBack>> {
    Entry {
        about: About {
            name: "carvalho-roucairol/no-asking-back",
            title: "Carvalho–Roucairol, not asking back",
            source: include_str!("carvalho_roucairol_no_asking_back.rs"),
            specimen: Some(Specimen {
                id: "E27a",
                of: "carvalho-roucairol",
                wrong: "who gives up a permission while it waits does not ask for it back",
                verdict: "deadlock",
            }),
            ..carvalho_roucairol::ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| Spoiled::new(CarvalhoRoucairol::new(me, members, start))))
        },
    }
}
