//! What goes wrong in a cluster, by kind.

use std::fmt;

/// What goes wrong. What happens to disks is not among these: it happens while nothing else does.
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
    /// What a node says does not reach another, or anybody.
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
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 22] = [
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
    ];

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
        }
    }

    /// Whether both can be in force at once: only one disk at a time is lost or removed, or the cluster is.
    #[must_use]
    pub fn can_meet(self, other: Fault) -> bool {
        let takes_a_disk = |fault| matches!(fault, Fault::DiskLoss | Fault::Remove | Fault::RemoveLeader);
        !(takes_a_disk(self) && takes_a_disk(other))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
