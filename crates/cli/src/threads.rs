//! How many threads share the work.

use doorway_core::Refusal;
use doorway_lab::processors;

/// More threads are refused: no machine has so many processors.
const MOST: usize = 1_024;

/// As many as wanted, or one per processor, but never more than there are jobs.
///
/// # Errors
/// If nobody would work, or too many.
pub(crate) fn wanted(threads: Option<usize>, jobs: u64) -> Result<usize, Refusal> {
    let wanted = match threads {
        Some(0) => return Err(Refusal::new("--threads 0 has nobody who works: give 1 or more")),
        Some(threads) if threads > MOST => {
            return Err(Refusal::new(format!("{threads} threads are too many: give at most {MOST}")));
        }
        Some(threads) => threads,
        None => processors(),
    };
    Ok(wanted.min(usize::try_from(jobs).unwrap_or(usize::MAX)).max(1))
}
