//! The outcome of a run.

use doorway_core::{NodeSet, Ticks};
use doorway_trace::{Event, Log};

use crate::measures::Measures;
use crate::report::Report;
use crate::stall::Stall;

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The measurements.
    pub measures: Measures,
    /// The nodes that wait for ever, if the run stalled.
    pub stall: Option<Stall>,
    /// The violations, as sentences.
    pub violations: Vec<String>,
    /// The log, if the run was recorded.
    pub log: Log,
    /// Requests not issued because the nodes that would have made them had crashed.
    pub unissued: u64,
    /// The numbers of messages that have an intervention but were never sent.
    pub never_sent: Vec<u64>,
    /// The endless part of the run, if a script has a loop.
    pub repetition: Option<Repetition>,
    /// Whether its limits ended it early.
    pub is_cut: bool,
    /// Whether the run succeeded: every request issued and served, no violation; in a script, all
    /// expectations met.
    pub as_expected: bool,
}

/// The endless part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// When it first begins.
    pub from: Ticks,
    /// The nodes that wait throughout.
    pub starving: NodeSet,
}

impl Outcome {
    /// The number of violations after which a run stops.
    pub const MOST_VIOLATIONS: usize = 10;

    /// The report for people and programs.
    #[must_use]
    pub fn report(&self, algorithm: &str, nodes: usize, seed: u64) -> Report {
        Report::new(self, algorithm, nodes, seed)
    }

    /// The logged events, if the run was recorded.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.log.iter().collect()
    }

    /// Adds the outcome of another run of the same algorithm. The log remains that of the first run.
    pub fn merge(&mut self, other: Outcome) {
        self.measures.merge(&other.measures);
        self.stall = self.stall.take().or(other.stall);
        self.violations.extend(other.violations);
        self.unissued += other.unissued;
        self.never_sent.extend(other.never_sent);
        self.never_sent.sort_unstable();
        self.never_sent.dedup();
        self.repetition = self.repetition.take().or(other.repetition);
        self.is_cut |= other.is_cut;
        self.as_expected &= other.as_expected;
    }
}
