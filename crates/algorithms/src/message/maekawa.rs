//! Maekawa's algorithm.
//!
//! M. Maekawa, "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on Computer Systems
//! 3(2), 1985; with the correction of B. A. Sanders, "The information structure of distributed mutual exclusion
//! algorithms", ACM Transactions on Computer Systems 5(3), 1987.
//!
//! Each node asks only its quorum, and any two quorums have a member in common. A member gives its one vote to one
//! request at a time; who has all votes of its quorum is inside. Votes can be given so that everybody lacks one, so an
//! older request makes the member INQUIRE whether its vote can be had back, and a node that FAILED to get another vote
//! RELINQUISHes it.
//!
//! Messages: 3(K − 1) per entry without conflict, K the size of a quorum; typically 4(K − 1), at most 7(K − 1) with it.
//! Delay: at most 2T. Needs: channels of any order.
//! Nobody starves; entries are not in the order of the stamps.
//!
//! Beyond the paper: a request that was the oldest in a queue and is overtaken is told FAILED (Sanders), an INQUIRE
//! that comes before its LOCKED is kept until then, a FAILED answers every INQUIRE so far, and each message names its
//! request. A node that is in its own quorum votes for itself in the same step.

// tidy: allow length, because both halves of a node are told here for Sanders' algorithm as well.

use doorway_core::*;
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
    /// Whom it asks.
    pub(super) quorum: NodeSet,
    /// Its request, from the asking to the leaving.
    pub(super) request: Option<Stamp>,
    pub(super) inside: bool,
    /// Who has given it the vote.
    pub(super) locked: NodeSet,
    /// Who has let it know that an older request goes first.
    pub(super) failed: NodeSet,
    /// Who would like the vote back.
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
    /// The sender would like its vote back.
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

    /// A FAILED that comes after the LOCKED of the same arbiter was overtaken by it and says nothing any more.
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

    /// Who cannot enter yet anyway gives every vote back that was asked for and has come.
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

impl Explain for Maekawa {
    fn fields(&self) -> Vec<Field> {
        fields(&self.clock, &self.requester, &self.arbiter)
    }

    fn waits_for(&self) -> NodeSet {
        self.requester.missing()
    }

    fn permission(&self) -> Permission {
        self.arbiter.permission()
    }

    fn rules() -> &'static [Rule] {
        RULES
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: "whoever is inside has the vote of its whole quorum",
                holds: |cut| {
                    cut.states().filter(|(_, node)| node.requester.inside).all(|(_, node)| {
                        let is_locked = |member| cut.state(member).arbiter.lock == node.requester.request;
                        node.requester.quorum.iter().all(is_locked)
                    })
                },
            },
            Invariant {
                name: "a vote that was given is at, or on its way to or from, exactly one request, and a free one is nowhere",
                holds: |cut| cut.states().all(|(me, node)| vote_is_accounted_for(cut, me, &node.arbiter)),
            },
            Invariant {
                name: "a request that waits behind another one was told so or will be",
                holds: |cut| cut.states().all(|(me, node)| queue_knows_it_waits(cut, me, &node.arbiter)),
            },
            Invariant {
                name: "an older request at the head of a queue has made its arbiter inquire",
                holds: |cut| {
                    cut.states().all(|(_, Maekawa { arbiter, .. })| {
                        let overtakes = |lock| arbiter.queue.oldest().is_some_and(|head| head < lock);
                        arbiter.inquired || !arbiter.lock.is_some_and(overtakes)
                    })
                },
            },
            Invariant {
                name: "an arbiter inquires at most once for each time that it gives its vote",
                holds: |cut| cut.states().all(|(me, node)| inquires_once(cut, me, &node.arbiter)),
            },
        ]
    }
}

fn vote_is_accounted_for(cut: &Cut<'_, Maekawa>, arbiter: NodeId, state: &Arbiter) -> bool {
    let held = cut.states().map(|(_, node)| &node.requester).filter(|node| node.locked.contains(arbiter));
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Locked(request) => (letter.from == arbiter).then_some(*request),
        Msg::Relinquish(request) | Msg::Release(request) => (letter.to == arbiter).then_some(*request),
        Msg::Request(_) | Msg::Failed(_) | Msg::Inquire(_) => None,
    });
    held.filter_map(|node| node.request).chain(flying).eq(state.lock)
}

/// Each INQUIRE that is on its way or kept is about another grant, and none about one that was not asked back.
fn inquires_once(cut: &Cut<'_, Maekawa>, arbiter: NodeId, state: &Arbiter) -> bool {
    let kept = cut.states().map(|(_, node)| &node.requester).filter(|node| node.inquiries.contains(arbiter));
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Inquire(request) if letter.from == arbiter => Some(*request),
        _ => None, // Only what asks back is counted.
    });
    let mut inquired: Vec<Stamp> = kept.filter_map(|node| node.request).chain(flying).collect();
    let inquiries = inquired.len();
    inquired.sort();
    inquired.dedup();
    let asks_back = state.lock.is_some_and(|lock| inquired.contains(&lock));
    inquired.len() == inquiries && (state.inquired || !asks_back)
}

/// All that is queued has failed at this arbiter, but for a head that is older than the request with the vote.
fn queue_knows_it_waits(cut: &Cut<'_, Maekawa>, arbiter: NodeId, state: &Arbiter) -> bool {
    let is_overtaking = |request: Stamp| {
        state.queue.oldest() == Some(request) && state.lock.is_none_or(|lock| request < lock)
    };
    let was_told = |request: Stamp| {
        let told = cut.flying(|letter| letter.from == arbiter && *letter.msg == Msg::Failed(request));
        told > 0 || cut.state(request.node).requester.failed.contains(arbiter)
    };
    state.queue.iter().all(|request| is_overtaking(request) || was_told(request))
}

/// The state of a node that asks and votes, in the textbook's words.
pub(super) fn fields(clock: &LamportClock, requester: &Requester, arbiter: &Arbiter) -> Vec<Field> {
    vec![
        Field::new("clock", clock.count()),
        Field::optional("request", requester.request),
        Field::list("locked", &requester.locked),
        Field::list("failed", &requester.failed),
        Field::list("inquired by", &requester.inquiries),
        Field::optional("vote given to", arbiter.lock),
        Field::new("asked back", arbiter.inquired),
        Field::list("queue", arbiter.queue.iter()),
    ]
}

/// The rules of a node that asks and votes.
pub(super) const RULES: &[Rule] = &[
    Rule { name: "ask", text: "A node that wants in stamps its request and sends it to its quorum." },
    Rule {
        name: "grant",
        text: "An arbiter whose vote is free gives it to the oldest request in its queue.",
    },
    Rule { name: "refuse", text: "A request that is not the oldest here is told FAILED." },
    Rule {
        name: "overtake",
        text: "A request that was the oldest in the queue and no longer is, is told FAILED.",
    },
    Rule {
        name: "inquire",
        text: "An older request than the one that has the vote makes the arbiter ask for it back, once.",
    },
    Rule { name: "yield", text: "A node that failed somewhere gives back every vote that it was asked for." },
    Rule { name: "leave", text: "A node that leaves frees its votes." },
];

impl Requester {
    /// Whose vote is missing.
    pub(super) fn missing(&self) -> NodeSet {
        self.quorum.iter().filter(|&member| !self.locked.contains(member)).collect()
    }
}

impl Arbiter {
    /// Who has the vote.
    pub(super) fn permission(&self) -> Permission {
        self.lock.map_or(Permission::Free, |lock| Permission::GivenTo(lock.node))
    }
}

impl Hints for Maekawa {
    fn commutes(&self, from: NodeId, msg: &Msg, _: Ahead) -> bool {
        self.requester.ignores(from, msg)
    }

    fn forget(&mut self) {
        forget(&mut self.clock, &mut self.requester);
    }

    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        counters(&mut self.clock, &mut self.requester, &mut self.arbiter, show)
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        counters_in(msg, show);
    }
}

impl Requester {
    /// A request that has entered or is over never waits again, so a FAILED or INQUIRE about it says nothing for ever. Nor
    /// does a FAILED from an arbiter whose LOCKED or FAILED has come: from then on that arbiter stays in one of the two
    /// sets, and while it is in `failed` no vote that was asked for is kept.
    pub(super) fn ignores(&self, from: NodeId, msg: &Msg) -> bool {
        match msg {
            Msg::Failed(request) => {
                !self.waits_with(*request) || self.locked.contains(from) || self.failed.contains(from)
            }
            Msg::Inquire(request) => !self.waits_with(*request),
            Msg::Request(_) | Msg::Locked(_) | Msg::Relinquish(_) | Msg::Release(_) => false,
        }
    }
}

/// Nothing but stamps of requests is taken from the clock, and inside nobody minds who would like a vote back.
pub(super) fn forget(clock: &mut LamportClock, requester: &mut Requester) {
    *clock = LamportClock::STOPPED;
    if requester.inside {
        requester.inquiries.clear();
    }
}

/// Shows all that is compared in a node that asks and votes.
pub(super) fn counters(
    clock: &mut LamportClock,
    requester: &mut Requester,
    arbiter: &mut Arbiter,
    show: &mut dyn FnMut(Group, &mut u64),
) -> bool {
    clock.counter().into_iter().for_each(|count| show(Group::Time, count));
    let stamps = requester.request.iter_mut().chain(&mut arbiter.lock);
    stamps.for_each(|stamp| show(Group::Time, &mut stamp.counter));
    arbiter.queue.counters().for_each(|counter| show(Group::Time, counter));
    true
}

/// Shows what is compared in a message.
pub(super) fn counters_in(msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
    show(Group::Time, &mut msg.request_mut().counter);
}

impl Msg {
    /// The request that it is about.
    pub(crate) fn request_mut(&mut self) -> &mut Stamp {
        match self {
            Msg::Request(stamp)
            | Msg::Locked(stamp)
            | Msg::Failed(stamp)
            | Msg::Inquire(stamp)
            | Msg::Relinquish(stamp)
            | Msg::Release(stamp) => stamp,
        }
    }
}

/// Its place in the catalog.
pub fn entry() -> Entry<Maekawa> {
    Entry {
        about: About {
            name: "maekawa",
            title: "Maekawa 1985, corrected",
            family: Family::Permission,
            needs: Channels::Any,
            messages: "3(K−1) … 7(K−1)",
            cost: |Scale { k, .. }| [3.0 * (k[0] - 1.0), 7.0 * (k[1] - 1.0)],
            delay: "T … 2T",
            parameters: &[crate::structures::QUORUM],
            source: include_str!("maekawa.rs"),
            specimen: None,
        },
        bind: |options| crate::structures::with_quorums(options, Maekawa::new),
    }
}
