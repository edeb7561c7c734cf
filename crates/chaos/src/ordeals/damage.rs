//! A disk that is damaged somewhere while its node is stopped: the node does not start, or its peers notice, or nothing is lost.

use doorway_core::{NodeId, Ticks};
use doorway_node::disk::DiskContents;
use doorway_simulator::Random;

use super::{Next, Story, crash, demand_notice, is_set_back, set_up_anew};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;
use crate::violation::ViolationKind;

pub(super) struct Damage {
    node: NodeId,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    Healthy,
    /// How many records its disk had synced a while ago, as the other nodes know.
    Watched {
        told: u64,
    },
    /// The node has started all the same. Records that other nodes know of may be missing, or none.
    Damaged {
        is_told_missing: bool,
        is_whole: bool,
    },
    /// The node did not start.
    Refused,
}

impl Damage {
    pub(super) fn new(nodes: usize, random: &mut Random) -> Self {
        Self { node: NodeId::new(random.below(nodes as u64) as usize), stage: Stage::Healthy }
    }

    fn synced(&self, cluster: &Cluster) -> Option<u64> {
        DiskContents::read(cluster.disk(self.node)).ok().map(|memory| memory.synced)
    }

    /// What came of it.
    fn judge(&self, is_told_missing: bool, is_whole: bool, cluster: &mut Cluster) {
        if is_told_missing {
            demand_notice(self.node, cluster);
        } else if is_whole && is_set_back(self.node, cluster) {
            let what = format!("node {} says that its disk was set back, and nothing is missing", self.node);
            cluster.judge_mut().violate(ViolationKind::SetBack, what);
        }
    }
}

impl Story for Damage {
    fn name(&self) -> &'static str {
        match self.stage {
            Stage::Refused => "damaged disk refused",
            _ => "damaged disk started",
        }
    }

    fn fault(&self) -> InjectedFault {
        InjectedFault::DiskDamage
    }

    fn go_on(&mut self, random: &mut Random, cluster: &mut Cluster, clients: &mut Clients) -> Next {
        match self.stage {
            Stage::Healthy => {
                let Some(told) = self.synced(cluster) else { return Next::GivenUp };
                self.stage = Stage::Watched { told };
                Next::After(Ticks(500_000 + random.below(500_000)))
            }
            Stage::Watched { told } => {
                crash(&[self.node], random, cluster, clients);
                let Some(synced) = self.synced(cluster) else { return Next::GivenUp };
                let damaged = damage(cluster.disk(self.node), random);
                cluster.tamper(self.node, damaged);
                let left = self.synced(cluster).unwrap_or_default();
                if cluster.try_restart(self.node).is_err() {
                    self.stage = Stage::Refused;
                    return Next::After(Ticks(random.below(2_000_000)));
                }
                self.stage = Stage::Damaged { is_told_missing: left < told, is_whole: left >= synced };
                Next::After(Ticks(2_000_000 + random.below(1_500_000)))
            }
            Stage::Damaged { is_told_missing, is_whole } => {
                self.judge(is_told_missing, is_whole, cluster);
                self.mend(cluster, clients);
                Next::Over
            }
            Stage::Refused => {
                self.mend(cluster, clients);
                Next::Over
            }
        }
    }

    fn mend(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        match self.stage {
            Stage::Healthy | Stage::Watched { .. } => {}
            Stage::Damaged { .. } if !is_set_back(self.node, cluster) => {}
            Stage::Damaged { .. } | Stage::Refused => set_up_anew(self.node, cluster, clients),
        }
    }
}

/// Bytes with one damage somewhere: a bit that is flipped, some that are zero, a missing end, or some that stand there twice.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let length = bytes.len();
    let draw = |random: &mut Random, most: usize| random.below(most as u64) as usize;
    let from = draw(random, length);
    let to = (from + 1 + draw(random, 64)).min(length);
    match draw(random, 4) {
        0 => bytes[from] ^= 1 << draw(random, 8),
        1 => bytes[from..to].fill(0),
        2 => bytes.truncate(from),
        _ => {
            let twice = bytes[from..to].to_vec();
            bytes.splice(to..to, twice);
        }
    }
    bytes
}
