//! The results of a bench of locks, as data.

use serde::Serialize;

use super::musts::Must;
use crate::Control;

/// All that was measured. Its form as JSON is what programs get.
#[derive(Clone, Debug, Serialize)]
pub struct LockReport {
    /// How many threads can run at the same time here.
    pub processors: usize,
    /// Whether the program was built with its assertions, which only tests are: then no number means much.
    pub has_assertions: bool,
    /// One thread alone.
    pub alone: Alone,
    /// Two threads that always want in, once with nothing to do inside and once with about 100 ns of work.
    pub pairs: Vec<PairResult>,
    /// Eight threads that always want in.
    pub crowd: Crowd,
    /// What must be reached, and what was.
    pub musts: Vec<Must>,
}

/// Locking and unlocking a lock that is free.
#[derive(Clone, Debug, Serialize)]
pub struct Alone {
    /// The control in the same rounds.
    pub control: Control,
    /// A row for each lock and number of processes.
    pub rows: Vec<AloneRow>,
}

/// One lock that is free.
#[derive(Clone, Debug, Serialize)]
pub struct AloneRow {
    /// Its name.
    pub lock: &'static str,
    /// For how many processes it was made; nothing if that makes no difference to it.
    pub n: Option<usize>,
    /// The time to lock and unlock.
    pub ns: f64,
    /// The same, of the floor's.
    pub to_floor: f64,
    /// The same, of the standard library's.
    pub to_std: f64,
}

/// Two threads.
#[derive(Clone, Debug, Serialize)]
pub struct PairResult {
    /// About how long each stays inside.
    pub inside_ns: u32,
    /// The control in the same rounds.
    pub control: Control,
    /// A row for each lock.
    pub rows: Vec<PairRow>,
}

/// One lock between two threads.
#[derive(Clone, Debug, Serialize)]
pub struct PairRow {
    /// Its name.
    pub lock: &'static str,
    /// Entries of both in a second.
    pub entries_per_second: f64,
    /// The same, of mcslock's.
    pub to_mcslock: f64,
}

/// Eight threads.
#[derive(Clone, Debug, Serialize)]
pub struct Crowd {
    /// How many threads.
    pub threads: usize,
    /// How many processors they share.
    pub processors: usize,
    /// About how long each stays inside.
    pub inside_ns: u32,
    /// The control in the same rounds.
    pub control: Control,
    /// A row for each lock and way of waiting.
    pub rows: Vec<CrowdRow>,
}

/// One lock among eight threads.
#[derive(Clone, Debug, Serialize)]
pub struct CrowdRow {
    /// Its name.
    pub lock: &'static str,
    /// How its threads wait: `spin`, `yield` after some spinning, `park` after some spinning.
    pub wait: &'static str,
    /// Entries of all in a second.
    pub entries_per_second: f64,
    /// The longest wait of a thread in a round, in microseconds.
    pub longest_wait_us: f64,
    /// Jain's index of the entries of each thread: 1 if all had the same.
    pub fairness: f64,
}

impl LockReport {
    /// The row of a lock that was free; `n` of those for which it makes no difference is `None`.
    #[must_use]
    pub fn alone(&self, lock: &str, n: Option<usize>) -> Option<&AloneRow> {
        self.alone.rows.iter().find(|row| row.lock == lock && row.n == n)
    }

    /// The row of a lock between two threads with such work inside.
    #[must_use]
    pub fn pair(&self, lock: &str, inside_ns: u32) -> Option<&PairRow> {
        let pair = self.pairs.iter().find(|pair| pair.inside_ns == inside_ns)?;
        pair.rows.iter().find(|row| row.lock == lock)
    }

    /// The row of a lock among eight threads.
    #[must_use]
    pub fn crowd(&self, lock: &str, wait: &str) -> Option<&CrowdRow> {
        self.crowd.rows.iter().find(|row| row.lock == lock && row.wait == wait)
    }
}
