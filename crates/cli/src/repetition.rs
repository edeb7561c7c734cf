//! The same run with many seeds, on several threads.

use std::ops::RangeInclusive;

use doorway_core::Refusal;
use doorway_simulator::parallel::processors;

/// The most threads that may be asked for: more than any machine has processors.
const MOST_THREADS: usize = 1_024;

/// The seeds of `runs` runs, from `first` on.
///
/// # Errors
/// If `runs` is 0, or there are not enough seeds above `first`.
pub(crate) fn seeds(first: u64, runs: u64) -> Result<RangeInclusive<u64>, Refusal> {
    match first.checked_add(runs.saturating_sub(1)) {
        _ if runs == 0 => Err(Refusal::new("--runs must be at least 1")),
        None => Err(Refusal::new(format!("--seed {first} is too large for {runs} runs: give a smaller one"))),
        Some(last) => Ok(first..=last),
    }
}

/// The number of threads for `runs` runs: as many as wanted, or one per processor, but never more than there are runs.
///
/// # Errors
/// If 0 or more than `MOST_THREADS` are wanted.
pub(crate) fn threads(wanted: Option<usize>, runs: u64) -> Result<usize, Refusal> {
    let wanted = match wanted {
        Some(0) => return Err(Refusal::new("--threads must be at least 1")),
        Some(threads) if threads > MOST_THREADS => {
            return Err(Refusal::new(format!("{threads} threads are too many: give at most {MOST_THREADS}")));
        }
        Some(threads) => threads,
        None => processors(),
    };
    Ok(wanted.min(usize::try_from(runs).unwrap_or(usize::MAX)).max(1))
}
