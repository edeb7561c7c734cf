//! What the consensus leader observes of members and joiners, and which view it proposes next.

mod voters;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use doorway_core::{NodeId, Ticks};

use crate::consensus::{Consensus, Electorate};
use crate::damping::Record;
use crate::message::{Heartbeat, Hello};
use crate::recipe::Recipe;
use crate::wishes::Wishes;
use crate::{Flaw, Incarnation, KeptOut, Notice, Rules, Setup, Timing, View};

/// What a voter has seen of the others. It matters only while this voter leads.
#[derive(Clone, Debug)]
pub(crate) struct PeerWatch<R> {
    timing: Timing,
    rules: R,
    /// Since when this node leads.
    leads_since: Option<Ticks>,
    /// The newest view that was decided, and since when this node knows.
    decided: (u64, Ticks),
    members: BTreeMap<NodeId, MemberRecord>,
    joiners: BTreeMap<NodeId, Joiner>,
    /// Lives that have ended by themselves.
    left: BTreeSet<Incarnation>,
    /// What an operator wishes.
    pub(crate) wishes: Wishes,
    /// Who keeps failing.
    record: Record,
    /// Who was told to be kept out, and after how many failures.
    told_kept_out: BTreeMap<NodeId, u8>,
}

/// What was seen of a member.
#[derive(Clone, Debug)]
struct MemberRecord {
    heartbeat: Heartbeat,
    /// When this node answered its latest heartbeats, by their numbers.
    answered: VecDeque<(u64, Ticks)>,
    /// When this node sent the latest answer that the member has confirmed: until then both directions worked.
    both_ways: Ticks,
}

#[derive(Clone, Debug)]
struct Joiner {
    hello: Hello,
    first: Ticks,
    last: Ticks,
}

/// What a leader can propose.
#[derive(Clone, Debug)]
pub(crate) enum Proposal {
    /// A view.
    View(View),
    /// Other voters or listeners.
    Config(Electorate),
}

impl<R: Rules> PeerWatch<R> {
    pub(crate) fn new(setup: &Setup, rules: R) -> Self {
        Self {
            timing: setup.timing,
            rules,
            leads_since: None,
            decided: (0, Ticks(0)),
            members: BTreeMap::new(),
            joiners: BTreeMap::new(),
            left: BTreeSet::new(),
            wishes: Wishes::default(),
            record: Record::new(setup.damping),
            told_kept_out: BTreeMap::new(),
        }
    }

    /// A member has sent a heartbeat, and this voter answers it.
    pub(crate) fn hear_heartbeat(&mut self, from: NodeId, heartbeat: Heartbeat, now: Ticks) {
        const REMEMBERED: usize = 32;
        let fresh = MemberRecord { heartbeat: heartbeat.clone(), answered: VecDeque::new(), both_ways: now };
        let seen = self.members.entry(from).or_insert_with(|| fresh.clone());
        if is_earlier(&heartbeat.incarnation, &seen.heartbeat.incarnation) {
            return;
        }
        if seen.heartbeat.incarnation != heartbeat.incarnation {
            *seen = fresh;
        }
        if let Some((_, at)) = seen.answered.iter().rev().find(|(seq, _)| *seq <= heartbeat.answered) {
            seen.both_ways = seen.both_ways.max(*at);
        }
        if heartbeat.seq >= seen.heartbeat.seq {
            seen.answered.push_back((heartbeat.seq, now));
            if seen.answered.len() > REMEMBERED {
                seen.answered.pop_front();
            }
            seen.heartbeat = heartbeat;
        }
    }

    /// A node asks to become a member.
    pub(crate) fn hear_hello(&mut self, from: NodeId, hello: Hello, now: Ticks) {
        let known = self.joiners.get(&from);
        if known.is_some_and(|known| is_earlier(&hello.incarnation, &known.hello.incarnation)) {
            return;
        }
        let known = known.filter(|known| known.hello.incarnation == hello.incarnation);
        let first = known.map_or(now, |known| known.first);
        self.joiners.insert(from, Joiner { hello, first, last: now });
    }

    /// How many would like to be members.
    pub(crate) fn joiner_count(&self) -> usize {
        self.joiners.len()
    }

    /// A member's life is over.
    pub(crate) fn hear_leave(&mut self, incarnation: Incarnation) {
        const REMEMBERED: usize = 256;
        self.left.insert(incarnation);
        while self.left.len() > REMEMBERED {
            self.left.pop_first();
        }
    }

    /// The answers to wishes that are agreed, or that another leader must be told now.
    pub(crate) fn answer_wishes(&mut self, consensus: &Consensus) -> Vec<Notice> {
        let mut answers =
            consensus.newest_decided().map(|view| self.wishes.answers(view)).unwrap_or_default();
        if !consensus.is_leader() {
            let not_leader = Notice::NotLeader { leader: consensus.leader() };
            answers.extend(std::iter::repeat_n(not_leader, self.wishes.give_up()));
        }
        answers
    }

    /// A view was decided.
    pub(crate) fn note_decided(&mut self, view: &View, now: Ticks) {
        self.decided = (view.number, now);
        self.record.note(view, now);
    }

    /// The nodes that would be members by now if they had not failed so often.
    pub(crate) fn kept_out(&self, newest: &View, now: Ticks) -> Vec<KeptOut> {
        let is_present = |joiner: &Joiner| now <= joiner.last + self.joiner_patience();
        let joiners = self.joiners.iter().filter(|(_, joiner)| is_present(joiner));
        let outside = joiners.filter(|(_, joiner)| !newest.has(&joiner.hello.incarnation));
        let kept_out = outside.map(|(node, joiner)| {
            let failures = newest.failures.get(node).copied().unwrap_or_default();
            let pause = self.record.damping().pause(failures);
            KeptOut { node: *node, failures, pause, left: (joiner.first + pause) - now }
        });
        kept_out.filter(|kept_out| kept_out.left > Ticks(0)).collect()
    }

    /// As a leader: nodes that are kept out from now on because they keep failing.
    pub(crate) fn newly_kept_out(&mut self, consensus: &Consensus, now: Ticks) -> Vec<Notice> {
        let Some(newest) = consensus.newest_decided().filter(|_| consensus.is_leader()) else {
            return Vec::new();
        };
        self.told_kept_out.retain(|node, _| newest.failures.contains_key(node));
        let mut news = self.kept_out(newest, now);
        news.retain(|kept_out| {
            self.told_kept_out.insert(kept_out.node, kept_out.failures) != Some(kept_out.failures)
        });
        news.into_iter().map(Notice::KeptOut).collect()
    }

    /// A joiner that says nothing for this long is gone.
    fn joiner_patience(&self) -> Ticks {
        Ticks(self.timing.heartbeat.0 * 3)
    }

    /// What is to be proposed now, if this node leads and can propose.
    pub(crate) fn propose(&mut self, consensus: &Consensus, recipe: &Recipe, now: Ticks) -> Option<Proposal> {
        if !consensus.is_leader() {
            self.leads_since = None;
            return None;
        }
        let since = *self.leads_since.get_or_insert(now);
        // R5: only a settled leader
        if !consensus.can_propose(now) {
            return None;
        }
        let current = consensus.newest_view()?;
        self.forget_old(current, now);
        let config = consensus.config();
        let next = self.next_view(current, since, consensus, recipe, now);
        let view = next.filter(|view| view.number <= View::LAST);
        view.map(Proposal::View)
            .or_else(|| self.next_config(current, &config, now).map(Proposal::Config))
            .or_else(|| self.next_voters(current, &config).map(Proposal::View))
    }

    fn forget_old(&mut self, current: &View, now: Ticks) {
        let patience = self.joiner_patience();
        self.joiners.retain(|_, joiner| now <= joiner.last + patience);
        let is_member = |node: &NodeId| current.members.contains_key(node);
        self.members.retain(|node, _| is_member(node));
        let is_joining =
            |life: &Incarnation| self.joiners.values().any(|joiner| joiner.hello.incarnation == *life);
        self.left.retain(|life| current.has(life) || is_joining(life));
        self.joiners.retain(|node, joiner| current.members.get(node) != Some(&joiner.hello.incarnation));
    }

    /// The view that should follow, if any should.
    fn next_view(
        &self,
        current: &View,
        since: Ticks,
        consensus: &Consensus,
        recipe: &Recipe,
        now: Ticks,
    ) -> Option<View> {
        let mut next = current.successor();
        // R6: any member may be left out
        next.members.retain(|node, life| !self.is_out(*node, life, current, since, now));
        if let Some(victim) = self.most_complained_of(&next, current) {
            next.members.remove(&victim);
        }
        self.wishes.grant(&mut next);
        let gone = current.members.values().filter(|life| !next.has(life) && self.left.contains(life));
        // R21: left by itself
        next.clean = gone.copied().collect();
        next.failures = self.record.failures_of(&next, current, now);
        let everybody_is_active =
            next.members.iter().all(|(node, life)| self.is_active(*node, life, current));
        // R7: all who stay are active
        if everybody_is_active {
            for (node, joiner) in &self.joiners {
                self.take_in(*node, joiner, &mut next, consensus, recipe, now);
            }
        }
        // R19: renew the counters
        let runs_out = self.members.iter().any(|(node, seen)| {
            let heartbeat = &seen.heartbeat;
            heartbeat.is_running_out
                && heartbeat.view == current.number
                && next.members.get(node) == Some(&heartbeat.incarnation)
        });
        let is_wished = next.appointed != current.appointed
            || next.removed != current.removed
            || next.revoked != current.revoked;
        (next.members != current.members || runs_out || is_wished).then_some(next)
    }

    /// Whether a member is to be left out.
    fn is_out(&self, node: NodeId, life: &Incarnation, current: &View, since: Ticks, now: Ticks) -> bool {
        let decided = if self.decided.0 == current.number { self.decided.1 } else { now };
        let seen = self.members.get(&node).filter(|seen| self.is_same(&seen.heartbeat.incarnation, life));
        // A new leader has heard heartbeats before; but a member that was cut off until now must get the time for two of them.
        let two_heartbeats = Ticks(self.timing.heartbeat.0 * 5 / 2).min(self.timing.detection);
        // R23: silent for T_d
        let is_silent = match seen {
            Some(seen) => now > seen.both_ways + self.timing.detection && now > since + two_heartbeats,
            None => now > decided.max(since) + self.timing.detection,
        };
        let has_not_adopted = seen.is_none_or(|seen| seen.heartbeat.view < current.number);
        // R23: late with the view
        let is_late = has_not_adopted && now > decided.max(since) + self.timing.barrier;
        self.left.contains(life) || is_silent || is_late || self.is_replaced(node, life, now)
    }

    /// Whether two lives of one node are the same one.
    fn is_same(&self, one: &Incarnation, other: &Incarnation) -> bool {
        one == other || self.rules.breaks(Flaw::LeftOutByName)
    }

    /// Whether the node has a newer incarnation.
    fn is_replaced(&self, node: NodeId, life: &Incarnation, now: Ticks) -> bool {
        let Some(joiner) = self.joiners.get(&node) else { return false };
        let new = joiner.hello.incarnation;
        if self.is_same(&new, life) {
            return false;
        }
        if new.disk == life.disk {
            // R6: a restart is a replacement
            return new.life() > life.life();
        }
        // Of two disks at one node the newer is the one that speaks; what the other one sent may still arrive.
        let seen = self.members.get(&node).filter(|seen| seen.heartbeat.incarnation == *life);
        let spoke = seen.and_then(|seen| seen.answered.back()).map_or(Ticks(0), |(_, at)| *at);
        now > spoke + Ticks(self.timing.heartbeat.0 * 2) && joiner.last > spoke
    }

    /// Whether a member has installed the current view.
    fn is_active(&self, node: NodeId, life: &Incarnation, current: &View) -> bool {
        let seen = self.members.get(&node).map(|seen| &seen.heartbeat);
        seen.is_some_and(|seen| {
            self.is_same(&seen.incarnation, life) && seen.view == current.number && seen.is_active
        })
    }

    /// The member with the most complaints, if there are any; of equal ones the last.
    fn most_complained_of(&self, next: &View, current: &View) -> Option<NodeId> {
        let mut complaints: BTreeMap<NodeId, u32> = BTreeMap::new();
        let those_present = self.members.iter().filter(|(node, seen)| {
            let heartbeat = &seen.heartbeat;
            next.members.get(node) == Some(&heartbeat.incarnation) && heartbeat.view == current.number
        });
        for (node, seen) in those_present {
            let others = seen.heartbeat.unreachable.iter().filter(|other| *other != node);
            for other in others.filter(|other| next.members.contains_key(other)) {
                *complaints.entry(*other).or_default() += 1;
            }
        }
        // R23: most complained of
        complaints.into_iter().max_by_key(|(node, count)| (*count, *node)).map(|(node, _)| node)
    }

    /// Admits a joiner if it and all members hear each other, it never was in a view, and it has run for long enough since its node
    /// last failed.
    fn take_in(
        &self,
        node: NodeId,
        joiner: &Joiner,
        next: &mut View,
        consensus: &Consensus,
        recipe: &Recipe,
        now: Ticks,
    ) {
        let Joiner { hello, first, .. } = joiner;
        let life = hello.incarnation;
        // R6: later than every known life
        let is_new = match consensus.latest_life(life.disk) {
            Some(latest) => life.life() > latest.life() || self.rules.breaks(Flaw::Readmitted),
            // Its lives may have been forgotten; then a late hello of one of them tells of an earlier view.
            None => hello.newest >= consensus.forgotten_to(),
        };
        let hears = |other: &NodeId| *other == node || hello.heard.contains(other);
        let is_heard = |other: &NodeId| {
            let as_joiner = self.joiners.get(other).filter(|other| next.has(&other.hello.incarnation));
            as_joiner.is_none_or(|other| other.hello.heard.contains(&node))
        };
        let is_known = consensus.config().everybody().any(|(disk, _)| disk == life.disk);
        let failures = next.failures.get(&node).copied().unwrap_or_default();
        let pause = self.record.damping().pause(failures);
        // R7: steady, damped by failures
        let is_steady = now >= *first + pause.max(Ticks(self.timing.heartbeat.0 * 2));
        let is_same = hello.algorithm == recipe.name()
            && hello.timing == self.timing
            && recipe.blueprint(next.members.len() + 1).is_ok();
        // R7: hears all both ways
        let reaches_all = next.members.keys().all(|other| hears(other) && is_heard(other));
        let is_free = !next.members.contains_key(&node) && next.members.len() < crate::wire::MOST_NODES;
        let is_gone = self.left.contains(&life) || next.removed.contains(&life.disk);
        if is_new && is_known && is_steady && is_same && reaches_all && is_free && !is_gone {
            next.members.insert(node, life);
        }
    }
}

/// Whether something comes late, of a life that has ended meanwhile.
fn is_earlier(life: &Incarnation, known: &Incarnation) -> bool {
    life.disk == known.disk && life.life() < known.life()
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::message::central;
    use doorway_core::Options;

    use super::*;
    use crate::consensus::LogSnapshot;
    use crate::disk::{DiskContents, blank};
    use crate::{DiskId, Nonce, Sound, Voters};

    fn recipe() -> Recipe {
        Recipe::of(&central::entry(), &Options::none()).expect("it needs no options")
    }

    fn hello(disk: u64, boot: u64, newest: u64) -> Hello {
        let incarnation = Incarnation { disk: DiskId(disk), boot, tenure: 0, nonce: Nonce(0) };
        let (algorithm, timing) = ("central".to_owned(), Timing::default());
        Hello { incarnation, algorithm, timing, newest, synced: 0, seq: 1, heard: Vec::new() }
    }

    fn setup() -> Setup {
        let timing = Timing::default();
        Setup {
            me: NodeId::new(1),
            peers: BTreeSet::new(),
            founders: BTreeSet::new(),
            nonce: Nonce(0),
            recipe: recipe(),
            timing,
            longest_log: 64,
            most_open: 64,
            damping: crate::Damping::of(&timing),
        }
    }

    /// Whether a leader admits a node that says this, in a cluster that remembers the fifth life of disk 2 and has forgotten those
    /// of others up to view 9.
    fn is_taken_in(hello: Hello) -> bool {
        let voters: Voters = [1, 2, 3].map(|disk| (DiskId(disk), NodeId::new(disk as usize))).into();
        let mut memory = DiskContents::read(&blank(DiskId(1), Nonce(0))).expect("it is whole");
        let view = View { number: 9, removed: [DiskId(3)].into(), ..View::genesis(voters) };
        memory.snapshot = LogSnapshot { forgotten_to: 9, ..LogSnapshot::genesis(view.clone()) };
        let life = Incarnation { disk: DiskId(2), boot: 5, tenure: 0, nonce: Nonce(0) };
        memory.snapshot.lives.insert(DiskId(2), life);
        let consensus = Consensus::new(&memory, Timing::default(), 64, Ticks(0));
        let watch = PeerWatch::new(&setup(), Sound);
        let mut next = view.successor();
        let joiner = Joiner { hello, first: Ticks(0), last: Ticks(0) };
        let now = crate::timing::milliseconds(1_000);
        watch.take_in(NodeId::new(7), &joiner, &mut next, &consensus, &recipe(), now);
        !next.members.is_empty()
    }

    #[test]
    fn a_late_hello_never_readmits_a_forgotten_life() {
        assert!(!is_taken_in(hello(2, 5, 20)), "a life that is remembered");
        assert!(is_taken_in(hello(2, 6, 0)), "a later one");
        assert!(!is_taken_in(hello(1, 8, 8)), "what was said before view 9 may be of a life that was in it");
        assert!(is_taken_in(hello(1, 8, 9)), "what was said after it cannot");
    }

    #[test]
    fn other_times_and_removed_disks_are_not_admitted() {
        let mut other = hello(2, 6, 9);
        other.timing.margin = crate::timing::milliseconds(101);
        assert!(!is_taken_in(other));
        assert!(!is_taken_in(hello(3, 9, 9)));
    }
}
