//! What happens to disks: one is lost, or a story begins (`ordeals`), on top of which only mild faults come.

use doorway_core::{NodeId, Ticks};

use super::{Mend, Nemesis};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;
use crate::ordeals::{FaultScenario, Next};

impl Nemesis {
    /// A node loses its disk.
    pub(super) fn lose_disk(
        &mut self,
        node: NodeId,
        span: Ticks,
        cluster: &mut Cluster,
        clients: &mut Clients,
    ) {
        if !self.may_lose_a_disk(cluster) {
            return;
        }
        self.a_disk_is_lost = true;
        cluster.crash(node);
        clients.lose_node(node, true, cluster);
        self.plan(cluster, span, Some(Mend::Restart(node, true)));
        self.note(InjectedFault::DiskLoss, span, cluster);
    }

    /// Only one disk at a time is lost, and only where the others still have the log. No software
    /// could save a cluster that loses more.
    pub(super) fn may_lose_a_disk(&self, cluster: &Cluster) -> bool {
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

    /// Now and then a disk is copied, or something happens to disks.
    pub(super) fn spoil_disk(&mut self, cluster: &mut Cluster) {
        if self.ordeal.is_some() {
            return;
        }
        let is_first = self.faults.is_empty();
        if self.disks.happens(if is_first { 0.35 } else { 0.04 }) {
            self.ordeal = FaultScenario::draw(&self.copy, cluster, &mut self.disks);
            self.plan(cluster, Ticks(0), Some(Mend::Ordeal));
        } else if self.disks.happens(0.1) {
            let node = NodeId::new(self.disks.below(self.nodes as u64) as usize);
            self.copy = (node, cluster.disk(node).to_vec());
        }
    }

    pub(super) fn go_on_with_disks(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let is_calm = self.mends.is_empty() && self.may_lose_a_disk(cluster);
        let Some(ordeal) = &mut self.ordeal else { return };
        match ordeal.go_on(is_calm, &mut self.disks, cluster, clients) {
            Next::After(span) => {
                let now = cluster.now();
                let until = (now + span).min(self.ends);
                // Every stage is something new that goes wrong.
                ordeal.fault().into_iter().for_each(|fault| self.coverage.begin(fault, now, until));
                self.plan(cluster, span, Some(Mend::Ordeal));
            }
            Next::Over => {
                *self.faults.entry(ordeal.name()).or_default() += 1;
                self.ordeal = None;
            }
            Next::GivenUp => self.ordeal = None,
        }
    }

    /// Adds a mild fault to a scenario of disk faults. Cuts, losses and crashes are excluded: a node that hears nothing, or has
    /// forgotten what it heard, cannot tell another that its disk was set back.
    pub(super) fn disturb(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let place = self.disturbances.below(2 * InjectedFault::MILD.len() as u64) as usize;
        let Some(fault) = InjectedFault::MILD.get(place).copied() else { return };
        let node = NodeId::new(self.disturbances.below(self.nodes as u64) as usize);
        let span = Ticks(100_000 + self.disturbances.below(1_500_000));
        match fault {
            InjectedFault::ClientPause => {
                let only_one = self.disturbances.happens(0.5);
                self.pause_clients(node, only_one, span, cluster, clients);
            }
            InjectedFault::SlowDisk => {
                let latency = Ticks(1 + self.disturbances.below(100_000));
                self.slow_disk(node, latency, span, cluster);
            }
            InjectedFault::Break => self.break_open(cluster, clients),
            InjectedFault::HandOver => self.hand_over(cluster),
            _ => {
                let slowest = self.disturbances.below(150_000);
                self.slow_network(slowest, span, cluster);
            }
        }
    }

    /// Writes of a node take long.
    pub(super) fn slow_disk(&mut self, node: NodeId, latency: Ticks, span: Ticks, cluster: &mut Cluster) {
        cluster.engine().set_disk_latency(node, latency);
        self.plan(cluster, span, Some(Mend::FastDisk(node)));
        self.note(InjectedFault::SlowDisk, span, cluster);
    }
}

/// A node that was removed, or whose disk was set back, is ended and started with a new disk.
pub(crate) fn set_up_anew(node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
    cluster.crash(node);
    clients.lose_node(node, false, cluster);
    cluster.restart(node, true);
}
