//! The consensus about views: the engine `noraft`, and what it leaves to its user.
//!
//! Raft (D. Ongaro, J. Ousterhout, "In search of an understandable consensus algorithm", 2014). Around the engine: what entries
//! say, which the engine never sees; a question before every election whether a majority would vote (the thesis of
//! D. Ongaro, 2014, §9.6), so that a voter that was cut off does not depose a leader; a leader that hears no majority
//! steps back; and nothing leaves, and no decision is seen, before what it depends on is on the disk.

mod ballot;
mod doubt;
mod dropped;
mod engine;
mod outgoing;
mod removal;
mod transfer;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use doorway_core::{NodeId, Ticks};
use noraft::{LogIndex, LogPosition, Role};

pub use self::ballot::{Ballot, BallotEntry, Body, Electorate, LogSnapshot, Position};
use self::transfer::Transfer;
use crate::disk::{Boot, DiskContents, Founders, Identity, Journal, Record, Write};
use crate::view::Voters;
use crate::{DiskId, DiskState, Incarnation, Timing, View};

/// One voter, or one who listens.
#[derive(Clone, Debug)]
pub(crate) struct Consensus {
    me: DiskId,
    /// What its disk knows about itself.
    identity: Identity,
    journal: Journal,
    timing: Timing,
    /// After how many decided entries the log is cut.
    longest_log: u64,
    raft: noraft::Node,
    /// Where the log begins.
    base: LogSnapshot,
    /// What the entries say that are views.
    views: BTreeMap<Position, View>,
    /// At which node each disk is.
    directory: Voters,
    /// Up to where the node has been told what was decided.
    told: u64,
    /// The newest view that it was told.
    newest_decided: Option<View>,
    /// What was decided before the engine was set back.
    decided_before: u64,
    /// When a follower stands for election, or a leader says that it lives.
    alarm: Ticks,
    /// When a leader was heard of last.
    leader_heard: Option<Ticks>,
    /// The leader, as far as known.
    leader: Option<DiskId>,
    /// The last term in which a leader was heard of, and which one.
    led_by: Option<(u64, DiskId)>,
    /// As a leader: the voter to which it hands leadership over.
    transfer: Option<Transfer>,
    /// Until then it does not stand for election, even when asked to.
    unready_until: Ticks,
    /// The question whether a majority would vote: its number, and who would.
    round: u64,
    supporters: Option<BTreeSet<DiskId>>,
    /// As a leader: when each was heard last.
    heard: BTreeMap<DiskId, Ticks>,
    /// While a write is under way: what may leave when it is finished.
    syncing: Option<Vec<(DiskId, Ballot)>>,
    /// Messages that arrived meanwhile.
    queue: VecDeque<Ballot>,
    queue_weight: usize,
    outbox: Vec<(DiskId, Ballot)>,
    writes: Vec<Write>,
    took_snapshot: bool,
    is_corrupt: bool,
    /// Whether the disk was set back.
    is_silent: bool,
    have_views_changed: bool,
    /// How many times in a row leaders have contradicted what was decided.
    contradictions: u32,
    /// The nodes that have violated the protocol.
    doubts: Vec<(DiskId, &'static str)>,
    /// The numbers of views that a leader has replaced in the log.
    replaced: Vec<u64>,
    /// The lives in views that a leader has replaced or passed over by a snapshot.
    dropped_lives: Vec<Incarnation>,
}

/// How many messages wait at most while a write is under way; more are lost, which the consensus bears.
const LONGEST_QUEUE: usize = 256;

/// How many bytes they take at most, roughly.
const HEAVIEST_QUEUE: usize = 16 << 20;

/// Of how many disks it is kept at which node they are; of more only of those that the log names.
const MOST_DISKS: usize = 4_096;

impl Consensus {
    /// A voter or listener that continues from what its disk remembers.
    pub(crate) fn new(memory: &DiskContents, timing: Timing, longest_log: u64, now: Ticks) -> Self {
        let base = memory.snapshot.clone();
        let entries = ballot::outlines(base.position, memory.entries.iter().map(|(_, entry)| entry));
        let log = noraft::Log::new((&base.config).into(), entries);
        let id = noraft::NodeId::new(memory.disk().0);
        let voted_for = memory.voted_for.map(|disk| noraft::NodeId::new(disk.0));
        let mut consensus = Self {
            me: memory.disk(),
            identity: memory.identity.clone(),
            journal: Journal::new(memory.synced),
            timing,
            longest_log,
            raft: noraft::Node::restart(id, memory.term.into(), voted_for, log),
            views: BTreeMap::new(),
            directory: BTreeMap::new(),
            told: base.position.index,
            newest_decided: base.view.clone(),
            decided_before: base.position.index,
            base,
            alarm: now,
            leader_heard: None,
            leader: None,
            led_by: None,
            transfer: None,
            unready_until: now,
            round: 0,
            supporters: None,
            heard: BTreeMap::new(),
            syncing: None,
            queue: VecDeque::new(),
            queue_weight: 0,
            outbox: Vec::new(),
            writes: Vec::new(),
            took_snapshot: false,
            is_corrupt: false,
            is_silent: false,
            have_views_changed: false,
            contradictions: 0,
            doubts: Vec::new(),
            replaced: Vec::new(),
            dropped_lives: Vec::new(),
        };
        consensus.look_up_config(&memory.snapshot.config);
        consensus.base.view.clone().iter().for_each(|view| consensus.look_up_view(view));
        for (position, entry) in &memory.entries {
            consensus.note_entry(*position, entry);
        }
        consensus.set_alarm(now);
        consensus
    }

    /// The newest view in the log as it stands, decided or not.
    pub(crate) fn newest_view(&self) -> Option<&View> {
        self.views.last_key_value().map(|(_, view)| view).or(self.base.view.as_ref())
    }

    /// The newest view that the node was told of as decided.
    pub(crate) fn newest_decided(&self) -> Option<&View> {
        self.newest_decided.as_ref()
    }

    /// The views of the log that the node was told of as decided, in order.
    pub(crate) fn decided_views(&self) -> impl Iterator<Item = &View> {
        let told = self.views.range(..=Position { index: self.told, term: u64::MAX }).map(|(_, view)| view);
        self.base.view.iter().chain(told)
    }

    /// The latest life of a disk in any view of the log.
    pub(crate) fn latest_life(&self, disk: DiskId) -> Option<Incarnation> {
        self.latest_life_up_to(u64::MAX, disk)
    }

    /// The latest life of a disk in any view that the node was told of as decided.
    pub(crate) fn latest_decided_life(&self, disk: DiskId) -> Option<Incarnation> {
        self.latest_life_up_to(self.told, disk)
    }

    /// No disk whose life is not remembered was in a later view than the one with this number, up to where the log begins.
    pub(crate) fn forgotten_to(&self) -> u64 {
        self.base.forgotten_to
    }

    fn latest_life_up_to(&self, index: u64, disk: DiskId) -> Option<Incarnation> {
        let views = self.views.range(..=Position { index, term: u64::MAX }).map(|(_, view)| view);
        let members = self.base.view.iter().chain(views).flat_map(|view| view.members.values());
        let lives = members.filter(|member| member.disk == disk).chain(self.base.lives.get(&disk));
        lives.copied().max_by_key(Incarnation::life)
    }

    /// Whether this one leads, knows it from a majority, and has nothing undecided or unwritten.
    pub(crate) fn can_propose(&self, now: Ticks) -> bool {
        self.is_leader()
            && self.hears_majority(now)
            && self.syncing.is_none()
            && !self.is_handing_over()
            && self.commit() == self.raft.log().last_position().index.get() // R5: one undecided at a time
    }

    /// Whether this one leads and its own first entry is decided.
    pub(crate) fn is_leader(&self) -> bool {
        let decided = self.raft.log().entries().get_term(LogIndex::new(self.commit())); // R5: own entry decided
        self.raft.role().is_leader() && decided == Some(self.raft.current_term())
    }

    /// Who leads, as far as is known.
    pub(crate) fn leader(&self) -> Option<NodeId> {
        // The leader of an earlier term no longer leads when a later one has begun.
        let is_present = self.led_by.is_some_and(|(term, _)| term == self.term());
        let leader =
            if self.raft.role().is_leader() { Some(self.me) } else { self.leader.filter(|_| is_present) };
        leader.and_then(|disk| self.directory.get(&disk).copied())
    }

    /// The term, for status and log.
    pub(crate) fn term(&self) -> u64 {
        self.raft.current_term().get()
    }

    /// Who votes and who listens, by the newest entry about it.
    pub(crate) fn config(&self) -> Electorate {
        Electorate::of(self.raft.config(), &self.directory)
    }

    /// At which node a disk is.
    pub(crate) fn node_of(&self, disk: DiskId) -> Option<NodeId> {
        self.directory.get(&disk).copied()
    }

    /// Notes at which node a disk is.
    pub(crate) fn look_up(&mut self, disk: DiskId, node: NodeId) {
        if self.directory.len() >= MOST_DISKS && !self.directory.contains_key(&disk) {
            let named = self.disks_in_log();
            self.directory.retain(|disk, _| named.contains(disk));
        }
        self.directory.insert(disk, node);
    }

    /// Whether a disk votes or listens or is in a view at another node than this one.
    pub(crate) fn is_elsewhere(&self, disk: DiskId, node: NodeId) -> bool {
        let in_view = |view: &View| view.members.values().any(|member| member.disk == disk);
        let is_settled = self.is_in_config(disk) || self.newest_view().is_some_and(in_view);
        is_settled && self.node_of(disk).is_some_and(|known| known != node)
    }

    /// How many messages wait for the disk, and of how many disks the node is known.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.queue.len(), self.directory.len())
    }

    /// The nodes that have violated the protocol since the last call.
    pub(crate) fn take_doubts(&mut self) -> Vec<(DiskId, &'static str)> {
        std::mem::take(&mut self.doubts)
    }

    /// Whether the log cannot be right.
    pub(crate) fn is_corrupt(&self) -> bool {
        self.is_corrupt
    }

    /// Proposes a view. Only when it [can](Self::can_propose).
    pub(crate) fn propose(&mut self, view: View, now: Ticks) {
        let position = self.raft.propose_command();
        if position != LogPosition::INVALID {
            self.look_up_view(&view);
            self.views.insert(position.into(), view);
            self.have_views_changed = true;
            self.flush(now);
        }
    }

    /// Proposes other voters or listeners. Only when it [can](Self::can_propose).
    pub(crate) fn propose_config(&mut self, config: &Electorate, now: Ticks) {
        self.look_up_config(config);
        self.raft.propose_config(config.into());
        self.flush(now);
    }

    /// A message has come.
    pub(crate) fn receive(&mut self, ballot: Ballot, now: Ticks) {
        if self.is_corrupt || self.is_barred(ballot.from) {
            return;
        }
        if self.syncing.is_some() {
            let weight = self.queue_weight + ballot.weight();
            // R25: no message while syncing
            if self.queue.len() < LONGEST_QUEUE && weight <= HEAVIEST_QUEUE {
                self.queue_weight = weight;
                self.queue.push_back(ballot);
            }
            return;
        }
        if let Some(what) = self.doubt(&ballot) {
            self.doubts.push((ballot.from, what));
            return;
        }
        // Only an answer shows that a voter follows; any voter may ask.
        let is_answer = matches!(ballot.body, Body::Appended { .. } | Body::Vote { .. });
        if is_answer && self.is_in_config(ballot.from) {
            self.heard.insert(ballot.from, now);
        }
        let (known, from) = (self.commit(), ballot.from);
        self.handle(ballot, now);
        self.flush(now);
        self.announce(known, now);
        self.urge(from);
    }

    /// As a leader: tells the others at once what was decided, and not only when it next says that it lives.
    fn announce(&mut self, known: u64, now: Ticks) {
        if self.commit() > known && self.syncing.is_none() && self.raft.heartbeat() {
            self.flush(now);
        }
    }

    /// A write that was under way is finished.
    pub(crate) fn written(&mut self, write: &Write, now: Ticks) {
        self.journal.finish(write);
        if self.journal.synced() < self.journal.issued() || self.is_silent {
            return;
        }
        self.outbox.extend(self.syncing.take().unwrap_or_default());
        while self.syncing.is_none() {
            let Some(ballot) = self.queue.pop_front() else { break };
            self.queue_weight -= ballot.weight();
            self.receive(ballot, now);
        }
        self.flush(now);
    }

    /// Begins at this time.
    pub(crate) fn begin(&mut self, now: Ticks) {
        self.set_alarm(now);
    }

    /// When something is to be done.
    pub(crate) fn alarm(&self) -> Ticks {
        self.alarm
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Ticks) {
        if now < self.alarm || self.is_corrupt {
            return;
        }
        if self.syncing.is_some() {
            self.alarm = now + self.timing.rank;
            return;
        }
        match self.raft.role() {
            Role::Leader if self.hears_majority(now) => {
                self.give_up_transfer(now);
                self.raft.heartbeat();
            }
            Role::Leader => self.step_back(now), // R24: no majority heard
            Role::Follower | Role::Candidate => self.sound_out(now),
        }
        self.flush(now);
    }

    /// What is to be sent, and what to be written.
    pub(crate) fn take_output(&mut self) -> (Vec<(NodeId, Ballot)>, Vec<Write>) {
        let sends = std::mem::take(&mut self.outbox);
        // R27: stamped when they leave. A vote shows that its own record is synced.
        let (state, epoch) = (self.disk_state(), self.identity.epoch);
        let known = sends
            .into_iter()
            .filter_map(|(to, ballot)| Some((self.node_of(to)?, Ballot { state, epoch, ..ballot })));
        (known.collect(), std::mem::take(&mut self.writes))
    }

    /// The views that were decided since this was asked last, in order, each with its predecessor.
    pub(crate) fn take_decided(&mut self) -> Vec<(Option<View>, View)> {
        if self.syncing.is_some() {
            return Vec::new(); // R25: no decision while syncing
        }
        let (from, to) = (self.told, self.commit()); // R8: own commit index
        self.told = to.max(from);
        let new = self.views.iter().filter(|(position, _)| position.index > from && position.index <= to);
        let views: Vec<View> = new.map(|(_, view)| view.clone()).collect();
        let pairs = views.into_iter().map(|view| (self.newest_decided.replace(view.clone()), view));
        pairs.collect()
    }

    /// Whether a snapshot of another's log was taken over since this was asked last.
    pub(crate) fn take_snapshot_taken(&mut self) -> bool {
        std::mem::take(&mut self.took_snapshot)
    }

    /// Cuts the log where it has grown long.
    pub(crate) fn compact(&mut self, now: Ticks) {
        let is_long = self.told >= self.base.position.index + self.longest_log;
        if self.syncing.is_some() || !(is_long || self.has_new_removal(now)) {
            return;
        }
        let place = self.raft.log().get_position_and_config(LogIndex::new(self.told));
        let Some((position, config)) = place.map(|(position, config)| (position, config.clone())) else {
            return;
        };
        if self.raft.handle_snapshot_installed(position, config.clone()) {
            let config = Electorate::of(&config, &self.directory);
            let mut lives = self.base.lives.clone();
            let decided = self.views.range(..=Position { index: self.told, term: u64::MAX });
            decided.map(|(_, view)| view).for_each(|view| LogSnapshot::note_lives(&mut lives, view));
            let (view, forgotten_to) = (self.newest_decided.clone(), self.base.forgotten_to);
            self.base = LogSnapshot { position: position.into(), config, view, lives, forgotten_to };
            self.base.forget_lives_beyond(LogSnapshot::MOST_LIVES);
            self.forget_what_is_not_in_the_log();
            self.flush(now);
            self.rewrite();
        }
    }

    /// What the disk should hold, from scratch.
    fn rewrite(&mut self) {
        self.writes = vec![self.journal.replace(&self.memory().records())];
        self.syncing.get_or_insert_default();
    }

    fn memory(&self) -> DiskContents {
        DiskContents {
            identity: self.identity.clone(),
            synced: self.journal.issued(),
            term: self.raft.current_term().get(),
            voted_for: self.raft.voted_for().map(|disk| DiskId(disk.get())),
            snapshot: self.base.clone(),
            entries: self.entries_after(self.base.position),
            whole: 0,
        }
    }

    /// Records to be written; until they are, nothing else happens.
    fn write(&mut self, records: &[Record]) {
        self.writes.push(self.journal.append(records));
        self.syncing.get_or_insert_default();
    }

    /// What the disk knows about itself.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How far the disk has come.
    pub(crate) fn disk_state(&self) -> DiskState {
        self.identity.state(self.journal.synced())
    }

    /// Whether something is being written.
    pub(crate) fn is_syncing(&self) -> bool {
        self.syncing.is_some()
    }

    /// Writes down something about the disk itself. Nothing of the consensus leaves, and no message is heeded, before that is synced.
    pub(crate) fn note(&mut self, records: &[Record], change: impl FnOnce(&mut Identity)) {
        change(&mut self.identity);
        self.write(records);
    }

    /// What the disk holds when these founders have founded their cluster.
    pub(crate) fn founded(&self, founders: &Founders) -> DiskContents {
        let voters = founders.0.iter().map(|(node, (disk, _))| (*disk, *node)).collect();
        DiskContents {
            identity: self.identity.clone(),
            synced: self.journal.synced(),
            term: 0,
            voted_for: None,
            snapshot: LogSnapshot::genesis(View::genesis(voters)),
            entries: Vec::new(),
            whole: 0,
        }
    }

    /// The disk was set back: the node sends nothing any more, and drops what was queued.
    pub(crate) fn silence(&mut self) {
        self.is_silent = true;
        (self.queue, self.queue_weight) = (VecDeque::new(), 0);
        (self.outbox, self.syncing) = (Vec::new(), Some(Vec::new()));
    }

    /// The node is started: the write that says so. It begins the file anew if that has a torn end.
    pub(crate) fn start(&mut self, boot: Boot, is_torn: bool) -> Write {
        self.identity.start(boot); // R27: one more start
        match is_torn {
            true => self.journal.replace(&self.memory().records()),
            false => self.journal.append(&[Record::Boot { number: boot.number, nonce: boot.nonce }]),
        }
    }

    /// Whether the views in the log have changed since this was asked last.
    pub(crate) fn take_views_changed(&mut self) -> bool {
        std::mem::take(&mut self.have_views_changed)
    }

    /// Up to where the log is decided.
    fn commit(&self) -> u64 {
        self.raft.commit_index().get().max(self.decided_before)
    }
}
