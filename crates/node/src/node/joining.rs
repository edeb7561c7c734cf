//! How a node joins a cluster, and how it leaves by itself.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, NodeId, Ticks};

use super::{LockNode, State};
use crate::message::{Hello, Msg, Welcome};
use crate::{Flaw, Incarnation, Loss, Notice, Reason, Rules, View};

/// The state of a node that wants to become a member.
#[derive(Debug, Default)]
pub(super) struct Joining {
    seq: u64,
    /// Since when and until when each peer has answered without a gap.
    answers: BTreeMap<NodeId, (Ticks, Ticks)>,
    /// The number of the newest view that was known when this life began.
    knew: u64,
    /// Whether it has told why it cannot become a member.
    is_told_why: bool,
}

/// How far a node has come in leaving.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It stays.
    No,
    /// It grants nothing and waits for holders, until then.
    Waiting(Ticks),
    /// Those inside were told; each has until a margin after its deadline to stop.
    Told,
    /// It has said so and never acts again; it says it again at the first time, and gives up at the last. Before the second it
    /// may still be taken in, because it said hello before.
    Said { again: Ticks, since: Ticks, until: Ticks },
}

impl Leaving {
    pub(super) fn is_said(&self) -> bool {
        matches!(self, Leaving::Said { .. })
    }

    pub(super) fn alarm(&self) -> Ticks {
        match self {
            Leaving::No | Leaving::Told => Ticks(u64::MAX),
            Leaving::Waiting(until) => *until,
            Leaving::Said { again, until, .. } => *again.min(until),
        }
    }
}

impl Joining {
    /// Nodes that answered the life before have to answer the next one, too.
    pub(super) fn begin_again(&mut self) {
        self.answers.clear();
    }

    /// A life begins that knows of this view.
    pub(super) fn begin_life(&mut self, newest: Option<&View>) {
        self.knew = newest.map_or(0, |view| view.number);
    }

    /// The number of the newest view that was known when this life began.
    pub(super) fn knew_from_birth(&self) -> u64 {
        self.knew
    }
}

impl<R: Rules> LockNode<R> {
    /// Tells every known node that this node wants to be a member.
    pub(super) fn say_hello(&mut self, effects: &mut Effects<Self>) {
        if self.leaving != Leaving::No {
            return;
        }
        let (now, heartbeat) = (self.now, self.setup.timing.heartbeat);
        self.joining.answers.retain(|_, (_, last)| now <= *last + Ticks(heartbeat.0 * 3));
        self.joining.seq += 1;
        // R7: heard for two heartbeats
        let is_steady = |(first, _): &(Ticks, Ticks)| now >= *first + Ticks(heartbeat.0 * 2);
        let heard = self.joining.answers.iter().filter(|(_, answer)| is_steady(answer));
        let hello = Hello {
            incarnation: self.incarnation,
            algorithm: self.setup.recipe.name().to_owned(),
            timing: self.setup.timing,
            newest: self.consensus.newest_decided().map_or(0, |view| view.number),
            synced: self.consensus.disk_state().synced,
            seq: self.joining.seq,
            heard: heard.map(|(node, _)| *node).take(crate::wire::MOST_NODES).collect(),
        };
        for &peer in self.setup.peers.iter().filter(|peer| **peer != self.setup.me) {
            effects.out.send(peer, Msg::Hello(hello.clone()));
        }
        self.consensus.look_up(self.incarnation.disk, self.setup.me);
        self.watch.hear_hello(self.setup.me, hello, now);
    }

    pub(super) fn answer_hello(&mut self, from: NodeId, hello: Hello, effects: &mut Effects<Self>) {
        if self.is_elsewhere(hello.incarnation.disk, from) {
            return self.sections.suspect(from, "a hello that names another sender");
        }
        let welcome = Welcome {
            incarnation: hello.incarnation,
            seq: hello.seq,
            algorithm: self.setup.recipe.name().to_owned(),
            timing: self.setup.timing,
            is_removed: self.consensus.is_barred(hello.incarnation.disk),
        };
        effects.out.send(from, Msg::Welcome(welcome));
        self.consensus.look_up(hello.incarnation.disk, from);
        self.watch.hear_hello(from, hello, self.now);
    }

    pub(super) fn count_welcome(&mut self, from: NodeId, welcome: Welcome, effects: &mut Effects<Self>) {
        if welcome.incarnation != self.incarnation || self.membership.is_some() {
            return;
        }
        let view = self.consensus.newest_decided();
        let is_of_cluster = view.is_some_and(|view| view.members.contains_key(&from));
        // A removed node must not learn who is in the cluster.
        let is_heeded = (is_of_cluster || welcome.is_removed) && !self.joining.is_told_why;
        if let Some(why) = self.why_not(welcome).filter(|_| is_heeded) {
            self.joining.is_told_why = true;
            effects.notices.push(why);
        }
        let now = self.now;
        let answer = self.joining.answers.entry(from).or_insert((now, now));
        answer.1 = now;
    }

    /// Why the cluster that answers like this will never admit this node, if so.
    fn why_not(&self, welcome: Welcome) -> Option<Notice> {
        if welcome.is_removed {
            Some(Notice::Expelled)
        } else if welcome.algorithm != self.setup.recipe.name() {
            Some(Notice::WrongAlgorithm { cluster: welcome.algorithm })
        } else {
            let is_other = welcome.timing != self.setup.timing;
            is_other.then_some(Notice::WrongTiming { cluster: welcome.timing })
        }
    }

    /// A node has left by itself.
    pub(super) fn hear_leave(&mut self, from: NodeId, incarnation: Incarnation) {
        if self.consensus.node_of(incarnation.disk) == Some(from) {
            self.watch.hear_leave(incarnation);
            self.lead_at = self.now;
        }
    }

    /// The node is to leave: it grants nothing any more.
    pub(super) fn begin_leaving(&mut self, patience: Ticks) {
        if self.leaving == Leaving::No {
            self.leaving = Leaving::Waiting(self.now + patience);
            // R21: grant nothing
            self.sections.gate.is_closed = true;
            self.sections.refuse_all(Reason::Leaving);
            self.sections.try_gate();
        }
    }

    /// What is to be done about leaving by now.
    pub(super) fn go_on_leaving(&mut self, effects: &mut Effects<Self>) {
        match self.leaving {
            Leaving::No => {}
            Leaving::Waiting(until) => self.wait_for_those_inside(until, effects),
            // R21: wait for those inside
            Leaving::Told if self.sections.is_anybody_inside() => {}
            Leaving::Told => self.leave_for_good(effects),
            Leaving::Said { again, since, until } => {
                let is_out = self.consensus.newest_decided().is_none_or(|view| !view.has(&self.incarnation));
                if (is_out && self.now >= since) || self.now >= until {
                    self.state = State::Over;
                    effects.notices.push(Notice::Left);
                } else if self.now >= again {
                    self.say_leave(since, until, effects);
                }
            }
        }
    }

    fn wait_for_those_inside(&mut self, until: Ticks, effects: &mut Effects<Self>) {
        if !self.sections.is_anybody_inside() {
            self.leave_for_good(effects);
        } else if self.now >= until {
            self.sections.stop_all(Loss::Leaving);
            self.leaving = Leaving::Told;
        } else if self.has(Flaw::LeaveBeforeStop) && self.membership.is_some() {
            self.say_leave(self.now, self.now + self.leave_patience(), effects);
            self.leaving = Leaving::Waiting(until);
        }
    }

    /// How long it says that it has left.
    fn leave_patience(&self) -> Ticks {
        Ticks(self.setup.timing.detection.0 * 4)
    }

    /// No client is inside any more. Earlier messages about sections must still arrive, but this node does nothing any
    /// more: the next view begins without it.
    fn leave_for_good(&mut self, effects: &mut Effects<Self>) {
        // A member is out as soon as a view says so. A joiner is in none yet, and its hellos may still bring it into one.
        let hellos = Ticks(self.setup.timing.heartbeat.0 * 4);
        let since = if self.membership.is_some() { self.now } else { self.now + hellos };
        self.membership = None;
        self.sections.freeze();
        self.say_leave(since, self.now + self.leave_patience(), effects);
        self.go_on_leaving(effects);
    }

    fn say_leave(&mut self, since: Ticks, until: Ticks, effects: &mut Effects<Self>) {
        // R21: from here on it never acts
        self.leaving = Leaving::Said { again: self.now + self.setup.timing.heartbeat, since, until };
        self.watch.hear_leave(self.incarnation);
        self.lead_at = self.now;
        let me = self.setup.me;
        let voters = self.consensus.newest_decided().map(|view| view.all_voters().into_values().collect());
        let told: BTreeSet<NodeId> = voters.unwrap_or_else(|| self.setup.peers.clone());
        for node in told.into_iter().filter(|node| *node != me) {
            effects.out.send(node, Msg::Leave(self.incarnation));
        }
    }
}
