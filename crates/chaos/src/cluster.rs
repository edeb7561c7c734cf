//! A cluster of whole lock nodes in virtual time, with disks that lose power and clocks that drift.

use std::collections::{BTreeSet, VecDeque};

use doorway_core::{Channels, NodeId, Refusal, Ticks};
use doorway_node::disk::{self, Disk, MemoryDisk, Recovery};
use doorway_node::{Command, DiskId, Epoch, Flaw, Msg, Nonce, Notice};
use doorway_simulator::{Engine, Happened, Latency, LocalClock, Probability, Random, Settings, Span};
use doorway_trace::{Log, What};

use super::design::Design;
use super::host::Host;
use super::judge::Judge;
use super::moment::{Trap, Traps};
use super::recorder::Recorder;
use super::rules::TestedNode;
use super::violation::ViolationKind;

/// What the driver of a cluster must react to.
#[derive(Debug)]
pub enum ClusterEvent {
    /// A node tells something.
    Notice(NodeId, Notice),
    /// An alarm rings.
    Alarm(u64),
    /// Nothing more happens before the time that was given.
    Over,
}

/// A cluster.
pub struct Cluster {
    design: Design,
    engine: Engine<Host>,
    disks: Vec<MemoryDisk>,
    /// What was on each disk when the cluster was made.
    first: Vec<Vec<u8>>,
    /// What was on each disk just before the present life of its node began.
    before: Vec<Vec<u8>>,
    /// Nodes whose disk was replaced or damaged on purpose: they may say that it was set back.
    tampered: BTreeSet<NodeId>,
    /// Writes that a disk reported as finished and has not made yet: a crash loses them.
    unwritten: Vec<Vec<disk::Write>>,
    /// The commands that each paused node gets when it resumes.
    queued: Vec<VecDeque<Command>>,
    seen: VecDeque<(NodeId, Notice)>,
    judge: Judge,
    traps: Traps,
    /// Records what clients do, if a trace is wanted.
    recorder: Option<Recorder>,
    /// The node that made the last step.
    last: NodeId,
    random: Random,
}

/// How long a message takes in a healthy network: about a quarter of a millisecond to two.
pub(super) const LATENCY: Span = Span::Uniform(250, 2_000);
/// How long after a message its copy comes, where there are copies.
const ECHO: Span = Span::Uniform(0, 3_000_000);
/// How long a write takes on a healthy disk.
pub(super) const DISK_LATENCY: Ticks = Ticks(3_000);

impl Cluster {
    /// A cluster whose nodes have all been started.
    ///
    /// # Errors
    /// If its parts do not fit together.
    pub fn new(design: Design) -> Result<Self, Refusal> {
        let mut random = Random::new(design.schedule(), 17);
        let founders: Vec<(DiskId, NodeId)> =
            NodeId::first(design.founders).map(|node| (draw_disk(&mut random), node)).collect();
        let mut files = if design.begins_blank { Vec::new() } else { disk::found(&founders) };
        let blank = design.nodes - files.len();
        files.extend((0..blank).map(|_| draw_blank(&mut random)));
        let disks: Vec<MemoryDisk> = files.into_iter().map(MemoryDisk::new).collect();
        let nodes = NodeId::first(design.nodes).zip(&disks);
        let mut start = |(node, disk): (NodeId, &MemoryDisk)| {
            let setup = design.setup(node, draw_nonce(&mut random));
            TestedNode::with_rules(setup, disk.bytes(), design.rules())
        };
        let nodes: Result<Vec<Host>, Refusal> = nodes.map(|place| start(place).map(Host::new)).collect();
        let settings = Settings {
            nodes: design.nodes,
            latency: Latency::Span(LATENCY),
            disk_latency: DISK_LATENCY,
            channels: Channels::Any,
            seed: design.schedule(),
            ..Settings::default()
        };
        let mut cluster = Self {
            engine: Engine::new(nodes?, &settings),
            unwritten: vec![Vec::new(); design.nodes],
            queued: vec![VecDeque::new(); design.nodes],
            seen: VecDeque::new(),
            judge: Judge::new(&design),
            traps: Traps::default(),
            recorder: design.recorder(),
            last: NodeId::new(0),
            random,
            first: disks.iter().map(|disk| disk.bytes().to_vec()).collect(),
            before: disks.iter().map(|disk| disk.bytes().to_vec()).collect(),
            tampered: BTreeSet::new(),
            disks,
            design,
        };
        cluster.begin();
        Ok(cluster)
    }

    fn begin(&mut self) {
        if self.design.is_recorded {
            self.engine.record();
        }
        for node in NodeId::first(self.design.nodes) {
            let clock = self.draw_clock();
            self.engine.set_clock(node, clock);
            self.record(|_, now, log| {
                log.push(now, node, What::Start, "", None);
            });
            self.engine.start(node);
            self.after_step(node);
        }
    }

    /// Writes something down, if anything is.
    fn record(&mut self, write: impl FnOnce(&mut Recorder, Ticks, &mut Log)) {
        let now = self.engine.now();
        if let Some((recorder, log)) = self.recorder.as_mut().zip(self.engine.log()) {
            write(recorder, now, log);
        }
    }

    fn record_violations(&mut self) {
        let node = self.last;
        let now = self.engine.now();
        if let Some((recorder, log)) = self.recorder.as_mut().zip(self.engine.log()) {
            recorder.violate(now, node, self.judge.violations(), log);
        }
    }

    /// A clock of its own for each node, somewhere within what was promised, or beyond.
    fn draw_clock(&mut self) -> LocalClock {
        LocalClock {
            offset: Ticks(1_000_000 + self.random.below(1_000_000_000)),
            drift_ppm: self.draw_drift(),
            stops_in_pause: self.has(Flaw::ClockStopsInPause),
        }
    }

    fn draw_drift(&mut self) -> i32 {
        let bound = self.design.timing.drift_ppm as i32;
        let bound = if self.has(Flaw::DriftBeyondBound) { bound * 25 } else { bound };
        match self.random.below(4) {
            0 => bound,
            1 => -bound,
            _ => self.random.below(2 * bound as u64 + 1) as i32 - bound,
        }
    }

    /// A node's clock runs at another rate from now on.
    pub fn drift_anew(&mut self, node: NodeId) {
        let drift = self.draw_drift();
        self.engine.set_drift(node, drift);
        self.judge.note_drift(node, &self.engine);
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.design.flaw == Some(flaw)
    }

    /// What it was made of.
    #[must_use]
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The present, in true time.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.engine.now()
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Host] {
        self.engine.machines()
    }

    /// The engine, to change the network and to look at clocks.
    pub fn engine(&mut self) -> &mut Engine<Host> {
        &mut self.engine
    }

    /// The judge.
    #[must_use]
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The judge, to report to it what clients do.
    pub fn judge_mut(&mut self) -> &mut Judge {
        &mut self.judge
    }

    /// The same with the engine, for what cannot be judged without it.
    pub fn judge_and_engine(&mut self) -> (&mut Judge, &mut Engine<Host>) {
        (&mut self.judge, &mut self.engine)
    }

    /// Runs until there is something to see or the time is over.
    pub fn next(&mut self, limit: Ticks) -> ClusterEvent {
        self.record_violations();
        loop {
            if let Some((node, notice)) = self.seen.pop_front() {
                self.last = node;
                return ClusterEvent::Notice(node, notice);
            }
            match self.engine.advance_until(limit) {
                Happened::Step(node) => self.after_step(node),
                Happened::Alarm(token) => return ClusterEvent::Alarm(token),
                Happened::Nothing => {}
                Happened::Over => {
                    self.engine.advance_to(limit);
                    return ClusterEvent::Over;
                }
            }
        }
    }

    /// Hands the effects of a step to judge, recorder and driver.
    fn after_step(&mut self, node: NodeId) {
        if let Some((node, write)) = self.engine.take_written() {
            self.apply(node, write);
        }
        let effects = self.engine.effects();
        let (notices, breach) = (effects.notices.clone(), effects.out.breach());
        self.record(|recorder, now, log| {
            notices.iter().for_each(|notice| recorder.tell(now, node, notice, log));
        });
        notices.iter().for_each(|notice| self.judge.watch_notice(notice));
        self.seen.extend(notices.into_iter().map(|notice| (node, notice)));
        let host = self.engine.machine_mut(node);
        let (said, garbled) = (host.take_said(), host.take_garbled());
        self.judge.look_at(node, breach, said, self.disks[node.index()].bytes(), &self.engine);
        self.judge.judge_wire(garbled);
        for (moment, node) in self.judge.take_moments() {
            for (after, token) in self.traps.spring(moment, node) {
                self.engine.put_alarm(self.engine.now() + after, token);
            }
        }
        self.last = node;
        self.record_violations();
    }

    /// Has an alarm ring at a moment that is to come.
    pub(super) fn set_trap(&mut self, trap: Trap) {
        self.traps.set(trap);
    }

    /// The node at which the trap with this token has sprung.
    pub(super) fn take_sprung(&mut self, token: u64) -> Option<NodeId> {
        self.traps.take(token)
    }

    fn apply(&mut self, node: NodeId, write: disk::Write) {
        let at = node.index();
        if self.has(Flaw::LogNotSynced) && self.random.happens(0.9) {
            self.unwritten[at].push(write);
            return;
        }
        for write in self.unwritten[at].drain(..).chain([write]) {
            // A disk in memory is never full.
            let _ = self.disks[at].write(&write);
        }
    }

    /// Gives a node a command, now or when it resumes.
    pub fn command(&mut self, node: NodeId, command: Command) {
        if self.engine.is_paused(node) {
            self.queued[node.index()].push_back(command);
        } else if !self.engine.is_crashed(node) {
            self.record(|recorder, now, log| recorder.hear(now, node, &command, log));
            let is_in_limbo = matches!(self.nodes()[node.index()].adopted(), Some((_, false)));
            if is_in_limbo && matches!(command, Command::Release { .. }) {
                self.judge.note_release_in_limbo();
            }
            self.engine.command(node, command);
            self.after_step(node);
        }
    }

    /// Delivers a forged message to a node, in the name of another.
    pub fn forge(&mut self, from: NodeId, to: NodeId, msg: Msg) {
        if !self.engine.is_crashed(to) && !self.engine.is_paused(to) {
            self.engine.forge(from, to, (), msg);
            self.after_step(to);
        }
    }

    /// A node crashes, even in the middle of a write.
    pub fn crash(&mut self, node: NodeId) {
        if self.engine.is_crashed(node) {
            return;
        }
        self.queued[node.index()].clear();
        self.unwritten[node.index()].clear();
        let unfinished: Vec<disk::Write> = self.engine.unsynced(node).cloned().collect();
        let bytes: usize = unfinished.iter().map(disk::Write::len).sum();
        let reached = self.random.below(bytes as u64 + 1) as usize;
        self.disks[node.index()].lose_power(unfinished.iter(), reached);
        self.engine.crash(node);
        self.judge.forget_node(node);
        self.record(|recorder, _, _| recorder.forget_node(node));
    }

    /// A node that has crashed starts again from its disk, or from a new one.
    pub fn restart(&mut self, node: NodeId, has_new_disk: bool) {
        if has_new_disk && self.engine.is_crashed(node) {
            self.disks[node.index()] = MemoryDisk::new(draw_blank(&mut self.random));
            self.tampered.remove(&node);
        }
        if let Err(refusal) = self.try_restart(node) {
            self.judge.violate(ViolationKind::Stopped, format!("node {node} cannot start again: {refusal}"));
        }
    }

    /// The same from its disk, in any state.
    ///
    /// # Errors
    /// If the node cannot start from it. Then it is as crashed as before.
    pub fn try_restart(&mut self, node: NodeId) -> Result<(), Refusal> {
        if self.engine.is_crashed(node) {
            let nonce = draw_nonce(&mut self.random);
            let bytes = self.disks[node.index()].bytes();
            let machine = TestedNode::with_rules(self.design.setup(node, nonce), bytes, self.design.rules())?;
            self.before[node.index()] = bytes.to_vec();
            self.engine.restart(node, Host::new(machine));
            self.judge.note_restart();
            self.after_step(node);
        }
        Ok(())
    }

    /// What is on the disk of a node.
    #[must_use]
    pub fn disk(&self, node: NodeId) -> &[u8] {
        self.disks[node.index()].bytes()
    }

    /// What was on the disk of a node when the cluster was made.
    pub(super) fn first_disk(&self, node: NodeId) -> &[u8] {
        &self.first[node.index()]
    }

    /// What was on the disk of a node just before its present life began.
    pub(super) fn disk_before(&self, node: NodeId) -> &[u8] {
        &self.before[node.index()]
    }

    /// Replaces the bytes on the disk of a node that has crashed. From then on the node may say that its disk was set back.
    pub fn tamper(&mut self, node: NodeId, bytes: Vec<u8>) {
        if self.engine.is_crashed(node) {
            self.disks[node.index()] = MemoryDisk::new(bytes);
            self.tampered.insert(node);
        }
    }

    /// An operator recovers the cluster at a node that has crashed: when it starts again, it continues alone with what its disk knows, in a
    /// new epoch.
    ///
    /// # Errors
    /// If it took part in no cluster, or its disk is damaged.
    pub fn recover(&mut self, node: NodeId) -> Result<Epoch, Refusal> {
        let epoch = Epoch(draw_nonce(&mut self.random).0);
        let draw = self.random.below(u64::MAX);
        let recovery = Recovery { disk: draw_disk(&mut self.random), me: node, epoch, draw };
        let bytes = disk::recover(self.disks[node.index()].bytes(), &recovery)?;
        self.disks[node.index()] = MemoryDisk::new(bytes);
        self.tampered.remove(&node);
        Ok(epoch)
    }

    /// Whether the disk of a node was replaced or damaged on purpose.
    pub(super) fn is_tampered(&self, node: NodeId) -> bool {
        self.tampered.contains(&node)
    }

    /// A node stands still.
    pub fn pause(&mut self, node: NodeId) {
        if !self.engine.is_crashed(node) && !self.engine.is_paused(node) {
            self.engine.pause(node);
        }
    }

    /// A paused node resumes.
    pub fn resume(&mut self, node: NodeId) {
        if self.engine.is_paused(node) {
            self.engine.resume(node);
            for command in std::mem::take(&mut self.queued[node.index()]) {
                self.command(node, command);
            }
        }
    }

    /// Repairs everything: no node crashed, none paused, every link whole and quick.
    pub fn heal(&mut self) {
        for node in NodeId::first(self.design.nodes) {
            self.resume(node);
            if self.engine.machines()[node.index()].look().is_leaving {
                self.crash(node);
            }
            self.restart(node, false);
            self.engine.set_disk_latency(node, DISK_LATENCY);
        }
        self.heal_network();
    }

    /// Every link is whole and quick again.
    pub fn heal_network(&mut self) {
        self.engine.network_mut().heal_all();
        self.calm_network(Probability::default());
    }

    /// Messages take their usual time and are not lost; this share of them comes a second time, much later.
    pub(super) fn calm_network(&mut self, echoes: Probability) {
        let network = self.engine.network_mut();
        network.set_latency(LATENCY);
        network.set_loss(Probability::default());
        network.set_duplication(echoes);
        network.set_echo(ECHO);
    }

    /// The node that leads the consensus, if one does.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        let nodes = NodeId::first(self.design.nodes).zip(self.engine.machines());
        let leaders =
            nodes.filter(|(node, machine)| !self.engine.is_crashed(*node) && machine.look().is_leader);
        leaders.max_by_key(|(_, machine)| machine.look().term).map(|(node, _)| node)
    }

    /// What happened, if it was recorded.
    #[must_use]
    pub fn into_log(mut self) -> Option<Log> {
        self.record_violations();
        self.engine.into_records().0
    }
}

fn draw_disk(random: &mut Random) -> DiskId {
    DiskId(random.below(u64::MAX))
}

/// What a node draws at its start, or its disk when it is made.
fn draw_nonce(random: &mut Random) -> Nonce {
    Nonce(u128::from(random.below(u64::MAX)) << 64 | u128::from(random.below(u64::MAX)))
}

fn draw_blank(random: &mut Random) -> Vec<u8> {
    let disk = draw_disk(random);
    disk::blank(disk, draw_nonce(random))
}
