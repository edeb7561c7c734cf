//! The clock of leases and deadlines on one machine.
//!
//! On Linux it keeps counting during suspend, unlike `std::time::Instant`: a process that wakes up after a lease sees that
//! it is over. A daemon and its clients on the same machine read the same clock, so a deadline needs no translation, unless they
//! are in different time namespaces. The client checks that when it connects: see [`check_same`].

use std::sync::OnceLock;
use std::time::Duration;

use doorway_core::{Refusal, Ticks};
use rustix::time::{ClockId, clock_gettime};

/// The time now, in microseconds since the machine was started.
#[must_use]
pub fn now() -> Ticks {
    let time = clock_gettime(CLOCK);
    Ticks(time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
// The nearest clock elsewhere; whether it counts during suspend depends on the system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: ClockId = ClockId::Monotonic;

/// By how much a later reading of the clock on another processor may be behind an earlier one.
const TWITCH: Ticks = Ticks(1_000);

/// How much older than the connection its first message may be: connections may be made ahead of their use.
const STALE: Ticks = Ticks(10_000_000);

/// Checks that the time `told` by another process lies between the question and now, as it must if both have the same clock.
///
/// If the other clock is ahead, deadlines seem later than they are, and two clients could be inside. If it is behind, every grant seems
/// expired.
///
/// # Errors
/// If the clocks differ: the end of a sentence that begins with the name of the other process.
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

/// The longest round trip of a question about the time whose answer can prove two clocks to be the same. A smaller offset cannot be seen, and
/// the margin after a deadline covers it.
const NEAR: Ticks = Ticks(20_000);

/// Whether it is certain, after [`check_same`], that the other process has the same clock: it named its clock, and this process has a clock of
/// that name, or its answer came soon after the question. A clock that is ahead by less than the round trip passes [`check_same`].
#[must_use]
pub fn is_certain(named: Option<&str>, asked: Ticks, now: Ticks) -> bool {
    named.is_some_and(|named| name() == Some(named)) || now.0.saturating_sub(asked.0) <= NEAR.0
}

/// The name of the clock that this process reads, where the system tells it: two processes with the same name have the same clock. On Linux it
/// is the boot id of the machine and the time namespace.
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

/// A span of this clock as a `Duration`.
#[must_use]
pub fn span(ticks: Ticks) -> Duration {
    Duration::from_micros(ticks.0)
}

/// A `Duration` in ticks of this clock, at most `u64::MAX` of them (half a million years).
#[must_use]
pub fn ticks(span: Duration) -> Ticks {
    Ticks(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemons_time_must_lie_between_question_and_now() {
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
    fn a_slow_answer_proves_nothing_unless_the_clock_is_named() {
        let certain = |named, took: u64| is_certain(named, Ticks(50_000_000), Ticks(50_000_000 + took));
        assert!(certain(None, 20_000) && certain(Some("another"), 20_000));
        assert!(!certain(None, 20_001) && !certain(Some("another"), 20_001));
        if let Some(name) = name() {
            assert!(certain(Some(name), 5_000_000));
        }
    }

    #[test]
    fn the_clock_goes_forward_and_spans_round_trip() {
        let (first, second) = (now(), now());
        assert!(Ticks(0) < first && first <= second);
        assert_eq!(span(ticks(Duration::from_millis(1_500))), Duration::from_millis(1_500));
        assert_eq!(ticks(Duration::MAX), Ticks(u64::MAX));
    }
}
