//! What an operator tells a node about its cluster.

use std::collections::BTreeSet;

use doorway_core::{Effects, NodeId};

use super::LockNode;
use crate::{DiskId, Notice};

impl LockNode {
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
                return Err(format!("node {gone} leads, and cannot be removed before another node does"));
            }
            let disks: BTreeSet<DiskId> =
                node.everybody().filter(|(_, at)| *at == gone).map(|(disk, _)| disk).collect();
            let Some(newest) = node.consensus.newest_view() else {
                return Err("there is no cluster yet".to_owned());
            };
            let fresh = disks.difference(&newest.removed).copied().collect();
            node.watch.wishes.remove(gone, fresh, newest)
        });
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
