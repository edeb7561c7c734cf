//! Two threads that always want in: how often one of them enters.

use std::hint::black_box;
use std::time::Instant;

use super::contestants::{Contestant, Seat};
use super::work::Work;
use crate::rounds::{Sample, Turn};
use crate::threads::{OwnCacheLine, per_second, quiet, together};

/// How many passes are made before a thread looks at the clock.
const BATCH: u64 = 64;

/// The entries of both together in a second, with this work inside.
pub(super) fn entries_per_second<L: Contestant>(turn: Turn, inside: Work) -> Sample<f64> {
    let mut lock = Box::new(OwnCacheLine(L::at_rest()));
    let seats = lock.0.seats(2);
    let stays =
        together(seats, 2, |seat, begun| enter_again_and_again(OwnCacheLine(seat), turn, begun, inside));
    Sample { value: per_second(&stays), quiet: quiet(&stays) }
}

fn enter_again_and_again(mut seat: OwnCacheLine<impl Seat>, turn: Turn, begun: Instant, inside: Work) -> u64 {
    let mut entries = 0;
    while entries < turn.passes && begun.elapsed() < turn.time {
        let seat = black_box(&mut seat.0);
        for _ in 0..BATCH {
            seat.pass(|_| inside.done());
        }
        entries += BATCH;
    }
    entries
}
