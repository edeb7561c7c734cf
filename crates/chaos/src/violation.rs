//! The violations that a judge can report, by kind.

use std::fmt;

/// The promise that was broken. Most are invariants of the change of members, and have their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// Two holders of one section: the first has not left, and neither its deadline nor the margin after it has passed.
    TwoInside,
    /// A fence is not larger than all before it.
    Fence,
    /// A store refused a valid holder, because it had seen a larger fence.
    Store,
    /// A report was changed, or two nodes report a holder of one section.
    Report,
    /// A node outside of a view has a holder of a section whose holder the view knows.
    KnownHolder,
    /// A node that was left out has a lease for longer than it can have.
    LateLease,
    /// Two members act in different views.
    OldView,
    /// A life that was left out is in a later view.
    Readmitted,
    /// One number, two views; or a number is missing.
    Views,
    /// A lease went back, or is longer than a majority of the voters stands for.
    Lease,
    /// A voter acknowledges a node that the newest view in its log leaves out.
    Acknowledgement,
    /// A lock is granted without an installed view or without a lease.
    Gate,
    /// A lock is granted while a node outside of the view has a lease.
    Outsider,
    /// The counter of a section went back, or was forgotten below one that was handed out.
    Clock,
    /// Two members begin a view with different holders.
    FirstState,
    /// A waiter does not get its lock in time after the last fault.
    Stall,
    /// A node sent something that is not on its disk.
    Unsynced,
    /// A node announced that it had left while it had a holder.
    EarlyLeave,
    /// A node's own assertion.
    Breach,
    /// A message changes when it is encoded and decoded.
    Wire,
    /// A node stopped for good, or cannot start again.
    Stopped,
    /// A node says that its disk was set back, and it was not; or it was, and its peers did not notice.
    SetBack,
    /// A view has nodes of two clusters.
    Epochs,
    /// A node does not notice that there are two clusters.
    Unnoticed,
    /// A release or a cancellation that should change nothing did.
    Command,
}

impl ViolationKind {
    /// The number of the invariant, if it is one of the numbered ones: those of the promises, and of the change of members.
    #[must_use]
    pub fn invariant(self) -> Option<u8> {
        Some(match self {
            ViolationKind::TwoInside => 1,
            ViolationKind::Fence | ViolationKind::Store => 2,
            ViolationKind::Report => 3,
            ViolationKind::KnownHolder => 4,
            ViolationKind::LateLease => 5,
            ViolationKind::OldView => 6,
            ViolationKind::Readmitted => 7,
            ViolationKind::Views => 8,
            ViolationKind::Lease => 9,
            ViolationKind::Acknowledgement => 10,
            ViolationKind::Gate => 11,
            ViolationKind::Outsider => 12,
            ViolationKind::Clock | ViolationKind::FirstState => 14,
            ViolationKind::Stall => 16,
            ViolationKind::Unsynced => 17,
            ViolationKind::EarlyLeave
            | ViolationKind::Breach
            | ViolationKind::Wire
            | ViolationKind::Stopped
            | ViolationKind::SetBack
            | ViolationKind::Epochs
            | ViolationKind::Unnoticed
            | ViolationKind::Command => {
                return None;
            }
        })
    }
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterViolation {
    /// The promise that was broken.
    pub kind: ViolationKind,
    /// What happened, and when.
    pub sentence: String,
}

impl fmt::Display for ClusterViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
