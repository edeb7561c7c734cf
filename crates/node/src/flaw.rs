//! The known-wrong variants of the rules. Each breaks one rule; chaos must find every one of them, which is the proof that
//! it could find such a mistake in the rules themselves.

/// A rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// Nodes do not wait for the leases of members that were left out.
    NoWait,
    /// The next view overwrites the wait for members that the one before it left out.
    WaitOverwritten,
    /// A voter acknowledges nodes that the newest view in its log leaves out.
    VoterAcknowledgesAll,
    /// Messages of an older view are taken for ones of the present view.
    OldViewAccepted,
    /// After its report a node acts in the old view until it installs the new one.
    ReportWithoutFreeze,
    /// A report is rebuilt each time that it is sent.
    ReportRebuilt,
    /// A view is installed when one report is still missing.
    ReportMissing,
    /// A node that comes back is taken for the one that was left out: only its number counts, not its life.
    LeftOutByName,
    /// A life that was left out is taken in again.
    Readmitted,
    /// A restarted node continues in the view that it finds on its disk.
    RestartIntoView,
    /// A node leaves while a client is still inside.
    LeaveBeforeStop,
    /// The voters of the consensus change without a view that says so.
    VotersBesideViews,
    /// A node forgets a section by itself, whatever its state.
    OneSidedForgetting,
    /// A fence is the counter alone.
    FenceWithoutView,
    /// Writes that were reported as synced are not on the disk.
    LogNotSynced,
    /// A lease counts from the arrival of the acknowledgements.
    LeaseFromArrival,
    /// The clock stops while its machine is paused.
    ClockStopsInPause,
    /// Clocks run faster and slower than was promised.
    DriftBeyondBound,
    /// A node whose disk was set back votes and acknowledges as if nothing had happened.
    SetBackVotes,
    /// Of the starts of a disk only the numbers are compared, not what was drawn at them.
    BootsWithoutNonce,
    /// Whether a disk has lost what it had synced is not asked.
    SyncedIgnored,
    /// Nodes accept messages of other epochs.
    EpochIgnored,
    /// A section whose holder was told to stop, and has not yet, is not reported.
    SlackNotReported,
    /// Deadlines are told without regard to the time-to-live, and sections freed by it.
    DeadlineBeyondTtl,
    /// The age rule shortens the quiet time although the voters have just changed: the new ones never acknowledged any node.
    AgeAfterVoterChange,
    /// While voters change, a lease needs a majority of the old voters only.
    LeaseOfOneVoterSet,
    /// A voter acknowledges members that have not heard of the last change of voters.
    VotersSinceIgnored,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Flaw; 27] = [
        Flaw::NoWait,
        Flaw::WaitOverwritten,
        Flaw::VoterAcknowledgesAll,
        Flaw::OldViewAccepted,
        Flaw::ReportWithoutFreeze,
        Flaw::ReportRebuilt,
        Flaw::ReportMissing,
        Flaw::LeftOutByName,
        Flaw::Readmitted,
        Flaw::RestartIntoView,
        Flaw::LeaveBeforeStop,
        Flaw::VotersBesideViews,
        Flaw::OneSidedForgetting,
        Flaw::FenceWithoutView,
        Flaw::LogNotSynced,
        Flaw::LeaseFromArrival,
        Flaw::ClockStopsInPause,
        Flaw::DriftBeyondBound,
        Flaw::SetBackVotes,
        Flaw::BootsWithoutNonce,
        Flaw::SyncedIgnored,
        Flaw::SlackNotReported,
        Flaw::DeadlineBeyondTtl,
        Flaw::EpochIgnored,
        Flaw::AgeAfterVoterChange,
        Flaw::LeaseOfOneVoterSet,
        Flaw::VotersSinceIgnored,
    ];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Flaw::NoWait => "no-wait",
            Flaw::WaitOverwritten => "wait-overwritten",
            Flaw::VoterAcknowledgesAll => "voter-acknowledges-all",
            Flaw::OldViewAccepted => "old-view-accepted",
            Flaw::ReportWithoutFreeze => "report-without-freeze",
            Flaw::ReportRebuilt => "report-rebuilt",
            Flaw::ReportMissing => "report-missing",
            Flaw::LeftOutByName => "left-out-by-name",
            Flaw::Readmitted => "readmitted",
            Flaw::RestartIntoView => "restart-into-view",
            Flaw::LeaveBeforeStop => "leave-before-stop",
            Flaw::VotersBesideViews => "voters-beside-views",
            Flaw::OneSidedForgetting => "one-sided-forgetting",
            Flaw::FenceWithoutView => "fence-without-view",
            Flaw::LogNotSynced => "log-not-synced",
            Flaw::LeaseFromArrival => "lease-from-arrival",
            Flaw::ClockStopsInPause => "clock-stops-in-pause",
            Flaw::DriftBeyondBound => "drift-beyond-bound",
            Flaw::SetBackVotes => "set-back-votes",
            Flaw::BootsWithoutNonce => "boots-without-nonce",
            Flaw::SyncedIgnored => "synced-ignored",
            Flaw::EpochIgnored => "epoch-ignored",
            Flaw::SlackNotReported => "slack-not-reported",
            Flaw::DeadlineBeyondTtl => "deadline-beyond-ttl",
            Flaw::AgeAfterVoterChange => "age-after-voter-change",
            Flaw::LeaseOfOneVoterSet => "lease-of-one-voter-set",
            Flaw::VotersSinceIgnored => "voters-since-ignored",
        }
    }

    /// The rule that it breaks, or what is done instead.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Flaw::NoWait => "nodes do not wait for the leases of members left out",
            Flaw::WaitOverwritten => "the next view overwrites that wait",
            Flaw::VoterAcknowledgesAll => "voters acknowledge nodes that a newer view leaves out",
            Flaw::OldViewAccepted => "messages of an older view are accepted",
            Flaw::ReportWithoutFreeze => "a node goes on in the old view after its report",
            Flaw::ReportRebuilt => "a report is rebuilt each time that it is sent",
            Flaw::ReportMissing => "a view is installed with one report missing",
            Flaw::LeftOutByName => "a restarted node is taken for the life left out",
            Flaw::Readmitted => "a life that was left out is admitted again",
            Flaw::RestartIntoView => "a restarted node goes on in the view on its disk",
            Flaw::LeaveBeforeStop => "a node leaves while a client is still inside",
            Flaw::VotersBesideViews => "voters change without a view",
            Flaw::OneSidedForgetting => "a node forgets a section by itself",
            Flaw::FenceWithoutView => "a fence is the counter alone",
            Flaw::LogNotSynced => "writes reported as synced are not on the disk",
            Flaw::LeaseFromArrival => "a lease counts from the arrival of acknowledgements",
            Flaw::ClockStopsInPause => "the clock stops while its machine is paused",
            Flaw::DriftBeyondBound => "clocks run faster and slower than promised",
            Flaw::SetBackVotes => "a node whose disk was set back still votes",
            Flaw::BootsWithoutNonce => "only the numbers of starts are compared",
            Flaw::SyncedIgnored => "nodes do not ask whether a disk lost synced writes",
            Flaw::EpochIgnored => "nodes accept messages of other epochs",
            Flaw::SlackNotReported => "a section whose holder was told to stop is not reported",
            Flaw::DeadlineBeyondTtl => "deadlines exceed the time-to-live that frees the lock",
            Flaw::AgeAfterVoterChange => "the age rule is used right after voters changed",
            Flaw::LeaseOfOneVoterSet => "a lease needs the first of two voter sets only",
            Flaw::VotersSinceIgnored => "voters acknowledge nodes that missed a change of voters",
        }
    }

    /// The flaw of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Flaw::ALL.into_iter().find(|flaw| flaw.name() == name)
    }
}
