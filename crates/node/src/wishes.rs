//! What an operator wishes of a cluster: who is to vote, and who is gone for good.
//!
//! A wish is told to the leader, and comes true as everything else about the members does: by a view that says so. From then on
//! every view says it, so that no change of leaders and no restart forgets it. Until then it is only in the memory of the leader:
//! if another node leads before, the operator is told, and can ask again.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::NodeId;

use crate::Revocation;
use crate::wire::MOST_NODES;
use crate::{DiskId, Notice, View};

/// The wishes that are not agreed yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    appointed: Option<BTreeSet<NodeId>>,
    /// Nodes that are gone for good, with the disks that they had.
    removed: BTreeMap<NodeId, BTreeSet<DiskId>>,
    /// Nodes whose certificates are void as well, by their names.
    revoked: BTreeMap<String, Revocation>,
}

impl Wishes {
    /// These nodes are to vote; all of them must be known.
    ///
    /// # Errors
    /// One sentence if that cannot be.
    pub(crate) fn appoint(
        &mut self,
        nodes: BTreeSet<NodeId>,
        known: &BTreeSet<NodeId>,
    ) -> Result<(), String> {
        if nodes.is_empty() || nodes.len() > MOST_NODES {
            return Err(format!("1 to {MOST_NODES} nodes can vote, not {}", nodes.len()));
        }
        if let Some(stranger) = nodes.difference(known).next() {
            return Err(format!("node {stranger} cannot vote: this node does not know it"));
        }
        self.appointed = Some(nodes);
        Ok(())
    }

    /// A node that has these disks is gone for good.
    ///
    /// # Errors
    /// The end of a sentence if that cannot be.
    pub(crate) fn remove(
        &mut self,
        node: NodeId,
        disks: BTreeSet<DiskId>,
        newest: &View,
    ) -> Result<(), String> {
        if disks.is_empty() {
            return Err("it is not part of this cluster".to_owned());
        }
        let wished: usize = self.removed.values().map(BTreeSet::len).sum();
        if newest.removed.len() + wished + disks.len() > View::MOST_REMOVED {
            return Err(format!("a cluster can forget {} disks in its life", View::MOST_REMOVED));
        }
        self.removed.insert(node, disks);
        Ok(())
    }

    /// All certificates of this name up to a time are void.
    ///
    /// # Errors
    /// The end of a sentence if that cannot be.
    pub(crate) fn revoke(
        &mut self,
        name: String,
        revocation: Revocation,
        newest: &View,
    ) -> Result<(), String> {
        if name.is_empty() || name.len() > View::LONGEST_NAME {
            return Err(format!("its name must have 1 to {} bytes", View::LONGEST_NAME));
        }
        let mut names: BTreeSet<&String> = newest.revoked.keys().chain(self.revoked.keys()).collect();
        names.insert(&name);
        if names.len() > View::MOST_REVOKED {
            return Err(format!("a cluster can revoke {} names in its life", View::MOST_REVOKED));
        }
        self.revoked.insert(name, revocation);
        Ok(())
    }

    /// Makes them part of a view.
    pub(crate) fn grant(&self, view: &mut View) {
        if self.appointed.is_some() {
            view.appointed.clone_from(&self.appointed);
        }
        view.removed.extend(self.removed.values().flatten());
        for (name, revocation) in &self.revoked {
            let agreed = view.revoked.entry(name.clone()).or_insert(*revocation);
            // A clock that was set back must not make a certificate good again.
            *agreed = Revocation { until: revocation.until.max(agreed.until), ..*revocation };
        }
        let removed = &view.removed;
        view.members.retain(|_, life| !removed.contains(&life.disk));
        if let Some(nodes) = &mut view.appointed {
            nodes.retain(|node| !self.removed.contains_key(node));
        }
        // If no appointed node is left, the leader chooses again.
        view.appointed.take_if(|nodes| nodes.is_empty());
    }

    /// The answers to those that a decided view makes true.
    pub(crate) fn answers(&mut self, view: &View) -> Vec<Notice> {
        let mut answers = Vec::new();
        self.removed.retain(|node, disks| {
            let is_granted = disks.is_subset(&view.removed);
            answers.extend(is_granted.then_some(Notice::Removed(*node)));
            !is_granted
        });
        self.revoked.retain(|name, wished| {
            let is_granted = view.revoked.get(name).is_some_and(|agreed| agreed.until >= wished.until);
            answers.extend(is_granted.then_some(Notice::Revoked(wished.node)));
            !is_granted
        });
        let appointed = self.appointed.take_if(|nodes| view.appointed.as_ref() == Some(nodes));
        answers.extend(appointed.map(|nodes| Notice::Appointed(nodes.into_iter().collect())));
        answers
    }

    /// This node no longer leads: returns how many wishes it gives up.
    pub(crate) fn give_up(&mut self) -> usize {
        let Self { appointed, removed, revoked } = std::mem::take(self);
        usize::from(appointed.is_some()) + removed.len() + revoked.len()
    }
}
