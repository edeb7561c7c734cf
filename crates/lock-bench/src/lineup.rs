//! The one list of what is measured.

use doorway_locks::{Bakery, BlackWhiteBakery, LamportFast, Park, Peterson, Spin, SpinThenYield, Tournament};
use mcslock::relax;

use super::contestants::{Floor, Mcs, SpinTas, SpinTicket};
use super::crowd::{self, THREADS, TurnResult};
use super::work::Work;
use super::{alone, pair};
use crate::rounds::{Sample, Turn};

/// A lock that is measured alone: its name, for how many processes, and how to run one turn.
pub(super) type AloneEntry = (&'static str, Option<usize>, fn(Turn) -> Sample<f64>);
/// A lock between two threads.
pub(super) type PairEntry = (&'static str, fn(Turn, Work) -> Sample<f64>);
/// A lock among many threads, and how they wait.
pub(super) type CrowdEntry = (&'static str, &'static str, fn(Turn, Work) -> Sample<TurnResult>);

/// One lock for each number of processes, as a type must say it.
macro_rules! for_sizes {
    ($name:literal, $lock:ident) => {
        [
            ($name, Some(2), alone::nanoseconds::<$lock<u64, 2>> as fn(Turn) -> Sample<f64>),
            ($name, Some(8), alone::nanoseconds::<$lock<u64, 8>>),
            ($name, Some(64), alone::nanoseconds::<$lock<u64, 64>>),
        ]
    };
}

pub(super) fn alone_lineup() -> Vec<AloneEntry> {
    let mut entries: Vec<AloneEntry> = vec![
        ("floor", None, alone::nanoseconds::<Floor>),
        ("peterson", Some(2), alone::nanoseconds::<Peterson<u64>>),
    ];
    entries.extend(for_sizes!("tournament", Tournament));
    entries.extend(for_sizes!("lamport-fast", LamportFast));
    entries.extend(for_sizes!("bakery", Bakery));
    entries.extend(for_sizes!("black-white", BlackWhiteBakery));
    entries.extend([
        ("std", None, alone::nanoseconds::<std::sync::Mutex<u64>> as fn(Turn) -> Sample<f64>),
        ("parking_lot", None, alone::nanoseconds::<parking_lot::Mutex<u64>>),
        ("spin", None, alone::nanoseconds::<SpinTas>),
        ("spin-ticket", None, alone::nanoseconds::<SpinTicket>),
        ("mcslock", None, alone::nanoseconds::<Mcs<relax::Spin>>),
    ]);
    entries
}

pub(super) fn pair_lineup() -> Vec<PairEntry> {
    vec![
        ("peterson", pair::entries_per_second::<Peterson<u64>>),
        ("tournament", pair::entries_per_second::<Tournament<u64, 2>>),
        ("lamport-fast", pair::entries_per_second::<LamportFast<u64, 2>>),
        ("bakery", pair::entries_per_second::<Bakery<u64, 2>>),
        ("black-white", pair::entries_per_second::<BlackWhiteBakery<u64, 2>>),
        ("std", pair::entries_per_second::<std::sync::Mutex<u64>>),
        ("parking_lot", pair::entries_per_second::<parking_lot::Mutex<u64>>),
        ("spin", pair::entries_per_second::<SpinTas>),
        ("spin-ticket", pair::entries_per_second::<SpinTicket>),
        ("mcslock", pair::entries_per_second::<Mcs<relax::Spin>>),
    ]
}

/// One lock with each way of waiting.
macro_rules! for_waits {
    ($name:literal, $lock:ident) => {
        [
            (
                $name,
                "spin",
                crowd::throng::<$lock<u64, THREADS, Spin>> as fn(Turn, Work) -> Sample<TurnResult>,
            ),
            ($name, "yield", crowd::throng::<$lock<u64, THREADS, SpinThenYield>>),
            ($name, "park", crowd::throng::<$lock<u64, THREADS, Park>>),
        ]
    };
}

pub(super) fn crowd_lineup() -> Vec<CrowdEntry> {
    let mut entries: Vec<CrowdEntry> = Vec::new();
    entries.extend(for_waits!("tournament", Tournament));
    entries.extend(for_waits!("lamport-fast", LamportFast));
    entries.extend(for_waits!("bakery", Bakery));
    entries.extend(for_waits!("black-white", BlackWhiteBakery));
    entries.extend([
        ("std", "park", crowd::throng::<std::sync::Mutex<u64>> as fn(Turn, Work) -> Sample<TurnResult>),
        ("parking_lot", "park", crowd::throng::<parking_lot::Mutex<u64>>),
        ("spin", "spin", crowd::throng::<SpinTas>),
        ("spin-ticket", "spin", crowd::throng::<SpinTicket>),
        ("mcslock", "spin", crowd::throng::<Mcs<relax::Spin>>),
        ("mcslock", "yield", crowd::throng::<Mcs<relax::YieldBackoff>>),
    ]);
    entries
}
