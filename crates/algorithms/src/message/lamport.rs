//! Lamport's algorithm.
//!
//! L. Lamport, "Time, clocks, and the ordering of events in a distributed system", Communications of the ACM 21(7),
//! 1978.
//!
//! Every node keeps the queue of all requests, ordered by their stamps. A node enters when its own request is the
//! oldest and it has heard something younger from everybody: then, channels being first-in first-out, nothing older
//! can still be on its way.
//!
//! Messages: 3(N − 1) per entry (REQUEST, REPLY, RELEASE). Delay: T. Needs: fifo channels.
//! Entries are in the order of the stamps, so a request that happened before another is served before it.
//!
//! All copies of a REQUEST carry one stamp, taken in the step that also queues the request and sends it.

use doorway_core::*;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Lamport {
    pub(crate) me: NodeId,
    /// Everybody else.
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

    /// Keeps the queue up with a message, and answers a REQUEST.
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

    fn hear(&mut self, from: NodeId, stamp: Stamp) {
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

impl Explain for Lamport {
    fn fields(&self) -> Vec<Field> {
        let mut queue: Vec<Stamp> = self.requests.values().iter().flatten().copied().collect();
        queue.sort();
        vec![
            Field::new("clock", self.clock.count()),
            Field::list("queue", queue),
            Field::list("last heard", self.others.iter().map(|node| self.last[node])),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        let Some(mine) = self.requests[self.me] else { return NodeSet::new() };
        let is_ahead = |node: &NodeId| {
            self.last[*node] < mine || self.requests[*node].is_some_and(|theirs| theirs < mine)
        };
        self.others.iter().filter(is_ahead).collect()
    }

    fn rules() -> &'static [Rule] {
        &[
            Rule {
                name: "ask",
                text: "A node that wants in queues its stamped request and sends it to everybody.",
            },
            Rule {
                name: "reply",
                text: "Every REQUEST is queued and answered at once with a younger stamp.",
            },
            Rule { name: "leave", text: "A node that leaves takes its request from every queue." },
        ]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "whoever is inside has the oldest of all live requests",
            holds: |cut| {
                let live = || cut.states().filter_map(|(me, node)| node.requests[me]);
                cut.states()
                    .filter(|(_, node)| node.inside)
                    .all(|(me, node)| node.requests[me] == live().min())
            },
        }]
    }
}

impl Hints for Lamport {
    /// A REPLY that is no news to the clock, and that the open request does not need, changes nothing but `last`: our next
    /// request is younger than it, so nobody will ever see the difference. (The REPLY that is needed could, on channels
    /// of any order, let us in before an older REQUEST that would have kept us out; and a RELEASE does not tell which
    /// request it ends.)
    fn commutes(&self, from: NodeId, msg: &Msg, _: Ahead) -> bool {
        match msg {
            Msg::Reply(stamp) => {
                let open = self.requests[self.me].filter(|_| !self.inside);
                let is_needed = open.is_some_and(|mine| self.last[from] < mine && mine < *stamp);
                stamp.counter <= self.clock.count() && !is_needed
            }
            Msg::Request(_) | Msg::Release(_) => false,
        }
    }

    /// Others compare their requests with what the clock stamps, so the clock stays. What a node knows of the others
    /// matters only while it waits, and then only as far as it is older or younger than its own request.
    fn forget(&mut self) {
        let open = self.requests[self.me].filter(|_| !self.inside);
        for node in &self.others {
            let last = &mut self.last[node].counter;
            match open {
                None => {
                    self.requests[node] = None;
                    *last = self.clock.count();
                }
                Some(mine) => {
                    self.requests[node].take_if(|theirs| *theirs > mine);
                    let is_younger = Stamp { counter: *last, node } > mine;
                    *last = mine.counter;
                    *last += u64::from(is_younger && node < self.me);
                    *last -= u64::from(!is_younger && node > self.me);
                }
            }
        }
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        let requests = self.requests.iter_mut().filter_map(|(_, request)| request.as_mut());
        requests.for_each(|request| show(Group::Time, &mut request.counter));
        // No node hears from itself: its own entry is never read.
        let heard = self.last.iter_mut().filter(|(node, _)| *node != self.me);
        heard.for_each(|(_, stamp)| show(Group::Time, &mut stamp.counter));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let (Msg::Request(stamp) | Msg::Reply(stamp) | Msg::Release(stamp)) = msg;
        show(Group::Time, &mut stamp.counter);
    }
}

/// What people are told about it.
pub const ABOUT: About = About {
    name: "lamport",
    title: "Lamport 1978",
    family: Family::Permission,
    needs: Channels::Fifo,
    messages: "3(N−1)",
    cost: |Scale { n, .. }| [3.0 * (n - 1.0); 2],
    delay: "T",
    parameters: &[],
    source: include_str!("lamport.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> Entry<Lamport> {
    Entry { about: ABOUT, bind: |_| Ok(Factory::simple(Lamport::new)) }
}
