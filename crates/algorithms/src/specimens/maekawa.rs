//! Maekawa's and Sanders' algorithms with one fault at a time.
//!
//! A copy of the correct algorithms in which a [`Fault`] can be switched on, so that each variant differs from them in
//! one rule and in nothing else. Maekawa's is the case in which those that are asked and those that are informed are the
//! same quorum. Each fault has a page of its own: here those of Maekawa's algorithm, in [`super::sanders`] the others.

// tidy: not an algorithm, because each of its faults has a page and an entry of its own.

pub mod basic;
pub mod failed_remembered;
pub mod inquire_answered_inside;
pub mod inquire_before_locked;
pub mod inquired_for_ever;
pub mod never_free;
pub mod no_failed_when_overtaken;
pub mod node_first;
pub mod one_inquire_answered;
pub mod unnamed_requests;

use doorway_core::{
    About, Algorithm, Channels, Cost, Explain, Factory, Family, Field, Group, Hints, LamportClock, NodeId,
    NodeSet, Options, Out, Permission, Refusal, Rule, Scale, Stamp, Start,
};
use serde::Serialize;

pub use crate::message::maekawa::Msg;
use crate::message::sanders::Structure;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Fault {
    /// No FAILED, INQUIRE and RELINQUISH at all.
    NoRemedy,
    /// A request that is overtaken in the queue is not told FAILED.
    NoFailedWhenOvertaken,
    /// A FAILED stays remembered when the vote comes after all, and then an INQUIRE is answered even inside.
    FailedRemembered,
    /// An INQUIRE is answered even inside.
    InquireAnsweredInside,
    /// An INQUIRE is answered before its LOCKED has come.
    InquireBeforeLocked,
    /// The same, and messages do not say which request they are about.
    UnnamedRequests,
    /// A RELEASE that finds the queue empty does not free the vote.
    NeverFree,
    /// Only one of the INQUIREs that were remembered is answered.
    OneInquireAnswered,
    /// That a vote was asked back once is remembered beyond the next grant.
    InquiredForEver,
    /// Stamps are compared by node first, so that no counter matters to another node and none is merged.
    NodeFirst,
    /// What a node tells itself goes through the network.
    OwnMessagesTravel,
    /// Clocks do not catch up with what they hear.
    ClocksNotMerged,
}

/// One node; the fields are those of the correct algorithms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Faulty {
    fault: Fault,
    me: NodeId,
    clock: LamportClock,
    /// R: the nodes that it asks.
    asks: NodeSet,
    /// I: the nodes it tells that it has left.
    informs: NodeSet,
    /// The nodes that inform this one, so that it can reserve its vote for them.
    informed_by: NodeSet,
    request: Option<Stamp>,
    inside: bool,
    locked: NodeSet,
    failed: NodeSet,
    inquiries: NodeSet,
    lock: Option<Stamp>,
    inquired: bool,
    /// The requests that wait for the vote, oldest first, whatever this fault takes for old.
    queue: Vec<Stamp>,
}

impl Faulty {
    /// Node `me` in a structure, with its fault.
    pub fn new(me: NodeId, structure: &Structure, start: Start, fault: Fault) -> Self {
        let Structure { asks, informs } = structure;
        let at_start = |node| Stamp { counter: 0, node };
        let votes_for_holder = start.holder().filter(|&holder| informs[holder].contains(me));
        Self {
            fault,
            me,
            clock: LamportClock::default(),
            asks: asks[me].clone(),
            informs: informs[me].clone(),
            informed_by: informs.iter().filter(|(_, set)| set.contains(me)).map(|(node, _)| node).collect(),
            request: start.is_inside(me).then(|| at_start(me)),
            inside: start.is_inside(me),
            locked: if start.is_inside(me) { asks[me].clone() } else { NodeSet::new() },
            failed: NodeSet::new(),
            inquiries: NodeSet::new(),
            lock: votes_for_holder.map(at_start),
            inquired: false,
            queue: Vec::new(),
        }
    }

    fn is_older(&self, one: Stamp, other: Stamp) -> bool {
        match self.fault {
            Fault::NodeFirst => (one.node, one.counter) < (other.node, other.counter),
            _ => one < other,
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => self.on_peer_request(request, out),
            Msg::Locked(request) => self.on_locked(from, request, out),
            Msg::Failed(request) => self.on_failed(from, request, out),
            Msg::Inquire(request) => self.on_inquire(from, request, out),
            Msg::Relinquish(request) => self.on_relinquish(from, request, out),
            Msg::Release(request) => self.on_peer_release(from, request, out),
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        if self.fault == Fault::OwnMessagesTravel {
            return;
        }
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

/// The half that votes.
impl Faulty {
    fn on_peer_request(&mut self, request: Stamp, out: &mut Out<Msg>) {
        if !matches!(self.fault, Fault::ClocksNotMerged | Fault::NodeFirst) {
            self.clock.merge(request.counter);
        }
        let oldest = self.queue.first().copied();
        self.enqueue(request);
        match self.lock {
            None => self.grant(out),
            Some(_) if self.fault == Fault::NoRemedy => {}
            Some(held)
                if self.is_older(held, request)
                    || oldest.is_some_and(|oldest| self.is_older(oldest, request)) =>
            {
                out.rule("refuse");
                out.send(request.node, Msg::Failed(request));
            }
            Some(held) => self.ask_vote_back(held, oldest, out),
        }
    }

    fn enqueue(&mut self, request: Stamp) {
        let place = self.queue.partition_point(|&queued| self.is_older(queued, request));
        self.queue.insert(place, request);
    }

    fn ask_vote_back(&mut self, held: Stamp, oldest: Option<Stamp>, out: &mut Out<Msg>) {
        let overtaken = oldest.filter(|&oldest| self.is_older(oldest, held));
        if let Some(overtaken) = overtaken.filter(|_| self.fault != Fault::NoFailedWhenOvertaken) {
            out.rule("overtake");
            out.send(overtaken.node, Msg::Failed(overtaken));
        }
        if !self.inquired {
            self.inquired = true;
            out.rule("inquire");
            out.send(held.node, Msg::Inquire(held));
        }
    }

    fn grant(&mut self, out: &mut Out<Msg>) {
        while self.lock.is_none() && !self.queue.is_empty() {
            let request = self.queue.remove(0);
            out.rule("grant");
            out.send(request.node, Msg::Locked(request));
            self.lock = Some(request).filter(|request| self.informed_by.contains(request.node));
            self.inquired &= self.fault == Fault::InquiredForEver;
        }
    }

    /// Whether it is this request that has the vote; without names, whether it is one of the same node.
    fn has_vote(&self, from: NodeId, request: Stamp) -> bool {
        let is_unnamed = self.fault == Fault::UnnamedRequests;
        self.lock.is_some_and(|lock| lock == request || (is_unnamed && lock.node == from))
    }

    fn on_relinquish(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if self.has_vote(from, request)
            && let Some(lock) = self.lock.take()
        {
            self.enqueue(lock);
            self.grant(out);
        }
    }

    /// Who gave a vote back that it was about to use may wait here when it leaves; then it no longer does.
    fn on_peer_release(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        let stays = self.fault == Fault::NeverFree && self.queue.is_empty();
        self.queue.retain(|queued| *queued != request);
        if self.has_vote(from, request) && !stays {
            self.lock = None;
            self.grant(out);
        }
    }
}

/// The half that wants in.
impl Faulty {
    fn is_mine(&self, request: Stamp) -> bool {
        self.request == Some(request) || (self.request.is_some() && self.fault == Fault::UnnamedRequests)
    }

    fn waits_with(&self, request: Stamp) -> bool {
        self.is_mine(request) && !self.inside
    }

    fn on_locked(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if !self.waits_with(request) {
            return;
        }
        if self.fault != Fault::FailedRemembered {
            self.failed.remove(from);
        }
        self.locked.insert(from);
        if self.locked == self.asks {
            self.inside = true;
            out.enter();
        } else {
            self.yield_votes(out);
        }
    }

    fn on_failed(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        let says_something = !self.locked.contains(from) || self.fault == Fault::FailedRemembered;
        if self.waits_with(request) && says_something {
            self.failed.insert(from);
            self.yield_votes(out);
        }
    }

    fn on_inquire(&mut self, from: NodeId, request: Stamp, out: &mut Out<Msg>) {
        let even_inside = matches!(self.fault, Fault::FailedRemembered | Fault::InquireAnsweredInside);
        if self.waits_with(request) || (even_inside && self.is_mine(request)) {
            self.inquiries.insert(from);
            self.yield_votes(out);
        }
    }

    fn yield_votes(&mut self, out: &mut Out<Msg>) {
        let must_yield =
            !self.failed.is_empty() || (self.inside && self.fault == Fault::InquireAnsweredInside);
        let Some(request) = self.request.filter(|_| must_yield) else { return };
        let too_early = matches!(self.fault, Fault::InquireBeforeLocked | Fault::UnnamedRequests);
        let at_most = if self.fault == Fault::OneInquireAnswered { 1 } else { usize::MAX };
        let back = self.inquiries.iter().filter(|&from| too_early || self.locked.contains(from));
        let back: NodeSet = back.take(at_most).collect();
        for arbiter in &back {
            self.inquiries.remove(arbiter);
            self.locked.remove(arbiter);
            self.failed.insert(arbiter);
        }
        out.rule("yield");
        out.multicast(&back, Msg::Relinquish(request));
    }
}

impl Algorithm for Faulty {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let request = self.clock.stamp(self.me);
        self.request = Some(request);
        self.locked.clear();
        self.failed.clear();
        self.inquiries.clear();
        out.rule("ask");
        out.multicast(&self.asks, Msg::Request(request));
        self.answer_self(out);
    }

    fn on_message(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        self.handle(from, msg, out);
        self.answer_self(out);
    }

    fn on_release(&mut self, out: &mut Out<Msg>) {
        self.inside = false;
        if let Some(request) = self.request.take() {
            out.rule("leave");
            out.multicast(&self.informs, Msg::Release(request));
        }
        self.answer_self(out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

impl Explain for Faulty {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::optional("request", self.request),
            Field::list("locked", &self.locked),
            Field::list("failed", &self.failed),
            Field::list("inquired by", &self.inquiries),
            Field::optional("vote given to", self.lock),
            Field::new("asked back", self.inquired),
            Field::list("queue", &self.queue),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.asks.iter().filter(|&member| !self.locked.contains(member)).collect()
    }

    fn permission(&self) -> Permission {
        self.lock.map_or(Permission::Free, |lock| Permission::GivenTo(lock.node))
    }

    const RULES: &'static [Rule] = crate::message::maekawa::Maekawa::RULES;
}

impl Hints for Faulty {
    /// Ordered by node first, stamps are compared with others of their node alone.
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Requests(self.me), count));
        let stamps = self.request.iter_mut().chain(&mut self.lock).chain(&mut self.queue);
        stamps.for_each(|stamp| show(Group::Requests(stamp.node), &mut stamp.counter));
        self.fault == Fault::NodeFirst
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let stamp = msg.request_mut();
        show(Group::Requests(stamp.node), &mut stamp.counter);
    }
}

/// The catalog's description of a variant of Maekawa's algorithm, without its name, its page and what is wrong.
const ABOUT: About = About {
    name: "maekawa/…",
    title: "Maekawa with a fault",
    family: Family::Permission,
    needs: Channels::Any,
    messages: Cost { formula: "3(K−1) …", bounds: |Scale { k, .. }| [3.0 * (k[0] - 1.0), f64::INFINITY] },
    delay: "–",
    parameters: &[crate::structures::QUORUM],
    source: include_str!("maekawa.rs"),
    specimen: None,
};

fn factory(options: &Options, fault: Fault) -> Result<Factory<Faulty>, Refusal> {
    crate::structures::with_quorums(options, move |me, quorums, start| {
        let structure = Structure { asks: quorums.clone(), informs: quorums.clone() };
        Faulty::new(me, &structure, start, fault)
    })
}
