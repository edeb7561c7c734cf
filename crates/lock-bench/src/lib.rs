//! How fast our locks are, beside the standard library's, parking_lot's, two of `spin` and mcslock's.
//!
//! Three parts. *Alone*: one thread locks and unlocks a lock that is free. *Pairs*: two threads always want in, with nothing
//! to do inside, and with about 100 ns. *Crowd*: eight threads always want in, more than most machines have processors for.
//!
//! A machine that others use, or that lends out its processors, changes its speed from second to second. So the contestants
//! take turns, a few milliseconds each, in many rounds. Only ratios within one run mean something, and only as much as the
//! [control](Control), which never changes, was steady in it.

mod alone;
mod chart;
mod contestants;
mod control;
mod crowd;
mod lineup;
mod musts;
mod pair;
mod report;
mod rounds;
mod threads;
mod work;

use std::time::Duration;

use doorway_simulator::parallel::processors;

pub use chart::panels;
pub use control::Control;
pub use musts::{Bound, Must};
pub use report::{Alone, AloneRow, Crowd, CrowdRow, LockReport, PairResult, PairRow};

use crowd::{PROCESSORS, THREADS, TurnResult};
use lineup::{alone_lineup, crowd_lineup, pair_lineup};
use rounds::{OneTurn, Rounds, Turn, Turns, ratio, typical};
use work::Work;

/// For how many processes the locks are made that are measured alone.
pub const SIZES: [usize; 3] = [2, 8, 64];
/// How long two threads stay inside.
pub const INSIDE_NS: [u32; 2] = [0, 100];
/// How long eight threads stay inside.
const CROWD_INSIDE_NS: u32 = 100;

/// A bench of all locks.
///
/// ```no_run
/// use std::time::Duration;
///
/// use doorway_lock_bench::LockBench;
///
/// let report = LockBench { time: Duration::from_secs(8) }.run(|_turns_done| ());
/// assert!(report.musts.iter().all(|must| must.is_reached));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LockBench {
    /// About how long all of it takes.
    pub time: Duration,
}

/// How long one turn lasts if there is time enough, and how many passes of one thread end it before.
const ALONE: Turn = Turn { time: Duration::from_millis(2), passes: 1_000_000 };
const PAIR: Turn = Turn { time: Duration::from_millis(2), passes: 10_000_000 };
const CROWD: Turn = Turn { time: Duration::from_millis(200), passes: 100_000_000 };

impl LockBench {
    /// About how many turns there are in all, for those who show how far it is.
    #[must_use]
    pub fn turns(&self) -> u64 {
        let turns = |rounds: Rounds, contestants: usize| u64::from(rounds.most) * (contestants as u64 + 1);
        let pairs = turns(self.pair_rounds(), pair_lineup().len()) * INSIDE_NS.len() as u64;
        turns(self.alone_rounds(), alone_lineup().len())
            + pairs
            + turns(self.crowd_rounds(), crowd_lineup().len())
    }

    /// Measures all of it. `told` gets the number of turns that are done.
    pub fn run(&self, mut told: impl FnMut(u64)) -> LockReport {
        let mut done = 0;
        let mut step = || {
            done += 1;
            told(done);
        };
        let alone = self.alone(&mut step);
        let pairs = INSIDE_NS.map(|inside_ns| self.pair(inside_ns, &mut step)).to_vec();
        let crowd = self.crowd(&mut step);
        let mut report = LockReport {
            processors: processors(),
            has_assertions: cfg!(debug_assertions),
            alone,
            pairs,
            crowd,
            musts: Vec::new(),
        };
        report.musts = musts::musts(&report);
        report
    }

    fn alone_rounds(&self) -> Rounds {
        Rounds::within(self.time.mul_f64(0.15), alone_lineup().len(), ALONE, 5)
    }

    fn pair_rounds(&self) -> Rounds {
        Rounds::within(self.time.mul_f64(0.2), pair_lineup().len(), PAIR, 5)
    }

    fn crowd_rounds(&self) -> Rounds {
        Rounds::within(self.time.mul_f64(0.45), crowd_lineup().len(), CROWD, 3)
    }

    fn alone(&self, step: &mut dyn FnMut()) -> Alone {
        let lineup = alone_lineup();
        let contestants: Vec<OneTurn<'_, f64>> =
            lineup.iter().map(|&(_, _, measure)| Box::new(measure) as OneTurn<'_, f64>).collect();
        let Turns { samples, control } = self.alone_rounds().run(&contestants, step);
        let of =
            |name| lineup.iter().position(|entry| entry.0 == name).map_or(&samples[0], |at| &samples[at]);
        let (floor, std) = (of("floor"), of("std"));
        let rows = lineup.iter().zip(&samples).map(|(&(lock, n, _), mine)| AloneRow {
            lock,
            n,
            ns: typical(mine, |value| *value),
            to_floor: ratio(mine, floor),
            to_std: ratio(mine, std),
        });
        Alone { control: Control::of(&control), rows: rows.collect() }
    }

    fn pair(&self, inside_ns: u32, step: &mut dyn FnMut()) -> PairResult {
        let inside = if inside_ns == 0 { Work::NONE } else { Work::of_nanoseconds(inside_ns.into()) };
        let lineup = pair_lineup();
        let contestants: Vec<OneTurn<'_, f64>> = lineup
            .iter()
            .map(|&(_, measure)| Box::new(move |turn| measure(turn, inside)) as OneTurn<'_, f64>)
            .collect();
        let Turns { samples, control } = self.pair_rounds().run(&contestants, step);
        let mcslock =
            lineup.iter().position(|entry| entry.0 == "mcslock").map_or(&samples[0], |at| &samples[at]);
        let rows = lineup.iter().zip(&samples).map(|(&(lock, _), mine)| PairRow {
            lock,
            entries_per_second: typical(mine, |value| *value),
            to_mcslock: ratio(mine, mcslock),
        });
        PairResult { inside_ns, control: Control::of(&control), rows: rows.collect() }
    }

    fn crowd(&self, step: &mut dyn FnMut()) -> Crowd {
        let inside = Work::of_nanoseconds(CROWD_INSIDE_NS.into());
        let lineup = crowd_lineup();
        let contestants: Vec<OneTurn<'_, TurnResult>> = lineup
            .iter()
            .map(|&(_, _, measure)| Box::new(move |turn| measure(turn, inside)) as OneTurn<'_, TurnResult>)
            .collect();
        let Turns { samples, control } = self.crowd_rounds().run(&contestants, step);
        let rows = lineup.iter().zip(&samples).map(|(&(lock, wait, _), mine)| CrowdRow {
            lock,
            wait,
            entries_per_second: typical(mine, |throng| throng.rate),
            longest_wait_us: typical(mine, |throng| throng.longest_wait.as_secs_f64() * 1e6),
            fairness: typical(mine, |throng| throng.fairness),
        });
        let rows = rows.collect();
        Crowd {
            threads: THREADS,
            processors: PROCESSORS.min(processors()),
            inside_ns: CROWD_INSIDE_NS,
            control: Control::of(&control),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_picture::Theme;

    use super::*;

    /// A report in which every lock takes as long as every other, but for what the test changes.
    fn made_up(change: impl Fn(&mut LockReport)) -> LockReport {
        let control = Control { rounds: 1, disturbed: 0, slow: 1.0, median: 1.0, fast: 1.0 };
        let alone = alone_lineup().into_iter();
        let alone = alone.map(|(lock, n, _)| AloneRow { lock, n, ns: 4.0, to_floor: 1.0, to_std: 1.0 });
        let pair = |inside_ns| {
            let lineup = pair_lineup().into_iter();
            let rows = lineup.map(|(lock, _)| PairRow { lock, entries_per_second: 1e6, to_mcslock: 1.0 });
            PairResult { inside_ns, control: control.clone(), rows: rows.collect() }
        };
        let crowd = crowd_lineup().into_iter().map(|(lock, wait, _)| CrowdRow {
            lock,
            wait,
            entries_per_second: 1e6,
            longest_wait_us: 10.0,
            fairness: 1.0,
        });
        let mut report = LockReport {
            processors: 2,
            has_assertions: true,
            alone: Alone { control: control.clone(), rows: alone.collect() },
            pairs: INSIDE_NS.map(pair).to_vec(),
            crowd: Crowd {
                threads: 8,
                processors: 2,
                inside_ns: 100,
                control: control.clone(),
                rows: crowd.collect(),
            },
            musts: Vec::new(),
        };
        change(&mut report);
        report.musts = musts::musts(&report);
        report
    }

    fn missed(report: &LockReport) -> Vec<(&str, f64)> {
        let missed = report.musts.iter().filter(|must| !must.is_reached);
        missed.map(|must| (must.what.as_str(), must.seen)).collect()
    }

    #[test]
    fn if_all_are_alike_only_what_must_be_faster_is_missed() {
        let report = made_up(|_| ());
        let expected = [
            ("peterson / std, alone", 1.0),
            ("lamport-fast / std, alone, any n", 1.0),
            ("tournament, 8 threads, longest wait, yield / spin", 1.0),
            ("lamport-fast, 8 threads, longest wait, yield / spin", 1.0),
            ("bakery, 8 threads, longest wait, yield / spin", 1.0),
            ("black-white, 8 threads, longest wait, yield / spin", 1.0),
        ];
        assert_eq!((report.musts.len(), missed(&report)), (19, expected.to_vec()));
    }

    #[test]
    fn every_must_looks_at_its_own_numbers() {
        let report = made_up(|report| {
            for row in &mut report.alone.rows {
                row.to_std = if row.lock == "lamport-fast" && row.n == Some(64) { 0.6 } else { 0.5 };
            }
            for row in report.crowd.rows.iter_mut().filter(|row| row.wait == "yield") {
                row.longest_wait_us = if row.lock == "bakery" { 2.5 } else { 1.0 };
                row.fairness = if row.lock == "tournament" { 0.75 } else { 0.9 };
            }
            for row in &mut report.pairs[1].rows {
                row.to_mcslock = 0.75;
            }
        });
        let expected = [
            ("lamport-fast, slowest n / fastest n, alone", 1.2),
            ("peterson / mcslock, 2 threads, 100 ns inside", 0.75),
            ("bakery / mcslock, 2 threads, 100 ns inside", 0.75),
            ("bakery, 8 threads, longest wait, yield / spin", 0.25),
            ("tournament, 8 threads, fairness, yield", 0.75),
        ];
        assert_eq!(missed(&report), expected);
    }

    #[test]
    fn in_the_picture_every_lock_has_its_name_and_none_is_in_the_way_of_another() {
        let report = made_up(|report| {
            let spread = |number: usize| f64::from(1 << (number % 8));
            for (number, row) in report.alone.rows.iter_mut().enumerate() {
                row.ns = spread(number);
            }
            for (number, row) in report.crowd.rows.iter_mut().enumerate() {
                row.entries_per_second = 50.0 * spread(number).powi(2);
                row.longest_wait_us = 1e6 / spread(number);
            }
        });
        let drawing = panels(&report).draw(Theme::Auto);
        assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]));
        for (lock, _, _) in alone_lineup() {
            assert!(drawing.labels.iter().any(|label| label.text == lock), "{lock}");
        }
    }

    #[test]
    fn turns_are_counted_as_they_are_announced() {
        let bench = LockBench { time: Duration::from_secs(45) };
        let rounds = [bench.alone_rounds(), bench.pair_rounds(), bench.crowd_rounds()]
            .map(|rounds| u64::from(rounds.most));
        assert_eq!(rounds, [168, 409, 5]);
        assert_eq!(bench.turns(), 168 * 20 + 2 * 409 * 11 + 5 * 19);
    }
}
