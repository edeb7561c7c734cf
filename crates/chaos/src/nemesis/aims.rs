//! Faults that are aimed: each waits for a moment at which the cluster is vulnerable and strikes there.

use doorway_core::{NodeId, Ticks};

use super::network::links_between;
use super::{Mend, Nemesis};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;
use crate::moment::{Moment, Trap};

/// What is aimed at.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    moment: Moment,
}

/// How many moments of a kind pass at most between two shots, and how long after the moment the fault comes at most: no longer
/// than such a moment lasts.
fn bounds(moment: Moment) -> (u64, Ticks) {
    match moment {
        Moment::Proposed => (1, Ticks(4_000)),
        Moment::Joint => (1, Ticks(40_000)),
        Moment::NewVoters => (1, Ticks(300_000)),
        Moment::Barrier => (60, Ticks(10_000)),
        Moment::Snapshot => (40, Ticks(3_000)),
    }
}

impl Nemesis {
    /// Waits for every kind of moment.
    pub(super) fn take_aim(&mut self, cluster: &mut Cluster) {
        Moment::ALL.into_iter().for_each(|moment| self.aim_at(moment, cluster));
    }

    fn aim_at(&mut self, moment: Moment, cluster: &mut Cluster) {
        let (skipped, late) = bounds(moment);
        let skip = self.archer.below(skipped);
        // Some come at once: a node that is to miss the news must be cut off before the news travels.
        let after = if self.archer.happens(0.3) { Ticks(0) } else { Ticks(self.archer.below(late.0)) };
        self.made += 1;
        self.aims.insert(self.made, Aim { moment });
        let token = self.token();
        cluster.set_trap(Trap { moment, skip, after, token });
    }

    /// The moment has come.
    pub(super) fn shoot(&mut self, aim: Aim, token: u64, cluster: &mut Cluster, clients: &mut Clients) {
        let Aim { moment } = aim;
        self.aim_at(moment, cluster);
        let Some(node) = cluster.take_sprung(token).filter(|_| self.ordeal.is_none() && self.nodes > 1)
        else {
            return;
        };
        let before = self.faults.values().sum::<u64>();
        match moment {
            Moment::Proposed => self.strike_proposal(cluster, clients),
            Moment::Joint => self.strike_joint_phase(cluster, clients),
            Moment::NewVoters => self.strike_new_voters(cluster, clients),
            Moment::Barrier => self.strike_barrier(node, cluster, clients),
            Moment::Snapshot => self.strike_snapshot(node, cluster, clients),
        }
        if self.faults.values().sum::<u64>() > before {
            self.coverage.hit(moment);
        }
    }

    /// Voters are about to change. A member misses that and is later cut off together with a majority of the old voters; or a node with
    /// a holder starts again, so that the new voters never acknowledge the life that others must wait for; or the leader
    /// crashes.
    fn strike_proposal(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let (member, long) = (self.draw_member(cluster), self.draw_long());
        let Some(leader) = cluster.leader() else { return };
        match self.archer.below(10) {
            0..5 if member != leader => {
                self.cut(InjectedFault::PartialCut, vec![(leader, member), (member, leader)], long, cluster);
                let soon = Ticks(10_000 + self.archer.below(150_000));
                self.plan(cluster, soon, Some(Mend::CutOldVoters(Some(member))));
            }
            0..9 => self.restart_a_holder(cluster, clients),
            _ => {
                let span = self.draw_span();
                self.halt(InjectedFault::Crash, leader, span, cluster, clients);
            }
        }
    }

    /// Two voter sets must agree. A majority of the old one is cut off, or a voter crashes, or a member sleeps or is cut off.
    fn strike_joint_phase(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let (member, long) = (self.draw_member(cluster), self.draw_long());
        match self.archer.below(10) {
            0..4 => self.cut_old_voters(None, cluster),
            4..7 => {
                let node = cluster.leader().filter(|_| self.archer.happens(0.5)).unwrap_or(member);
                let span = self.draw_span();
                self.halt(InjectedFault::Crash, node, span, cluster, clients);
            }
            7..9 => self.halt(InjectedFault::Pause, member, long, cluster, clients),
            _ => {
                self.cut(InjectedFault::Isolation, links_between(&[member].into(), self.nodes), long, cluster)
            }
        }
    }

    /// The new voters have acknowledged few yet. A member sleeps or is cut off for longer than a lease; or a node with a client
    /// inside restarts, or the leader crashes.
    fn strike_new_voters(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let (member, long) = (self.draw_member(cluster), self.draw_long());
        match self.archer.below(10) {
            0..3 => self.halt(InjectedFault::Pause, member, long, cluster, clients),
            3..6 => {
                self.cut(InjectedFault::Isolation, links_between(&[member].into(), self.nodes), long, cluster)
            }
            6..9 => self.restart_a_holder(cluster, clients),
            _ => {
                let (node, span) = (cluster.leader().unwrap_or(member), self.draw_span());
                self.halt(InjectedFault::Crash, node, span, cluster, clients);
            }
        }
    }

    /// A node with a client inside restarts at once; its client continues until its deadline.
    fn restart_a_holder(&mut self, cluster: &mut Cluster, clients: &mut Clients) {
        let inside = clients.nodes_with_holders();
        let place = self.archer.below(inside.len().max(1) as u64) as usize;
        let soon = Ticks(5_000 + self.archer.below(200_000));
        if let Some(node) = inside.get(place).copied() {
            self.halt(InjectedFault::Crash, node, soon, cluster, clients);
        }
    }

    /// All reports are needed: the node that waits for them crashes or sleeps, or the leader crashes.
    fn strike_barrier(&mut self, node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
        let span = self.draw_span();
        match self.archer.below(10) {
            0..4 => self.halt(InjectedFault::Crash, node, span, cluster, clients),
            4..6 => self.halt(InjectedFault::MachineCrash, node, span, cluster, clients),
            6..8 => {
                let leader = cluster.leader().unwrap_or(node);
                self.halt(InjectedFault::Crash, leader, span, cluster, clients);
            }
            _ => self.halt(InjectedFault::Pause, node, span, cluster, clients),
        }
    }

    /// A file is being replaced: its machine loses power, or its node ends or sleeps.
    fn strike_snapshot(&mut self, node: NodeId, cluster: &mut Cluster, clients: &mut Clients) {
        let span = self.draw_span();
        match self.archer.below(10) {
            0..6 => self.halt(InjectedFault::MachineCrash, node, span, cluster, clients),
            6..8 => self.halt(InjectedFault::Crash, node, span, cluster, clients),
            _ => self.halt(InjectedFault::Suspension, node, span, cluster, clients),
        }
    }

    /// A member of the newest view that any node knows, or any node if there is none.
    fn draw_member(&mut self, cluster: &Cluster) -> NodeId {
        let newest = cluster.nodes().iter().filter_map(|node| node.look().newest);
        let newest = newest.max_by_key(|view| view.number);
        let members: Vec<NodeId> = newest.iter().flat_map(|view| view.members.keys().copied()).collect();
        let place = self.archer.below(members.len().max(1) as u64) as usize;
        members.get(place).copied().unwrap_or(NodeId::new(0))
    }

    /// Longer than detection and the waiting time together, mostly.
    fn draw_long(&mut self) -> Ticks {
        Ticks(2_000_000 + self.archer.below(2_000_000))
    }
}
