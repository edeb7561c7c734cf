//! Disks that an operator has removed: until when they vote, and from when on all nodes ignore them.
//!
//! A view says that a disk is removed; the configuration of the consensus loses it a few entries later, and the votes of the disk may be
//! needed until then. From the commit of the configuration without it no ballot of the disk reaches the engine: it can neither vote, nor
//! raise a node's term, nor get an answer. The log is cut at that place, so that a node that restarts knows it from the first moment on.

use std::collections::BTreeMap;

use doorway_core::Ticks;
use noraft::{ClusterConfig, LogIndex};

use super::Consensus;
use crate::DiskId;

impl Consensus {
    /// Whether an operator has removed a disk and the configuration without it is committed, as far as this node was told.
    pub(crate) fn is_barred(&self, disk: DiskId) -> bool {
        let is_removed = self.newest_decided.as_ref().is_some_and(|view| view.removed.contains(&disk));
        let votes = |config: &ClusterConfig| config.contains(noraft::NodeId::new(disk.0));
        // R22: barred once committed
        is_removed && !self.is_in_config(disk) && !self.committed_config().is_none_or(votes)
    }

    /// The revoked certificates: for each name in one, the last revoked time of issue. A revocation counts
    /// from when the removed disks of its node are barred: until then their votes may be needed.
    pub(crate) fn void_certificates(&self) -> BTreeMap<String, u64> {
        let Some(view) = &self.newest_decided else { return BTreeMap::new() };
        let void = view.revoked.iter().filter(|(_, revocation)| {
            let mut removed = view.removed.iter().filter(|disk| !self.is_barred(**disk));
            !removed.any(|disk| self.node_of(*disk) == Some(revocation.node))
        });
        void.map(|(name, revocation)| (name.clone(), revocation.until)).collect()
    }

    /// Whether the removal of a disk is finished that a node would not know of after a restart, as its log does not begin with it.
    pub(super) fn has_new_removal(&self, now: Ticks) -> bool {
        let Some(view) = &self.newest_decided else { return false };
        let (removed, revoked) = (view.removed.len(), &view.revoked);
        let base = self.base.view.as_ref();
        // What is removed stays so: as many disks are the same disks.
        let is_told = base.map_or(0, |base| base.removed.len()) == removed
            && base.map_or(revoked.is_empty(), |base| base.revoked == *revoked);
        let begins_without = self.base.config.everybody().all(|(disk, _)| !view.removed.contains(&disk));
        !(is_told && begins_without)
            && view.removed.iter().all(|disk| self.is_barred(*disk))
            && !self.is_anybody_late(now)
    }

    /// As a leader: whether a follower that is heard of does not have all yet that was decided. If the log were cut, it would be sent a snapshot
    /// in place of the entries, and grant nothing for a while because of that.
    fn is_anybody_late(&self, now: Ticks) -> bool {
        let is_late = |disk| self.match_index(disk).is_some_and(|index| index < self.told);
        self.raft.peers().map(|disk| DiskId(disk.get())).any(|disk| is_late(disk) && self.hears(disk, now))
    }

    /// Who votes and listens where the log is decided.
    fn committed_config(&self) -> Option<&ClusterConfig> {
        self.raft.log().get_position_and_config(LogIndex::new(self.commit())).map(|(_, config)| config)
    }
}
