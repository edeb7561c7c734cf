//! The rules that can be broken on purpose.

use super::{ViewBounds, VoterChange, Witnesses};

/// A rule of the view change that is left out or done wrongly. Each lets two clients in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViewFlaw {
    /// No node waits for the leases of the nodes left out.
    NoWait,
    /// The wait begins when a view is accepted, not when it is learned.
    WaitFromAccepting,
    /// Learning a view that leaves out no node ends the wait of the view before.
    WaitOverwritten,
    /// Of several views learned at once only the newest is checked for nodes that it leaves out.
    SkippedViewsForgotten,
    /// A node that had no view does not wait if the view that takes it in leaves out no node.
    NewcomerActsAtOnce,
    /// A restarted node counts as the one that crashed, so that no node waits for it.
    LeftOutByName,
    /// A view may bring back an incarnation that an earlier one left out.
    LeftOutReadmitted,
    /// A restarted node stays a member of the view that it finds on its disk.
    RestartIntoView,
    /// A node that has reported keeps serving the old view until the new one is installed.
    ReportWithoutFreeze,
    /// A report says what is the case when it is sent again.
    ReportRebuilt,
    /// A view is installed although one report is missing.
    ReportMissing,
    /// A voter asks only the views that it has learned, not what it has accepted.
    AcknowledgedAfterAccepting,
    /// A permission of an older view counts.
    OldMessagesTaken,
    /// A node says that it leaves while its client is inside.
    LeaveBeforeStop,
    /// No node greets, so a disk that was set back votes and acknowledges.
    SetBackDiskVotes,
    /// A life is a number of boots without a nonce, which a set-back disk reaches again by restarting, like its number of records.
    BootsWithoutNonce,
    /// A greeting compares lives, but not how many records the disk has synced.
    SyncedIgnored,
    /// A greeting compares how many records the disk has synced, but counts the one that its last start has written.
    SyncedAfterBoot,
    /// A set-back disk is marked in memory only, so a restart loses the mark.
    MarkNotDurable,
    /// The voters of consensus change without views that say so.
    VotersBesideViews,
    /// One view replaces the voters, without a view that has both sets and before the consensus knows of it.
    JointSkipped,
    /// A lease needs a majority of the first voter set only, also in a view with two.
    FirstVoterSetOnly,
    /// A voter acknowledges a member that does not know of the voters' last change.
    VotersSinceIgnored,
    /// Ages shorten a quiet time although the voters changed only just now.
    AgeDespiteVoterChange,
    /// The age of a voter that has restarted reaches back to before its start.
    AgeWithoutBootGuard,
    /// A client that was told to stop, and has not left yet, is not reported.
    SlackNotReported,
    /// The section of a client that was told to stop is free at once, though it may be inside for the margin.
    FreedAtDeadline,
}

impl ViewFlaw {
    /// All of them.
    pub const ALL: [ViewFlaw; 27] = [
        ViewFlaw::NoWait,
        ViewFlaw::WaitFromAccepting,
        ViewFlaw::WaitOverwritten,
        ViewFlaw::SkippedViewsForgotten,
        ViewFlaw::NewcomerActsAtOnce,
        ViewFlaw::LeftOutByName,
        ViewFlaw::LeftOutReadmitted,
        ViewFlaw::RestartIntoView,
        ViewFlaw::ReportWithoutFreeze,
        ViewFlaw::ReportRebuilt,
        ViewFlaw::ReportMissing,
        ViewFlaw::AcknowledgedAfterAccepting,
        ViewFlaw::OldMessagesTaken,
        ViewFlaw::LeaveBeforeStop,
        ViewFlaw::SetBackDiskVotes,
        ViewFlaw::BootsWithoutNonce,
        ViewFlaw::SyncedIgnored,
        ViewFlaw::SyncedAfterBoot,
        ViewFlaw::MarkNotDurable,
        ViewFlaw::VotersBesideViews,
        ViewFlaw::JointSkipped,
        ViewFlaw::FirstVoterSetOnly,
        ViewFlaw::VotersSinceIgnored,
        ViewFlaw::AgeDespiteVoterChange,
        ViewFlaw::AgeWithoutBootGuard,
        ViewFlaw::SlackNotReported,
        ViewFlaw::FreedAtDeadline,
    ];

    /// What is done wrongly, in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ViewFlaw::NoWait => "no wait for the leases of those left out",
            ViewFlaw::WaitFromAccepting => "wait from the accepting of a view",
            ViewFlaw::WaitOverwritten => "wait overwritten by the next view",
            ViewFlaw::SkippedViewsForgotten => "views skipped over do not count",
            ViewFlaw::NewcomerActsAtOnce => "no wait of a newcomer",
            ViewFlaw::LeftOutByName => "left out by name",
            ViewFlaw::LeftOutReadmitted => "left-out incarnation re-admitted",
            ViewFlaw::RestartIntoView => "restart into the current view",
            ViewFlaw::ReportWithoutFreeze => "report without freeze",
            ViewFlaw::ReportRebuilt => "report rebuilt when resent",
            ViewFlaw::ReportMissing => "install with one report missing",
            ViewFlaw::AcknowledgedAfterAccepting => "acknowledged after accepting a newer view",
            ViewFlaw::OldMessagesTaken => "messages of an older view taken",
            ViewFlaw::LeaveBeforeStop => "leave before stop",
            ViewFlaw::SetBackDiskVotes => "set-back disk votes",
            ViewFlaw::BootsWithoutNonce => "boots without nonce",
            ViewFlaw::SyncedIgnored => "synced ignored",
            ViewFlaw::SyncedAfterBoot => "synced compared after the record of the boot",
            ViewFlaw::MarkNotDurable => "mark of a set-back disk not durable",
            ViewFlaw::VotersBesideViews => "voters changed beside the views",
            ViewFlaw::JointSkipped => "no view with both voter sets",
            ViewFlaw::FirstVoterSetOnly => "lease by the first of two voter sets",
            ViewFlaw::VotersSinceIgnored => "acknowledged across a change of voters",
            ViewFlaw::AgeDespiteVoterChange => "age rule right after a change of voters",
            ViewFlaw::AgeWithoutBootGuard => "age rule without boot guard",
            ViewFlaw::SlackNotReported => "slack not reported",
            ViewFlaw::FreedAtDeadline => "section freed at the deadline, before the margin",
        }
    }

    /// Bounds within which it shows.
    #[must_use]
    pub fn bounds(self) -> ViewBounds {
        let quiet = ViewBounds::quiet(3, 1);
        let changing = ViewBounds { voters: Some(VoterChange::HandOver), ..quiet };
        match self {
            ViewFlaw::WaitOverwritten | ViewFlaw::SkippedViewsForgotten | ViewFlaw::NewcomerActsAtOnce => {
                ViewBounds { changes: 2, ..quiet }
            }
            ViewFlaw::LeftOutReadmitted => quiet,
            ViewFlaw::LeftOutByName | ViewFlaw::RestartIntoView => {
                ViewBounds { views: 2, crash: true, ..quiet }
            }
            ViewFlaw::LeaveBeforeStop => ViewBounds { views: 2, leave: true, ..quiet },
            ViewFlaw::SetBackDiskVotes
            | ViewFlaw::BootsWithoutNonce
            | ViewFlaw::SyncedIgnored
            | ViewFlaw::SyncedAfterBoot => ViewBounds { views: 2, set_back: Some(Witnesses::Both), ..quiet },
            ViewFlaw::MarkNotDurable => {
                ViewBounds { views: 2, changes: 2, crash: true, set_back: Some(Witnesses::Both), ..quiet }
            }
            ViewFlaw::VotersBesideViews => ViewBounds { views: 2, ..changing },
            ViewFlaw::JointSkipped | ViewFlaw::FirstVoterSetOnly | ViewFlaw::VotersSinceIgnored => changing,
            ViewFlaw::AgeDespiteVoterChange => ViewBounds { age: true, ..changing },
            ViewFlaw::AgeWithoutBootGuard => {
                ViewBounds { views: 2, changes: 2, crash: true, age: true, ..quiet }
            }
            ViewFlaw::SlackNotReported => ViewBounds { views: 2, slack: true, ..quiet },
            ViewFlaw::FreedAtDeadline => ViewBounds { views: 1, slack: true, ..quiet },
            ViewFlaw::NoWait
            | ViewFlaw::WaitFromAccepting
            | ViewFlaw::ReportWithoutFreeze
            | ViewFlaw::ReportRebuilt
            | ViewFlaw::ReportMissing
            | ViewFlaw::AcknowledgedAfterAccepting
            | ViewFlaw::OldMessagesTaken => ViewBounds { views: 2, ..quiet },
        }
    }
}
