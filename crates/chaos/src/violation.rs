//! What must never happen in a cluster, by kind.

use std::fmt;

/// What must never happen. Most are invariants of the change of members, and have their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Two are inside one section: the first has not left, and neither its deadline nor the margin after it has passed.
    TwoInside,
    /// A fence is not larger than all before it.
    Fence,
    /// A store refused one who was inside, because it had seen a larger fence.
    Store,
    /// A report was changed, or two tell that they are inside one section.
    Report,
    /// Somebody outside of a view is inside a section of which the view knows who is inside.
    KnownHolder,
    /// Whoever was left out has a lease for longer than it can have.
    LateLease,
    /// Two members act in different views.
    OldView,
    /// A life that was left out is in a later view.
    Readmitted,
    /// One number, two views; or a number is missing.
    Views,
    /// A lease went back, or is longer than a majority of the voters stands for.
    Lease,
    /// A voter stands behind somebody whom the newest view in its log leaves out.
    Acknowledgement,
    /// Somebody is let in without an installed view or without a lease.
    Gate,
    /// Somebody is let in while one who is not in the view has a lease.
    Outsider,
    /// The counter of a section went back, or was forgotten below one that was handed out.
    Clock,
    /// Two members begin a view with different holders.
    FirstState,
    /// Somebody who waits is not served in time after the last fault.
    Stall,
    /// A node said something that its disk does not know.
    Unsynced,
    /// A node said that it had left while somebody was inside.
    EarlyLeave,
    /// A node's own assertion.
    Breach,
    /// A message does not survive its form on the wire.
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

impl Kind {
    /// The number of the invariant, if it is one of the numbered ones: those of the promises, and of the change of members.
    #[must_use]
    pub fn invariant(self) -> Option<u8> {
        Some(match self {
            Kind::TwoInside => 1,
            Kind::Fence | Kind::Store => 2,
            Kind::Report => 3,
            Kind::KnownHolder => 4,
            Kind::LateLease => 5,
            Kind::OldView => 6,
            Kind::Readmitted => 7,
            Kind::Views => 8,
            Kind::Lease => 9,
            Kind::Acknowledgement => 10,
            Kind::Gate => 11,
            Kind::Outsider => 12,
            Kind::Clock | Kind::FirstState => 14,
            Kind::Stall => 16,
            Kind::Unsynced => 17,
            Kind::EarlyLeave
            | Kind::Breach
            | Kind::Wire
            | Kind::Stopped
            | Kind::SetBack
            | Kind::Epochs
            | Kind::Unnoticed
            | Kind::Command => {
                return None;
            }
        })
    }
}

/// Something that must never happen and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Of what kind it is.
    pub kind: Kind,
    /// What happened, and when.
    pub sentence: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
