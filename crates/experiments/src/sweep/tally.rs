//! How many runs there were, and how many of them had trouble.

use serde::{Deserialize, Serialize};

use super::columns::{Column, Value, place};

/// Counts over the rows of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTally {
    /// All of them.
    pub rows: u64,
    /// Runs in which a node waits for ever.
    pub stalled: u64,
    /// Runs in which something happened that must never happen.
    pub violated: u64,
    /// Points that cannot be run, with the reason in their row.
    pub refused: u64,
}

impl RowTally {
    /// Adds the counts of other rows.
    pub(super) fn add(&mut self, other: &RowTally) {
        self.rows += other.rows;
        self.stalled += other.stalled;
        self.violated += other.violated;
        self.refused += other.refused;
    }
}

/// Where a tally looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    stalled: usize,
    violations: usize,
    error: usize,
}

impl Counter {
    pub(super) fn new(columns: &[Column]) -> Self {
        let at = |name| place(columns, name).unwrap_or(usize::MAX);
        Self { stalled: at("stalled"), violations: at("violations"), error: at("error") }
    }

    /// Counts one row more.
    pub(super) fn count(self, row: &[Value], tally: &mut RowTally) {
        tally.rows += 1;
        tally.stalled += u64::from(matches!(row.get(self.stalled), Some(Value::Boolean(true))));
        tally.violated += u64::from(matches!(row.get(self.violations), Some(Value::Integer(1..))));
        tally.refused += u64::from(matches!(row.get(self.error), Some(Value::Text(_))));
    }
}
