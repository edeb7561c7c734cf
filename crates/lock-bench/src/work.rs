//! Work to do inside the section: of a chosen length, and without any access to shared memory.

use std::hint::black_box;
use std::time::Instant;

/// A chain of steps, each of which depends on the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    steps: u32,
}

impl Work {
    /// Nothing to do.
    pub(super) const NONE: Work = Work { steps: 0 };

    /// About this many nanoseconds of work, calibrated on this machine now.
    pub(super) fn of_nanoseconds(nanoseconds: f64) -> Self {
        const TRIED: u32 = 10_000;
        let tried = (0..20).map(|_| {
            let begun = Instant::now();
            Work { steps: TRIED }.done();
            begun.elapsed().as_nanos() as f64 / f64::from(TRIED)
        });
        let fastest = tried.fold(f64::INFINITY, f64::min).max(0.01);
        Self { steps: (nanoseconds / fastest).round().max(1.0) as u32 }
    }

    /// Does it.
    #[inline]
    pub(super) fn done(self) {
        let mut number = black_box(u64::from(self.steps));
        for _ in 0..self.steps {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        black_box(number);
    }
}
