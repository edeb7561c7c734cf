//! What a run came to.

use doorway_core::{NodeSet, Ticks};
use doorway_trace::{Event, Log};

use crate::measures::Measures;
use crate::report::Report;
use crate::stall::Stall;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub measures: Measures,
    /// Who waits for ever, if somebody does.
    pub stall: Option<Stall>,
    /// What must never happen and did, as sentences.
    pub violations: Vec<String>,
    /// What happened, if it was recorded.
    pub log: Log,
    /// Requests that nobody was left to make, because the nodes that would have made them had crashed.
    pub unissued: u64,
    /// The numbers of messages about which something was decided and that were never sent.
    pub never_sent: Vec<u64>,
    /// That it repeats itself for ever, if a script says so.
    pub repetition: Option<Repetition>,
    /// Whether it was ended by its limits while it could go on.
    pub is_cut: bool,
    /// Whether all came as it should: every request made and served, no violation; in a script, all that it expects.
    pub as_expected: bool,
}

/// The endless part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// When it begins for the first time.
    pub from: Ticks,
    /// Who waits all the while.
    pub starving: NodeSet,
}

impl Outcome {
    /// After so many violations a run has made its point and is stopped.
    pub const MOST_VIOLATIONS: usize = 10;

    /// The numbers as people and programs read them.
    #[must_use]
    pub fn report(&self, algorithm: &str, nodes: usize, seed: u64) -> Report {
        Report::new(self, algorithm, nodes, seed)
    }

    /// What happened, event by event, if it was recorded.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.log.iter().collect()
    }

    /// Adds the outcome of another run of the same algorithm. What happened remains that of the first run.
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
