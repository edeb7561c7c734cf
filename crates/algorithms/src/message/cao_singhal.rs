//! Cao and Singhal's delay-optimal quorum algorithm.
//!
//! G. Cao, M. Singhal, "A delay-optimal quorum-based mutual exclusion algorithm for distributed systems", IEEE
//! Transactions on Parallel and Distributed Systems 12(12), 2001.
//!
//! Maekawa's algorithm with one hop less between an exit and the next entry: the arbiter announces the next node to the
//! one that has its vote, which on leaving passes the vote on directly instead of by way of the arbiter.
//!
//! Messages: 3(K − 1) per entry without conflict, K the size of a quorum; up to 6(K − 1) with it. Delay: T where the
//! successor was announced before the exit, else 2T. Needs: channels of any order. Starvation-free.
//!
//! This is a formulation of our own. Each vote is counted by an epoch, one per change of hands, and every message
//! names the epoch that it is about: so a RELEASE may overtake its predecessor's, and a TRANSFER its REPLY.

// tidy: allow length, because this formulation has no page in the literature and is told here in full.

use doorway_core::{
    About, Algorithm, Channels, Cost, Entry, Family, LamportClock, NodeId, NodeSet, Out, PerNode,
    RequestQueue, Scale, Stamp, Start,
};
use serde::{Deserialize, Serialize};

/// One node: it asks, and it votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CaoSinghal {
    me: NodeId,
    clock: LamportClock,
    /// Its quorum: the nodes that it asks.
    quorum: NodeSet,
    /// Its request, until it leaves.
    request: Option<Stamp>,
    inside: bool,
    /// The vote of each member of its quorum, in the quorum's order.
    votes: Box<[Vote]>,
    arbiter: Arbiter,
}

/// What a requester knows of one arbiter's vote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Vote {
    arbiter: NodeId,
    status: Status,
    /// The epoch of the grant that is or was last held here.
    grant: u64,
    /// The latest epoch that this node has given up or passed on.
    done: u64,
    /// The latest TRANSFER: which node comes next.
    transfer: Transfer,
    /// The latest epoch whose vote the arbiter would like back.
    inquired: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Status {
    Pending,
    Failed,
    Locked,
}

/// Which node gets a vote next: the latest TRANSFER of the latest epoch counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
struct Transfer {
    epoch: u64,
    word: u64,
    target: Option<Stamp>,
}

/// The half of a node that votes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Arbiter {
    /// The request that has the vote.
    lock: Option<Stamp>,
    /// The number of times the vote has changed hands.
    epoch: u64,
    /// Whether the vote was asked back in this epoch.
    inquired: bool,
    /// The number of TRANSFERs sent in this epoch.
    words: u64,
    /// The requests that wait for the vote.
    queue: RequestQueue,
    /// The release of the next epoch, if it came before that of this one.
    early: Option<Release>,
}

/// What a node says to the arbiter when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Release {
    epoch: u64,
    request: Stamp,
    /// The request that the vote was passed on to.
    forwarded: Option<Stamp>,
}

/// Each message names the request, and where it matters the epoch, that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)] // The fields are those of Vote and Arbiter.
pub enum Msg {
    /// The sender wants in.
    Request(Stamp),
    /// The arbiter's vote, from the arbiter or from the node that had it before.
    Reply { arbiter: NodeId, request: Stamp, epoch: u64, next: Option<Stamp> },
    /// An older request goes first at the sender.
    Failed(Stamp),
    /// Which request gets the vote next, and whether the arbiter wants the vote back for it at once.
    Transfer { holder: Stamp, epoch: u64, word: u64, target: Stamp, inquire: bool },
    /// Here is your vote back, for now.
    Yield { request: Stamp, epoch: u64 },
    /// The sender has left.
    Release(Release),
}

impl CaoSinghal {
    /// Node `me` with its quorum, among nodes of which some may count on its vote.
    pub fn new(me: NodeId, quorums: &PerNode<NodeSet>, start: Start) -> Self {
        let inside = start.is_inside(me);
        let (status, grant) = if inside { (Status::Locked, 1) } else { (Status::Pending, 0) };
        let vote =
            |arbiter| Vote { arbiter, status, grant, done: 0, transfer: Transfer::default(), inquired: 0 };
        let voted_for = start.holder().filter(|&holder| quorums[holder].contains(me));
        let at_start = |node| Stamp { counter: 0, node };
        Self {
            me,
            clock: LamportClock::default(),
            quorum: quorums[me].clone(),
            request: inside.then_some(at_start(me)),
            inside,
            votes: quorums[me].iter().map(vote).collect(),
            arbiter: Arbiter {
                lock: voted_for.map(at_start),
                epoch: u64::from(voted_for.is_some()),
                inquired: false,
                words: 0,
                queue: RequestQueue::new(),
                early: None,
            },
        }
    }

    fn vote_of(&mut self, arbiter: NodeId) -> Option<&mut Vote> {
        self.votes.iter_mut().find(|vote| vote.arbiter == arbiter)
    }

    fn waits_with(&self, request: Stamp) -> bool {
        self.request == Some(request) && !self.inside
    }

    fn on_reply(
        &mut self,
        arbiter: NodeId,
        request: Stamp,
        epoch: u64,
        next: Option<Stamp>,
        out: &mut Out<Msg>,
    ) {
        let waits = self.waits_with(request);
        let Some(vote) = self.vote_of(arbiter).filter(|vote| waits && epoch > vote.done) else {
            return out.broken("REPLY for a request that does not wait");
        };
        vote.status = Status::Locked;
        vote.grant = epoch;
        if next.is_some() {
            vote.transfer.hear(Transfer { epoch, word: 0, target: next });
        }
        if self.votes.iter().all(|vote| vote.status == Status::Locked) {
            self.inside = true;
            out.enter();
        } else {
            self.yield_votes(out);
        }
    }

    /// A FAILED that arrives after the vote of the same arbiter was overtaken by it and is stale.
    fn on_failed(&mut self, arbiter: NodeId, request: Stamp, out: &mut Out<Msg>) {
        if !self.waits_with(request) {
            return;
        }
        if let Some(vote) = self.vote_of(arbiter).filter(|vote| vote.status == Status::Pending) {
            vote.status = Status::Failed;
            self.yield_votes(out);
        }
    }

    fn on_transfer(
        &mut self,
        arbiter: NodeId,
        holder: Stamp,
        heard: Transfer,
        inquire: bool,
        out: &mut Out<Msg>,
    ) {
        let concerned = self.request == Some(holder);
        let Some(vote) = self.vote_of(arbiter).filter(|vote| concerned && heard.epoch > vote.done) else {
            return;
        };
        vote.transfer.hear(heard);
        if inquire {
            vote.inquired = vote.inquired.max(heard.epoch);
            self.yield_votes(out);
        }
    }

    /// A request that failed at some arbiter cannot enter yet, so it returns every vote that it holds and was asked for.
    fn yield_votes(&mut self, out: &mut Out<Msg>) {
        let Some(request) = self.request.filter(|_| !self.inside) else { return };
        if !self.votes.iter().any(|vote| vote.status == Status::Failed) {
            return;
        }
        out.rule("yield");
        for vote in &mut self.votes {
            if vote.status == Status::Locked && vote.inquired == vote.grant {
                vote.status = Status::Failed;
                vote.done = vote.grant;
                out.send(vote.arbiter, Msg::Yield { request, epoch: vote.grant });
            }
        }
    }

    fn handle(&mut self, from: NodeId, msg: Msg, out: &mut Out<Msg>) {
        match msg {
            Msg::Request(request) => {
                self.clock.merge(request.counter);
                self.arbiter.on_request(self.me, request, out);
            }
            Msg::Reply { arbiter, request, epoch, next } => self.on_reply(arbiter, request, epoch, next, out),
            Msg::Failed(request) => self.on_failed(from, request, out),
            Msg::Transfer { holder, epoch, word, target, inquire } => {
                let heard = Transfer { epoch, word, target: Some(target) };
                self.on_transfer(from, holder, heard, inquire, out);
            }
            Msg::Yield { request, epoch } => self.arbiter.on_yield(self.me, request, epoch, out),
            Msg::Release(release) => self.arbiter.on_release(self.me, release, out),
        }
    }

    fn answer_self(&mut self, out: &mut Out<Msg>) {
        while let Some(msg) = out.take_own(self.me) {
            self.handle(self.me, msg, out);
        }
    }
}

impl Algorithm for CaoSinghal {
    type Msg = Msg;

    fn on_request(&mut self, out: &mut Out<Msg>) {
        let request = self.clock.stamp(self.me);
        self.request = Some(request);
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
        let Some(request) = self.request.take() else { return out.broken("left without a request") };
        for vote in &mut self.votes {
            let (arbiter, epoch) = (vote.arbiter, vote.grant);
            vote.done = epoch;
            vote.status = Status::Pending;
            let forwarded = vote.transfer.target.filter(|_| vote.transfer.epoch == epoch);
            if let Some(successor) = forwarded {
                out.rule("pass on");
                let epoch = epoch + 1;
                out.send(successor.node, Msg::Reply { arbiter, request: successor, epoch, next: None });
            }
            out.rule("leave");
            out.send(arbiter, Msg::Release(Release { epoch, request, forwarded }));
        }
        self.answer_self(out);
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        Some(&mut self.clock)
    }
}

impl Transfer {
    fn hear(&mut self, heard: Transfer) {
        if (heard.epoch, heard.word) >= (self.epoch, self.word) {
            *self = heard;
        }
    }
}

impl Arbiter {
    fn on_request(&mut self, me: NodeId, request: Stamp, out: &mut Out<Msg>) {
        let oldest = self.queue.oldest();
        self.queue.insert(request);
        let Some(held) = self.lock else { return self.grant(me, out) };
        if self.queue.oldest() != Some(request) || request > held {
            out.rule("refuse");
            out.send(request.node, Msg::Failed(request));
        } else if let Some(overtaken) = oldest.filter(|oldest| *oldest < held) {
            out.rule("overtake");
            out.send(overtaken.node, Msg::Failed(overtaken));
        }
        if self.queue.oldest() == Some(request) {
            self.announce_successor(out);
        }
    }

    fn grant(&mut self, me: NodeId, out: &mut Out<Msg>) {
        let Some(request) = self.queue.pop_oldest() else { return };
        self.change_hands(request);
        let next = self.queue.oldest();
        out.rule("grant");
        out.send(request.node, Msg::Reply { arbiter: me, request, epoch: self.epoch, next });
    }

    fn change_hands(&mut self, to: Stamp) {
        self.lock = Some(to);
        self.epoch += 1;
        self.inquired = false;
        self.words = 0;
    }

    fn announce_successor(&mut self, out: &mut Out<Msg>) {
        let Some((holder, target)) = self.lock.zip(self.queue.oldest()) else { return };
        let inquire = target < holder && !self.inquired;
        self.inquired |= inquire;
        self.words += 1;
        out.rule("announce");
        let (epoch, word) = (self.epoch, self.words);
        out.send(holder.node, Msg::Transfer { holder, epoch, word, target, inquire });
    }

    fn on_yield(&mut self, me: NodeId, request: Stamp, epoch: u64, out: &mut Out<Msg>) {
        if (self.lock, self.epoch) != (Some(request), epoch) {
            return out.broken("YIELD of a vote that was not given");
        }
        self.lock = None;
        self.queue.insert(request);
        self.grant(me, out);
    }

    fn on_release(&mut self, me: NodeId, release: Release, out: &mut Out<Msg>) {
        if release.epoch > self.epoch {
            return self.keep_until_due(release, out);
        }
        if (self.lock, self.epoch) != (Some(release.request), release.epoch) {
            return out.broken("RELEASE of a vote that was not given");
        }
        match release.forwarded {
            None => {
                self.lock = None;
                self.grant(me, out);
            }
            Some(successor) => {
                if !self.queue.remove(successor) {
                    return out.broken("a vote was passed on to a node that did not ask for it");
                }
                self.change_hands(successor);
                self.announce_successor(out);
            }
        }
        if let Some(due) = self.early.take_if(|early| early.epoch == self.epoch) {
            self.on_release(me, due, out);
        }
    }

    /// The node that the vote was passed on to may leave before this epoch's RELEASE arrives. One early RELEASE is the most
    /// there can be: the arbiter announces the next successor only after this epoch's RELEASE.
    fn keep_until_due(&mut self, release: Release, out: &mut Out<Msg>) {
        let is_other = |early: Release| early.epoch > self.epoch && early != release;
        if release.epoch != self.epoch + 1 || self.early.is_some_and(is_other) {
            return out.broken("RELEASE of a vote that cannot have been given yet");
        }
        self.early = Some(release);
    }
}

mod proof;

/// Its place in the catalog.
pub fn entry() -> Entry<CaoSinghal> {
    Entry {
        about: About {
            name: "cao-singhal",
            title: "Cao–Singhal 2001",
            family: Family::Permission,
            needs: Channels::Any,
            messages: Cost {
                formula: "3(K−1) … 6(K−1)",
                bounds: |Scale { k, .. }| [3.0 * (k[0] - 1.0), 6.0 * (k[1] - 1.0)],
            },
            delay: "T … 2T",
            parameters: &[crate::structures::QUORUM],
            source: include_str!("cao_singhal.rs"),
            specimen: None,
        },
        bind: |options| crate::structures::with_quorums(options, CaoSinghal::new),
    }
}
