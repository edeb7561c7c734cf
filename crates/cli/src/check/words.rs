//! What one types for `doorway check`.

use std::time::Duration;

use doorway_checker::{Fairness, Property, Setting, Visited};
use doorway_core::Refusal;

/// A property, all of them, or those of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    Lock,
    One(Property),
}

pub(super) fn property(word: &str) -> Result<Wanted, Refusal> {
    let found = Property::ALL.into_iter().find(|property| property.name() == word);
    match (word, found) {
        ("all", _) => Ok(Wanted::All),
        ("lock", _) => Ok(Wanted::Lock),
        (_, Some(property)) => Ok(Wanted::One(property)),
        _ => {
            let names: Vec<&str> = Property::ALL.iter().map(|property| property.name()).collect();
            Err(Refusal::new(format!("{word:?} cannot be decided: lock, all, {}", names.join(", "))))
        }
    }
}

/// How often a node asks.
pub(super) fn request(word: &str) -> Result<u32, Refusal> {
    const MOST: u32 = 1_000;
    match word.parse::<u32>() {
        Ok(number) if number <= MOST => Ok(number),
        Err(_) if word == "unbounded" => Ok(Setting::UNBOUNDED),
        _ => Err(Refusal::new(format!(
            "{word:?} is not how often a node asks: a number from 0 to {MOST}, or unbounded"
        ))),
    }
}

/// How many threads.
pub(super) fn threads(word: &str) -> Result<usize, Refusal> {
    const MOST: usize = 64;
    let number = word.parse::<usize>().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| Refusal::new(format!("{word:?} is not a number of threads from 1 to {MOST}")))
}

pub(super) fn fairness(word: &str) -> Result<Fairness, Refusal> {
    let found = Fairness::ALL.into_iter().find(|fairness| fairness.name() == word);
    found.ok_or_else(|| Refusal::new(format!("{word:?} is not a fairness: it is none, weak or strong")))
}

pub(super) fn visited(word: &str) -> Result<Visited, Refusal> {
    match word {
        "exact" => Ok(Visited::Exact),
        "fingerprints" => Ok(Visited::Fingerprints),
        _ => Err(Refusal::new(format!("{word:?} is neither exact nor fingerprints"))),
    }
}

pub(super) fn switch(word: &str) -> Result<bool, Refusal> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(Refusal::new(format!("{word:?} is neither on nor off"))),
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
