//! What one types for `doorway check`.

use std::time::Duration;

use doorway_checker::Visited;
use doorway_core::Refusal;

/// How many threads.
pub(super) fn threads(word: &str) -> Result<usize, Refusal> {
    const MOST: usize = 64;
    let number = word.parse::<usize>().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| Refusal::new(format!("{word:?} is not a number of threads from 1 to {MOST}")))
}

pub(super) fn visited(word: &str) -> Result<Visited, Refusal> {
    match word {
        "exact" => Ok(Visited::Exact),
        "fingerprints" => Ok(Visited::Fingerprints),
        _ => Err(Refusal::new(format!("{word:?} is neither exact nor fingerprints"))),
    }
}

/// A number of bytes with a unit: `4GiB`.
pub(super) fn bytes(word: &str) -> Result<u64, Refusal> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (digits, shift) = units
        .into_iter()
        .find_map(|(unit, shift)| Some((word.strip_suffix(unit)?, shift)))
        .unwrap_or((word, 0));
    let number = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| Refusal::new(format!("{word:?} is not a size, such as 4GiB or 500MiB")))
}

/// A time in seconds: `60s` or `60`.
pub(super) fn seconds(word: &str) -> Result<Duration, Refusal> {
    let number = word.strip_suffix('s').unwrap_or(word).parse::<u32>();
    number
        .map(|number| Duration::from_secs(number.into()))
        .map_err(|_| Refusal::new(format!("{word:?} is not a time in whole seconds, such as 60s")))
}
