//! Disks of several nodes that are replaced by older copies at the same time.
//!
//! The others know more of these disks than the copies do, so none of their nodes takes part any more. If those were a majority of the
//! voters, the cluster is lost, and an operator recovers it at a node whose disk is as it was.

use doorway_core::{NodeId, Ticks};
use doorway_node::disk::DiskContents;
use doorway_simulator::Random;

use super::{Next, Story, all_nodes, crash, demand_notice, draw_nodes, recover, set_up_anew};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;

pub(super) struct Copies {
    /// Whether the copies are those of the beginning, and not of just before the present lives.
    are_first: bool,
    /// The nodes whose disks are set back; empty until then.
    nodes: Vec<NodeId>,
    /// If these were a majority of the voters: the node at which the cluster is recovered.
    recovered: Option<NodeId>,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    Healthy,
    Replaced,
    Met,
}

impl Copies {
    pub(super) fn new(random: &mut Random) -> Self {
        Self { are_first: random.happens(0.4), nodes: Vec::new(), recovered: None, stage: Stage::Healthy }
    }

    fn replace(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) {
        let nodes = cluster.nodes().len();
        self.nodes = draw_nodes(1 + random.below(nodes as u64 - 1) as usize, cluster, random);
        let is_intact = |node: &NodeId| !self.nodes.contains(node);
        let voters: Vec<NodeId> = cluster.nodes()[0]
            .look()
            .view
            .into_iter()
            .flat_map(|view| view.voters.values().copied())
            .collect();
        let is_lost = voters.iter().filter(|voter| is_intact(voter)).count() * 2 <= voters.len();
        self.recovered = all_nodes(cluster).into_iter().find(|node| is_intact(node) && is_lost);
        // The others know it from their logs, too, and need not have been there all the time.
        let others: Vec<NodeId> = all_nodes(cluster).into_iter().filter(is_intact).collect();
        if random.happens(0.3) {
            crash(&others, random, cluster, clients);
        }
        crash(&self.nodes, random, cluster, clients);
        for node in &self.nodes {
            let image = self.image(*node, cluster).to_vec();
            cluster.tamper(*node, image);
        }
    }

    /// What a disk is set back to. A disk that was replaced since then belongs to no node any more, so no node notices it.
    fn image<'a>(&self, node: NodeId, cluster: &'a Cluster) -> &'a [u8] {
        let disk = cluster.nodes()[node.index()].look().incarnation.disk;
        let first = cluster.first_disk(node);
        let is_first = self.are_first && DiskContents::read(first).is_ok_and(|memory| memory.disk() == disk);
        if is_first { first } else { cluster.disk_before(node) }
    }
}

impl Story for Copies {
    fn name(&self) -> &'static str {
        match (self.are_first, self.recovered) {
            (true, _) => "first disks put back",
            (false, None) => "disks of a minority set back",
            (false, Some(_)) => "disks of a majority set back",
        }
    }

    fn fault(&self) -> InjectedFault {
        InjectedFault::DisksSetBack
    }

    fn go_on(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next {
        match self.stage {
            Stage::Healthy => {
                self.replace(random, cluster, clients);
                self.stage = Stage::Replaced;
                Next::After(Ticks(random.below(500_000)))
            }
            Stage::Replaced => {
                all_nodes(cluster).into_iter().for_each(|node| cluster.restart(node, false));
                self.stage = Stage::Met;
                Next::After(Ticks(2_000_000 + random.below(1_500_000)))
            }
            Stage::Met => {
                self.nodes.iter().for_each(|node| demand_notice(*node, cluster));
                self.mend(cluster, clients);
                Next::Over
            }
        }
    }

    fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        match self.recovered {
            Some(node) => recover(node, cluster, clients),
            None => self.nodes.iter().for_each(|node| set_up_anew(*node, cluster, clients)),
        }
    }
}
