//! The nemesis: what goes wrong in a cluster, drawn from a seed.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{NodeId, Ticks};
use doorway_node::{Command, Stay};
use doorway_simulator::{Probability, Random, Span};

use super::clients::Clients;
use super::cluster::{Cluster, DISK_LATENCY, LATENCY};
use super::set_back::{Next, SetBack};

/// What goes wrong, and when it is mended.
pub(super) struct Nemesis {
    random: Random,
    /// What operators do is drawn on its own.
    operators: Random,
    /// So is what they do to the leader.
    leaders: Random,
    nodes: usize,
    /// What happens to disks is drawn on its own.
    disks: Random,
    /// The number of the alarm kind that belongs to it.
    kind: u64,
    /// What is to be mended, by the number of its alarm.
    mends: BTreeMap<u64, Mend>,
    made: u64,
    /// How often each thing went wrong.
    pub(super) faults: BTreeMap<&'static str, u64>,
    is_over: bool,
    /// Whether something of which there may be one at a time is under way.
    a_disk_is_lost: bool,
    /// Who was removed and has not been set up anew.
    removed: Option<NodeId>,
    /// A copy of a node's disk.
    copy: (NodeId, Vec<u8>),
    /// A disk that is being set back. Until that is over nothing else goes wrong.
    set_back: Option<SetBack>,
}

/// How something is mended.
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
    /// The disk that is being set back goes on.
    SetBack,
}

/// What can go wrong, and how often among a hundred.
const FAULTS: [(&str, u64); 16] = [
    ("crash", 12),
    ("machine crash", 6),
    ("disk loss", 2),
    ("pause", 10),
    ("client pause", 6),
    ("suspension", 8),
    ("partition", 10),
    ("one-way cut", 8),
    ("partial cut", 7),
    ("leader cut off", 7),
    ("loss", 7),
    ("slow network", 4),
    ("slow link", 8),
    ("slow disk", 4),
    ("leave", 6),
    ("voters", 3),
];

/// The share of messages that come a second time even in good times.
fn echoes() -> Probability {
    Probability::new(0.02).unwrap_or_default()
}

impl Nemesis {
    pub(super) fn new(nodes: usize, seed: u64, kind: u64) -> Self {
        Self {
            random: Random::new(seed, 29),
            operators: Random::new(seed, 31),
            leaders: Random::new(seed, 37),
            disks: Random::new(seed, 41),
            nodes,
            kind,
            mends: BTreeMap::new(),
            made: 0,
            faults: BTreeMap::new(),
            is_over: false,
            a_disk_is_lost: false,
            removed: None,
            copy: (NodeId::new(0), Vec::new()),
            set_back: None,
        }
    }

    /// The first thing goes wrong after a while.
    pub(super) fn begin(&mut self, cluster: &mut Cluster, quiet: Ticks) {
        cluster.calm_network(echoes());
        self.plan(cluster, quiet, None);
        let node = NodeId::new(self.disks.below(self.nodes as u64) as usize);
        let soon = Ticks(self.disks.below(quiet.0 / 2));
        self.plan(cluster, soon, Some(Mend::Copied(node)));
    }

    /// Nothing goes wrong any more, and everything is mended.
    pub(super) fn end(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        self.is_over = true;
        self.mends.clear();
        if let Some(node) = self.removed.take() {
            set_up_anew(node, cluster, clients);
        }
        if let Some(node) = self.set_back.take().and_then(|set_back| set_back.node_set_back()) {
            set_up_anew(node, cluster, clients);
        }
        cluster.heal();
        for node in NodeId::first(self.nodes) {
            clients.wake_up(node, cluster);
        }
    }

    fn plan(&mut self, cluster: &mut Cluster, after: Ticks, mend: Option<Mend>) {
        self.made += 1;
        self.mends.extend(mend.map(|mend| (self.made, mend)));
        let at = cluster.now() + after;
        cluster.engine().put_alarm(at, (self.kind << 56) | self.made);
    }

    /// An alarm of the nemesis rings.
    pub(super) fn ring(&mut self, token: u64, cluster: &mut Cluster, clients: &mut Clients) {
        if self.is_over {
            return;
        }
        match self.mends.remove(&(token & ((1 << 56) - 1))) {
            Some(mend) => self.mend(mend, cluster, clients),
            None => {
                self.spoil_disk(cluster);
                if self.set_back.is_none() {
                    self.spoil(cluster, clients);
                }
                let pause = Ticks(1 + self.random.below(1_600_000));
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
                // Whoever wakes up first, the node or its clients, is up to chance.
                if self.random.happens(0.5) {
                    clients.wake_up(node, cluster);
                    cluster.resume(node);
                } else {
                    cluster.resume(node);
                    clients.wake_up(node, cluster);
                }
            }
            Mend::Wake(node) => clients.wake_up(node, cluster),
            Mend::Heal(links) => {
                let network = cluster.engine().network_mut();
                links.into_iter().for_each(|(from, to)| network.heal(from, to));
            }
            Mend::Calm => cluster.calm_network(echoes()),
            Mend::FastLink(from, to) => cluster.engine().network_mut().slow_down(from, to, LATENCY),
            Mend::FastDisk(node) => cluster.engine().set_disk_latency(node, DISK_LATENCY),
            Mend::RemoveLeader(node) => self.go_on_removing(node, cluster),
            Mend::SetUpAnew(node) => {
                self.removed = None;
                set_up_anew(node, cluster, clients);
                self.a_disk_is_lost = false;
            }
            Mend::Copied(node) => self.copy = (node, cluster.disk(node).to_vec()),
            Mend::SetBack => self.go_on_setting_back(cluster, clients),
            Mend::LeaveIsOver(node) => {
                cluster.crash(node);
                clients.lose_node(node, false, cluster);
                let after = Ticks(self.random.below(1_000_000));
                self.plan(cluster, after, Some(Mend::Restart(node, false)));
            }
        }
    }

    fn draw_node(&mut self) -> NodeId {
        NodeId::new(self.random.below(self.nodes as u64) as usize)
    }

    /// A span, mostly short, sometimes longer than anything a cluster waits for.
    fn draw_span(&mut self) -> Ticks {
        let longest = [100_000, 900_000, 1_500_000, 4_000_000][self.random.below(4) as usize];
        Ticks(10_000 + self.random.below(longest))
    }

    fn draw_fault(&mut self) -> &'static str {
        let total: u64 = FAULTS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.random.below(total);
        for (name, weight) in FAULTS {
            if drawn < weight {
                return name;
            }
            drawn -= weight;
        }
        FAULTS[0].0
    }

    fn spoil(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let (fault, node, span) = (self.draw_fault(), self.draw_node(), self.draw_span());
        let happened = match fault {
            "crash" | "machine crash" => {
                cluster.crash(node);
                clients.lose_node(node, fault == "machine crash", cluster);
                self.plan(cluster, span, Some(Mend::Restart(node, false)));
                true
            }
            "disk loss" => self.lose_disk(node, span, cluster, clients),
            "pause" => {
                cluster.pause(node);
                self.plan(cluster, span, Some(Mend::Resume(node)));
                true
            }
            "client pause" => {
                clients.fall_asleep(node, self.random.happens(0.5));
                self.plan(cluster, span, Some(Mend::Wake(node)));
                true
            }
            "suspension" => {
                cluster.pause(node);
                clients.fall_asleep(node, false);
                self.plan(cluster, span, Some(Mend::Resume(node)));
                true
            }
            "leave" => self.leave(node, cluster),
            "voters" => self.appoint(cluster),
            "slow disk" => {
                cluster.engine().set_disk_latency(node, Ticks(1 + self.random.below(300_000)));
                self.plan(cluster, span, Some(Mend::FastDisk(node)));
                true
            }
            _ => self.spoil_network(fault, node, span, cluster),
        };
        if happened {
            *self.faults.entry(fault).or_default() += 1;
        }
        if self.random.happens(0.3) {
            cluster.drift_anew(node);
        }
        if self.operators.happens(0.2) {
            self.break_open(cluster, clients);
        }
        if self.operators.happens(0.02) {
            self.remove(cluster);
        }
        if self.leaders.happens(0.1) {
            self.hand_over(cluster);
        }
        if self.leaders.happens(0.01) {
            self.remove_leader(cluster);
        }
    }

    /// An operator breaks a section, at whichever node, in general or for one who is inside at a node just now.
    fn break_open(&mut self, cluster: &mut Cluster, clients: &Clients) {
        let nodes = self.nodes as u64;
        let [at, holder] = [(); 2].map(|()| NodeId::new(self.operators.below(nodes) as usize));
        let section = clients.some_name(&mut self.operators);
        let fence = cluster.nodes()[holder.index()].look_at(&section).1;
        if cluster.engine().is_crashed(at) || cluster.engine().is_paused(at) {
            return;
        }
        cluster.command(at, Command::Break(Stay { section, fence }));
        *self.faults.entry("break").or_default() += 1;
    }

    fn spoil_network(&mut self, fault: &str, node: NodeId, span: Ticks, cluster: &mut Cluster) -> bool {
        if self.nodes == 1 {
            return false; // One alone has no network.
        }
        let everybody: Vec<NodeId> = NodeId::first(self.nodes).collect();
        let other = node.around(self.nodes).nth(self.random.below(self.nodes as u64 - 1) as usize);
        let other = other.unwrap_or(node);
        if fault == "slow link" {
            let latency = Span::Uniform(1_000, 1_000 + self.random.below(1_000_000));
            cluster.engine().network_mut().slow_down(node, other, latency);
            self.plan(cluster, span, Some(Mend::FastLink(node, other)));
            return true;
        }
        let both = |a: NodeId, b: NodeId| [(a, b), (b, a)];
        let links: Vec<(NodeId, NodeId)> = match fault {
            "partition" => {
                let side: BTreeSet<NodeId> =
                    everybody.iter().copied().filter(|_| self.random.happens(0.5)).collect();
                let pairs = everybody.iter().flat_map(|a| everybody.iter().map(move |b| (*a, *b)));
                pairs.filter(|(a, b)| side.contains(a) != side.contains(b)).collect()
            }
            "one-way cut" if self.random.happens(0.5) => vec![(node, other)],
            "one-way cut" => {
                everybody.iter().filter(|peer| **peer != node).map(|peer| (node, *peer)).collect()
            }
            "partial cut" => both(node, other).to_vec(),
            "leader cut off" => {
                let Some(leader) = cluster.leader() else { return false };
                let others = everybody.iter().filter(|peer| **peer != leader);
                others.flat_map(|peer| both(leader, *peer)).collect()
            }
            _ => Vec::new(),
        };
        let network = cluster.engine().network_mut();
        links.iter().for_each(|(from, to)| network.cut(*from, *to));
        if links.is_empty() {
            let (loss, twice) = (self.random.below(30), self.random.below(20));
            let share = |percent: u64| format!("0.{percent:02}").parse::<Probability>().unwrap_or_default();
            if fault == "loss" {
                network.set_loss(share(loss));
                network.set_duplication(share(twice));
            } else {
                network.set_latency(Span::Uniform(1_000, 1_000 + self.random.below(150_000)));
            }
            self.plan(cluster, span, Some(Mend::Calm));
        } else {
            self.plan(cluster, span, Some(Mend::Heal(links)));
        }
        true
    }

    /// An operator removes a node for good while it runs, and sets it up anew later.
    fn remove(&mut self, cluster: &mut Cluster) {
        let node = NodeId::new(self.operators.below(self.nodes as u64) as usize);
        let span = Ticks(self.operators.below(2_000_000));
        let Some(leader) = cluster.leader().filter(|leader| *leader != node) else { return };
        if self.may_lose_a_disk(cluster) {
            cluster.command(leader, Command::Remove(node));
            self.a_disk_is_lost = true;
            self.removed = Some(node);
            self.plan(cluster, span, Some(Mend::SetUpAnew(node)));
            *self.faults.entry("remove").or_default() += 1;
        }
    }

    /// An operator has another node lead.
    fn hand_over(&mut self, cluster: &mut Cluster) {
        let node = NodeId::new(self.leaders.below(self.nodes as u64) as usize);
        if let Some(leader) = cluster.leader() {
            cluster.command(leader, Command::Lead(node));
            *self.faults.entry("hand over").or_default() += 1;
        }
    }

    /// An operator removes the node that leads: it hands over, and its successor removes it.
    fn remove_leader(&mut self, cluster: &mut Cluster) {
        let Some(leader) = cluster.leader().filter(|_| self.may_lose_a_disk(cluster)) else { return };
        (self.a_disk_is_lost, self.removed) = (true, Some(leader));
        *self.faults.entry("remove leader").or_default() += 1;
        self.go_on_removing(leader, cluster);
    }

    /// Tells whoever leads by now, as a daemon would, until that is another node.
    fn go_on_removing(&mut self, node: NodeId, cluster: &mut Cluster) {
        let leader = cluster.leader();
        leader.into_iter().for_each(|leader| cluster.command(leader, Command::Remove(node)));
        let is_told = leader.is_some_and(|leader| leader != node);
        let (span, mend) = if is_told {
            (self.leaders.below(2_000_000), Mend::SetUpAnew(node))
        } else {
            (self.leaders.below(300_000), Mend::RemoveLeader(node))
        };
        self.plan(cluster, Ticks(span), Some(mend));
    }

    /// A node loses its disk.
    fn lose_disk(&mut self, node: NodeId, span: Ticks, cluster: &mut Cluster, clients: &mut Clients) -> bool {
        if !self.may_lose_a_disk(cluster) {
            return false;
        }
        self.a_disk_is_lost = true;
        cluster.crash(node);
        clients.lose_node(node, true, cluster);
        self.plan(cluster, span, Some(Mend::Restart(node, true)));
        true
    }

    /// Only one disk at a time is lost, and only where the others still have the log. Whoever loses more has lost the cluster,
    /// whatever the software.
    fn may_lose_a_disk(&self, cluster: &Cluster) -> bool {
        let nodes = cluster.nodes();
        let newest = nodes.iter().filter_map(|node| node.look().newest).max_by_key(|view| view.number);
        let Some(view) = newest else { return false };
        let is_at_home = |(disk, node): (&doorway_node::DiskId, &NodeId)| {
            nodes[node.index()].look().incarnation.disk == *disk && view.members.contains_key(node)
        };
        let is_whole =
            view.next_voters.is_none() && view.voters.iter().all(is_at_home) && view.voters.len() >= 3;
        is_whole && !self.a_disk_is_lost
    }

    /// Now and then a disk is copied, or is to be set back to a copy.
    fn spoil_disk(&mut self, cluster: &mut Cluster) {
        if self.set_back.is_some() {
            return;
        }
        let is_first = self.faults.is_empty();
        if self.disks.happens(if is_first { 0.2 } else { 0.03 }) {
            self.set_back = SetBack::new(&self.copy, self.nodes, cluster, &mut self.disks);
            self.plan(cluster, Ticks(0), Some(Mend::SetBack));
        } else if self.disks.happens(0.1) {
            let node = NodeId::new(self.disks.below(self.nodes as u64) as usize);
            self.copy = (node, cluster.disk(node).to_vec());
        }
    }

    fn go_on_setting_back(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let is_calm = self.mends.is_empty() && self.may_lose_a_disk(cluster);
        let Some(set_back) = &mut self.set_back else { return };
        match set_back.go_on(is_calm, &mut self.disks, cluster, clients) {
            Next::After(span) => self.plan(cluster, span, Some(Mend::SetBack)),
            Next::Over => {
                *self.faults.entry(set_back.name()).or_default() += 1;
                self.set_back = None;
            }
            Next::GivenUp => self.set_back = None,
        }
    }

    /// A node is stopped and started again as it should be: it leaves first.
    fn leave(&mut self, node: NodeId, cluster: &mut Cluster) -> bool {
        if cluster.engine().is_crashed(node) {
            return false;
        }
        let patience = Ticks(self.random.below(1_000_000));
        cluster.command(node, Command::Leave { patience });
        let after = patience + Ticks(50_000 + self.random.below(500_000));
        self.plan(cluster, after, Some(Mend::LeaveIsOver(node)));
        true
    }

    /// Others are to vote.
    fn appoint(&mut self, cluster: &mut Cluster) -> bool {
        let Some(leader) = cluster.leader().filter(|_| self.nodes >= 4) else { return false };
        let count = if self.nodes >= 5 && self.random.happens(0.5) { 5 } else { 3 };
        let mut nodes: Vec<NodeId> = NodeId::first(self.nodes).collect();
        while nodes.len() > count {
            nodes.remove(self.random.below(nodes.len() as u64) as usize);
        }
        cluster.command(leader, Command::Appoint(nodes));
        true
    }
}

/// A node that was removed, or whose disk was set back, is ended and started with a new disk.
pub(super) fn set_up_anew(node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
    cluster.crash(node);
    clients.lose_node(node, false, cluster);
    cluster.restart(node, true);
}
