//! What goes wrong between nodes.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{NodeId, Ticks};
use doorway_node::DiskId;
use doorway_simulator::{Probability, Random, Span};

use super::{Mend, Nemesis};
use crate::cluster::Cluster;
use crate::fault::InjectedFault;

/// How many faults cut each direction of a link: it is healed when the last of them is over.
pub(super) type Cuts = BTreeMap<(NodeId, NodeId), u32>;

/// The share of messages that come a second time even in good times.
pub(super) fn echoes() -> Probability {
    Probability::new(0.02).unwrap_or_default()
}

impl Nemesis {
    pub(super) fn spoil_network(
        &mut self,
        fault: InjectedFault,
        node: NodeId,
        span: Ticks,
        cluster: &mut Cluster,
    ) {
        if self.nodes == 1 {
            return; // One alone has no network.
        }
        let other = node.around(self.nodes).nth(self.random.below(self.nodes as u64 - 1) as usize);
        let other = other.unwrap_or(node);
        match fault {
            InjectedFault::SlowLink => {
                let latency = Span::Uniform(1_000, 1_000 + self.random.below(1_000_000));
                cluster.engine().network_mut().slow_down(node, other, latency);
                self.plan(cluster, span, Some(Mend::FastLink(node, other)));
                self.note(fault, span, cluster);
            }
            InjectedFault::Loss | InjectedFault::SlowNetwork => self.trouble_all(fault, span, cluster),
            _ => {
                let links = self.draw_links(fault, node, other, cluster);
                self.cut(fault, links, span, cluster);
            }
        }
    }

    /// The links that a fault cuts.
    fn draw_links(
        &mut self,
        fault: InjectedFault,
        node: NodeId,
        other: NodeId,
        cluster: &Cluster,
    ) -> Vec<(NodeId, NodeId)> {
        match fault {
            InjectedFault::Partition => {
                let side = NodeId::first(self.nodes).filter(|_| self.random.happens(0.5)).collect();
                links_between(&side, self.nodes)
            }
            InjectedFault::OneWayCut if self.random.happens(0.5) => vec![(node, other)],
            InjectedFault::OneWayCut => node.around(self.nodes).map(|peer| (node, peer)).collect(),
            InjectedFault::PartialCut => vec![(node, other), (other, node)],
            InjectedFault::LeaderCutOff => {
                cluster.leader().map(|leader| links_between(&[leader].into(), self.nodes)).unwrap_or_default()
            }
            _ => links_between(&[node].into(), self.nodes),
        }
    }

    /// Cuts links for a while.
    pub(super) fn cut(
        &mut self,
        fault: InjectedFault,
        links: Vec<(NodeId, NodeId)>,
        span: Ticks,
        cluster: &mut Cluster,
    ) {
        if links.is_empty() {
            return;
        }
        for (from, to) in &links {
            *self.cuts.entry((*from, *to)).or_default() += 1;
            cluster.engine().network_mut().cut(*from, *to);
        }
        self.plan(cluster, span, Some(Mend::Heal(links)));
        self.note(fault, span, cluster);
    }

    /// A fault that cut these links is over.
    pub(super) fn heal(&mut self, links: &[(NodeId, NodeId)], cluster: &mut Cluster) {
        for link in links {
            let count = self.cuts.get(link).copied().unwrap_or_default();
            if count > 1 {
                self.cuts.insert(*link, count - 1);
            } else {
                self.cuts.remove(link);
                cluster.engine().network_mut().heal(link.0, link.1);
            }
        }
    }

    /// All messages are late, or some are lost.
    fn trouble_all(&mut self, fault: InjectedFault, span: Ticks, cluster: &mut Cluster) {
        let (loss, twice) = (self.random.below(30), self.random.below(20));
        if fault == InjectedFault::SlowNetwork {
            let slowest = self.random.below(150_000);
            return self.slow_network(slowest, span, cluster);
        }
        let share = |percent: u64| format!("0.{percent:02}").parse::<Probability>().unwrap_or_default();
        let network = cluster.engine().network_mut();
        network.set_loss(share(loss));
        network.set_duplication(share(twice));
        self.storm(fault, span, cluster);
    }

    /// Messages take up to so much longer.
    pub(super) fn slow_network(&mut self, slowest: u64, span: Ticks, cluster: &mut Cluster) {
        cluster.engine().network_mut().set_latency(Span::Uniform(1_000, 1_000 + slowest));
        self.storm(InjectedFault::SlowNetwork, span, cluster);
    }

    /// The whole network is in trouble for a while.
    fn storm(&mut self, fault: InjectedFault, span: Ticks, cluster: &mut Cluster) {
        self.storms += 1;
        self.plan(cluster, span, Some(Mend::Calm));
        self.note(fault, span, cluster);
    }

    /// One such fault is over; with the last of them the network is as it was.
    pub(super) fn calm(&mut self, cluster: &mut Cluster) {
        self.storms = self.storms.saturating_sub(1);
        if self.storms == 0 {
            cluster.calm_network(echoes());
        }
    }

    /// While voters change, or soon after: a majority of the old ones, with the stale member, is on one side, and a majority of the
    /// new ones on the other. Leases of the one side must not outlast what the other side decides.
    pub(super) fn cut_old_voters(&mut self, stale: Option<NodeId>, cluster: &mut Cluster) {
        let span = Ticks(2_000_000 + self.archer.below(2_500_000));
        let Some((old, new)) = newest_change(cluster) else { return };
        let side = draw_side(&old, &new, stale, self.nodes, &mut self.archer);
        if let Some(side) = side {
            self.cut(InjectedFault::OldVotersCutOff, links_between(&side, self.nodes), span, cluster);
        }
    }
}

/// Both directions of every link between these nodes and all others.
pub(super) fn links_between(side: &BTreeSet<NodeId>, nodes: usize) -> Vec<(NodeId, NodeId)> {
    let pairs = NodeId::first(nodes).flat_map(|a| NodeId::first(nodes).map(move |b| (a, b)));
    pairs.filter(|(a, b)| side.contains(a) != side.contains(b)).collect()
}

/// The nodes of a voter set, by their disks.
type Set = BTreeMap<DiskId, NodeId>;

/// The voters before and after the newest change of voters that any node has in its log.
fn newest_change(cluster: &Cluster) -> Option<(Set, Set)> {
    let views =
        cluster.nodes().iter().flat_map(|node| node.newest_in_log().into_iter().chain(node.decided_views()));
    let joint = views.filter(|view| view.next_voters.is_some()).max_by_key(|view| view.number)?;
    Some((joint.voters.clone(), joint.next_voters.clone()?))
}

/// A side with a majority of the old voters that leaves a majority of the new ones outside, if there is one.
fn draw_side(
    old: &Set,
    new: &Set,
    stale: Option<NodeId>,
    nodes: usize,
    random: &mut Random,
) -> Option<BTreeSet<NodeId>> {
    let majority = |set: &Set| set.len() / 2 + 1;
    let mut side: BTreeSet<NodeId> = stale.into_iter().collect();
    side.extend(old.iter().filter(|(disk, _)| !new.contains_key(disk)).map(|(_, node)| *node));
    let mut both: Vec<NodeId> =
        old.iter().filter(|(disk, _)| new.contains_key(disk)).map(|(_, node)| *node).collect();
    while old.values().filter(|node| side.contains(node)).count() < majority(old) && !both.is_empty() {
        side.insert(both.swap_remove(random.below(both.len() as u64) as usize));
    }
    let is_voter = |node: &NodeId| old.values().chain(new.values()).any(|voter| voter == node);
    let others: Vec<NodeId> = NodeId::first(nodes).filter(|node| !is_voter(node)).collect();
    side.extend(others.into_iter().filter(|_| random.happens(0.5)));
    let count = |set: &Set, is_in: bool| set.values().filter(|node| side.contains(node) == is_in).count();
    (count(old, true) >= majority(old) && count(new, false) >= majority(new)).then_some(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[usize]) -> Set {
        nodes.iter().map(|node| (DiskId(*node as u64), NodeId::new(*node))).collect()
    }

    #[test]
    fn a_cut_separates_majorities_of_old_and_new_voters() {
        let mut random = Random::new(1, 1);
        for (old, new) in [(set(&[0, 1, 2]), set(&[2, 3, 4])), (set(&[0, 1, 2, 3, 4]), set(&[2, 3, 4]))] {
            let side = draw_side(&old, &new, None, 5, &mut random).expect("there is such a side");
            assert!(old.values().filter(|node| side.contains(node)).count() > old.len() / 2, "{side:?}");
            assert!(new.values().filter(|node| !side.contains(node)).count() > new.len() / 2, "{side:?}");
        }
        let (old, new) = (set(&[0, 1, 2]), set(&[0, 1, 2, 3, 4]));
        let stale = Some(NodeId::new(4));
        assert_eq!(
            draw_side(&old, &new, stale, 5, &mut random),
            None,
            "two of three leave two of five outside"
        );
    }

    #[test]
    fn links_between_two_sides_go_both_ways() {
        let [a, b, c] = [0, 1, 2].map(NodeId::new);
        assert_eq!(links_between(&[b].into(), 3), [(a, b), (b, a), (b, c), (c, b)]);
        assert_eq!(links_between(&BTreeSet::new(), 3), []);
    }
}
