//! Greetings: two nodes exchange them before either listens to anything else from the other.
//!
//! A greeting carries the sender's epoch and the state of its disk. It also carries the newest state that the sender knows of the greeted
//! node's disk, from its log or its memory. A node that does not find that start in its own list, or has synced less in it, has a disk
//! that was set back or lost synced writes. It may have voted otherwise before, so it marks its disk durably and no longer takes part
//! (R28). Nodes of different epochs refuse each other (R30).

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, NodeId, Ticks};
use serde::{Deserialize, Serialize};

use super::{LockNode, State};
use crate::disk::Record;
use crate::message::{Greeting, Msg};
use crate::{DiskId, DiskState, Epoch, Flaw, Incarnation, Loss, Notice, Reason, Rules};

/// What a node knows of the others as long as it runs.
#[derive(Debug, Default)]
pub(super) struct KnownPeers {
    /// The start of each node that has greeted, and what it has found right of what this node knew of it.
    known: BTreeMap<NodeId, KnownPeer>,
    /// How far disks had come when they were last heard.
    states: BTreeMap<DiskId, DiskState>,
    /// Starts of disks that this node's log named until a leader replaced those views. The disk must confirm them: a majority with a
    /// set-back disk may have decided otherwise, and the log then names another start of the same number.
    dropped: BTreeMap<DiskId, DiskState>,
    /// What each node knows of this one's disk, and was found right.
    found: BTreeMap<NodeId, DiskState>,
    /// Nodes of other epochs, and those whose disk was set back, and when they last said so. This node's driver was told.
    strangers: BTreeMap<NodeId, (Stranger, Ticks)>,
    /// Since when this node listens.
    pub(super) since: Ticks,
    /// The epoch that each node told last while this one had none, and when.
    epochs: BTreeMap<NodeId, (Epoch, Ticks)>,
}

/// A node that has greeted.
#[derive(Clone, Copy, Debug)]
struct KnownPeer {
    life: Incarnation,
    /// What this node knew of the peer's disk and the peer has confirmed, if anything.
    found: Option<DiskState>,
    /// Whether that is all that this node knows of its disk.
    is_checked: bool,
    /// Whether a message has come that names another start, or fewer synced writes. It may be late, and only a new greeting tells.
    is_doubted: bool,
}

/// Why a node is not listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stranger {
    /// It belongs to another cluster, or to the same one before or after a recovery.
    OtherEpoch(Epoch),
    /// Its disk was set back.
    SetBack,
}

impl KnownPeers {
    /// Of how many disks it is kept how far they had come.
    const MOST_STATES: usize = 4_096;

    /// The nodes that are not listened to and have been heard since a time, and why.
    pub(super) fn strangers(&self, since: Ticks) -> impl Iterator<Item = (NodeId, Stranger)> {
        let present = self.strangers.iter().filter(move |(_, (_, at))| *at >= since);
        present.map(|(node, (why, _))| (*node, *why))
    }

    /// Whether a node has greeted this one.
    pub(super) fn has_greeted(&self, node: NodeId) -> bool {
        self.known.contains_key(&node)
    }

    /// Whether a node of any cluster was heard.
    pub(super) fn has_heard_of_cluster(&self) -> bool {
        !self.epochs.is_empty()
    }

    /// A disk has come this far, as a message tells.
    fn note(&mut self, disk: DiskId, state: DiskState) {
        if self.states.len() >= Self::MOST_STATES && !self.states.contains_key(&disk) {
            let present: BTreeSet<DiskId> = self.known.values().map(|known| known.life.disk).collect();
            self.states.retain(|disk, _| present.contains(disk));
        }
        let newest = self.states.entry(disk).or_default();
        *newest = state.max(*newest);
    }

    /// Whether a disk was heard to have synced more in the same start.
    fn has_synced_more(&self, disk: DiskId, state: &DiskState) -> bool {
        self.states
            .get(&disk)
            .is_some_and(|newest| newest.is_same_start(state) && newest.synced > state.synced)
    }

    fn is_doubted(&self, node: NodeId) -> bool {
        self.known.get(&node).is_some_and(|known| known.is_doubted)
    }

    /// The log named a start of a disk and does so no longer.
    fn drop_from_log(&mut self, disk: DiskId, start: DiskState) {
        let is_confirmed = self.known.values().filter(|known| known.life.disk == disk).any(|known| {
            known.life.start().is_same_start(&start)
                || known.found.is_some_and(|found| found.is_same_start(&start))
        });
        let has_room = self.dropped.len() < Self::MOST_STATES || self.dropped.contains_key(&disk);
        if !is_confirmed && has_room {
            let newest = self.dropped.entry(disk).or_default();
            *newest = start.max(*newest);
        }
    }

    /// A disk goes by this start, or has found it in its list.
    fn confirm(&mut self, disk: DiskId, start: &DiskState) {
        if self.dropped.get(&disk).is_some_and(|dropped| dropped.is_same_start(start)) {
            self.dropped.remove(&disk);
        }
    }

    /// Ignores a node from now on; returns whether that is news.
    fn shun(&mut self, node: NodeId, why: Stranger, now: Ticks) -> bool {
        self.known.remove(&node);
        let before = self.strangers.insert(node, (why, now));
        before.map(|(before, _)| before) != Some(why)
    }
}

impl<R: Rules> LockNode<R> {
    /// Greets all others that it does not know yet, or anew.
    pub(super) fn greet_strangers(&mut self, effects: &mut Effects<Self>) {
        let mut strangers = self.setup.peers.clone();
        strangers.extend(self.acquaintances.known.keys());
        // A new node keeps asking for epochs: it joins no cluster while it hears of two.
        let asks_all = self.consensus.identity().epoch.is_none();
        strangers.retain(|node| asks_all || !self.knows(*node) || self.acquaintances.is_doubted(*node));
        strangers.remove(&self.setup.me);
        strangers.into_iter().for_each(|node| self.greet(node, true, effects));
    }

    /// Greets a node, and asks it to answer or not. What answers one that is not listened to never asks: otherwise both would answer each other
    /// for ever.
    fn greet(&self, node: NodeId, asks: bool, effects: &mut Effects<Self>) {
        let known = &self.acquaintances;
        let theirs = known.known.get(&node).map(|known| known.life.disk);
        let yours = theirs.and_then(|disk| Some((disk, self.state_to_confirm(disk)?)));
        effects.out.send(
            node,
            Msg::Greeting(Box::new(Greeting {
                incarnation: self.incarnation,
                synced: self.consensus.disk_state().synced,
                epoch: self.consensus.identity().epoch,
                is_set_back: self.state == State::SetBack,
                yours,
                found: known.found.get(&node).copied(),
                asks,
            })),
        );
    }

    /// Keeps the lives that the log has lost to a leader until their disks confirm them; returns whether there are any.
    pub(super) fn remember_dropped_lives(&mut self) -> bool {
        let dropped = self.consensus.take_dropped_lives();
        dropped.iter().for_each(|life| self.acquaintances.drop_from_log(life.disk, life.start()));
        !dropped.is_empty()
    }

    /// What this node asks a disk to confirm: a start that its log has lost, or else the newest that it knows, from its log and from what
    /// it has heard.
    fn state_to_confirm(&self, disk: DiskId) -> Option<DiskState> {
        // R28: a log that a leader replaced
        if let Some(dropped) = self.acquaintances.dropped.get(&disk) {
            return Some(*dropped);
        }
        let logged = self.consensus.latest_life(disk).map(|life| life.start());
        let heard = self.acquaintances.states.get(&disk).copied();
        match (logged, heard) {
            // Two starts of one number are of two copies. What was decided weighs more.
            (Some(logged), Some(heard)) if heard.boot < logged.boot => Some(logged),
            (Some(logged), Some(heard)) if heard.boot == logged.boot && heard.nonce != logged.nonce => {
                Some(logged)
            }
            (logged, heard) => heard.or(logged),
        }
    }

    /// Whether this node listens to another: it has greeted, belongs to this cluster or to none, and has found in the list of its disk whatever
    /// this node knows of it.
    pub(super) fn knows(&self, node: NodeId) -> bool {
        node == self.setup.me || self.acquaintances.known.get(&node).is_some_and(|known| known.is_checked)
    }

    /// The log knows other lives than before: the checks of nodes may be incomplete now.
    pub(super) fn check_acquaintances(&mut self) {
        let nodes: Vec<NodeId> = self.acquaintances.known.keys().copied().collect();
        for node in nodes {
            let Some(known) = self.acquaintances.known.get(&node).copied() else { continue };
            let is_checked = self.is_checked(&known);
            self.acquaintances.known.insert(node, KnownPeer { is_checked, ..known });
        }
    }

    fn is_checked(&self, known: &KnownPeer) -> bool {
        let Some(newest) = self.state_to_confirm(known.life.disk) else { return true };
        // R28: confirmed by the peer
        let is_found = |found: DiskState| found.is_same_start(&newest) && found.synced >= newest.synced;
        newest.is_same_start(&known.life.start())
            || known.found.is_some_and(is_found)
            || self.has(Flaw::SetBackVotes)
    }

    /// Whether a message comes from the start of its sender that has greeted, if it names one; if so, notes how far the disk has come.
    /// Otherwise the message or the greeting is late, and the sender is asked to greet again; also if its disk was further before. A
    /// message that names the disk of another node is let through: it is a lie, which the handler of the message notices.
    pub(super) fn is_of_known_start(&mut self, from: NodeId, msg: &Msg) -> bool {
        let Some((disk, state)) = msg.origin().filter(|_| from != self.setup.me) else { return true };
        let known = self.acquaintances.known.get(&from).map(|known| known.life);
        let is_same = known.is_some_and(|life| life.disk == disk && life.start().is_same_start(&state));
        let is_elsewhere = self.is_elsewhere(disk, from);
        // R28: restored with its memory. Such a machine runs on in the same start and has synced less than it said. A late message
        // looks the same, so it counts, and the sender is greeted again: its answer tells which it was.
        let is_behind = is_same && self.acquaintances.has_synced_more(disk, &state);
        if is_same {
            self.acquaintances.note(disk, state);
        }
        if !is_same && !is_elsewhere || is_behind && !matches!(msg, Msg::Leave(_)) {
            self.acquaintances.known.entry(from).and_modify(|known| known.is_doubted = true);
        }
        is_same || is_elsewhere
    }

    /// A node greets.
    pub(super) fn hear_greeting(&mut self, from: NodeId, greeting: &Greeting, effects: &mut Effects<Self>) {
        let life = greeting.incarnation;
        if from == self.setup.me || self.is_elsewhere(life.disk, from) {
            return self.sections.suspect(from, "a greeting that names another sender");
        }
        if let Some((disk, seen)) = greeting.yours
            && disk == self.incarnation.disk
            && self.has_same_epoch(greeting.epoch)
        {
            if self.has_been(&seen) {
                self.acquaintances.found.insert(from, seen);
            } else if self.state != State::SetBack {
                return self.be_set_back(from, seen, effects);
            }
        }
        if self.state == State::SetBack {
            return if greeting.asks {
                self.greet(from, false, effects)
            };
        }
        if let Some(why) = self.why_strange(greeting) {
            if self.acquaintances.shun(from, why, self.now) {
                effects.notices.push(Notice::Stranger { node: from, why });
            }
            return if greeting.asks {
                self.greet(from, false, effects)
            };
        }
        self.acquaintances.strangers.remove(&from);
        let was_known = self.knows(from);
        let old =
            self.acquaintances.known.get(&from).filter(|old| old.life.start().is_same_start(&life.start()));
        let found = greeting.found.or_else(|| old.and_then(|old| old.found));
        [Some(life.start()), found]
            .iter()
            .flatten()
            .for_each(|start| self.acquaintances.confirm(life.disk, start));
        let mut known = KnownPeer { life, found, is_checked: false, is_doubted: false };
        known.is_checked = self.is_checked(&known);
        self.acquaintances.known.insert(from, known);
        if self.knows(from) {
            self.acquaintances.note(life.disk, DiskState { synced: greeting.synced, ..life.start() });
            if !was_known && self.membership.is_none() {
                // What it said before was not listened to.
                self.beat_at = self.now;
            }
        }
        self.hear_epoch(from, greeting.epoch, effects);
        if greeting.asks || !was_known && !self.knows(from) {
            self.greet(from, !self.knows(from), effects);
        }
    }

    /// Whether an epoch is this node's own, or one of both has none.
    fn has_same_epoch(&self, epoch: Option<Epoch>) -> bool {
        let mine = self.consensus.identity().epoch;
        // R30: one epoch
        mine.zip(epoch).is_none_or(|(mine, other)| mine == other) || self.has(Flaw::EpochIgnored)
    }

    fn why_strange(&self, greeting: &Greeting) -> Option<Stranger> {
        if greeting.is_set_back {
            return Some(Stranger::SetBack);
        }
        let other = greeting.epoch.filter(|_| !self.has_same_epoch(greeting.epoch));
        other.map(Stranger::OtherEpoch)
    }

    /// Whether the disk was once as a peer has seen it.
    fn has_been(&self, seen: &DiskState) -> bool {
        let identity = self.consensus.identity();
        let synced = self.consensus.disk_state().synced;
        // A node that continued in an earlier life of its own would be taken for one whose disk was set back.
        if self.has(Flaw::SetBackVotes) || self.has(Flaw::RestartIntoView) {
            return true;
        }
        if self.has(Flaw::BootsWithoutNonce) {
            return seen.boot <= identity.boot();
        }
        let seen = if self.has(Flaw::SyncedIgnored) { DiskState { synced: 0, ..*seen } } else { *seen };
        // R28: set back?
        identity.remembers(&seen, synced)
    }

    /// A peer knows that the disk of this node has been further. What it voted for and acknowledged then is lost, so it must not do either
    /// again; nor does it grant anything.
    fn be_set_back(&mut self, by: NodeId, seen: DiskState, effects: &mut Effects<Self>) {
        // As when it is left out: the others wait for its lease, which ends after the deadlines of its clients.
        self.sections.freeze();
        self.sections.forget_holders(Loss::SetBack);
        self.sections.refuse_all(Reason::SetBack);
        self.membership = None;
        self.state = State::SetBack;
        // R28: marked durably
        self.consensus.note(&[Record::SetBack(seen)], |identity| identity.set_back = Some(seen));
        self.consensus.silence();
        effects.notices.push(Notice::SetBack { by: Some(by), seen });
        self.greet(by, false, effects);
    }

    /// Notes the epoch that a peer named, while this node has none. A new node joins the only cluster that it hears of; while it hears
    /// of two it joins neither, because it cannot know which is the right one.
    fn hear_epoch(&mut self, from: NodeId, epoch: Option<Epoch>, effects: &mut Effects<Self>) {
        if self.consensus.identity().epoch.is_some() {
            return;
        }
        let was_torn = self.is_torn_between();
        match epoch {
            Some(epoch) => self.acquaintances.epochs.insert(from, (epoch, self.now)),
            None => self.acquaintances.epochs.remove(&from),
        };
        self.hear_of_founded(epoch);
        if self.is_torn_between() && !was_torn {
            effects.notices.push(Notice::TwoClusters(self.present_epochs().into_iter().collect()));
        }
    }

    /// The epochs that this node hears of these days.
    pub(super) fn present_epochs(&self) -> BTreeSet<Epoch> {
        let since = self.lately();
        let heard = self.acquaintances.epochs.values();
        heard.filter(|(_, at)| *at >= since).map(|(epoch, _)| *epoch).collect()
    }

    /// A node that was not heard since then is gone, as far as this node knows.
    pub(super) fn lately(&self) -> Ticks {
        Ticks(self.now.0.saturating_sub(self.setup.timing.detection.0 * 2))
    }

    /// Whether this node has no cluster and hears of two.
    pub(super) fn is_torn_between(&self) -> bool {
        self.consensus.identity().epoch.is_none() && self.present_epochs().len() > 1
    }

    /// Whether a ballot is of this node's cluster. If the node has none yet, it takes the epoch of the leader that writes to its log, and
    /// syncs it before it takes anything into its log.
    pub(super) fn shares_epoch(&mut self, from: NodeId, epoch: Option<Epoch>, is_from_leader: bool) -> bool {
        if !self.has_same_epoch(epoch) {
            // It was greeted before it had this epoch.
            self.acquaintances.known.remove(&from);
            return false;
        }
        if self.consensus.identity().epoch.is_none() {
            // Nodes of another cluster may not have been heard yet.
            let has_listened =
                self.now >= self.acquaintances.since + Ticks(self.setup.timing.heartbeat.0 * 3);
            // R30: join one cluster, never between two
            let may_join = is_from_leader
                && has_listened
                && !self.is_torn_between()
                && self.consensus.identity().founders.is_none();
            let Some(epoch) = epoch.filter(|_| may_join) else { return false };
            // R30: the epoch is synced first
            self.consensus.note(&[Record::Epoch(epoch)], |identity| identity.epoch = Some(epoch));
        }
        true
    }
}
