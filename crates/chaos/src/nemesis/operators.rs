//! What operators do: to sections, to members, to voters and to the leader.

use doorway_core::{NodeId, Ticks};
use doorway_node::{BreakTarget, Command};

use super::{COMMAND, Mend, Nemesis};
use crate::clients::Clients;
use crate::cluster::Cluster;
use crate::fault::InjectedFault;

impl Nemesis {
    /// Now and then an operator does something as well.
    pub(super) fn operate(&mut self, cluster: &mut Cluster, clients: &Clients) {
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

    /// An operator breaks a section, at whichever node, in general or for the current holder at a node.
    pub(super) fn break_open(&mut self, cluster: &mut Cluster, clients: &Clients) {
        let nodes = self.nodes as u64;
        let [at, holder] = [(); 2].map(|()| NodeId::new(self.operators.below(nodes) as usize));
        let section = clients.some_name(&mut self.operators);
        let fence = cluster.nodes()[holder.index()].look_at(&section).1;
        if cluster.engine().is_crashed(at) || cluster.engine().is_paused(at) {
            return;
        }
        cluster.command(at, Command::Break(BreakTarget { section, fence }));
        self.note(InjectedFault::Break, COMMAND, cluster);
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
            self.note(InjectedFault::Remove, span, cluster);
        }
    }

    /// An operator has another node lead.
    pub(super) fn hand_over(&mut self, cluster: &mut Cluster) {
        let node = NodeId::new(self.leaders.below(self.nodes as u64) as usize);
        if let Some(leader) = cluster.leader() {
            cluster.command(leader, Command::Lead(node));
            self.note(InjectedFault::HandOver, COMMAND, cluster);
        }
    }

    /// An operator removes the node that leads: it hands over, and its successor removes it.
    fn remove_leader(&mut self, cluster: &mut Cluster) {
        let Some(leader) = cluster.leader().filter(|_| self.may_lose_a_disk(cluster)) else { return };
        (self.a_disk_is_lost, self.removed) = (true, Some(leader));
        self.note(InjectedFault::RemoveLeader, COMMAND, cluster);
        self.go_on_removing(leader, cluster);
    }

    /// Tells the current leader, as a daemon would, until another node leads.
    pub(super) fn go_on_removing(&mut self, node: NodeId, cluster: &mut Cluster) {
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

    /// A node is stopped and started again as it should be: it leaves first.
    pub(super) fn leave(&mut self, node: NodeId, cluster: &mut Cluster) {
        if cluster.engine().is_crashed(node) {
            return;
        }
        let patience = Ticks(self.random.below(1_000_000));
        cluster.command(node, Command::Leave { patience });
        let after = patience + Ticks(50_000 + self.random.below(500_000));
        self.plan(cluster, after, Some(Mend::LeaveIsOver(node)));
        self.note(InjectedFault::Leave, after, cluster);
    }

    /// Changes the voters, mostly to nodes that do not vote yet.
    pub(super) fn appoint(&mut self, cluster: &mut Cluster) {
        let Some(leader) = cluster.leader().filter(|_| self.nodes >= 4) else { return };
        let count = if self.nodes >= 5 && self.random.happens(0.3) { 5 } else { 3 };
        let newest = cluster.nodes()[leader.index()].newest_in_log();
        let votes =
            |node: &NodeId| newest.is_some_and(|view| view.voters.values().any(|voter| voter == node));
        let (mut old, mut nodes): (Vec<NodeId>, Vec<NodeId>) = NodeId::first(self.nodes).partition(votes);
        if self.random.happens(0.2) {
            nodes.append(&mut old);
        }
        while nodes.len() > count {
            nodes.remove(self.random.below(nodes.len() as u64) as usize);
        }
        while nodes.len() < count && !old.is_empty() {
            nodes.push(old.swap_remove(self.random.below(old.len() as u64) as usize));
        }
        cluster.command(leader, Command::Appoint(nodes));
        self.note(InjectedFault::Voters, COMMAND, cluster);
    }
}
