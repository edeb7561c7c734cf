//! A look at a program before it is explored: on which lines it has barriers, and whether it takes a maximum at once.
//!
//! Each process is stepped through all that it can do whatever it loads. These are more states of a single process than can be
//! reached, but few; so every line is found.

use std::collections::{BTreeSet, HashSet};

use doorway_core::shared::{Cell, Process, Program, Values};

use super::probe::{Attempt, Call, attempt};

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The lines that are barriers, in order.
    pub(super) barriers: BTreeSet<usize>,
    /// Whether a maximum and a store are made at once.
    pub(super) takes_maximum: bool,
}

/// So many states of a single process are looked at; more lines than theirs no program has.
const MOST_STATES: usize = 20_000;
/// So many values of a register are tried.
const MOST_VALUES: u64 = 64;
/// So many tickets are enough to see all that a program does with them.
const FEW_TICKETS: u64 = 4;

/// Looks at all that these processes can do.
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
