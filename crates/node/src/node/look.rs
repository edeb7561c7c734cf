//! What a node reports about itself, for status, log and tests.

use std::collections::BTreeMap;

use doorway_core::{Fence, NodeId, SectionName, Ticks};

use super::{LockNode, State, Stranger};
use crate::{Counters, Epoch, Incarnation, KeptOut, Rules, SectionSummary, View};

/// Where a node stands towards its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits until its disk knows that it was started.
    Starting,
    /// It is no member and would like to be.
    Joining,
    /// It has adopted a view and waits for the reports of the others.
    Limbo,
    /// It is a member and lets clients in, as far as its lease goes.
    Active,
    /// Its disk was set back to an earlier copy of itself: it no longer takes part.
    SetBack,
    /// It has left, or had to stop.
    Over,
}

/// What a node knows about itself and its cluster.
#[derive(Clone, Debug)]
pub struct NodeSummary<'a> {
    /// Where it stands.
    pub standing: Standing,
    /// Which life it is.
    pub incarnation: Incarnation,
    /// How many writes its disk has ever synced.
    pub synced: u64,
    /// The view that it has adopted.
    pub view: Option<&'a View>,
    /// The newest view that it knows to be decided.
    pub newest: Option<&'a View>,
    /// The end of its lease.
    pub lease_until: Ticks,
    /// Until then it grants only sections whose holder it knows.
    pub quiet_until: Ticks,
    /// Whether it leads the consensus.
    pub is_leader: bool,
    /// Who leads the consensus, as far as it knows.
    pub leader: Option<NodeId>,
    /// Whether it is leaving its cluster, or has left.
    pub is_leaving: bool,
    /// The term of the consensus.
    pub term: u64,
    /// How many sections are open.
    pub open: usize,
    /// How many requests wait.
    pub waiting: usize,
    /// What was counted.
    pub counters: Counters,
    /// The cluster that it belongs to.
    pub epoch: Option<Epoch>,
    /// If it founds a cluster: the founders that it waits for.
    pub missing_founders: Option<Vec<NodeId>>,
    /// The nodes that it does not listen to, and why.
    pub strangers: Vec<(NodeId, Stranger)>,
    /// If it founds a cluster: founders that have another disk than was agreed on.
    pub other_founders: Vec<NodeId>,
    /// If it belongs to no cluster and hears of several: their epochs.
    pub torn_between: Vec<Epoch>,
    /// Nodes that keep failing and are therefore not taken in yet, as far as this node sees.
    pub kept_out: Vec<KeptOut>,
}

/// How much a node keeps of what others sent. Each of these numbers has a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Parcels of views that it has not installed yet.
    pub kept_parcels: usize,
    /// Parcels that have overtaken others.
    pub early_parcels: usize,
    /// Parts of reports of views that it has not learned of yet.
    pub early_reports: usize,
    /// Messages of the consensus that wait for the disk.
    pub ballots: usize,
    /// Disks of which it knows the node.
    pub disks: usize,
    /// Nodes that would like to be members.
    pub joiners: usize,
    /// Questions about forgetting that are not answered yet.
    pub questions: usize,
    /// Messages of algorithms that wait for the answer to such a question.
    pub frozen: usize,
    /// Nodes that have violated the protocol in this view.
    pub suspects: usize,
}

impl<R: Rules> LockNode<R> {
    /// What it knows about itself and its cluster.
    #[must_use]
    pub fn look(&self) -> NodeSummary<'_> {
        let standing = match (self.state, &self.membership) {
            (State::Starting, _) => Standing::Starting,
            (State::SetBack, _) => Standing::SetBack,
            (State::Over, _) => Standing::Over,
            (State::Running, None) => Standing::Joining,
            (State::Running, Some(membership)) if membership.is_active => Standing::Active,
            (State::Running, Some(_)) => Standing::Limbo,
        };
        NodeSummary {
            standing,
            incarnation: self.incarnation,
            view: self.membership.as_ref().map(|membership| &membership.view),
            newest: self.consensus.newest_decided(),
            lease_until: self.lease.until(),
            quiet_until: self.quiet_until,
            is_leader: self.consensus.is_leader(),
            leader: self.consensus.leader(),
            is_leaving: self.leaving != super::Leaving::No,
            term: self.consensus.term(),
            open: self.sections.open_count(),
            waiting: self.sections.waiting_count(),
            counters: self.sections.counters,
            synced: self.consensus.disk_state().synced,
            epoch: self.consensus.identity().epoch,
            missing_founders: self.missing_founders(),
            strangers: self.acquaintances.strangers(self.lately()).collect(),
            other_founders: self.other_founders(),
            torn_between: if self.is_torn_between() {
                self.present_epochs().into_iter().collect()
            } else {
                Vec::new()
            },
            kept_out: self.kept_out(),
        }
    }

    fn kept_out(&self) -> Vec<KeptOut> {
        let newest = self.consensus.newest_decided();
        newest.map(|view| self.watch.kept_out(view, self.now)).unwrap_or_default()
    }

    /// The number of the view that it has adopted, and whether that is installed.
    #[must_use]
    pub fn adopted(&self) -> Option<(u64, bool)> {
        self.membership.as_ref().map(|membership| (membership.view.number, membership.is_active))
    }

    /// What it keeps for others. It takes a look at every open section.
    #[must_use]
    pub fn load(&self) -> Backlog {
        let (ballots, disks) = self.consensus.load();
        let (early_parcels, questions, frozen) = self.sections.load();
        Backlog {
            kept_parcels: self.kept.len(),
            early_parcels,
            early_reports: self.early_reports.len(),
            ballots,
            disks,
            joiners: self.watch.joiner_count(),
            questions,
            frozen,
            suspects: self.sections.suspects.len(),
        }
    }

    /// Skips counters of an open section, up to this one: a test's way to a fence that runs out of numbers. Fences still rise.
    pub fn advance_fence(&mut self, section: &SectionName, counter: u64) {
        self.sections.advance_fence(section, counter);
    }

    /// The revoked certificates: for each name in one, the last revoked time of issue, in
    /// microseconds since 1970.
    #[must_use]
    pub fn void_certificates(&self) -> BTreeMap<String, u64> {
        self.consensus.void_certificates()
    }

    /// Whether it is known in the present view who was inside a section when the view began.
    #[must_use]
    pub fn knows_holder(&self, section: &SectionName) -> bool {
        self.sections.knows_holder(section)
    }

    /// The first `most` sections that clients of this node hold or wait for, in the order of their names.
    #[must_use]
    pub fn sections(&self, most: usize) -> Vec<SectionSummary> {
        self.sections.looks(most)
    }

    /// The first section after this name, or of all, that clients of this node hold or wait for, with at most `most_waiting`
    /// waiters. With it a caller visits the sections one by one, however many there are.
    #[must_use]
    pub fn section_after(&self, after: Option<&SectionName>, most_waiting: usize) -> Option<SectionSummary> {
        self.sections.look_after(after, most_waiting)
    }

    /// How many sections the clients of this node may use, those included that they used and that are not forgotten yet.
    #[must_use]
    pub fn most_used(&self) -> usize {
        self.sections.most_used()
    }

    /// Whether a section is one of them.
    #[must_use]
    pub fn is_used(&self, name: &SectionName) -> bool {
        self.sections.is_used(name)
    }

    /// A section as this node sees it, if it is open here, with at most `most_waiting` waiters.
    #[must_use]
    pub fn section_up_to(&self, name: &SectionName, most_waiting: usize) -> Option<SectionSummary> {
        self.sections.look_up_to(name, most_waiting)
    }

    /// A section as this node sees it, if it is open here.
    #[must_use]
    pub fn section(&self, name: &SectionName) -> Option<SectionSummary> {
        self.sections.look(name)
    }

    /// The newest view in its log, decided or not.
    #[must_use]
    pub fn newest_in_log(&self) -> Option<&View> {
        self.consensus.newest_view()
    }

    /// The views in its log that it knows to be decided, in order. Those that a snapshot has replaced are not among them.
    pub fn decided_views(&self) -> impl Iterator<Item = &View> {
        self.consensus.decided_views()
    }

    /// Who was inside which section when the view began in which it acts, as far as that still counts.
    #[must_use]
    pub fn holders(&self) -> Option<&BTreeMap<SectionName, NodeId>> {
        self.sections.holders()
    }

    /// The least counter that a section can have from now on in the view in which the node acts.
    #[must_use]
    pub fn clock(&self, section: &SectionName) -> u64 {
        self.sections.clock(section)
    }

    /// How many clients wait for a section at this node, and the fence of the one that is inside.
    #[must_use]
    pub fn look_at(&self, section: &SectionName) -> (usize, Option<Fence>) {
        self.sections.look_at(section)
    }
}
