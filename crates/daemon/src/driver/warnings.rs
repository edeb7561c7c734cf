//! What an operator should know about disks, epochs and founders: in the log when it happens, in the status as long as it holds.

use doorway_core::{NodeId, Ticks};
use doorway_node::node::Standing;
use doorway_node::timing::MILLISECOND;
use doorway_node::{DiskState, Epoch, KeptOut, Stranger};

use super::Driver;

/// What to do about a disk that was set back.
const ADVICE: &str = "while a majority of the voters is healthy, stop it, empty its data folder and start it: it joins as a new node; \
                      otherwise see `doorway cluster recover --help`";

/// How far the cluster is founded.
#[derive(Default)]
pub(super) struct FoundingProgress {
    /// Whether the node belongs to a cluster.
    pub(super) is_over: bool,
    /// The founders that the node waits for, if it founds a cluster.
    pub(super) missing: Option<Vec<NodeId>>,
}

impl Driver {
    /// The disk of this node was set back.
    pub(super) fn hear_set_back(&self, by: Option<NodeId>, seen: &DiskState) {
        let by = by.map(|node| self.shared.roster.name(node));
        let (boot, synced) = (seen.boot, seen.synced);
        tracing::error!(by, boot, synced, "{}", own_set_back());
    }

    /// A node is ignored from now on.
    pub(super) fn hear_stranger(&self, node: NodeId, why: Stranger) {
        tracing::error!(peer = self.shared.roster.name(node), "{}", self.in_words(node, why));
    }

    /// A founder has another disk than before.
    pub(super) fn hear_other_founder(&self, node: NodeId) {
        let name = self.shared.roster.name(node);
        tracing::error!(peer = name, "{}", other_founder(&name));
    }

    /// This node leads and takes another one in later, because that keeps failing.
    pub(super) fn hear_kept_out(&self, kept_out: &KeptOut) {
        tracing::warn!(peer = self.shared.roster.name(kept_out.node), "{}", self.kept_out_sentence(kept_out));
    }

    fn kept_out_sentence(&self, kept_out: &KeptOut) -> String {
        let name = self.shared.roster.name(kept_out.node);
        let seconds = |time: Ticks| time.0.div_ceil(1_000 * MILLISECOND.0);
        let KeptOut { failures, pause, left, .. } = *kept_out;
        format!(
            "node {name} has failed {failures} times in a row and is kept out for another {} s: it becomes a member again when it has run for {} s \
             without a restart, so that its failures do not block the locks of the others",
            seconds(left),
            seconds(pause)
        )
    }

    /// Why a node is ignored.
    fn in_words(&self, node: NodeId, why: Stranger) -> String {
        let name = self.shared.roster.name(node);
        match why {
            Stranger::SetBack => format!(
                "the disk of node {name} was set back to an earlier copy, or lost what it had synced: this node ignores it; {ADVICE}"
            ),
            Stranger::OtherEpoch(other) => format!(
                "node {name} belongs to another cluster, of epoch {other}: one of the two was recovered or restored, and they never mix; \
                 empty the data folder of each node of the cluster that is to go"
            ),
        }
    }

    /// Tells the log which founders are missing, whenever that changes.
    pub(super) fn log_founding(&mut self) {
        if self.founding.is_over {
            return;
        }
        let look = self.node.look();
        self.founding.is_over = look.epoch.is_some();
        if look.missing_founders != self.founding.missing {
            self.founding.missing = look.missing_founders;
            match self.missing_sentence() {
                Some(sentence) => tracing::info!("{sentence}"),
                None if self.founding.is_over => {
                    tracing::info!("this node now belongs to its cluster")
                }
                None => {}
            }
        }
    }

    fn missing_sentence(&self) -> Option<String> {
        let missing = self.founding.missing.as_ref().filter(|missing| !missing.is_empty())?;
        let names: Vec<String> = missing.iter().map(|node| self.shared.roster.name(*node)).collect();
        Some(format!(
            "waiting to found the cluster until all founders and all other known nodes have met; missing: {}",
            names.join(", ")
        ))
    }

    /// The warnings that hold now.
    pub(super) fn warnings(&self) -> Vec<String> {
        let look = self.node.look();
        let mut warnings = Vec::new();
        if look.standing == Standing::SetBack {
            warnings.push(own_set_back());
        }
        warnings.extend(self.missing_sentence().filter(|_| !self.founding.is_over));
        let others = look.other_founders.iter().map(|node| other_founder(&self.shared.roster.name(*node)));
        warnings.extend(others);
        if !look.torn_between.is_empty() {
            warnings.push(two_clusters(&look.torn_between));
        }
        // Every member knows; the one that keeps it out says so, and a status of all nodes tells it once.
        if look.leader == Some(self.me) {
            warnings.extend(look.kept_out.iter().map(|kept_out| self.kept_out_sentence(kept_out)));
        }
        warnings.extend(look.strangers.into_iter().map(|(node, why)| self.in_words(node, why)));
        warnings
    }
}

/// The disk of the node was set back, and what to do about it.
pub(crate) fn own_set_back() -> String {
    format!(
        "the disk of this node was set back to an earlier copy, or lost what it had synced: it no longer takes part; {ADVICE}"
    )
}

pub(super) fn two_clusters(epochs: &[Epoch]) -> String {
    let epochs: Vec<String> = epochs.iter().map(Epoch::to_string).collect();
    format!(
        "this node is new and hears of several clusters, of epochs {}: it joins none of them; stop the nodes of all but \
         one, and it joins that",
        epochs.join(" and ")
    )
}

fn other_founder(name: &str) -> String {
    format!(
        "node {name} has another disk than the one that the founders agreed on: empty the data folders of all founders and start them again"
    )
}
