//! The properties that the checker decides.

use std::fmt;

use crate::Step;

/// A property of every state or of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// At most one process is inside.
    MutualExclusion,
    /// Whenever a process waits, some process enters eventually: no deadlock and no livelock.
    DeadlockFreedom,
    /// Every waiting process enters eventually.
    StarvationFreedom,
    /// There is exactly one token.
    OneToken,
    /// Neither the algorithm's contract nor one of its invariants is broken.
    Invariants,
    /// Every entry has a larger fence than the one before.
    Fence,
    /// Requests are served in happened-before order.
    HappenedBeforeOrder,
    /// No process enters before one that requested earlier.
    Fifo,
    /// The number of times that a process enters before one that requested earlier is bounded.
    BoundedWaiting,
}

impl Property {
    /// All of them, in the order of reports.
    pub const ALL: [Property; 9] = [
        Property::MutualExclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::OneToken,
        Property::Invariants,
        Property::Fence,
        Property::HappenedBeforeOrder,
        Property::Fifo,
        Property::BoundedWaiting,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Property::MutualExclusion => "mutual-exclusion",
            Property::DeadlockFreedom => "deadlock-freedom",
            Property::StarvationFreedom => "starvation-freedom",
            Property::OneToken => "one-token",
            Property::Invariants => "invariants",
            Property::Fence => "fence",
            Property::HappenedBeforeOrder => "happened-before-order",
            Property::Fifo => "fifo",
            Property::BoundedWaiting => "bounded-waiting",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A counterexample: a run that violates a property.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The property.
    pub property: Property,
    /// The violation, as a sentence.
    pub what: String,
    /// The processes involved, counted from 0.
    pub processes: Vec<usize>,
    /// The processes that wait at its end.
    pub waiting: Vec<usize>,
    /// Its steps: a shortest run if the violation is in one state or step.
    pub steps: Vec<Step>,
    /// The index of the first step of the endless loop, if the run is infinite.
    pub loop_start: Option<usize>,
}

/// The fairness of a scheduler. Each demands more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchedulerFairness {
    /// Some step is taken as long as one is enabled.
    None,
    /// A step that is continuously enabled from some point on is taken eventually.
    Weak,
    /// A step that is enabled infinitely often is taken eventually.
    Strong,
}

impl SchedulerFairness {
    /// All of them, weakest first.
    pub const ALL: [SchedulerFairness; 3] =
        [SchedulerFairness::None, SchedulerFairness::Weak, SchedulerFairness::Strong];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SchedulerFairness::None => "none",
            SchedulerFairness::Weak => "weak",
            SchedulerFairness::Strong => "strong",
        }
    }
}

impl fmt::Display for SchedulerFairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
