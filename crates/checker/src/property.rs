//! What is decided about a system.

use std::fmt;

use crate::Step;

/// Something that should hold, in every state or in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// At most one process is inside.
    MutualExclusion,
    /// Whenever somebody waits, somebody enters in the end: the system neither stands still nor goes round in vain.
    DeadlockFreedom,
    /// Whoever waits enters in the end.
    StarvationFreedom,
    /// There is exactly one token.
    OneToken,
    /// Neither the algorithm's contract nor one of its invariants is broken.
    Invariants,
    /// Every entry has a larger fence than the one before.
    Fence,
    /// Requests of which one happened before the other are served in that order.
    HappenedBeforeOrder,
    /// Nobody enters who asked after somebody who still waits.
    Fifo,
    /// Nobody enters more than so many times before somebody who had asked before.
    BoundedWaiting,
}

impl Property {
    /// All of them, in the order in which they are told.
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

    /// What one types.
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

/// A run in which a property does not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// What is wrong at its end, or for ever, as a sentence.
    pub what: String,
    /// The processes that it is about, counted from 0.
    pub processes: Vec<usize>,
    /// The processes that wait at its end.
    pub waiting: Vec<usize>,
    /// Its steps: a shortest run where the fault is in one state or step.
    pub steps: Vec<Step>,
    /// The place of the first step that repeats for ever, if the run does not end.
    pub loop_start: Option<usize>,
}

/// What a scheduler owes to those that wait. Each demands more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fairness {
    /// Only that something happens as long as something can.
    None,
    /// What stays possible from some moment on happens in the end.
    Weak,
    /// What is possible again and again happens in the end.
    Strong,
}

impl Fairness {
    /// All of them, weakest first.
    pub const ALL: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
            Fairness::Strong => "strong",
        }
    }
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
