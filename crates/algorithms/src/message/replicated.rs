//! Replicated coordinator: what if the coordinator fails?
//!
//! The central coordinator with backups, by the primary-backup approach (Alsberg, Day: *A principle for resilient sharing of
//! distributed resources*, 1976; Budhiraja, Marzullo, Schneider, Toueg: *The primary-backup approach*, 1993). The lowest
//! node that has not crashed is the primary; all others are clients and backups. The primary writes each REQUEST into its book,
//! sends the book to every backup (UPDATE), and lets a client in when the client is first in the book and every live backup has
//! acknowledged its ticket (ACK). So every live backup knows the ticket of the client inside.
//!
//! An oracle reports crashes. When the primary crashes, the next node takes over: it sends its copy of the book to the others
//! and grants the first ticket again. A client that has already left answers with another RELEASE. A waiting client sends its
//! REQUEST again to the new primary. A ticket carries the client's request number, so no request counts twice. A client that crashes loses its ticket: a section is free when its holder is reported to have crashed.
//!
//! Messages: 3 + 2(N−1) per entry: REQUEST, UPDATE and ACK of each backup, GRANT, RELEASE; 2(N−1) when the primary itself enters.
//! Delay: 2T as long as tickets are acknowledged while their clients wait; 4T from request to entry in an idle system.
//! Needs: FIFO channels, and a perfect failure detector if nodes crash. Fair in the order in which requests reach the
//! primary, as long as it does not crash.
//!
//! It tolerates N−1 crashes. It does not tolerate a wrong report: if a primary that is inside is reported as crashed, its ticket
//! is dropped and the next client enters as well. Nodes that cannot tell slow from crashed need majorities
//! and leases instead. Fences: a holder can crash before it tells any node of its fence, so the ticket carries the fence, and
//! the backups know it before the holder does.

// tidy: allow length, because it is a client, a primary, a backup and a fail-over in one.

use std::collections::VecDeque;

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, Members, NodeId, NodeSet, Out, PerNode, Phase,
    Start,
};
use serde::{Deserialize, Serialize};

/// One node: a client, and primary or backup.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Replicated {
    pub(crate) me: NodeId,
    /// The primary that this node knows of: all nodes before it have crashed.
    pub(crate) primary: NodeId,
    /// The nodes of which no crash was reported.
    pub(crate) alive: NodeSet,
    /// The number of requests that this node has made.
    pub(crate) number: u64,
    /// Where this node is as a client.
    pub(crate) phase: Phase,
    /// The primary's book, or a backup's copy of it.
    pub(crate) book: Book,
    /// At the primary: the last ticket that each backup has acknowledged, by its fence.
    pub(crate) acknowledged: PerNode<Option<u64>>,
    /// At the primary: the last ticket that it granted, by its fence.
    pub(crate) granted: Option<u64>,
}

/// The tickets of the clients inside and waiting, first come first served: at most one of each client.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Book {
    pub(crate) tickets: VecDeque<Ticket>,
    /// The fence of the last ticket written.
    pub(crate) last: u64,
}

/// One request of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    pub(crate) client: NodeId,
    pub(crate) number: u64,
    /// Its place in the order of all requests, and the fence of its entry.
    pub(crate) fence: u64,
}

/// A client's messages name its request by its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// A client wants in.
    Request(u64),
    /// The primary sends its book to a backup.
    Update(Book),
    /// The backup has the book, up to the ticket with this fence.
    Ack(u64),
    /// The primary lets a client in.
    Grant {
        /// Its request.
        number: u64,
        /// The fence of its entry.
        fence: u64,
    },
    /// A client has left.
    Release(u64),
}

impl Replicated {
    /// Node `me` of a system whose first node is the primary.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let first = start.holder().map(|client| Ticket { client, number: 1, fence: 1 });
        let primary = NodeId::new(0);
        Self {
            me,
            primary,
            alive: NodeSet::first(members.n()),
            number: u64::from(start.is_inside(me)),
            phase: if start.is_inside(me) { Phase::Inside } else { Phase::Outside },
            book: Book { tickets: first.into_iter().collect(), last: u64::from(first.is_some()) },
            acknowledged: PerNode::same(members.n(), None),
            granted: first.filter(|_| me == primary).map(|ticket| ticket.fence),
        }
    }

    pub(crate) fn is_primary(&self) -> bool {
        self.primary == self.me
    }

    /// The live nodes behind this one: its backups, when it is the primary.
    pub(crate) fn backups(&self) -> NodeSet {
        self.alive.iter().filter(|node| *node > self.me).collect()
    }

    /// Drops the tickets of crashed clients. The nodes before the primary have crashed, even if the report is still to come.
    fn drop_tickets_of_crashed(&mut self) {
        let Self { alive, primary, book, .. } = self;
        book.tickets.retain(|ticket| alive.contains(ticket.client) && ticket.client >= *primary);
    }

    /// A message or a report shows that this node is the primary now. A waiting client asks it, because the last primary may have
    /// crashed before it wrote the ticket.
    fn follow(&mut self, primary: NodeId, out: &mut Out<Msg>) {
        if primary <= self.primary {
            return;
        }
        self.primary = primary;
        self.drop_tickets_of_crashed();
        if primary == self.me {
            self.take_over(out);
        }
        if self.phase == Phase::Waiting {
            out.rule("ask again");
            out.send(primary, Msg::Request(self.number));
        }
    }

    /// The other backups may have another copy of the book, so nothing is granted before all have this one.
    fn take_over(&mut self, out: &mut Out<Msg>) {
        if !self.book.tickets.is_empty() {
            out.rule("take over");
            out.multicast(&self.backups(), Msg::Update(self.book.clone()));
        }
        self.serve(out);
    }

    /// Lets the first client of the book in, if every backup knows its ticket.
    pub(crate) fn serve(&mut self, out: &mut Out<Msg>) {
        let Some(&Ticket { client, number, fence }) = self.book.tickets.front() else { return };
        let is_new = self.is_primary() && self.granted != Some(fence);
        if is_new && self.backups().iter().all(|backup| self.acknowledged[backup] >= Some(fence)) {
            self.granted = Some(fence);
            out.rule("grant");
            out.send(client, Msg::Grant { number, fence });
        }
    }

    /// Writes a ticket into the book and sends the book to the backups. An older ticket of the client is void: its RELEASE was
    /// lost with the last primary.
    fn write(&mut self, client: NodeId, number: u64, out: &mut Out<Msg>) {
        let is_known = |ticket: &Ticket| (ticket.client, ticket.number) == (client, number);
        if self.book.tickets.iter().any(is_known) || !self.alive.contains(client) || client < self.me {
            return;
        }
        self.book.tickets.retain(|ticket| ticket.client != client);
        self.book.last += 1;
        self.book.tickets.push_back(Ticket { client, number, fence: self.book.last });
        out.rule("replicate");
        out.multicast(&self.backups(), Msg::Update(self.book.clone()));
        self.serve(out);
    }

    /// A GRANT can come twice, from the last primary and from the next: a client that has left says so again.
    fn on_grant(&mut self, from: NodeId, number: u64, fence: u64, out: &mut Out<Msg>) {
        match self.phase {
            _ if number > self.number => out.broken("GRANT for a request that was not made"),
            Phase::Waiting if number == self.number => {
                self.phase = Phase::Inside;
                out.enter_with_fence(fence);
            }
            Phase::Inside if number == self.number => {}
            Phase::Outside | Phase::Waiting | Phase::Inside => {
                out.rule("leave again");
                out.send(from, Msg::Release(number));
            }
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            // The sender knows that all nodes before this one have crashed, perhaps earlier than this node does.
            Msg::Request(_) | Msg::Release(_) if self.primary < self.me => {
                self.follow(self.me, out);
                self.handle(from, msg, out);
            }
            Msg::Request(_) | Msg::Release(_) | Msg::Ack(_) if !self.is_primary() => {
                out.broken("REQUEST, RELEASE or ACK to a node that is not the primary");
            }
            Msg::Request(number) => self.write(from, number, out),
            Msg::Update(_) if from < self.primary => {} // The sender has crashed, and another node took over.
            Msg::Update(book) => {
                self.follow(from, out);
                self.book = book;
                self.drop_tickets_of_crashed();
                out.rule("acknowledge");
                out.send(from, Msg::Ack(self.book.last));
            }
            Msg::Ack(last) => {
                self.acknowledged[from] = Some(last);
                self.serve(out);
            }
            Msg::Grant { number, fence } => {
                self.follow(from, out);
                self.on_grant(from, number, fence, out);
            }
            Msg::Release(number) => {
                self.book.tickets.retain(|ticket| ticket.client != from || ticket.number > number);
                self.serve(out);
            }
        }
    }

    pub(crate) fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for Replicated {
    type Msg = Msg;

    const WATCHES_CRASHES: bool = true;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        self.number += 1;
        self.phase = Phase::Waiting;
        out.rule("ask");
        out.send(self.primary, Msg::Request(self.number));
        self.answer_self(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.handle(from, msg, out);
        self.answer_self(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.phase = Phase::Outside;
        out.rule("leave");
        out.send(self.primary, Msg::Release(self.number));
        self.answer_self(out);
    }

    fn on_crash(&mut self, node: NodeId, out: &mut Out<Msg>) {
        self.alive.remove(node);
        self.drop_tickets_of_crashed();
        self.alive.least().into_iter().for_each(|lowest| self.follow(lowest, out));
        self.serve(out);
        self.answer_self(out);
    }
}

pub mod proof;

/// What people are told about it.
pub(crate) const ABOUT: About = About {
    name: "replicated",
    title: "Replicated coordinator",
    family: Family::Central,
    needs: Channels::Fifo,
    messages: Cost {
        formula: "2(N−1) … 3 + 2(N−1)",
        bounds: |scale| [2.0 * (scale.n - 1.0), 3.0 + 2.0 * (scale.n - 1.0)],
    },
    delay: "2T",
    parameters: &[],
    source: include_str!("replicated.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Replicated> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(Replicated::new)) }
}
