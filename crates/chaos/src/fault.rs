//! What goes wrong in a cluster, by kind.

use std::fmt;

/// What goes wrong. The last four are stories of disks, each of several stages; only mild faults come on top of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
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

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 26] = [
        Fault::Crash,
        Fault::MachineCrash,
        Fault::DiskLoss,
        Fault::Pause,
        Fault::ClientPause,
        Fault::Suspension,
        Fault::Partition,
        Fault::OneWayCut,
        Fault::PartialCut,
        Fault::Isolation,
        Fault::LeaderCutOff,
        Fault::OldVotersCutOff,
        Fault::Loss,
        Fault::SlowNetwork,
        Fault::SlowLink,
        Fault::SlowDisk,
        Fault::Leave,
        Fault::Voters,
        Fault::Break,
        Fault::Remove,
        Fault::HandOver,
        Fault::RemoveLeader,
        Fault::DiskSetBack,
        Fault::DisksSetBack,
        Fault::DiskDamage,
        Fault::TwoRecoveries,
    ];

    /// Those that may come on top of a story of disks: all nodes still hear of the disk in time, as the story demands.
    pub const MILD: [Fault; 5] =
        [Fault::ClientPause, Fault::SlowNetwork, Fault::SlowDisk, Fault::Break, Fault::HandOver];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Fault::Crash => "crash",
            Fault::MachineCrash => "machine crash",
            Fault::DiskLoss => "disk loss",
            Fault::Pause => "pause",
            Fault::ClientPause => "client pause",
            Fault::Suspension => "suspension",
            Fault::Partition => "partition",
            Fault::OneWayCut => "one-way cut",
            Fault::PartialCut => "partial cut",
            Fault::Isolation => "isolation",
            Fault::LeaderCutOff => "leader cut off",
            Fault::OldVotersCutOff => "old voters cut off",
            Fault::Loss => "loss",
            Fault::SlowNetwork => "slow network",
            Fault::SlowLink => "slow link",
            Fault::SlowDisk => "slow disk",
            Fault::Leave => "leave",
            Fault::Voters => "voters",
            Fault::Break => "break",
            Fault::Remove => "remove",
            Fault::HandOver => "hand over",
            Fault::RemoveLeader => "remove leader",
            Fault::DiskSetBack => "disk set back",
            Fault::DisksSetBack => "disks set back",
            Fault::DiskDamage => "damaged disk",
            Fault::TwoRecoveries => "two recoveries",
        }
    }

    /// Whether both can be in force at once: only one disk at a time is lost or removed, or the cluster is; and a story of disks
    /// begins in a healthy cluster and meets only what is mild.
    #[must_use]
    pub fn can_meet(self, other: Fault) -> bool {
        let takes_a_disk = |fault| matches!(fault, Fault::DiskLoss | Fault::Remove | Fault::RemoveLeader);
        match (self.is_story(), other.is_story()) {
            (false, false) => !(takes_a_disk(self) && takes_a_disk(other)),
            (true, false) => Self::MILD.contains(&other),
            (false, true) => Self::MILD.contains(&self),
            (true, true) => false,
        }
    }

    /// Whether it is a story of disks.
    fn is_story(self) -> bool {
        let stories = [Fault::DiskSetBack, Fault::DisksSetBack, Fault::DiskDamage, Fault::TwoRecoveries];
        stories.contains(&self)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_of_disks_meets_what_is_mild_and_nothing_else() {
        for story in Fault::ALL.into_iter().filter(|fault| fault.is_story()) {
            let met = Fault::ALL.into_iter().filter(|fault| story.can_meet(*fault));
            assert_eq!(met.collect::<Vec<_>>(), Fault::MILD, "{story}");
            assert!(
                Fault::ALL.iter().all(|fault| story.can_meet(*fault) == fault.can_meet(story)),
                "{story}"
            );
        }
        assert!(Fault::ALL.is_sorted(), "pairs are kept in this order");
    }
}
