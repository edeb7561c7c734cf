//! The same run with many seeds, on several threads.

use std::ops::RangeInclusive;

use doorway_core::Refusal;
use doorway_simulator::parallel::processors;

/// More threads are refused: no machine has so many processors.
const MOST_THREADS: usize = 1_024;

/// The first and the last seed of so many runs.
///
/// # Errors
/// If there are no runs, or not so many seeds.
pub(crate) fn seeds(first: u64, runs: u64) -> Result<RangeInclusive<u64>, Refusal> {
    match first.checked_add(runs.saturating_sub(1)) {
        _ if runs == 0 => Err(Refusal::new("--runs 0 runs nothing: give 1 or more")),
        None => {
            Err(Refusal::new(format!("there are no {runs} seeds from {first} on: begin with a smaller one")))
        }
        Some(last) => Ok(first..=last),
    }
}

/// How many threads share so many runs: as many as wanted, or one per processor, but never more than there are runs.
///
/// # Errors
/// If none are wanted, or more than any machine has.
pub(crate) fn threads(wanted: Option<usize>, runs: u64) -> Result<usize, Refusal> {
    let wanted = match wanted {
        Some(0) => return Err(Refusal::new("--threads 0 has nobody who works: give 1 or more")),
        Some(threads) if threads > MOST_THREADS => {
            return Err(Refusal::new(format!("{threads} threads are too many: give at most {MOST_THREADS}")));
        }
        Some(threads) => threads,
        None => processors(),
    };
    Ok(wanted.min(usize::try_from(runs).unwrap_or(usize::MAX)).max(1))
}
