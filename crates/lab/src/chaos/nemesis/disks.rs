//! What happens to disks: one is lost, or a story begins (`ordeals`), during which nothing else goes wrong.

use doorway_core::{NodeId, Ticks};

use super::{Mend, Nemesis};
use crate::chaos::clients::Clients;
use crate::chaos::cluster::Cluster;
use crate::chaos::fault::Fault;
use crate::chaos::ordeals::{Next, Ordeal};

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
        self.note(Fault::DiskLoss, span, cluster);
    }

    /// Only one disk at a time is lost, and only where the others still have the log. Whoever loses more has lost the cluster,
    /// whatever the software.
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
            self.ordeal = Ordeal::draw(&self.copy, cluster, &mut self.disks);
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
            Next::After(span) => self.plan(cluster, span, Some(Mend::Ordeal)),
            Next::Over => {
                *self.faults.entry(ordeal.name()).or_default() += 1;
                self.ordeal = None;
            }
            Next::GivenUp => self.ordeal = None,
        }
    }
}

/// A node that was removed, or whose disk was set back, is ended and started with a new disk.
pub(in crate::chaos) fn set_up_anew(node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
    cluster.crash(node);
    clients.lose_node(node, false, cluster);
    cluster.restart(node, true);
}
