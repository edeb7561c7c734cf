//! Founding a cluster: all founders exchange one list of disks before the first view (R29).
//!
//! Every founder draws its disk at its first start. It tells the other founders which disk it has, and when it has heard of all of them it
//! writes their list down. From then on it founds with these disks and no others: a founder that comes with another disk is refused. When all
//! founders have told that they have the same list, each makes the same first snapshot of it, whose voters are all founders, and the consensus
//! begins.
//!
//! If a founder meets a node that belongs to a cluster already, it has lost its disk, or comes late: it founds nothing and joins that
//! cluster as a new node.

use std::collections::BTreeMap;

use doorway_core::{Effects, NodeId};

use super::LockNode;
use crate::consensus::Consensus;
use crate::disk::{Founders, Record, genesis};
use crate::message::{Founding, Msg};
use crate::{DiskId, Epoch, Notice, Rules};

/// How far a founder has come.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// What each other founder has told.
    heard: BTreeMap<NodeId, Founding>,
    /// Whether its first snapshot is being written.
    is_beginning: bool,
    /// Founders that were refused, of which this node's driver was told.
    refused: BTreeMap<NodeId, DiskId>,
}

impl<R: Rules> LockNode<R> {
    /// Whether this node founds a cluster, or waits for the others to.
    fn is_founding(&self) -> bool {
        self.setup.founders.contains(&self.setup.me) && self.consensus.identity().epoch.is_none()
    }

    /// The founders that this one still waits for: it has not heard of them, or they do not have the list yet. Nothing if it does
    /// not found, as when it has no list and hears of a cluster, which it joins.
    pub(super) fn missing_founders(&self) -> Option<Vec<NodeId>> {
        let list = self.consensus.identity().founders.as_ref();
        if list.is_none() && self.acquaintances.has_heard_of_cluster() {
            return None;
        }
        let is_missing = |node: &NodeId| {
            let told = self.meeting.heard.get(node);
            *node != self.setup.me && told.is_none_or(|told| list.is_some() && told.list.as_ref() != list)
        };
        let founders = self.setup.founders.iter().copied().filter(is_missing);
        self.is_founding().then(|| founders.chain(self.silent_others()).collect())
    }

    /// Nodes that are no founders and have not told whether they belong to a cluster. Until a list is written down this node waits for
    /// them, too: if founders have lost their disks, others may know of their cluster.
    fn silent_others(&self) -> impl Iterator<Item = NodeId> {
        let has_list = self.consensus.identity().founders.is_some();
        let others = self.setup.peers.difference(&self.setup.founders).copied();
        others
            .filter(move |node| !has_list && *node != self.setup.me && !self.acquaintances.has_greeted(*node))
    }

    /// Tells the other founders about this one.
    pub(super) fn meet_founders(&mut self, effects: &mut Effects<Self>) {
        if self.is_founding() {
            let founding = self.founding();
            for &node in self.setup.founders.iter().filter(|node| **node != self.setup.me) {
                effects.out.send(node, Msg::Founding(founding.clone()));
            }
            self.go_on_founding();
        }
    }

    fn founding(&self) -> Founding {
        let identity = self.consensus.identity();
        // Only a list that is synced counts for the others.
        // R29: synced before it counts
        let list = identity.founders.clone().filter(|_| !self.consensus.is_syncing());
        Founding { disk: identity.disk, share: identity.share, list, waits: self.is_founding() }
    }

    /// A founder tells about itself.
    pub(super) fn hear_founder(&mut self, from: NodeId, founding: Founding, effects: &mut Effects<Self>) {
        if !self.setup.founders.contains(&from) || from == self.setup.me {
            return;
        }
        let listed = self.consensus.identity().founders.as_ref().and_then(|list| list.0.get(&from));
        if listed.is_some_and(|(disk, _)| *disk != founding.disk) && self.is_founding() {
            // R29: another disk is refused
            if self.meeting.refused.insert(from, founding.disk) != Some(founding.disk) {
                effects.notices.push(Notice::OtherFounder(from));
            }
            return;
        }
        // A node whose list has another disk of this node founds without this one.
        let mine = (self.incarnation.disk, self.consensus.identity().share);
        let knows_me = |list: &Founders| list.0.get(&self.setup.me) == Some(&mine);
        if self.is_founding() && founding.list.as_ref().is_none_or(knows_me) {
            self.meeting.heard.insert(from, founding);
            self.go_on_founding();
        } else if listed.is_some_and(|(disk, _)| *disk == founding.disk) && founding.waits {
            // It was stopped before it heard that all have the list.
            effects.out.send(from, Msg::Founding(self.founding()));
        }
    }

    /// Writes down the list when all are known, and the first snapshot when all have the list.
    pub(super) fn go_on_founding(&mut self) {
        if !self.is_founding() || self.consensus.is_syncing() || self.meets_cluster() {
            return;
        }
        let others = self.setup.founders.iter().filter(|node| **node != self.setup.me);
        let told: Option<Vec<(NodeId, &Founding)>> =
            others.map(|node| Some((*node, self.meeting.heard.get(node)?))).collect();
        let Some(told) = told else { return };
        match &self.consensus.identity().founders {
            None => {
                let mine = self.founding();
                let all = told.into_iter().chain([(self.setup.me, &mine)]);
                let list = Founders(all.map(|(node, told)| (node, (told.disk, told.share))).collect());
                self.consensus
                    .note(&[Record::Founders(list.clone())], |identity| identity.founders = Some(list));
            }
            // R29: all have one list
            Some(list) if told.iter().all(|(_, told)| told.list.as_ref() == Some(list)) => {
                self.write_genesis(&list.clone());
            }
            Some(_) => {}
        }
    }

    fn write_genesis(&mut self, list: &Founders) {
        let (epoch, records) = (list.epoch(), genesis(list));
        self.meeting.is_beginning = true;
        self.consensus.note(&records, |identity| identity.epoch = Some(epoch));
    }

    /// A node of some cluster is heard. If it is the one that this node founds, all founders have had the list.
    pub(super) fn hear_of_founded(&mut self, epoch: Option<Epoch>) {
        let list = self.consensus.identity().founders.clone();
        let list = list.filter(|list| Some(list.epoch()) == epoch && !self.consensus.is_syncing());
        list.into_iter().for_each(|list| self.write_genesis(&list));
    }

    /// Whether a node of some cluster was heard, or may still be: it is too late to found one without a list, which all founders would have.
    fn meets_cluster(&self) -> bool {
        let has_list = self.consensus.identity().founders.is_some();
        !has_list && (self.acquaintances.has_heard_of_cluster() || self.silent_others().next().is_some())
    }

    /// Whether the first snapshot is being written. Until it is, the consensus knows nothing of it and must not be heard.
    pub(super) fn is_beginning(&self) -> bool {
        self.meeting.is_beginning
    }

    /// The founders that have another disk than the list of this one says.
    pub(super) fn other_founders(&self) -> Vec<NodeId> {
        if self.is_founding() { self.meeting.refused.keys().copied().collect() } else { Vec::new() }
    }

    /// The first snapshot is on the disk: the consensus begins from it.
    pub(super) fn begin_cluster(&mut self) {
        if !std::mem::take(&mut self.meeting.is_beginning) {
            return;
        }
        let Some(list) = self.consensus.identity().founders.clone() else { return };
        let memory = self.consensus.founded(&list);
        self.consensus = Consensus::new(&memory, self.setup.timing, self.setup.longest_log, self.now);
        self.consensus.begin(self.now);
        self.joining.begin_life(self.consensus.newest_decided());
        self.recall_voters();
    }
}
