//! Cao and Singhal's algorithm, the appendix: its state in words, its rules and invariants, and hints for the checker.

use doorway_core::{
    Ahead, Cut, Explain, Field, Group, Hints, Invariant, LamportClock, NodeId, NodeSet, Permission, Rule,
};

use super::{CaoSinghal, Msg, Release, Status, Transfer};

/// Why two nodes cannot enter with one vote: the epoch tells votes apart.
pub const ONE_VOTE_PER_EPOCH: &str =
    "at most one node has, or is being sent, the vote of an arbiter's current epoch";
/// Why an arbiter can count on RELEASEs to find out where its vote went.
pub const HANDOVERS_ARE_REPORTED: &str =
    "no vote has changed hands more often than its arbiter knows or will hear from RELEASEs";
/// Why a vote that is passed on reaches a node that still wants it.
pub const SUCCESSOR_IS_QUEUED: &str = "a request that a vote was passed on to waits in the arbiter's queue";

impl Explain for CaoSinghal {
    fn fields(&self) -> Vec<Field> {
        let with =
            |status| self.votes.iter().filter(move |vote| vote.status == status).map(|vote| vote.arbiter);
        vec![
            Field::new("clock", self.clock.count()),
            Field::optional("request", self.request),
            Field::list("locked", with(Status::Locked)),
            Field::list("failed", with(Status::Failed)),
            Field::optional("vote given to", self.arbiter.lock),
            Field::new("epoch", self.arbiter.epoch),
            Field::list("queue", self.arbiter.queue.iter()),
        ]
    }

    fn waits_for(&self) -> NodeSet {
        self.votes.iter().filter(|vote| vote.status != Status::Locked).map(|vote| vote.arbiter).collect()
    }

    fn permission(&self) -> Permission {
        self.arbiter.lock.map_or(Permission::Free, |lock| Permission::GivenTo(lock.node))
    }

    const RULES: &'static [Rule] = &[
        Rule::new("ask", "A node that wants in stamps its request and sends it to its quorum."),
        Rule::new("grant", "An arbiter whose vote is free gives it to the oldest request in its queue."),
        Rule::new("refuse", "A request that is not the oldest here is told FAILED."),
        Rule::new("overtake", "A request that was the oldest in the queue and no longer is, is told FAILED."),
        Rule::new(
            "announce",
            "An arbiter tells the node that has its vote who comes next, and asks for it back if that one is older.",
        ),
        Rule::new("yield", "A node that failed somewhere gives back every vote that it was asked for."),
        Rule::new(
            "pass on",
            "A node that leaves passes a vote directly to the successor that was announced.",
        ),
        Rule::new("leave", "A node that leaves tells each arbiter to whom the vote has gone."),
    ];

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: ONE_VOTE_PER_EPOCH,
                holds: |cut| {
                    let is_alone =
                        |(arbiter, epoch)| grants(cut, arbiter).filter(|of| *of == epoch).count() <= 1;
                    cut.states().map(|(me, node)| (me, node.arbiter.epoch)).all(is_alone)
                },
            },
            Invariant {
                name: HANDOVERS_ARE_REPORTED,
                holds: |cut| {
                    cut.states().all(|(me, node)| {
                        let passed_on =
                            releases(cut, me).filter(|release| release.forwarded.is_some()).count();
                        grants(cut, me).all(|epoch| epoch <= node.arbiter.epoch + passed_on as u64)
                    })
                },
            },
            Invariant {
                name: SUCCESSOR_IS_QUEUED,
                holds: |cut| {
                    cut.states().all(|(me, CaoSinghal { arbiter, .. })| {
                        let mut next = releases(cut, me).filter(|release| release.epoch == arbiter.epoch);
                        next.all(|release| release.forwarded.is_none_or(|to| arbiter.queue.contains(to)))
                    })
                },
            },
        ]
    }
}

/// The epochs of an arbiter's votes that nodes have or are being sent.
fn grants<'a>(cut: &Cut<'a, CaoSinghal>, arbiter: NodeId) -> impl Iterator<Item = u64> {
    let votes = cut.states().flat_map(|(_, node)| &node.votes).filter(move |vote| vote.arbiter == arbiter);
    let held =
        votes.filter(|vote| vote.status == Status::Locked && vote.done < vote.grant).map(|vote| vote.grant);
    let flying = cut.in_flight.iter().filter_map(move |letter| match letter.msg {
        Msg::Reply { arbiter: of, epoch, .. } if *of == arbiter => Some(*epoch),
        _ => None, // Only a REPLY brings a vote.
    });
    held.chain(flying)
}

/// The RELEASEs that are on their way to an arbiter or kept there.
fn releases<'a>(cut: &Cut<'a, CaoSinghal>, arbiter: NodeId) -> impl Iterator<Item = &'a Release> {
    let flying = cut.in_flight.iter().filter_map(move |letter| match letter.msg {
        Msg::Release(release) if letter.to == arbiter => Some(release),
        _ => None, // Only a RELEASE tells that.
    });
    cut.state(arbiter).arbiter.early.iter().chain(flying)
}

impl Hints for CaoSinghal {
    /// A FAILED matters only while its request waits and its arbiter has not answered, a TRANSFER only while its request
    /// lives and its epoch is not over. Once false, neither condition becomes true again.
    fn commutes(&self, from: NodeId, msg: &Msg, _: Ahead) -> bool {
        let vote = self.votes.iter().find(|vote| vote.arbiter == from);
        match msg {
            Msg::Failed(request) => {
                !self.waits_with(*request) || vote.is_some_and(|vote| vote.status != Status::Pending)
            }
            Msg::Transfer { holder, epoch, .. } => {
                self.request != Some(*holder) || vote.is_some_and(|vote| vote.done >= *epoch)
            }
            Msg::Request(_) | Msg::Reply { .. } | Msg::Yield { .. } | Msg::Release(_) => false,
        }
    }

    /// The clock only stamps requests, and no handler reads what a vote keeps of an epoch that is over.
    fn forget(&mut self) {
        self.clock = LamportClock::STOPPED;
        for vote in &mut self.votes {
            vote.inquired = vote.inquired.max(vote.done);
            if vote.transfer.epoch <= vote.done {
                vote.transfer = Transfer::default();
            }
        }
    }

    /// The epochs are not shown, since a message does not say here which arbiter's vote it is about.
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        self.clock.counter().into_iter().for_each(|count| show(Group::Time, count));
        let targets = self.votes.iter_mut().flat_map(|vote| &mut vote.transfer.target);
        let stamps = self.request.iter_mut().chain(&mut self.arbiter.lock).chain(targets);
        stamps.for_each(|stamp| show(Group::Time, &mut stamp.counter));
        self.arbiter.queue.counters().for_each(|counter| show(Group::Time, counter));
        self.arbiter.early.iter_mut().for_each(|release| release.counters(show));
        true
    }

    fn counters_in(_: NodeId, _: NodeId, msg: &mut Msg, show: &mut dyn FnMut(Group, &mut u64)) {
        let (stamp, other) = match msg {
            Msg::Request(request) | Msg::Failed(request) | Msg::Yield { request, .. } => (request, None),
            Msg::Reply { request, next, .. } => (request, next.as_mut()),
            Msg::Transfer { holder, target, .. } => (holder, Some(target)),
            Msg::Release(release) => return release.counters(show),
        };
        show(Group::Time, &mut stamp.counter);
        other.into_iter().for_each(|stamp| show(Group::Time, &mut stamp.counter));
    }
}

impl Release {
    fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) {
        let stamps = [&mut self.request].into_iter().chain(&mut self.forwarded);
        stamps.for_each(|stamp| show(Group::Time, &mut stamp.counter));
    }
}
