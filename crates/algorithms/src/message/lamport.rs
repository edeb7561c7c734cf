//! Lamport's algorithm.
//!
//! L. Lamport, "Time, clocks, and the ordering of events in a distributed system", Communications of the ACM 21(7),
//! 1978.
//!
//! Every node keeps the queue of all requests, ordered by their stamps. A node enters when its own request is the
//! oldest and it has heard something younger from every other node: then, channels being first-in first-out, nothing
//! older can still be in flight.
//!
//! Messages: 3(N − 1) per entry (REQUEST, REPLY, RELEASE). Delay: T. Needs: fifo channels.
//! Entries are in the order of the stamps, so a request that happened before another is served before it.
//!
//! All copies of a REQUEST carry one stamp, taken in the step that also queues the request and sends it.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Factory, Family, LamportClock, Members, NodeId, NodeSet, Out,
    PerNode, Scale, Stamp, Start,
};
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Lamport {
    pub(crate) me: NodeId,
    /// All nodes but this one.
    pub(crate) others: NodeSet,
    pub(crate) clock: LamportClock,
    /// The queue: each node's request, as far as it is known here.
    pub(crate) requests: PerNode<Option<Stamp>>,
    /// The youngest stamp heard from each node.
    pub(crate) last: PerNode<Stamp>,
    pub(crate) inside: bool,
}

/// Each message carries the stamp of its sending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in.
    Request(Stamp),
    /// The sender has seen the request.
    Reply(Stamp),
    /// The sender has left.
    Release(Stamp),
}

impl Lamport {
    /// Node `me` among these members.
    pub fn new(me: NodeId, members: &Members, start: Start) -> Self {
        let n = members.n();
        let request_at_start = |node| start.is_inside(node).then_some(Stamp { counter: 0, node });
        Self {
            me,
            others: members.others(me),
            clock: LamportClock::default(),
            requests: PerNode::from_fn(n, request_at_start),
            last: PerNode::from_fn(n, |node| Stamp { counter: 0, node }),
            inside: start.is_inside(me),
        }
    }

    /// Updates the queue, and answers a REQUEST.
    pub(crate) fn take_note(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(stamp) => {
                self.hear(from, stamp);
                self.clock.tick();
                self.requests[from] = Some(stamp);
                out.rule("reply");
                out.send(from, Msg::Reply(self.clock.stamp(self.me)));
            }
            Msg::Reply(stamp) => self.hear(from, stamp),
            Msg::Release(stamp) => {
                self.hear(from, stamp);
                self.requests[from] = None;
            }
        }
    }

    pub(crate) fn hear(&mut self, from: NodeId, stamp: Stamp) {
        self.clock.merge(stamp.counter);
        self.last[from] = self.last[from].max(stamp);
    }

    pub(crate) fn enter_if_oldest(&mut self, out: &mut Out<Msg>) {
        let Some(mine) = self.requests[self.me].filter(|_| !self.inside) else { return };
        let is_behind =
            |node| self.last[node] > mine && self.requests[node].is_none_or(|theirs| theirs > mine);
        if self.others.iter().all(is_behind) {
            self.inside = true;
            out.enter();
        }
    }
}

impl Algorithm for Lamport {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let stamp = self.clock.stamp(self.me);
        self.requests[self.me] = Some(stamp);
        out.rule("ask");
        out.multicast(&self.others, Msg::Request(stamp));
        self.enter_if_oldest(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.take_note(from, msg, out);
        self.enter_if_oldest(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.inside = false;
        self.requests[self.me] = None;
        out.rule("leave");
        out.multicast(&self.others, Msg::Release(self.clock.stamp(self.me)));
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

pub mod proof;

/// Its description in the catalog.
pub const ABOUT: About = About {
    name: "lamport",
    title: "Lamport 1978",
    family: Family::Permission,
    needs: Channels::Fifo,
    messages: Cost { formula: "3(N−1)", bounds: |Scale { n, .. }| [3.0 * (n - 1.0); 2] },
    delay: "T",
    parameters: &[],
    source: include_str!("lamport.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Lamport> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(Lamport::new)) }
}
