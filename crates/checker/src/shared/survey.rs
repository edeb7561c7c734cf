//! Surveys a program before its exploration: the lines of its barriers, and whether it uses the atomic
//! maximum.
//!
//! Each process is stepped through all values that it could load. That visits more states of a single process
//! than are reachable, but few; so every line is found.

use std::collections::{BTreeSet, HashSet};

use doorway_core::shared::{Cell, Process, Program, Values};

use super::probe::{Attempt, Call, attempt};

/// The result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The lines of the barriers, in order.
    pub(super) barriers: BTreeSet<usize>,
    /// Whether the program uses the atomic maximum and store.
    pub(super) takes_maximum: bool,
}

/// The most states of a single process that are visited; enough for every line of any program.
const MOST_STATES: usize = 20_000;
/// The largest value of a register that is tried.
const MOST_VALUES: u64 = 64;
/// The largest ticket that is tried; enough to reach every line.
const FEW_TICKETS: u64 = 4;

/// Surveys these processes.
pub(super) fn survey<P: Program>(processes: &[Process<P>], cells: &[Cell]) -> Survey {
    let mut survey = Survey::default();
    let mut seen: HashSet<Process<P>> = processes.iter().cloned().collect();
    let mut open: Vec<Process<P>> = processes.to_vec();
    while let Some(process) = open.pop() {
        let mut value = 0;
        loop {
            let mut after = process.clone();
            let Attempt { line, call, progress } = attempt(&mut after, value);
            if call == Some(Call::Barrier) {
                survey.barriers.insert(line);
            }
            survey.takes_maximum |= matches!(call, Some(Call::Next { .. }));
            if progress.is_ok() && seen.len() < MOST_STATES && seen.insert(after.clone()) {
                open.push(after);
            }
            value += 1;
            if value > most(call, cells) {
                break;
            }
        }
    }
    survey
}

/// The largest value to try.
fn most(call: Option<Call>, cells: &[Cell]) -> u64 {
    match call {
        Some(Call::Load(register)) => match cells.get(register).map(|cell| cell.values) {
            Some(Values::UpTo(largest)) => largest.min(MOST_VALUES),
            Some(Values::Unbounded) => FEW_TICKETS,
            None => 0,
        },
        Some(Call::Next { .. }) => FEW_TICKETS,
        Some(Call::Store(..) | Call::Barrier) | None => 0,
    }
}
