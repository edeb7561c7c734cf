//! Views: the agreed list of live nodes.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::NodeId;
use doorway_protocol::Revocation;
use serde::{Deserialize, Serialize};

use crate::{Damping, DiskId, Incarnation};

/// The voters of a consensus: their disks, and the nodes that these are at.
pub type Voters = BTreeMap<DiskId, NodeId>;

/// Who takes part, and who decides about it. Every message of a section belongs to one view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct View {
    /// Its number: one more than its predecessor's.
    pub number: u64,
    /// Who takes part, each in one life.
    pub members: BTreeMap<NodeId, Incarnation>,
    /// Who decides about views and acknowledges leases.
    pub voters: Voters,
    /// While the voters change: who will be. A lease then needs a majority of both.
    pub next_voters: Option<Voters>,
    /// The number of the view in which the voters last changed.
    pub voters_since: u64,
    /// Members of its predecessor that left by themselves, so that no node has to wait for their leases.
    pub clean: BTreeSet<Incarnation>,
    /// The nodes that are to vote, if an operator has said so; otherwise the leader chooses.
    pub appointed: Option<BTreeSet<NodeId>>,
    /// Disks that an operator has removed: they vote no more and are taken in no more, in any later view.
    pub removed: BTreeSet<DiskId>,
    /// Certificates that an operator has revoked, by the name that they certify.
    pub revoked: BTreeMap<String, Revocation>,
    /// How often in a row each node was left out without having said that it leaves, for those of which that still counts.
    pub failures: BTreeMap<NodeId, u8>,
}

impl View {
    /// The largest number: a fence has 27 bits for it.
    pub const LAST: u64 = (1 << 27) - 1;

    /// How many disks can be removed in a cluster's life.
    pub const MOST_REMOVED: usize = 1_024;

    /// Of how many names certificates can be revoked in a cluster's life. Every view tells them, so there are fewer of them.
    pub const MOST_REVOKED: usize = 256;

    /// The longest name in a certificate, in bytes.
    pub const LONGEST_NAME: usize = 63;

    /// The view before the first: it has no members.
    #[must_use]
    pub fn genesis(voters: Voters) -> Self {
        Self {
            number: 1,
            members: BTreeMap::new(),
            voters,
            next_voters: None,
            voters_since: 1,
            clean: BTreeSet::new(),
            appointed: None,
            removed: BTreeSet::new(),
            revoked: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// A view like this one with the next number, in which no member has left.
    #[must_use]
    pub fn successor(&self) -> Self {
        Self { number: self.number + 1, clean: BTreeSet::new(), ..self.clone() }
    }

    /// Whether it is valid: it has voters, no node takes part twice, and no list is longer than a cluster allows.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let few = |count: usize| count <= crate::wire::MOST_NODES;
        let disks: BTreeSet<DiskId> = self.members.values().map(|member| member.disk).collect();
        (1..=Self::LAST).contains(&self.number)
            && self.voters_since <= self.number
            && self.voter_sets().all(|voters| !voters.is_empty() && few(voters.len()))
            && few(self.members.len())
            && few(self.clean.len())
            && disks.len() == self.members.len()
            && self.clean.iter().all(|gone| !self.has(gone))
            && self.appointed.as_ref().is_none_or(|nodes| !nodes.is_empty() && few(nodes.len()))
            && self.removed.len() <= Self::MOST_REMOVED
            && self.removed.is_disjoint(&disks)
            && self.revoked.len() <= Self::MOST_REVOKED
            && self.revoked.keys().all(|name| name.len() <= Self::LONGEST_NAME)
            && few(self.failures.len())
            && self.failures.values().all(|count| *count <= Damping::MOST_FAILURES)
    }

    /// Of how many pieces it is made.
    pub(crate) fn pieces(&self) -> usize {
        let words = self.appointed.as_ref().map_or(0, BTreeSet::len) + self.removed.len();
        let words = words + 2 * self.revoked.len() + self.failures.len();
        self.members.len() + self.clean.len() + words + self.voter_sets().map(Voters::len).sum::<usize>()
    }

    /// Whether this life of a node takes part.
    #[must_use]
    pub fn has(&self, incarnation: &Incarnation) -> bool {
        self.members.values().any(|member| member == incarnation)
    }

    /// The set or the two sets of voters.
    pub fn voter_sets(&self) -> impl Iterator<Item = &Voters> {
        std::iter::once(&self.voters).chain(&self.next_voters)
    }

    /// Every voter of either set, once, with its node.
    #[must_use]
    pub fn all_voters(&self) -> Voters {
        self.voter_sets().flatten().map(|(disk, node)| (*disk, *node)).collect()
    }

    /// Whether this view lacks a life that its predecessor had and that did not leave by itself: its lease must be waited for.
    #[must_use]
    pub fn leaves_out_a_member_of(&self, predecessor: &View) -> bool {
        predecessor.members.values().any(|old| !self.has(old) && !self.clean.contains(old))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters(disks: &[u64]) -> Voters {
        disks.iter().map(|&disk| (DiskId(disk), NodeId::new(disk as usize))).collect()
    }

    #[test]
    fn a_member_that_leaves_is_not_left_out() {
        let life = |boot| Incarnation { disk: DiskId(7), boot, tenure: 0, nonce: crate::Nonce(0) };
        let mut before = View::genesis(voters(&[7]));
        before.members.insert(NodeId::new(0), life(1));
        let mut after = before.successor();
        assert!(!after.leaves_out_a_member_of(&before));
        after.members.insert(NodeId::new(0), life(2));
        assert!(after.leaves_out_a_member_of(&before), "a restart leaves the old life out");
        after.clean.insert(life(1));
        assert!(!after.leaves_out_a_member_of(&before));
    }
}
