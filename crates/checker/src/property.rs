//! What is decided about a system.

use std::fmt;

use crate::Step;

/// Something that should hold in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// At most one process is inside.
    MutualExclusion,
    /// Whenever somebody waits, something can happen besides new requests.
    DeadlockFreedom,
    /// Neither the algorithm's contract nor one of its invariants is broken.
    Invariants,
    /// Every entry has a larger fence than the one before.
    Fence,
}

impl Property {
    /// What one types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Property::MutualExclusion => "mutual-exclusion",
            Property::DeadlockFreedom => "deadlock-freedom",
            Property::Invariants => "invariants",
            Property::Fence => "fence",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A run that ends where a property does not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// What is wrong in the last state, as a sentence.
    pub what: String,
    /// The processes that it is about, counted from 0.
    pub processes: Vec<usize>,
    /// The steps of a shortest run to it.
    pub steps: Vec<Step>,
}
