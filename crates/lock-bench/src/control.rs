//! The control: two threads that hand over by strict alternation on one word. It is no lock, and nothing of ours can make it
//! slower or faster: when it changes, the machine has.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use serde::Serialize;

use super::rounds::{Sample, Turn, quantile};
use super::threads::{per_second, quiet, together};

/// How fast the control was in the rounds of one part of a bench, in hand-overs per second.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// In how many rounds it was measured, like every contestant.
    pub rounds: usize,
    /// In how many of them others took a processor from it for a twentieth of the time or more, as far as the system tells.
    pub disturbed: usize,
    /// One round in ten was slower.
    pub slow: f64,
    /// The round in the middle.
    pub median: f64,
    /// One round in ten was faster.
    pub fast: f64,
}

impl Control {
    pub(super) fn of(rounds: &[Sample<f64>]) -> Self {
        let at = |share| quantile(rounds.iter().map(|round| round.value), share);
        let disturbed = rounds.iter().filter(|round| round.quiet < QUIET).count();
        Self { rounds: rounds.len(), disturbed, slow: at(0.1), median: at(0.5), fast: at(0.9) }
    }

    /// How many times as fast as the slow rounds the fast ones were: 1 on a machine that never changes.
    #[must_use]
    pub fn spread(&self) -> f64 {
        if self.slow > 0.0 { self.fast / self.slow } else { f64::INFINITY }
    }
}

/// Whose turn it is, 0 or 1, or neither's at the end; alone on its cache lines.
#[repr(align(128))]
struct Word(AtomicUsize);

const ENDED: usize = 2;
/// Tries before the thread yields: the other thread may need this processor.
const PATIENCE: u32 = 10_000;

/// Below this share of undisturbed time a round counts as disturbed.
const QUIET: f64 = 0.95;

/// One turn of the control.
pub(super) fn control(turn: Turn) -> Sample<f64> {
    let word = Word(AtomicUsize::new(0));
    let hands = together(vec![0, 1], 2, |me, begun| hand_over(&word.0, me, turn, begun));
    Sample { value: per_second(&hands), quiet: quiet(&hands) }
}

/// Takes the word whenever it is its turn, and gives it to the other; the one that finds the time over ends it for both.
fn hand_over(word: &AtomicUsize, me: usize, turn: Turn, begun: Instant) -> u64 {
    let mut hands = 0;
    while wait_for(word, me) {
        hands += 1;
        let is_over = hands >= turn.passes || hands % 64 == 0 && begun.elapsed() >= turn.time;
        word.store(if is_over { ENDED } else { 1 - me }, Ordering::Release);
    }
    hands
}

/// Whether it is this one's turn, once it is or all is over.
fn wait_for(word: &AtomicUsize, me: usize) -> bool {
    let mut questions = 0;
    loop {
        match word.load(Ordering::Acquire) {
            ENDED => return false,
            turn if turn == me => return true,
            _ if questions < PATIENCE => spin_loop(),
            _ => thread::yield_now(),
        }
        questions = questions.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn hands_alternate_and_the_count_ends_them() {
        let word = AtomicUsize::new(0);
        let turn = Turn { time: Duration::MAX, passes: 500 };
        let hands = together(vec![0, 1], 2, |me, begun| hand_over(&word, me, turn, begun));
        assert_eq!(hands.iter().map(|stay| stay.result).collect::<Vec<_>>(), [500, 499]);
    }

    #[test]
    fn the_spread_leaves_out_the_strangest_rounds() {
        let round = |number| Sample { value: f64::from(number), quiet: if number < 3 { 0.9 } else { 1.0 } };
        let control = Control::of(&(0..=20).map(round).collect::<Vec<_>>());
        assert_eq!((control.rounds, control.disturbed), (21, 3));
        assert_eq!((control.slow, control.median, control.fast), (2.0, 10.0, 18.0));
        assert_eq!(control.spread(), 9.0);
    }
}
