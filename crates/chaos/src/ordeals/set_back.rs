//! A disk that is set back to an earlier copy of itself, where that does the most harm.
//!
//! The voters are one node, and two groups of which each is a majority only together with it. First the far group is cut off, and the node
//! decides views with the near group. Then its disk is set back, the near group is cut off, and the far group comes back: as the disk
//! knows nothing of those views any more, its node could help the far group to decide others. The far group must notice that.

use doorway_core::{NodeId, Ticks};
use doorway_node::disk::DiskContents;
use doorway_simulator::Random;

use super::{Next, Story, all_nodes, crash, demand_notice, set_up_anew};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;

/// A disk that is being set back.
pub(super) struct SetBack {
    node: NodeId,
    /// What it is set back to.
    image: Vec<u8>,
    /// Whether that is a copy of the middle of its present life, and not of just before it.
    is_within_life: bool,
    /// The far group, which is cut off first; empty until that happens.
    far: Vec<NodeId>,
    /// All others.
    near: Vec<NodeId>,
    stage: Stage,
}

/// How far that has come.
#[derive(Clone, Copy)]
enum Stage {
    Healthy,
    /// The far group is cut off.
    Ahead,
    /// The disk is set back, and its node is started again this often.
    Back {
        starts: u64,
    },
    /// The node meets the far group.
    Met,
}

impl SetBack {
    /// The disk of some node is to be set back: to a copy from the middle of its life, or to what it was before that life.
    pub(super) fn new((copied, copy): &(NodeId, Vec<u8>), cluster: &Cluster, random: &mut Random) -> Self {
        let drawn = NodeId::new(random.below(cluster.nodes().len() as u64) as usize);
        let is_within_life = random.happens(0.7) && is_earlier_in_this_life(*copied, copy, cluster);
        let (node, image) = if is_within_life {
            (*copied, copy.clone())
        } else {
            (drawn, cluster.disk_before(drawn).to_vec())
        };
        Self { node, image, is_within_life, far: Vec::new(), near: Vec::new(), stage: Stage::Healthy }
    }

    /// Cuts off the far group.
    fn divide(&mut self, random: &mut Random, cluster: &mut Cluster) -> Next {
        let look = cluster.nodes()[self.node.index()].look();
        let Some(view) = look.view else { return Next::GivenUp };
        let mut far: Vec<NodeId> = view.voters.values().copied().filter(|node| *node != self.node).collect();
        // The image must be of this life, or of just before it; and with an even number of voters no group needs the node.
        let has_role = view.voters.contains_key(&look.incarnation.disk) && view.voters.len() % 2 == 1;
        let is_old = if self.is_within_life {
            is_earlier_in_this_life(self.node, &self.image, cluster)
        } else {
            self.image == cluster.disk_before(self.node)
        };
        if !has_role || !is_old {
            return Next::GivenUp;
        }
        for _ in 0..far.len() / 2 {
            far.swap_remove(random.below(far.len() as u64) as usize);
        }
        let is_near = |node: &NodeId| *node != self.node && !far.contains(node);
        self.near = all_nodes(cluster).into_iter().filter(is_near).collect();
        self.far = far;
        link(cluster, &self.far, &self.near, true);
        link(cluster, &[self.node], &self.far, true);
        self.stage = Stage::Ahead;
        Next::After(Ticks(2_500_000 + random.below(1_500_000)))
    }
}

impl Story for SetBack {
    fn name(&self) -> &'static str {
        if self.is_within_life { "disk set back within its life" } else { "disk set back before its start" }
    }

    fn fault(&self) -> InjectedFault {
        InjectedFault::DiskSetBack
    }

    fn go_on(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next {
        match self.stage {
            Stage::Healthy => self.divide(random, cluster),
            Stage::Ahead => {
                crash(&[self.node], random, cluster, clients);
                cluster.tamper(self.node, self.image.clone());
                link(cluster, &[self.node], &self.near, true);
                link(cluster, &[self.node], &self.far, false);
                self.stage = Stage::Back { starts: 1 + random.below(3) };
                Next::After(Ticks(random.below(100_000)))
            }
            Stage::Back { starts } => {
                cluster.crash(self.node);
                cluster.restart(self.node, false);
                if starts > 1 {
                    self.stage = Stage::Back { starts: starts - 1 };
                    return Next::After(Ticks(1_000 + random.below(50_000)));
                }
                self.stage = Stage::Met;
                Next::After(Ticks(3_000_000 + random.below(1_500_000)))
            }
            Stage::Met => {
                demand_notice(self.node, cluster);
                self.mend(cluster, clients);
                Next::Over
            }
        }
    }

    /// The groups are connected again, and the node gets a new disk.
    fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        link(cluster, &self.far, &self.near, false);
        link(cluster, &[self.node], &self.near, false);
        link(cluster, &[self.node], &self.far, false);
        if matches!(self.stage, Stage::Back { .. } | Stage::Met) {
            set_up_anew(self.node, cluster, clients);
        }
    }
}

/// Whether a copy was made in the present life of a node, which has written more since.
fn is_earlier_in_this_life(node: NodeId, copy: &[u8], cluster: &Cluster) -> bool {
    let (Ok(old), Ok(new)) = (DiskContents::read(copy), DiskContents::read(cluster.disk(node))) else {
        return false;
    };
    let life = cluster.nodes()[node.index()].look().incarnation;
    let is_this_life = old.identity.boots.last().is_some_and(|boot| boot.nonce == life.nonce);
    old.disk() == life.disk && is_this_life && old.synced < new.synced
}

/// Cuts or heals all links between two groups.
fn link(cluster: &mut Cluster, ones: &[NodeId], others: &[NodeId], is_cut: bool) {
    let network = cluster.engine().network_mut();
    for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other))) {
        for (from, to) in [(one, other), (other, one)] {
            if is_cut {
                network.cut(from, to);
            } else {
                network.heal(from, to);
            }
        }
    }
}
