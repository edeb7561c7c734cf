//! One thread alone: the cost of locking and unlocking a free lock.

use std::hint::black_box;
use std::time::Instant;

use super::contestants::{Contestant, Seat};
use crate::rounds::{Sample, Turn};
use crate::threads::OwnCacheLine;

/// Passes per batch: enough that reading the clock costs nothing beside them, and few enough that most batches are not
/// interrupted.
const BATCH: u64 = 500;

/// The nanoseconds of one pass, in the fastest batch of a turn; that one was not disturbed.
pub(super) fn nanoseconds<L: Contestant>(turn: Turn) -> Sample<f64> {
    let mut lock = Box::new(OwnCacheLine(L::at_rest()));
    let mut seats = lock.0.seats(1);
    let seat = &mut seats[0];
    let (begun, mut passes, mut fastest) = (Instant::now(), 0, f64::INFINITY);
    while passes == 0 || passes < turn.passes && begun.elapsed() < turn.time {
        fastest = fastest.min(batch(black_box(seat)));
        passes += BATCH;
    }
    Sample { value: fastest, quiet: 1.0 }
}

fn batch(seat: &mut impl Seat) -> f64 {
    let begun = Instant::now();
    for _ in 0..BATCH {
        seat.pass(|_| ());
    }
    begun.elapsed().as_nanos() as f64 / BATCH as f64
}
