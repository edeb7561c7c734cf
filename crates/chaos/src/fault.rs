//! What goes wrong in a cluster, by kind.

use std::fmt;

/// What goes wrong. The last four are stories of disks, each of several stages; only mild faults come on top of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InjectedFault {
    /// A node's process ends; its clients go on until their deadlines.
    Crash,
    /// A machine loses power: the node's process ends, and its clients with it.
    MachineCrash,
    /// A machine loses its disk, too.
    DiskLoss,
    /// A node stands still.
    Pause,
    /// Clients of a node stand still.
    ClientPause,
    /// A machine stands still: the node and its clients.
    Suspension,
    /// The nodes are in two groups, and no message passes between them.
    Partition,
    /// The messages of a node do not reach another, or any node.
    OneWayCut,
    /// Two nodes cannot talk to each other.
    PartialCut,
    /// No message leaves or reaches one node.
    Isolation,
    /// The same of the node that leads.
    LeaderCutOff,
    /// While voters change: a majority of the old voters is cut off from a majority of the new ones.
    OldVotersCutOff,
    /// Messages are lost and doubled.
    Loss,
    /// Messages take long.
    SlowNetwork,
    /// Messages from one node to another take very long.
    SlowLink,
    /// Writes take long.
    SlowDisk,
    /// A node leaves as it should, and comes back.
    Leave,
    /// Others are to vote.
    Voters,
    /// An operator breaks a section open.
    Break,
    /// An operator removes a node for good.
    Remove,
    /// An operator has another node lead.
    HandOver,
    /// An operator removes the node that leads.
    RemoveLeader,
    /// The disk of one node is replaced by an older copy of itself.
    DiskSetBack,
    /// The disks of several nodes are, at the same time.
    DisksSetBack,
    /// A disk is damaged while its node is stopped.
    DiskDamage,
    /// All nodes stop, and the cluster is recovered at two of them.
    TwoRecoveries,
}

impl InjectedFault {
    /// All of them.
    pub const ALL: [InjectedFault; 26] = [
        InjectedFault::Crash,
        InjectedFault::MachineCrash,
        InjectedFault::DiskLoss,
        InjectedFault::Pause,
        InjectedFault::ClientPause,
        InjectedFault::Suspension,
        InjectedFault::Partition,
        InjectedFault::OneWayCut,
        InjectedFault::PartialCut,
        InjectedFault::Isolation,
        InjectedFault::LeaderCutOff,
        InjectedFault::OldVotersCutOff,
        InjectedFault::Loss,
        InjectedFault::SlowNetwork,
        InjectedFault::SlowLink,
        InjectedFault::SlowDisk,
        InjectedFault::Leave,
        InjectedFault::Voters,
        InjectedFault::Break,
        InjectedFault::Remove,
        InjectedFault::HandOver,
        InjectedFault::RemoveLeader,
        InjectedFault::DiskSetBack,
        InjectedFault::DisksSetBack,
        InjectedFault::DiskDamage,
        InjectedFault::TwoRecoveries,
    ];

    /// Those that may come on top of a story of disks: all nodes still hear of the disk in time, as the story demands.
    pub const MILD: [InjectedFault; 5] = [
        InjectedFault::ClientPause,
        InjectedFault::SlowNetwork,
        InjectedFault::SlowDisk,
        InjectedFault::Break,
        InjectedFault::HandOver,
    ];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InjectedFault::Crash => "crash",
            InjectedFault::MachineCrash => "machine crash",
            InjectedFault::DiskLoss => "disk loss",
            InjectedFault::Pause => "pause",
            InjectedFault::ClientPause => "client pause",
            InjectedFault::Suspension => "suspension",
            InjectedFault::Partition => "partition",
            InjectedFault::OneWayCut => "one-way cut",
            InjectedFault::PartialCut => "partial cut",
            InjectedFault::Isolation => "isolation",
            InjectedFault::LeaderCutOff => "leader cut off",
            InjectedFault::OldVotersCutOff => "old voters cut off",
            InjectedFault::Loss => "loss",
            InjectedFault::SlowNetwork => "slow network",
            InjectedFault::SlowLink => "slow link",
            InjectedFault::SlowDisk => "slow disk",
            InjectedFault::Leave => "leave",
            InjectedFault::Voters => "voters",
            InjectedFault::Break => "break",
            InjectedFault::Remove => "remove",
            InjectedFault::HandOver => "hand over",
            InjectedFault::RemoveLeader => "remove leader",
            InjectedFault::DiskSetBack => "disk set back",
            InjectedFault::DisksSetBack => "disks set back",
            InjectedFault::DiskDamage => "damaged disk",
            InjectedFault::TwoRecoveries => "two recoveries",
        }
    }

    /// Whether both can be in force at once: only one disk at a time is lost or removed, or the cluster is; and a story of disks
    /// begins in a healthy cluster and meets only what is mild.
    #[must_use]
    pub fn can_meet(self, other: InjectedFault) -> bool {
        let takes_a_disk = |fault| {
            matches!(fault, InjectedFault::DiskLoss | InjectedFault::Remove | InjectedFault::RemoveLeader)
        };
        match (self.is_story(), other.is_story()) {
            (false, false) => !(takes_a_disk(self) && takes_a_disk(other)),
            (true, false) => Self::MILD.contains(&other),
            (false, true) => Self::MILD.contains(&self),
            (true, true) => false,
        }
    }

    /// Whether it is a story of disks.
    fn is_story(self) -> bool {
        let stories = [
            InjectedFault::DiskSetBack,
            InjectedFault::DisksSetBack,
            InjectedFault::DiskDamage,
            InjectedFault::TwoRecoveries,
        ];
        stories.contains(&self)
    }
}

impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_of_disks_meets_what_is_mild_and_nothing_else() {
        for story in InjectedFault::ALL.into_iter().filter(|fault| fault.is_story()) {
            let met = InjectedFault::ALL.into_iter().filter(|fault| story.can_meet(*fault));
            assert_eq!(met.collect::<Vec<_>>(), InjectedFault::MILD, "{story}");
            assert!(
                InjectedFault::ALL.iter().all(|fault| story.can_meet(*fault) == fault.can_meet(story)),
                "{story}"
            );
        }
        assert!(InjectedFault::ALL.is_sorted(), "pairs are kept in this order");
    }
}
