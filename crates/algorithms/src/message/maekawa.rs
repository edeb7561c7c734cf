//! Maekawa's algorithm.
//!
//! M. Maekawa, "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on Computer Systems
//! 3(2), 1985; with the correction of B. A. Sanders, "The information structure of distributed mutual exclusion
//! algorithms", ACM Transactions on Computer Systems 5(3), 1987.
//!
//! Each node asks only its quorum, and any two quorums have a member in common. A member gives its one vote to one
//! request at a time, and a node enters when it has all votes of its quorum. Votes can be given so that every node lacks
//! one, so an older request makes the member INQUIRE whether it can have its vote back, and a node that FAILED to get
//! another vote RELINQUISHes it.
//!
//! Messages: 3(K − 1) per entry without conflict, K the size of a quorum; typically 4(K − 1), at most 7(K − 1) with it.
//! Delay: at most 2T. Needs: channels of any order.
//! Starvation-free; entries are not in the order of the stamps.
//!
//! Beyond the paper: a request that was the oldest in a queue and is overtaken is told FAILED (Sanders), an INQUIRE
//! that comes before its LOCKED is kept until then, a FAILED answers every INQUIRE so far, and each message names its
//! request. A node that is in its own quorum votes for itself in the same step.

// tidy: allow length, because Sanders' algorithm shares both halves of a node.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Family, LamportClock, NodeId, NodeSet, Out, PerNode,
    RequestQueue, Scale, Stamp, Start,
};
use serde::{Deserialize, Serialize};

/// One node: it asks, and it votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Maekawa {
    me: NodeId,
    clock: LamportClock,
    requester: Requester,
    arbiter: Arbiter,
}

/// The half of a node that wants in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Requester {
    /// The nodes that it asks.
    pub(super) quorum: NodeSet,
    /// Its request, until it leaves.
    pub(super) request: Option<Stamp>,
    pub(super) inside: bool,
    /// The members that gave it their vote.
    pub(super) locked: NodeSet,
    /// The members that told it that an older request goes first.
    pub(super) failed: NodeSet,
    /// The members that want their vote back.
    pub(super) inquiries: NodeSet,
}

/// The half of a node that votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Arbiter {
    /// The request that has the vote.
    pub(super) lock: Option<Stamp>,
    /// Whether the vote was asked back since it was given.
    pub(super) inquired: bool,
    /// The requests that wait for the vote.
    pub(super) queue: RequestQueue,
}

/// Each message names the request that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Msg {
    /// The sender wants in.
    Request(Stamp),
    /// The sender's vote is yours.
    Locked(Stamp),
    /// An older request goes first at the sender.
    Failed(Stamp),
    /// The sender wants its vote back.
    Inquire(Stamp),
    /// Here is your vote back, for now.
    Relinquish(Stamp),
    /// The sender has left.
    Release(Stamp),
}

impl Maekawa {
    /// Node `me` with its quorum, among nodes of which some may count on its vote.
    pub fn new(me: NodeId, quorums: &PerNode<NodeSet>, start: Start) -> Self {
        let votes_for_holder = start.holder().filter(|&holder| quorums[holder].contains(me));
        Self {
            me,
            clock: LamportClock::default(),
            requester: Requester::new(quorums[me].clone(), start.is_inside(me).then_some(me)),
            arbiter: Arbiter::new(votes_for_holder),
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                self.arbiter.on_request(request, out);
                self.arbiter.grant(out);
            }
            Msg::Locked(request) => self.requester.on_locked(from, request, out),
            Msg::Failed(request) => self.requester.on_failed(from, request, out),
            Msg::Inquire(request) => self.requester.on_inquire(from, request, out),
            Msg::Relinquish(request) => {
                self.arbiter.on_relinquish(request, out);
                self.arbiter.grant(out);
            }
            Msg::Release(request) => {
                self.arbiter.on_release(request, out);
                self.arbiter.grant(out);
            }
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for Maekawa {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let request = self.clock.stamp(self.me);
        self.requester.ask(request, out);
        self.answer_self(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.handle(from, msg, out);
        self.answer_self(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        if let Some(request) = self.requester.leave() {
            out.rule("leave");
            out.multicast(&self.requester.quorum, Msg::Release(request));
        }
        self.answer_self(out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

impl Requester {
    pub(super) fn new(quorum: NodeSet, inside: Option<NodeId>) -> Self {
        Self {
            request: inside.map(|node| Stamp { counter: 0, node }),
            inside: inside.is_some(),
            locked: if inside.is_some() { quorum.clone() } else { NodeSet::new() },
            failed: NodeSet::new(),
            inquiries: NodeSet::new(),
            quorum,
        }
    }

    pub(super) fn ask(&mut self, request: Stamp, out: &mut Out<Msg>) {
        self.request = Some(request);
        out.rule("ask");
        out.multicast(&self.quorum, Msg::Request(request));
    }

    pub(super) fn leave(&mut self) -> Option<Stamp> {
        self.inside = false;
        self.locked.clear();
        self.failed.clear();
        self.inquiries.clear();
        self.request.take()
    }

    fn waits_with(&self, request: Stamp) -> bool {
        self.request == Some(request) && !self.inside
    }

    pub(super) fn on_locked(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if !self.waits_with(request) || !self.quorum.contains(from) {
            return out.broken("LOCKED that was not asked for");
        }
        self.failed.remove(from);
        self.locked.insert(from);
        if self.locked == self.quorum {
            self.inside = true;
            out.enter();
        } else {
            self.yield_votes(out);
        }
    }

    /// A FAILED that arrives after the LOCKED of the same arbiter was overtaken by it and is stale.
    pub(super) fn on_failed(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if self.waits_with(request) && !self.locked.contains(from) {
            self.failed.insert(from);
            self.yield_votes(out);
        }
    }

    /// Inside, or after leaving, the RELEASE is the answer.
    pub(super) fn on_inquire(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if self.waits_with(request) {
            self.inquiries.insert(from);
            self.yield_votes(out);
        }
    }

    /// A request that failed at some arbiter cannot enter yet, so it returns every vote that it holds and was asked for.
    fn yield_votes(&mut self, out: &mut Out<Msg>) {
        let Some(request) = self.request.filter(|_| !self.failed.is_empty()) else { return };
        let back: NodeSet = self.inquiries.iter().filter(|&from| self.locked.contains(from)).collect();
        for arbiter in &back {
            self.inquiries.remove(arbiter);
            self.locked.remove(arbiter);
            self.failed.insert(arbiter);
        }
        out.rule("yield");
        out.multicast(&back, Msg::Relinquish(request));
    }
}

impl Arbiter {
    pub(super) fn new(locked_for: Option<NodeId>) -> Self {
        let lock = locked_for.map(|node| Stamp { counter: 0, node });
        Self { lock, inquired: false, queue: RequestQueue::new() }
    }

    pub(super) fn on_request(&mut self, request: Stamp, out: &mut Out<Msg>) {
        let oldest = self.queue.oldest();
        self.queue.insert(request);
        let Some(held) = self.lock else { return };
        if request > held || oldest.is_some_and(|oldest| oldest < request) {
            out.rule("refuse");
            return out.send(request.node, Msg::Failed(request));
        }
        if let Some(overtaken) = oldest.filter(|oldest| *oldest < held) {
            out.rule("overtake");
            out.send(overtaken.node, Msg::Failed(overtaken));
        }
        if !self.inquired {
            self.inquired = true;
            out.rule("inquire");
            out.send(held.node, Msg::Inquire(held));
        }
    }

    pub(super) fn grant(&mut self, out: &mut Out<Msg>) {
        if self.lock.is_none()
            && let Some(request) = self.queue.pop_oldest()
        {
            self.lock = Some(request);
            out.rule("grant");
            out.send(request.node, Msg::Locked(request));
        }
    }

    pub(super) fn on_relinquish(&mut self, request: Stamp, out: &mut Out<Msg>) {
        if self.lock.take_if(|lock| *lock == request).is_none() {
            return out.broken("RELINQUISH of a vote that was not given");
        }
        self.inquired = false;
        self.queue.insert(request);
    }

    pub(super) fn on_release(&mut self, request: Stamp, out: &mut Out<Msg>) {
        if self.lock.take_if(|lock| *lock == request).is_none() {
            return out.broken("RELEASE of a vote that was not given");
        }
        self.inquired = false;
    }
}

pub mod proof;

/// Its place in the catalog.
pub fn entry() -> Entry<Maekawa> {
    Entry {
        about: About {
            name: "maekawa",
            title: "Maekawa 1985, corrected",
            family: Family::Permission,
            needs: Channels::Any,
            messages: Cost {
                formula: "3(K−1) … 7(K−1)",
                bounds: |Scale { k, .. }| [3.0 * (k[0] - 1.0), 7.0 * (k[1] - 1.0)],
            },
            delay: "T … 2T",
            parameters: &[crate::structures::QUORUM],
            source: include_str!("maekawa.rs"),
            specimen: None,
        },
        bind: |options| crate::structures::with_quorums(options, Maekawa::new),
    }
}
