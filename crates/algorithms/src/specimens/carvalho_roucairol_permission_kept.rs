//! Carvalho and Roucairol's algorithm in which a node that replies keeps the other's permission (E27b).
//!
//! Of two nodes only one can have the other's permission: who replies gives it away and loses what it had. Here a node
//! that waits and replies to an older request keeps the permission of the one who asked, so each of the two has that of
//! the other, and nothing is left that keeps them apart.
//!
//! Three nodes with fifo channels and 20 steps suffice. 1 and 2 ask, and 3 after it has heard of 1; 1 enters, leaves and
//! asks again, with the permission of 3 still in hand. The older request of 3 reaches 1, which replies and keeps what it
//! has. 2 enters, leaves and replies to both: 1 enters, and so does 3.

use doorway_core::{About, Algorithm, Entry, Factory, NodeId, Out, Specimen};
use serde::Serialize;

use super::spoiled::{Fault, Spoiled};
use crate::message::carvalho_roucairol::{self, CarvalhoRoucairol, Msg};

/// The reply is sent, and nothing is given up for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PermissionKept;

impl Fault for PermissionKept {
    type Of = CarvalhoRoucairol;

    fn on_message(of: &mut CarvalhoRoucairol, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) if !of.state.goes_before(request) => {
                of.clock.merge(request.counter);
                of.clock.tick();
                out.rule("reply");
                out.send(from, Msg::Reply(request));
            }
            Msg::Request(_) | Msg::Reply(_) => of.on_message(from, msg, out),
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Spoiled<PermissionKept>> {
    Entry {
        about: About {
            name: "carvalho-roucairol/permission-kept",
            title: "Carvalho–Roucairol, keeping permissions",
            source: include_str!("carvalho_roucairol_permission_kept.rs"),
            specimen: Some(Specimen {
                id: "E27b",
                of: "carvalho-roucairol",
                wrong: "a node keeps the permission of one to whose request it replies",
                verdict: "exclusion violated",
            }),
            ..carvalho_roucairol::ABOUT
        },
        bind: |_| {
            Ok(Factory::simple(|me, members, start| Spoiled::new(CarvalhoRoucairol::new(me, members, start))))
        },
    }
}
