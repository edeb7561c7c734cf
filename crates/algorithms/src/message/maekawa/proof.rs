//! Maekawa's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Cut, Explain, Field, Group, Hints, Invariant, LamportClock, NodeId, NodeSet, Permission, Rule,
    Stamp,
};

use super::{Arbiter, Maekawa, Msg, Requester};

/// Why two nodes are not inside at once: their quorums share an arbiter with one vote.
pub const INSIDE_HAS_WHOLE_QUORUM: &str = "a node inside has the vote of its whole quorum";
/// Why no vote is lost and none is doubled.
pub const GIVEN_VOTE_IS_IN_ONE_PLACE: &str =
    "a vote that was given is at, or on its way to or from, exactly one request, and a free one is nowhere";
/// Why a node that cannot win knows that it must yield.
pub const WAITING_REQUEST_IS_TOLD: &str = "a request that waits behind another one was told so or will be";
/// Why a yield answers one question and not two.
pub const ONE_INQUIRE_PER_VOTE: &str =
    "an arbiter inquires at most once for each time that it gives its vote";

/// The invariant that the rule "inquire" keeps.
pub const OLDER_HEAD_INQUIRES: &str = "an older request at the head of a queue has made its arbiter inquire";

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

    const RULES: &'static [Rule] = RULES;

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: INSIDE_HAS_WHOLE_QUORUM,
                holds: |cut| {
                    cut.states().filter(|(_, node)| node.requester.inside).all(|(_, node)| {
                        let is_locked = |member| cut.state(member).arbiter.lock == node.requester.request;
                        node.requester.quorum.iter().all(is_locked)
                    })
                },
            },
            Invariant {
                name: GIVEN_VOTE_IS_IN_ONE_PLACE,
                holds: |cut| cut.states().all(|(me, node)| vote_is_accounted_for(cut, me, &node.arbiter)),
            },
            Invariant {
                name: WAITING_REQUEST_IS_TOLD,
                holds: |cut| cut.states().all(|(me, node)| queue_knows_it_waits(cut, me, &node.arbiter)),
            },
            Invariant {
                name: OLDER_HEAD_INQUIRES,
                holds: |cut| {
                    cut.states().all(|(_, Maekawa { arbiter, .. })| {
                        let overtakes = |lock| arbiter.queue.oldest().is_some_and(|head| head < lock);
                        arbiter.inquired || !arbiter.lock.is_some_and(overtakes)
                    })
                },
            },
            Invariant {
                name: ONE_INQUIRE_PER_VOTE,
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

/// Each INQUIRE that is in flight or kept is about a different grant, and none is about a grant that was not asked back.
fn inquires_once(cut: &Cut<'_, Maekawa>, arbiter: NodeId, state: &Arbiter) -> bool {
    let kept = cut.states().map(|(_, node)| &node.requester).filter(|node| node.inquiries.contains(arbiter));
    let flying = cut.in_flight.iter().filter_map(|letter| match letter.msg {
        Msg::Inquire(request) if letter.from == arbiter => Some(*request),
        _ => None, // Only an INQUIRE asks back.
    });
    let mut inquired: Vec<Stamp> = kept.filter_map(|node| node.request).chain(flying).collect();
    let inquiries = inquired.len();
    inquired.sort();
    inquired.dedup();
    let asks_back = state.lock.is_some_and(|lock| inquired.contains(&lock));
    inquired.len() == inquiries && (state.inquired || !asks_back)
}

/// Every queued request was told FAILED by this arbiter, except a head that is older than the request with the vote.
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
pub(in crate::message) fn fields(
    clock: &LamportClock,
    requester: &Requester,
    arbiter: &Arbiter,
) -> Vec<Field> {
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
pub(in crate::message) const RULES: &[Rule] = &[
    Rule::new("ask", "A node that wants in stamps its request and sends it to its quorum."),
    Rule::new("grant", "An arbiter whose vote is free gives it to the oldest request in its queue."),
    Rule::new("refuse", "A request that is not the oldest here is told FAILED."),
    Rule::new("overtake", "A request that was the oldest in the queue and no longer is, is told FAILED."),
    Rule::new(
        "inquire",
        "An older request than the one that has the vote makes the arbiter ask for it back, once.",
    ),
    Rule::new("yield", "A node that failed somewhere gives back every vote that it was asked for."),
    Rule::new("leave", "A node that leaves frees its votes."),
];

impl Requester {
    /// The members whose vote is missing.
    pub(in crate::message) fn missing(&self) -> NodeSet {
        self.quorum.iter().filter(|&member| !self.locked.contains(member)).collect()
    }
}

impl Arbiter {
    /// The node that has the vote.
    pub(in crate::message) fn permission(&self) -> Permission {
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
    /// A request that has entered or is over never waits again, so a FAILED or INQUIRE about it stays without effect. So
    /// does a FAILED from an arbiter whose LOCKED or FAILED has arrived: from then on that arbiter stays in one of the two
    /// sets, and while it is in `failed`, the node returns every vote that it is asked for.
    pub(in crate::message) fn ignores(&self, from: NodeId, msg: &Msg) -> bool {
        match msg {
            Msg::Failed(request) => {
                !self.waits_with(*request) || self.locked.contains(from) || self.failed.contains(from)
            }
            Msg::Inquire(request) => !self.waits_with(*request),
            Msg::Request(_) | Msg::Locked(_) | Msg::Relinquish(_) | Msg::Release(_) => false,
        }
    }
}

/// The clock only stamps requests, and a node inside ignores INQUIREs.
pub(in crate::message) fn forget(clock: &mut LamportClock, requester: &mut Requester) {
    *clock = LamportClock::STOPPED;
    if requester.inside {
        requester.inquiries.clear();
    }
}

/// Shows all that is compared in a node that asks and votes.
pub(in crate::message) fn counters(
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
pub(in crate::message) fn counters_in(msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
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
