//! What the locks must reach and what we aim at, as ratios within one run.

use serde::Serialize;

use super::report::LockReport;
use super::{INSIDE_NS, SIZES};

/// A target. A miss is reported and fails nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Must {
    /// What is compared with what.
    pub what: String,
    /// Whether `must` is the most or the least that it may be.
    pub bound: Bound,
    /// The number to reach.
    pub must: f64,
    /// The number that we would like to reach.
    pub aim: Option<f64>,
    /// What was seen.
    pub seen: f64,
    /// Whether that is good enough.
    pub is_reached: bool,
}

/// Which side of a number is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// What is seen must not be more.
    Most,
    /// What is seen must not be less.
    Least,
}

impl Must {
    fn new(what: impl Into<String>, bound: Bound, must: f64, aim: Option<f64>, seen: f64) -> Self {
        let is_reached = match bound {
            Bound::Most => seen <= must,
            Bound::Least => seen >= must,
        };
        Self { what: what.into(), bound, must, aim, seen, is_reached }
    }
}

/// All of them, held against what was measured.
pub(super) fn musts(report: &LockReport) -> Vec<Must> {
    [alone(report), pairs(report), crowd(report)].concat()
}

fn alone(report: &LockReport) -> Vec<Must> {
    let row = |lock, n| report.alone(lock, Some(n));
    let to_std = |lock, n| row(lock, n).map_or(f64::NAN, |row| row.to_std);
    let fast: Vec<f64> = SIZES.iter().map(|&n| to_std("lamport-fast", n)).collect();
    let (least, most) =
        (fast.iter().copied().fold(f64::INFINITY, f64::min), fast.iter().copied().fold(0.0, f64::max));
    let to_floor = row("peterson", 2).map_or(f64::NAN, |row| row.to_floor);
    vec![
        Must::new("peterson / floor, alone", Bound::Most, 1.1, Some(1.0), to_floor),
        Must::new("peterson / std, alone", Bound::Most, 0.5, Some(0.39), to_std("peterson", 2)),
        Must::new("lamport-fast / std, alone, any n", Bound::Most, 0.9, Some(0.78), most),
        Must::new("lamport-fast, slowest n / fastest n, alone", Bound::Most, 1.15, Some(1.0), most / least),
        Must::new("bakery / std, alone, n = 8", Bound::Most, 1.3, Some(1.05), to_std("bakery", 8)),
    ]
}

fn pairs(report: &LockReport) -> Vec<Must> {
    let limits = [("peterson", 0.9), ("bakery", 0.8), ("black-white", 0.55)];
    let row = |inside_ns: u32, (lock, must): (&str, f64)| {
        let seen = report.pair(lock, inside_ns).map_or(f64::NAN, |row| row.to_mcslock);
        let inside =
            if inside_ns == 0 { "empty inside".to_owned() } else { format!("{inside_ns} ns inside") };
        Must::new(format!("{lock} / mcslock, 2 threads, {inside}"), Bound::Least, must, Some(1.0), seen)
    };
    INSIDE_NS.into_iter().flat_map(|inside_ns| limits.map(|limit| row(inside_ns, limit))).collect()
}

fn crowd(report: &LockReport) -> Vec<Must> {
    let locks = ["tournament", "lamport-fast", "bakery", "black-white"];
    let wait_of = |lock, way| report.crowd(lock, way).map_or(f64::NAN, |row| row.longest_wait_us);
    let waits = locks.iter().map(|lock| {
        let what = format!("{lock}, 8 threads, longest wait, yield / spin");
        Must::new(what, Bound::Most, 0.1, None, wait_of(lock, "yield") / wait_of(lock, "spin"))
    });
    let fairness = locks.iter().map(|lock| {
        let seen = report.crowd(lock, "yield").map_or(f64::NAN, |row| row.fairness);
        Must::new(format!("{lock}, 8 threads, fairness, yield"), Bound::Least, 0.9, None, seen)
    });
    waits.chain(fairness).collect()
}
