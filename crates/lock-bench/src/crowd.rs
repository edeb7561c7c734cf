//! More threads than processors, all of which always want in: throughput, fairness and the longest wait.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::contestants::{Contestant, Seat};
use super::work::Work;
use crate::rounds::{Sample, Turn};
use crate::threads::{OwnCacheLine, ThreadResult, together};

/// How many threads there are.
pub(super) const THREADS: usize = 8;
/// How many processors they share.
pub(super) const PROCESSORS: usize = 2;

/// The result of one turn.
#[derive(Clone, Debug)]
pub(super) struct TurnResult {
    /// The entries of all in a second.
    pub(super) rate: f64,
    /// The longest wait of a thread, from asking to entering.
    pub(super) longest_wait: Duration,
    /// Jain's index of the entries of each thread.
    pub(super) fairness: f64,
}

/// What a thread saw.
struct Seen {
    entries: u64,
    longest_wait: Duration,
}

/// One turn of eight threads.
pub(super) fn throng<L: Contestant>(turn: Turn, inside: Work) -> Sample<TurnResult> {
    let mut lock = Box::new(OwnCacheLine(L::at_rest()));
    let seats = lock.0.seats(THREADS);
    let opening = Opening::new(THREADS, turn);
    let stays = together(seats, PROCESSORS, |seat, _| {
        enter_and_look_at_the_clock(OwnCacheLine(seat), &opening, inside)
    });
    Sample { quiet: share_of_processors(&stays), value: TurnResult::of(&stays, turn) }
}

/// When counting begins: when every thread has been inside once. Before that the threads that have a processor have it to
/// themselves.
struct Opening {
    turn: Turn,
    made: Instant,
    missing: AtomicUsize,
    opened: OnceLock<Instant>,
}

impl Opening {
    /// After this many turns counting begins even if a thread has not been inside.
    const PATIENCE: u32 = 4;

    fn new(threads: usize, turn: Turn) -> Self {
        Self { turn, made: Instant::now(), missing: AtomicUsize::new(threads), opened: OnceLock::new() }
    }

    /// A thread has been inside for the first time.
    fn note(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.opened.get_or_init(Instant::now);
        }
    }

    /// When it was, if it has been by now.
    fn before(&self, now: Instant) -> Option<Instant> {
        let is_late = || now.duration_since(self.made) > self.turn.time * Self::PATIENCE;
        let opened =
            self.opened.get().copied().or_else(|| is_late().then(|| *self.opened.get_or_init(|| now)));
        opened.filter(|&opened| opened <= now)
    }

    fn is_over(&self, now: Instant) -> bool {
        self.before(now).is_some_and(|opened| now.duration_since(opened) >= self.turn.time)
    }
}

fn enter_and_look_at_the_clock(mut seat: OwnCacheLine<impl Seat>, opening: &Opening, inside: Work) -> Seen {
    let mut seen = Seen { entries: 0, longest_wait: Duration::ZERO };
    let mut asked = Instant::now();
    let mut is_first = true;
    while seen.entries < opening.turn.passes && !opening.is_over(asked) {
        let mut entered = asked;
        seat.0.pass(|_| {
            entered = Instant::now();
            inside.done();
        });
        if opening.before(entered).is_some() {
            seen.longest_wait = seen.longest_wait.max(entered.duration_since(asked));
            seen.entries += u64::from(!opening.is_over(entered));
        }
        if is_first {
            opening.note();
            is_first = false;
        }
        asked = Instant::now();
    }
    seen
}

impl TurnResult {
    fn of(stays: &[ThreadResult<Seen>], turn: Turn) -> Self {
        let seen = || stays.iter().map(|stay| &stay.result);
        let entries: Vec<f64> = seen().map(|seen| seen.entries as f64).collect();
        Self {
            rate: entries.iter().sum::<f64>() / turn.time.as_secs_f64(),
            longest_wait: seen().map(|seen| seen.longest_wait).max().unwrap_or_default(),
            fairness: jain(&entries),
        }
    }
}

/// The threads' share of the processors' time. Sleep is not counted, so this compares turns of one lock only.
fn share_of_processors(stays: &[ThreadResult<Seen>]) -> f64 {
    let running = |stay: &ThreadResult<Seen>| stay.ran.map_or(stay.time, |ran| ran.running).as_secs_f64();
    let time = stays.iter().map(|stay| stay.time).max().unwrap_or_default().as_secs_f64();
    stays.iter().map(running).sum::<f64>() / (time.max(1e-9) * PROCESSORS as f64)
}

/// R. Jain, D.-M. Chiu and W. Hawe's index, 1984: 1 if all have the same, 1/n if one has all.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_if_all_have_the_same_and_a_share_if_one_has_all() {
        assert_eq!(jain(&[5.0; 8]), 1.0);
        assert_eq!(jain(&[0.0, 0.0, 7.0, 0.0]), 0.25);
        assert_eq!(jain(&[3.0, 1.0]), 0.8);
        assert_eq!(jain(&[0.0; 3]), 1.0, "all have the same");
    }
}
