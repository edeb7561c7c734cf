//! Maekawa's algorithm with one fault at a time.
//!
//! A copy of the correct algorithm in which a [`Fault`] can be switched on, so that each variant differs from it in
//! one rule and in nothing else. Without its remedies (B0) votes can be given so that everybody lacks one. As printed
//! (E3) a request that was the oldest in an arbiter's queue and is overtaken by a still older one is never told FAILED,
//! so it keeps votes that it could give back, and a deadlock remains.

use doorway_core::*;
use serde::Serialize;

pub use crate::message::maekawa::Msg;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Fault {
    /// No FAILED, INQUIRE and RELINQUISH at all.
    NoRemedy,
    /// A request that is overtaken in the queue is not told FAILED.
    NoFailedWhenOvertaken,
}

/// One node; the fields are those of the correct algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct FaultyMaekawa {
    fault: Fault,
    me: NodeId,
    clock: LamportClock,
    quorum: NodeSet,
    request: Option<Stamp>,
    inside: bool,
    locked: NodeSet,
    failed: NodeSet,
    inquiries: NodeSet,
    lock: Option<Stamp>,
    inquired: bool,
    queue: RequestQueue,
}

impl FaultyMaekawa {
    /// Node `me` with its quorum and its fault.
    pub fn new(me: NodeId, quorums: &PerNode<NodeSet>, start: Start, fault: Fault) -> Self {
        let at_start = |node| Stamp { counter: 0, node };
        let votes_for_holder = start.holder().filter(|&holder| quorums[holder].contains(me));
        Self {
            fault,
            me,
            clock: LamportClock::default(),
            quorum: quorums[me].clone(),
            request: start.is_inside(me).then(|| at_start(me)),
            inside: start.is_inside(me),
            locked: if start.is_inside(me) { quorums[me].clone() } else { NodeSet::new() },
            failed: NodeSet::new(),
            inquiries: NodeSet::new(),
            lock: votes_for_holder.map(at_start),
            inquired: false,
            queue: RequestQueue::new(),
        }
    }

    fn on_peer_request(&mut self, request: Stamp, out: &mut Out<Msg>) {
        self.clock.merge(request.counter);
        let oldest = self.queue.oldest();
        self.queue.insert(request);
        match self.lock {
            None => self.grant(out),
            Some(_) if self.fault == Fault::NoRemedy => {}
            Some(held) if request > held || oldest.is_some_and(|oldest| oldest < request) => {
                out.rule("refuse");
                out.send(request.node, Msg::Failed(request));
            }
            Some(held) => self.ask_vote_back(held, oldest, out),
        }
    }

    fn ask_vote_back(&mut self, held: Stamp, oldest: Option<Stamp>, out: &mut Out<Msg>) {
        let overtaken = oldest.filter(|oldest| *oldest < held);
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
        self.inquired = false;
        self.lock = self.queue.pop_oldest();
        if let Some(request) = self.lock {
            out.rule("grant");
            out.send(request.node, Msg::Locked(request));
        }
    }

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

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        let waits = |request| self.request == Some(request) && !self.inside;
        match msg {
            Msg::Request(request) => self.on_peer_request(request, out),
            Msg::Locked(request) if waits(request) => {
                self.failed.remove(from);
                self.locked.insert(from);
                if self.locked == self.quorum {
                    self.inside = true;
                    out.enter();
                } else {
                    self.yield_votes(out);
                }
            }
            Msg::Failed(request) if waits(request) && !self.locked.contains(from) => {
                self.failed.insert(from);
                self.yield_votes(out);
            }
            Msg::Inquire(request) if waits(request) => {
                self.inquiries.insert(from);
                self.yield_votes(out);
            }
            // Too late to matter, as in the correct algorithm.
            Msg::Locked(_) | Msg::Failed(_) | Msg::Inquire(_) => {}
            Msg::Relinquish(request) => {
                self.queue.insert(request);
                self.grant(out);
            }
            Msg::Release(_) => self.grant(out),
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for FaultyMaekawa {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let request = self.clock.stamp(self.me);
        self.request = Some(request);
        self.locked.clear();
        self.failed.clear();
        self.inquiries.clear();
        out.rule("ask");
        out.multicast(&self.quorum, Msg::Request(request));
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
            out.multicast(&self.quorum, Msg::Release(request));
        }
        self.answer_self(out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

impl Explain for FaultyMaekawa {
    fn fields(&self) -> Vec<Field> {
        vec![
            Field::new("clock", self.clock.count()),
            Field::optional("request", self.request),
            Field::list("locked", &self.locked),
            Field::list("failed", &self.failed),
            Field::list("inquired by", &self.inquiries),
            Field::optional("vote given to", self.lock),
            Field::list("queue", self.queue.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.quorum.iter().filter(|&member| !self.locked.contains(member)).collect()
    }

    fn permission(&self) -> Permission {
        self.lock.map_or(Permission::Free, |lock| Permission::GivenTo(lock.node))
    }

    fn rules() -> &'static [Rule] {
        crate::message::maekawa::Maekawa::rules()
    }
}

impl Hints for FaultyMaekawa {}

fn about(name: &'static str, title: &'static str, specimen: Specimen) -> About {
    About {
        name,
        title,
        family: Family::Permission,
        needs: Channels::Any,
        messages: "3(K−1) …",
        cost: |Scale { k, .. }| [3.0 * (k[0] - 1.0), f64::INFINITY],
        delay: "–",
        parameters: &[crate::structures::QUORUM],
        source: include_str!("maekawa.rs"),
        specimen: Some(specimen),
    }
}

fn factory(options: &Options, fault: Fault) -> Result<Factory<FaultyMaekawa>, Refusal> {
    crate::structures::with_quorums(options, move |me, quorums, start| {
        FaultyMaekawa::new(me, quorums, start, fault)
    })
}

/// Its place in the catalog, without any remedy.
pub fn basic_entry() -> Entry<FaultyMaekawa> {
    let specimen = Specimen {
        id: "B0",
        of: "maekawa",
        wrong: "there is no remedy against deadlock: no FAILED, INQUIRE and RELINQUISH",
        verdict: "deadlock",
    };
    Entry {
        about: about("maekawa/basic", "Maekawa, basic", specimen),
        bind: |options| factory(options, Fault::NoRemedy),
    }
}

/// Its place in the catalog, as printed.
pub fn no_failed_when_overtaken_entry() -> Entry<FaultyMaekawa> {
    let specimen = Specimen {
        id: "E3",
        of: "maekawa",
        wrong: "a request that was the oldest and is overtaken by a still older one is never told FAILED",
        verdict: "deadlock",
    };
    Entry {
        about: about("maekawa/no-failed-when-overtaken", "Maekawa as printed", specimen),
        bind: |options| factory(options, Fault::NoFailedWhenOvertaken),
    }
}
