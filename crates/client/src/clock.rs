//! The clock by which leases and deadlines are told on one machine.
//!
//! On Linux it goes on while the machine is suspended, unlike `std::time::Instant`: whoever wakes up after a lease sees that
//! it is over. A daemon and its clients on the same machine read the same clock, so a deadline needs no translation.

use std::time::Duration;

use doorway_core::Ticks;
use rustix::time::{ClockId, clock_gettime};

/// The present moment, in microseconds since the machine was started.
#[must_use]
pub fn now() -> Ticks {
    let time = clock_gettime(CLOCK);
    Ticks(time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
// Elsewhere this is the nearest that there is; what it does in a suspended machine differs.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// A span of this clock as others write it.
#[must_use]
pub fn span(ticks: Ticks) -> Duration {
    Duration::from_micros(ticks.0)
}

/// A span as this clock counts it; what is longer than half a million years counts as that.
#[must_use]
pub fn ticks(span: Duration) -> Ticks {
    Ticks(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_forward_and_spans_come_back_as_they_went() {
        let (first, second) = (now(), now());
        assert!(Ticks(0) < first && first <= second);
        assert_eq!(span(ticks(Duration::from_millis(1_500))), Duration::from_millis(1_500));
        assert_eq!(ticks(Duration::MAX), Ticks(u64::MAX));
    }
}
