//! All nodes stop, and an operator recovers the cluster at two of them, which is a mistake: now there are two clusters.
//!
//! Each serves its own clients, and no software can change that. But they refuse each other, and no node belongs to both. Then the operator
//! keeps the one that the judge follows, and sets up all others anew.

use doorway_core::{NodeId, Ticks};
use doorway_node::{Epoch, Stranger};
use doorway_simulator::Random;

use super::{Next, Story, all_nodes, crash, draw_nodes, recover_at, set_up_others_anew};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;
use crate::violation::ViolationKind;

pub(super) struct Recoveries {
    /// Where the cluster is recovered first, and where a second time, with their epochs; nowhere until then.
    survivors: Vec<(NodeId, Epoch)>,
    /// Whether new nodes are started already.
    has_newcomers: bool,
}

impl Recoveries {
    pub(super) fn new() -> Self {
        Self { survivors: Vec::new(), has_newcomers: false }
    }

    /// All stop, and two go on.
    fn begin(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next {
        crash(&all_nodes(cluster), random, cluster, clients);
        for node in draw_nodes(2, cluster, random) {
            let Some(epoch) = recover_at(node, cluster) else { continue };
            if self.survivors.is_empty() {
                cluster.judge_mut().follow(epoch);
            }
            self.survivors.push((node, epoch));
        }
        Next::After(Ticks(random.below(2_000_000)))
    }

    /// New nodes ask to join.
    fn start_newcomers(&mut self, random: &mut Random, cluster: &mut Cluster) -> Next {
        self.has_newcomers = true;
        let is_survivor = |node: &NodeId| self.survivors.iter().any(|(survivor, _)| survivor == node);
        let newcomers: Vec<NodeId> =
            all_nodes(cluster).into_iter().filter(|node| !is_survivor(node)).collect();
        newcomers.into_iter().for_each(|node| cluster.restart(node, true));
        Next::After(Ticks(2_000_000 + random.below(1_500_000)))
    }

    /// Both must have noticed by now.
    fn judge(&self, cluster: &mut Cluster) {
        let pairs = self.survivors.iter().zip(self.survivors.iter().rev());
        for ((node, _), (other, epoch)) in pairs {
            let told = (*other, Stranger::OtherEpoch(*epoch));
            if !cluster.nodes()[node.index()].look().strangers.contains(&told) {
                let what = format!("node {node} has not noticed that node {other} was recovered, too");
                cluster.judge_mut().violate(ViolationKind::Unnoticed, what);
            }
        }
    }
}

impl Story for Recoveries {
    fn name(&self) -> &'static str {
        "recovered twice"
    }

    fn fault(&self) -> InjectedFault {
        InjectedFault::TwoRecoveries
    }

    fn go_on(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next {
        if self.survivors.is_empty() {
            self.begin(random, cluster, clients)
        } else if !self.has_newcomers {
            self.start_newcomers(random, cluster)
        } else {
            self.judge(cluster);
            self.mend(cluster, clients);
            Next::Over
        }
    }

    fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        if let Some((kept, _)) = self.survivors.first() {
            set_up_others_anew(*kept, cluster, clients);
        }
    }
}
