//! Central coordinator.
//!
//! The oldest idea, told in every textbook: one node decides for all. Clients ask it, it lets them in one at a time in
//! the order in which their requests arrive, and they tell it when they leave.
//!
//! Messages: 3 per entry (REQUEST, GRANT, RELEASE); 0 when the coordinator itself enters. Delay: 2T.
//! Needs: channels of any order. Fair in order of arrival, which need not be the order of asking: a request that
//! happened before another can arrive, and be served, after it.
//!
//! Here the coordinator is node 1 and may be a client as well; then it answers itself in the same step.

use std::collections::VecDeque;

use doorway_core::{About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, Out, Start};
use serde::{Deserialize, Serialize};

/// One node; the coordinator's part of the state is empty at all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Central {
    me: NodeId,
    /// The node that decides.
    server: NodeId,
    /// The number of requests this node has made.
    number: u64,
    /// At the server: the client that was let in and has not left.
    busy: Option<Ticket>,
    /// At the server: the waiting clients, in order of arrival.
    queue: VecDeque<Ticket>,
}

/// One request of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
struct Ticket {
    client: NodeId,
    number: u64,
}

/// Each message names the client's request by its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// A client wants in.
    Request(u64),
    /// The server lets it in.
    Grant(u64),
    /// The client has left.
    Release(u64),
}

impl Central {
    /// Node `me` of a system whose first node decides.
    pub fn new(me: NodeId, _: &Members, start: Start) -> Self {
        let server = NodeId::new(0);
        let busy = start.holder().filter(|_| me == server).map(|client| Ticket { client, number: 1 });
        Self { me, server, number: u64::from(start.is_inside(me)), busy, queue: VecDeque::new() }
    }

    fn serve(&mut self, out: &mut Out<Msg>) {
        if self.busy.is_none() {
            self.busy = self.queue.pop_front();
            if let Some(Ticket { client, number }) = self.busy {
                out.rule("grant");
                out.send(client, Msg::Grant(number));
            }
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(_) | Msg::Release(_) if self.me != self.server => {
                out.broken("REQUEST or RELEASE to a node that is not the server");
            }
            Msg::Request(number) => {
                self.queue.push_back(Ticket { client: from, number });
                self.serve(out);
            }
            Msg::Grant(number) if number == self.number => out.enter(),
            Msg::Grant(_) => out.broken("GRANT for a request that was not made"),
            Msg::Release(number) if self.busy == Some(Ticket { client: from, number }) => {
                self.busy = None;
                self.serve(out);
            }
            Msg::Release(_) => out.broken("RELEASE from a node that was not let in"),
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for Central {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.number += 1;
        out.rule("ask");
        out.send(self.server, Msg::Request(self.number));
        self.answer_self(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.handle(from, msg, out);
        self.answer_self(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        out.rule("leave");
        out.send(self.server, Msg::Release(self.number));
        self.answer_self(out);
    }
}

mod proof;

/// Its place in the catalog.
pub fn entry() -> Entry<Central> {
    Entry {
        about: About {
            name: "central",
            title: "Central coordinator",
            family: Family::Central,
            needs: Channels::Any,
            messages: Cost { formula: "3, 0 for the server", bounds: |_| [0.0, 3.0] },
            delay: "2T",
            parameters: &[],
            source: include_str!("central.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(Central::new)),
    }
}
