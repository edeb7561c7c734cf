//! The rules that can be broken on purpose.

use super::ViewBounds;

/// A rule of the view change that is left out or done wrongly. Each lets two clients in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViewFlaw {
    /// Nobody waits for the leases of those left out.
    NoWait,
    /// The wait begins when a view is accepted, not when it is learned.
    WaitFromAccepting,
    /// Learning a view that leaves out nobody ends the wait of the view before.
    WaitOverwritten,
    /// Of several views learned at once only the newest is asked whether it leaves somebody out.
    SkippedViewsForgotten,
    /// A node that had no view does not wait if the view that takes it in leaves out nobody.
    NewcomerActsAtOnce,
    /// A restarted node counts as the one that crashed, so that nobody waits for it.
    LeftOutByName,
    /// A view may bring back an incarnation that an earlier one left out.
    LeftOutReadmitted,
    /// A restarted node goes on as a member of the view that it finds on its disk.
    RestartIntoView,
    /// A node that has reported goes on in the old view until the new one is installed.
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
}

impl ViewFlaw {
    /// All of them.
    pub const ALL: [ViewFlaw; 14] = [
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
        }
    }

    /// Bounds within which it shows.
    #[must_use]
    pub fn bounds(self) -> ViewBounds {
        let quiet = ViewBounds { views: 3, changes: 1, crash: false, leave: false };
        match self {
            ViewFlaw::WaitOverwritten | ViewFlaw::SkippedViewsForgotten | ViewFlaw::NewcomerActsAtOnce => {
                ViewBounds { changes: 2, ..quiet }
            }
            ViewFlaw::LeftOutReadmitted => quiet,
            ViewFlaw::LeftOutByName | ViewFlaw::RestartIntoView => {
                ViewBounds { views: 2, crash: true, ..quiet }
            }
            ViewFlaw::LeaveBeforeStop => ViewBounds { views: 2, leave: true, ..quiet },
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
