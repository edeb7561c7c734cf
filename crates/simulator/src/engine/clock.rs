//! The local clocks of nodes, with offset and drift against true time.
//!
//! A drifting clock is piecewise linear, one piece per rate, in millionths of a tick, so that nothing is
//! rounded twice. A change of rate bends the line; it never jumps.

use doorway_core::Ticks;

/// Millionths in a tick.
const TICK: u128 = 1_000_000;

/// The difference of a node's clock from true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalClock {
    /// Its lead over true time when it is set.
    pub offset: Ticks,
    /// Its drift in millionths: fast if positive, slow if negative. More than −1,000,000.
    pub drift_ppm: i32,
    /// Whether it stops while its node is paused: a deliberate fault for tests to find.
    pub stops_in_pause: bool,
}

/// A running clock.
#[derive(Clone, Debug)]
pub(super) struct Clockwork {
    drift_ppm: i32,
    stops_in_pause: bool,
    is_stopped: bool,
    /// Its rates so far, in chronological order.
    pieces: Vec<Piece>,
}

/// A period of constant rate, up to the next one.
#[derive(Clone, Copy, Debug)]
struct Piece {
    since: Ticks,
    /// The local time at `since`, in millionths of a tick.
    shows: u128,
    /// Millionths of a local tick per tick of true time.
    rate: u64,
}

impl Piece {
    fn at(self, time: Ticks) -> u128 {
        self.shows + u128::from((time - self.since).0) * u128::from(self.rate)
    }

    /// The first true tick from `since` on at which the local time is at least `millionths`.
    fn first_at(self, millionths: u128) -> Ticks {
        let missing = millionths.saturating_sub(self.shows);
        let ticks = match self.rate {
            _ if missing == 0 => 0,
            0 => u128::MAX,
            rate => missing.div_ceil(rate.into()),
        };
        self.since + Ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
    }
}

impl Clockwork {
    /// A clock that is set now.
    pub(super) fn new(clock: LocalClock, now: Ticks) -> Self {
        let LocalClock { offset, drift_ppm, stops_in_pause } = clock;
        let shows = millionths(now) + millionths(offset);
        let pieces = vec![Piece { since: now, shows, rate: rate(drift_ppm) }];
        Self { drift_ppm, stops_in_pause, is_stopped: false, pieces }
    }

    /// Changes its rate from now on.
    pub(super) fn set_drift(&mut self, drift_ppm: i32, now: Ticks) {
        self.drift_ppm = drift_ppm;
        self.bend(now);
    }

    /// Its node pauses now.
    pub(super) fn pause(&mut self, now: Ticks) {
        self.is_stopped = self.stops_in_pause;
        self.bend(now);
    }

    /// Its node resumes now.
    pub(super) fn resume(&mut self, now: Ticks) {
        self.is_stopped = false;
        self.bend(now);
    }

    fn bend(&mut self, now: Ticks) {
        let rate = if self.is_stopped { 0 } else { rate(self.drift_ppm) };
        if self.last().rate != rate {
            let shows = self.millionths(now);
            self.pieces.push(Piece { since: now, shows, rate });
        }
    }

    fn last(&self) -> Piece {
        self.pieces[self.pieces.len() - 1]
    }

    /// The local time at a true time, in millionths of a tick.
    pub(super) fn millionths(&self, time: Ticks) -> u128 {
        let later = self.pieces.partition_point(|piece| piece.since <= time);
        self.pieces[later.saturating_sub(1)].at(time)
    }

    /// The local time at a true time, in whole ticks.
    pub(super) fn local_time(&self, time: Ticks) -> Ticks {
        Ticks(u64::try_from(self.millionths(time) / TICK).unwrap_or(u64::MAX))
    }

    /// The last true tick at which the local time is at most `local`.
    pub(super) fn true_time(&self, local: Ticks) -> Ticks {
        let beyond = millionths(local) + TICK;
        let later = self.pieces.partition_point(|piece| piece.shows < beyond);
        self.pieces[later.saturating_sub(1)].first_at(beyond) - Ticks(1)
    }

    /// The first true tick since the last change of rate at which the local time is at least `millionths`.
    pub(super) fn first_at(&self, millionths: u128) -> Ticks {
        self.last().first_at(millionths)
    }
}

/// A time or a duration in millionths of a tick.
pub(super) fn millionths(ticks: Ticks) -> u128 {
    u128::from(ticks.0) * TICK
}

fn rate(drift_ppm: i32) -> u64 {
    let rate = i64::from(drift_ppm) + 1_000_000;
    assert!(rate > 0, "a clock that runs {drift_ppm} millionths faster would not run forwards");
    rate.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A clock with random changes of rate and stops, and the time of the last one.
    fn bent(seed: u64) -> (Clockwork, Ticks) {
        let mut random = Random::new(seed, 0);
        let offset = Ticks(random.below(50));
        let mut now = Ticks(0);
        let mut clock = Clockwork::new(LocalClock { offset, drift_ppm: 0, stops_in_pause: true }, now);
        for _ in 0..12 {
            now = now + Ticks(random.below(40));
            match random.below(4) {
                0 => clock.pause(now),
                1 => clock.resume(now),
                _ => clock.set_drift(random.below(1_800_000) as i32 - 900_000, now),
            }
        }
        clock.resume(now);
        (clock, now)
    }

    #[test]
    fn true_time_inverts_local_time_at_any_rate() {
        for seed in 0..500 {
            let (clock, last) = bent(seed);
            let first = clock.local_time(Ticks(0));
            for local in (first.0..clock.local_time(last + Ticks(20)).0).map(Ticks) {
                let time = clock.true_time(local);
                let shown = [time, time + Ticks(1)].map(|time| clock.local_time(time));
                assert!(shown[0] <= local && local < shown[1], "seed {seed}: {local} at {time}, {shown:?}");
            }
        }
    }

    #[test]
    fn a_clock_never_goes_back_or_jumps() {
        for seed in 0..500 {
            let (clock, last) = bent(seed);
            for time in (0..last.0 + 20).map(Ticks) {
                let advance = clock.millionths(time + Ticks(1)).checked_sub(clock.millionths(time));
                assert!(advance.is_some_and(|by| by < 1_900_000), "seed {seed}: {advance:?} at {time}");
            }
        }
    }

    #[test]
    fn changes_of_rate_accumulate_no_rounding_error() {
        let mut clock = Clockwork::new(LocalClock { drift_ppm: 100, ..LocalClock::default() }, Ticks(0));
        for time in 1..10_000 {
            clock.set_drift(if time % 2 == 0 { 100 } else { 300 }, Ticks(time));
        }
        assert_eq!(clock.local_time(Ticks(10_000)), Ticks(10_002));
    }

    #[test]
    fn a_stopped_clock_never_advances_and_far_times_do_not_overflow() {
        let mut clock =
            Clockwork::new(LocalClock { stops_in_pause: true, ..LocalClock::default() }, Ticks(0));
        assert_eq!(clock.true_time(Ticks(u64::MAX)), Ticks(u64::MAX - 1));
        clock.pause(Ticks(7));
        assert_eq!((clock.local_time(Ticks(u64::MAX)), clock.true_time(Ticks(6))), (Ticks(7), Ticks(6)));
        assert_eq!(clock.true_time(Ticks(7)), Ticks(u64::MAX - 1));
        clock.resume(Ticks(10));
        assert_eq!((clock.true_time(Ticks(7)), clock.local_time(Ticks(12))), (Ticks(10), Ticks(9)));
    }

    #[test]
    #[should_panic(expected = "would not run forwards")]
    fn a_clock_that_would_not_advance_is_refused() {
        let _ = Clockwork::new(LocalClock { drift_ppm: -1_000_000, ..LocalClock::default() }, Ticks(0));
    }
}
