//! What an operator tells a node about its cluster.

use std::collections::BTreeSet;

use doorway_core::{Effects, NodeId, Ticks};

use super::LockNode;
use crate::Revocation;
use crate::{DiskId, Notice, Rules, View};

/// Leadership that this node hands to another one, until it is known who leads.
#[derive(Debug)]
pub(super) struct Handover {
    to: NodeId,
    purpose: Purpose,
    /// When it counts as failed even if this node does not know who leads.
    until: Ticks,
}

/// Why leadership is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The other node is to lead.
    Wish,
    /// This node is to be removed, which only another one can do.
    Removal,
}

impl<R: Rules> LockNode<R> {
    /// These nodes are to vote.
    pub(super) fn appoint(&mut self, nodes: Vec<NodeId>, effects: &mut Effects<Self>) {
        let mut known = self.setup.peers.clone();
        known.insert(self.setup.me);
        known.extend(self.everybody().map(|(_, node)| node));
        self.wish(effects, |node| node.watch.wishes.appoint(nodes.into_iter().collect(), &known));
    }

    /// A node is gone for good.
    pub(super) fn remove(&mut self, gone: NodeId, effects: &mut Effects<Self>) {
        self.wish(effects, |node| {
            if gone == node.setup.me {
                return node.make_room();
            }
            let (newest, disks, fresh) = node.newest_with_disks_at(gone)?;
            // If it was removed already and only votes still, that is said again.
            node.watch.wishes.remove(gone, if fresh.is_empty() { disks } else { fresh }, &newest)
        });
    }

    /// A node is gone for good, and its certificates up to a time are void.
    pub(super) fn revoke(&mut self, gone: NodeId, name: String, until: u64, effects: &mut Effects<Self>) {
        self.wish(effects, |node| {
            if gone == node.setup.me {
                return node.make_room();
            }
            let (newest, _, fresh) = node.newest_with_disks_at(gone)?;
            node.watch.wishes.revoke(name, Revocation { node: gone, until }, &newest)?;
            // A node that takes no part, or was removed before, can have certificates all the same.
            if fresh.is_empty() { Ok(()) } else { node.watch.wishes.remove(gone, fresh, &newest) }
        });
    }

    /// The newest view, all disks that are known at a node, and those of them that were not removed yet.
    fn newest_with_disks_at(
        &self,
        gone: NodeId,
    ) -> Result<(View, BTreeSet<DiskId>, BTreeSet<DiskId>), String> {
        let newest = self.consensus.newest_view().ok_or(NO_CLUSTER)?;
        let disks = self.disks_at(gone);
        let fresh = disks.difference(&newest.removed).copied().collect();
        Ok((newest.clone(), disks, fresh))
    }

    /// A node is to lead.
    pub(super) fn lead_by(&mut self, next: NodeId, effects: &mut Effects<Self>) {
        if next == self.setup.me && self.consensus.is_leader() {
            effects.notices.push(Notice::Leads(next));
            return;
        }
        self.wish(effects, |node| {
            let disk = node.check_voter(next)?;
            node.hand_over(next, disk, Purpose::Wish)
        });
    }

    /// This node leads and is to be removed: it hands leadership over first, as only another leader can remove it.
    fn make_room(&mut self) -> Result<(), String> {
        let view = self.consensus.newest_view().ok_or(NO_CLUSTER)?;
        if self.handover.as_ref().is_some_and(|handover| handover.purpose == Purpose::Removal) {
            return Ok(());
        }
        let members = view.members.values().map(|life| life.disk);
        let fit = members.filter(|disk| !view.removed.contains(disk));
        let next = self.consensus.best_successor(fit, self.now);
        let next = next.and_then(|disk| Some((self.consensus.node_of(disk)?, disk)));
        let Some((node, disk)) = next else {
            return Err("it leads, and no other voter is a member that could lead in its place".to_owned());
        };
        self.hand_over(node, disk, Purpose::Removal)
    }

    /// The disk of a node that could lead.
    fn check_voter(&self, node: NodeId) -> Result<DiskId, String> {
        let view = self.consensus.newest_view().ok_or(NO_CLUSTER)?;
        if self.disks_at(node).is_empty() {
            return Err("it is not part of this cluster".to_owned());
        }
        let Some(life) = view.members.get(&node) else {
            return Err("it is not a member at present".to_owned());
        };
        if !self.consensus.config().will_vote(life.disk) {
            return Err("it does not vote".to_owned());
        }
        Ok(life.disk)
    }

    /// Begins to hand leadership over. The result comes [later](Self::follow_handover).
    fn hand_over(&mut self, to: NodeId, disk: DiskId, purpose: Purpose) -> Result<(), String> {
        if let Some(handover) = &self.handover
            && (handover.to != to || handover.purpose != purpose)
        {
            return Err("leadership is being handed over already: try again".to_owned());
        }
        // A new leader is known when its first entry has come, which takes it an election and two writes.
        let until = self.now + Ticks(self.setup.timing.election.0 * 2);
        self.handover = Some(Handover { to, purpose, until });
        self.consensus.hand_over(disk, self.now);
        Ok(())
    }

    /// Reports the result of a hand-over, as soon as it is known.
    pub(super) fn follow_handover(&mut self, effects: &mut Effects<Self>) {
        let Some(Handover { to, purpose, until }) = self.handover else { return };
        let leader = self.consensus.leader();
        let told = if self.consensus.is_handing_over() {
            return;
        } else if self.consensus.is_leader() {
            Notice::NotHandedOver { to }
        } else if leader == Some(to) && purpose == Purpose::Wish {
            Notice::Leads(to)
        } else if (leader.is_some() && leader != Some(self.setup.me)) || self.now >= until {
            Notice::NotLeader { leader }
        } else {
            return;
        };
        self.handover = None;
        effects.notices.push(told);
    }

    /// Takes a wish to heart if this node leads and it can be, and says so otherwise.
    fn wish(&mut self, effects: &mut Effects<Self>, take: impl FnOnce(&mut Self) -> Result<(), String>) {
        if !self.consensus.is_leader() {
            effects.notices.push(Notice::NotLeader { leader: self.consensus.leader() });
        } else if let Err(why) = take(self) {
            effects.notices.push(Notice::NotDone(why));
        } else {
            self.lead_at = self.now;
        }
    }

    /// The disks of a node that takes part, votes or listens.
    fn disks_at(&self, node: NodeId) -> BTreeSet<DiskId> {
        self.everybody().filter(|(_, at)| *at == node).map(|(disk, _)| disk).collect()
    }

    /// The disks of all who take part, vote or listen, with their nodes.
    fn everybody(&self) -> impl Iterator<Item = (DiskId, NodeId)> {
        let view = self.consensus.newest_view();
        let members = view.iter().flat_map(|view| &view.members).map(|(node, life)| (life.disk, *node));
        let mut all: BTreeSet<(DiskId, NodeId)> = members.collect();
        all.extend(view.iter().flat_map(|view| view.all_voters()));
        all.extend(self.consensus.config().everybody());
        all.into_iter()
    }
}

/// Why nothing can be done.
const NO_CLUSTER: &str = "the cluster is not founded yet";
