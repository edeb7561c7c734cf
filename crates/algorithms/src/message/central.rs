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

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node; the coordinator's part of the state is empty at all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Central {
    me: NodeId,
    /// The node that decides.
    server: NodeId,
    /// How often this node has asked.
    number: u64,
    /// At the server: who was let in and has not left.
    busy: Option<Ticket>,
    /// At the server: who waits, in order of arrival.
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

impl Explain for Central {
    fn fields(&self) -> Vec<Field> {
        if self.me != self.server {
            return vec![Field::new("requests made", self.number)];
        }
        let queue = self.queue.iter().map(|ticket| ticket.client);
        vec![Field::optional("busy with", self.busy.map(|t| t.client)), Field::list("queue", queue)]
    }

    fn waits_for(&self) -> NodeSet {
        let blocker = if self.me == self.server { self.busy.map(|t| t.client) } else { Some(self.server) };
        blocker.into_iter().collect()
    }

    fn permission(&self) -> Permission {
        match self.busy {
            _ if self.me != self.server => Permission::None,
            Some(ticket) => Permission::GivenTo(ticket.client),
            None => Permission::Free,
        }
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule { name: "ask", text: "A client that wants in sends its REQUEST to the server." },
            Rule { name: "grant", text: "When nobody is inside, the server lets the first of its queue in." },
            Rule { name: "leave", text: "A client that leaves tells the server." },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "the server is busy exactly while a GRANT, a client inside or a RELEASE accounts for it",
            holds: |cut| {
                let flying = cut.flying(|letter| !matches!(letter.msg, Msg::Request(_)));
                let inside = cut.nodes.iter().filter(|node| node.phase() == Phase::Inside).count();
                flying + inside == usize::from(cut.state(NodeId::new(0)).busy.is_some())
            },
        }]
    }
}

impl Hints for Central {
    /// A RELEASE lets the first of the queue in, or whoever comes next if nobody waits: the same one, whether others arrive
    /// before the RELEASE or after it. If the first is the server itself, it would enter.
    fn commutes(&self, _: NodeId, msg: &Msg, _: Ahead) -> bool {
        let first = self.queue.front();
        matches!(msg, Msg::Release(_)) && first.is_none_or(|first| first.client != self.me)
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        show(Group::Requests(self.me), &mut self.number);
        let tickets = self.busy.iter_mut().chain(&mut self.queue);
        tickets.for_each(|ticket| show(Group::Requests(ticket.client), &mut ticket.number));
        true
    }

    fn counters_in(from: NodeId, to: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        match msg {
            Msg::Request(number) | Msg::Release(number) => show(Group::Requests(from), number),
            Msg::Grant(number) => show(Group::Requests(to), number),
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Central> {
    Entry {
        about: About {
            name: "central",
            title: "Central coordinator",
            family: Family::Central,
            needs: Channels::Any,
            messages: "3, 0 for the server",
            cost: |_| [0.0, 3.0],
            delay: "2T",
            parameters: &[],
            source: include_str!("central.rs"),
            specimen: None,
        },
        bind: |_| Ok(Factory::simple(Central::new)),
    }
}
