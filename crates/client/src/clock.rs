//! The clock by which leases and deadlines are told on one machine.
//!
//! On Linux it goes on while the machine is suspended, unlike `std::time::Instant`: whoever wakes up after a lease sees that
//! it is over. A daemon and its clients on the same machine read the same clock, so a deadline needs no translation; unless they
//! are in different time namespaces, which is found out when they meet: see [`check_same`].

use std::sync::OnceLock;
use std::time::Duration;

use doorway_core::{Refusal, Ticks};
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

/// By how much a clock that is read later may seem to be behind one that is read earlier, on another processor.
const TWITCH: Ticks = Ticks(1_000);

/// How much older than the connection a word may be that is the first on it: whoever makes connections may keep them for a while.
const STALE: Ticks = Ticks(10_000_000);

/// Whether a moment that another process told lies between the one at which it was asked and the present one, as it must if both
/// have the same clock.
///
/// A clock that is ahead makes deadlines seem later than they are: two would be inside. One that is behind lets nobody in.
///
/// # Errors
/// If the clocks differ, one sentence that goes on after the name of the other process.
pub fn check_same(told: Ticks, asked: Ticks, now: Ticks) -> Result<(), Refusal> {
    let differs = |by: Ticks, how: &str| {
        let seconds = by.0 as f64 / 1e6;
        let sentence = format!(
            "its clock is {seconds:.3} s {how} this program's: both must be in the same time namespace"
        );
        Err(Refusal::new(sentence))
    };
    if told > now + TWITCH {
        differs(told - now, "ahead of")
    } else if told + STALE < asked {
        differs(asked - told, "behind")
    } else {
        Ok(())
    }
}

/// How long a question about the time may take whose answer tells whether two clocks are the same: an offset that is shorter cannot be seen,
/// and is covered by the margin after a deadline.
const NEAR: Ticks = Ticks(20_000);

/// Whether it is certain, after [`check_same`], that a process that told the time has the same clock: it named its clock and the name is that
/// of this process's, or its answer came soon after it was asked. A clock that is ahead by less than the answer took looks right.
#[must_use]
pub fn is_certain(named: Option<&str>, asked: Ticks, now: Ticks) -> bool {
    named.is_some_and(|named| name() == Some(named)) || now.0.saturating_sub(asked.0) <= NEAR.0
}

/// Which clock this process reads, where the system tells: two processes with the same name have the same clock. On Linux it is the start of
/// the machine and the time namespace.
#[must_use]
pub fn name() -> Option<&'static str> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = std::fs::read_link("/proc/self/ns/time").ok()?;
        Some(format!("{} {}", boot.trim(), namespace.display()))
    };
    NAME.get_or_init(read).as_deref()
}

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
    fn a_moment_that_was_told_must_lie_between_the_question_and_the_present() {
        let check = |told| check_same(Ticks(told), Ticks(50_000_000), Ticks(60_000_000));
        let same = [40_000_000, 50_000_000, 55_000_000, 60_000_000, 60_001_000];
        assert!(same.iter().all(|told| check(*told).is_ok()));
        let sentence = |told: u64| check(told).expect_err("it is another clock").to_string();
        assert_eq!(
            sentence(60_001_001),
            "its clock is 0.001 s ahead of this program's: both must be in the same time namespace"
        );
        assert_eq!(
            sentence(39_999_999),
            "its clock is 10.000 s behind this program's: both must be in the same time namespace"
        );
    }

    #[test]
    fn an_answer_that_took_long_proves_nothing_unless_the_clock_is_named() {
        let certain = |named, took: u64| is_certain(named, Ticks(50_000_000), Ticks(50_000_000 + took));
        assert!(certain(None, 20_000) && certain(Some("another"), 20_000));
        assert!(!certain(None, 20_001) && !certain(Some("another"), 20_001));
        if let Some(name) = name() {
            assert!(certain(Some(name), 5_000_000));
        }
    }

    #[test]
    fn the_clock_goes_forward_and_spans_come_back_as_they_went() {
        let (first, second) = (now(), now());
        assert!(Ticks(0) < first && first <= second);
        assert_eq!(span(ticks(Duration::from_millis(1_500))), Duration::from_millis(1_500));
        assert_eq!(ticks(Duration::MAX), Ticks(u64::MAX));
    }
}
