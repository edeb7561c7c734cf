//! The nemesis: what goes wrong in a cluster, drawn from a seed.
//!
//! Some faults come at any time, often on top of others. The rest are aimed: traps wait for the moments at which a cluster is
//! vulnerable (`aims.rs`).

mod aims;
mod disks;
mod network;
mod operators;

use std::collections::BTreeMap;

use doorway_core::{NodeId, Ticks};
use doorway_simulator::Random;

use self::aims::Aim;
pub(super) use self::disks::set_up_anew;
use self::network::Cuts;
use super::clients::Clients;
use super::cluster::{Cluster, DISK_LATENCY, LATENCY};
use super::coverage::Coverage;
use super::fault::InjectedFault;
use super::ordeals::FaultScenario;

/// What goes wrong, and when it is mended.
pub(super) struct Nemesis {
    random: Random,
    /// What operators do is drawn on its own.
    operators: Random,
    /// So is what they do to the leader.
    leaders: Random,
    /// What happens to disks is drawn on its own.
    disks: Random,
    /// So is what comes on top of that.
    disturbances: Random,
    /// So are the faults that are aimed.
    archer: Random,
    nodes: usize,
    /// The number of the alarm kind that belongs to it.
    kind: u64,
    /// What is to be mended, by the number of its alarm.
    mends: BTreeMap<u64, Mend>,
    /// What is aimed at, by the number of the alarm.
    aims: BTreeMap<u64, Aim>,
    made: u64,
    /// How often each thing went wrong.
    pub(super) faults: BTreeMap<&'static str, u64>,
    /// What met what.
    pub(super) coverage: Coverage,
    /// The time of the last mending.
    ends: Ticks,
    is_over: bool,
    /// How many faults cut each link.
    cuts: Cuts,
    /// How many faults trouble the whole network.
    storms: usize,
    /// Whether a fault that excludes others of its kind is under way.
    a_disk_is_lost: bool,
    /// The nodes that were removed and not set up again.
    removed: Option<NodeId>,
    /// A copy of a node's disk.
    copy: (NodeId, Vec<u8>),
    /// What happens to disks. Until that is over only mild faults come on top of it.
    ordeal: Option<FaultScenario>,
}

/// How a fault ends.
enum Mend {
    Restart(NodeId, bool),
    Resume(NodeId),
    Wake(NodeId),
    Heal(Vec<(NodeId, NodeId)>),
    Calm,
    FastLink(NodeId, NodeId),
    FastDisk(NodeId),
    LeaveIsOver(NodeId),
    /// A leader that is to be removed has had its time to hand over.
    RemoveLeader(NodeId),
    SetUpAnew(NodeId),
    /// A disk is copied.
    Copied(NodeId),
    /// The scenario of disk faults continues.
    Ordeal,
    /// The old voters are cut off, and with them a member that has missed that they changed, if there is one.
    CutOldVoters(Option<NodeId>),
}

/// What can go wrong at any time, and how often among all.
const FAULTS: [(InjectedFault, u64); 17] = [
    (InjectedFault::Crash, 12),
    (InjectedFault::MachineCrash, 6),
    (InjectedFault::DiskLoss, 2),
    (InjectedFault::Pause, 10),
    (InjectedFault::ClientPause, 6),
    (InjectedFault::Suspension, 8),
    (InjectedFault::Partition, 10),
    (InjectedFault::OneWayCut, 8),
    (InjectedFault::PartialCut, 7),
    (InjectedFault::Isolation, 4),
    (InjectedFault::LeaderCutOff, 5),
    (InjectedFault::Loss, 7),
    (InjectedFault::SlowNetwork, 4),
    (InjectedFault::SlowLink, 7),
    (InjectedFault::SlowDisk, 4),
    (InjectedFault::Leave, 6),
    (InjectedFault::Voters, 20),
];

/// How long what an operator does counts as in force.
const COMMAND: Ticks = Ticks(1_000_000);

impl Nemesis {
    /// A nemesis for `nodes` nodes. It draws from `schedule`, and everything is repaired at `ends`.
    pub(super) fn new(nodes: usize, schedule: u64, ends: Ticks, kind: u64) -> Self {
        Self {
            random: Random::new(schedule, 29),
            operators: Random::new(schedule, 31),
            leaders: Random::new(schedule, 37),
            disks: Random::new(schedule, 41),
            disturbances: Random::new(schedule, 47),
            archer: Random::new(schedule, 43),
            nodes,
            kind,
            mends: BTreeMap::new(),
            aims: BTreeMap::new(),
            made: 0,
            faults: BTreeMap::new(),
            coverage: Coverage::new(),
            ends,
            is_over: false,
            cuts: Cuts::default(),
            storms: 0,
            a_disk_is_lost: false,
            removed: None,
            copy: (NodeId::new(0), Vec::new()),
            ordeal: None,
        }
    }

    /// The first thing goes wrong after a while.
    pub(super) fn begin(&mut self, cluster: &mut Cluster, quiet: Ticks) {
        cluster.calm_network(network::echoes());
        self.plan(cluster, quiet, None);
        let node = NodeId::new(self.disks.below(self.nodes as u64) as usize);
        let soon = Ticks(self.disks.below(quiet.0 / 2));
        self.plan(cluster, soon, Some(Mend::Copied(node)));
        self.take_aim(cluster);
    }

    /// Nothing goes wrong any more, and everything is mended.
    pub(super) fn end(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        self.is_over = true;
        self.mends.clear();
        self.aims.clear();
        if let Some(node) = self.removed.take() {
            set_up_anew(node, cluster, clients);
        }
        if let Some(mut ordeal) = self.ordeal.take() {
            ordeal.mend(cluster, clients);
        }
        cluster.heal();
        for node in NodeId::first(self.nodes) {
            clients.wake_up(node, cluster);
        }
    }

    fn plan(&mut self, cluster: &mut Cluster, after: Ticks, mend: Option<Mend>) {
        self.made += 1;
        self.mends.extend(mend.map(|mend| (self.made, mend)));
        let (at, token) = (cluster.now() + after, self.token());
        cluster.engine().put_alarm(at, token);
    }

    /// The token of the alarm that was made last.
    fn token(&self) -> u64 {
        (self.kind << 56) | self.made
    }

    /// An alarm of the nemesis rings.
    pub(super) fn ring(&mut self, token: u64, cluster: &mut Cluster, clients: &mut Clients) {
        if self.is_over {
            return;
        }
        let number = token & ((1 << 56) - 1);
        if let Some(aim) = self.aims.remove(&number) {
            return self.shoot(aim, token, cluster, clients);
        }
        match self.mends.remove(&number) {
            Some(mend) => self.mend(mend, cluster, clients),
            None => {
                self.spoil_disk(cluster);
                match &self.ordeal {
                    None => self.spoil(cluster, clients),
                    Some(ordeal) if ordeal.fault().is_some() => self.disturb(cluster, clients),
                    // It waits for a healthy cluster.
                    Some(_) => {}
                }
                // Now and then the next fault comes on top of this one.
                let longest = if self.random.happens(0.2) { 100_000 } else { 1_300_000 };
                let pause = Ticks(1 + self.random.below(longest));
                self.plan(cluster, pause, None);
            }
        }
    }

    fn mend(&mut self, mend: Mend, cluster: &mut Cluster, clients: &mut Clients) {
        match mend {
            Mend::Restart(node, has_new_disk) => {
                cluster.restart(node, has_new_disk);
                self.a_disk_is_lost &= !has_new_disk;
            }
            Mend::Resume(node) => {
                // Chance decides whether the node or its clients wake up first.
                if self.random.happens(0.5) {
                    clients.wake_up(node, cluster);
                    cluster.resume(node);
                } else {
                    cluster.resume(node);
                    clients.wake_up(node, cluster);
                }
            }
            Mend::Wake(node) => clients.wake_up(node, cluster),
            Mend::Heal(links) => self.heal(&links, cluster),
            Mend::Calm => self.calm(cluster),
            Mend::FastLink(from, to) => cluster.engine().network_mut().slow_down(from, to, LATENCY),
            Mend::FastDisk(node) => cluster.engine().set_disk_latency(node, DISK_LATENCY),
            Mend::RemoveLeader(node) => self.go_on_removing(node, cluster),
            Mend::SetUpAnew(node) => {
                self.removed = None;
                set_up_anew(node, cluster, clients);
                self.a_disk_is_lost = false;
            }
            Mend::Copied(node) => self.copy = (node, cluster.disk(node).to_vec()),
            Mend::Ordeal => self.go_on_with_disks(cluster, clients),
            Mend::CutOldVoters(stale) => self.cut_old_voters(stale, cluster),
            Mend::LeaveIsOver(node) => {
                cluster.crash(node);
                clients.lose_node(node, false, cluster);
                let after = Ticks(self.random.below(1_000_000));
                self.plan(cluster, after, Some(Mend::Restart(node, false)));
            }
        }
    }

    /// A fault happened that is in force for a while.
    fn note(&mut self, fault: InjectedFault, span: Ticks, cluster: &Cluster) {
        *self.faults.entry(fault.name()).or_default() += 1;
        let until = (cluster.now() + span).min(self.ends);
        self.coverage.begin(fault, cluster.now(), until);
    }

    fn draw_node(&mut self) -> NodeId {
        NodeId::new(self.random.below(self.nodes as u64) as usize)
    }

    /// A span, mostly short, sometimes longer than anything a cluster waits for.
    fn draw_span(&mut self) -> Ticks {
        let longest = [100_000, 900_000, 1_500_000, 4_000_000][self.random.below(4) as usize];
        Ticks(10_000 + self.random.below(longest))
    }

    fn draw_fault(&mut self) -> InjectedFault {
        let total: u64 = FAULTS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.random.below(total);
        for (fault, weight) in FAULTS {
            if drawn < weight {
                return fault;
            }
            drawn -= weight;
        }
        InjectedFault::Crash
    }

    fn spoil(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let (fault, node, span) = (self.draw_fault(), self.draw_node(), self.draw_span());
        match fault {
            InjectedFault::Crash
            | InjectedFault::MachineCrash
            | InjectedFault::Pause
            | InjectedFault::Suspension => self.halt(fault, node, span, cluster, clients),
            InjectedFault::DiskLoss => self.lose_disk(node, span, cluster, clients),
            InjectedFault::ClientPause => {
                let only_one = self.random.happens(0.5);
                self.pause_clients(node, only_one, span, cluster, clients);
            }
            InjectedFault::Leave => self.leave(node, cluster),
            InjectedFault::Voters => self.appoint(cluster),
            InjectedFault::SlowDisk => {
                let latency = Ticks(1 + self.random.below(300_000));
                self.slow_disk(node, latency, span, cluster);
            }
            _ => self.spoil_network(fault, node, span, cluster),
        }
        if self.random.happens(0.3) {
            cluster.drift_anew(node);
        }
        self.operate(cluster, clients);
    }

    /// A node's process ends or stands still for a time; with a fault of its machine, its clients do as well.
    fn halt(
        &mut self,
        fault: InjectedFault,
        node: NodeId,
        span: Ticks,
        cluster: &mut Cluster,
        clients: &mut Clients,
    ) {
        let (is_crashed, is_paused) = (cluster.engine().is_crashed(node), cluster.engine().is_paused(node));
        let mend = match fault {
            InjectedFault::Crash | InjectedFault::MachineCrash if !is_crashed => {
                cluster.crash(node);
                clients.lose_node(node, fault == InjectedFault::MachineCrash, cluster);
                Mend::Restart(node, false)
            }
            InjectedFault::Pause | InjectedFault::Suspension if !is_crashed && !is_paused => {
                cluster.pause(node);
                if fault == InjectedFault::Suspension {
                    clients.fall_asleep(node, false);
                }
                Mend::Resume(node)
            }
            _ => return,
        };
        self.plan(cluster, span, Some(mend));
        self.note(fault, span, cluster);
    }

    /// The clients of a node stand still, or one of them does.
    fn pause_clients(
        &mut self,
        node: NodeId,
        only_one: bool,
        span: Ticks,
        cluster: &mut Cluster,
        clients: &mut Clients,
    ) {
        clients.fall_asleep(node, only_one);
        self.plan(cluster, span, Some(Mend::Wake(node)));
        self.note(InjectedFault::ClientPause, span, cluster);
    }
}
