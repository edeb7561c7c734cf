//! So many lines a second in the log, however often something happens, and pauses while it does.

use std::io;
use std::time::Duration;

use doorway_client::clock;
use doorway_client::pauses::Pauses;
use doorway_core::Ticks;
use doorway_node::timing::milliseconds;
use tokio::time::sleep;

/// Admits a number of events in each second, and counts the others.
#[derive(Debug)]
pub(crate) struct Throttle {
    most: u32,
    /// When the second began that is counted.
    began: Ticks,
    admitted: u32,
    /// How many were not admitted since the last one that was.
    left_out: u64,
}

impl Throttle {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, began: Ticks(0), admitted: 0, left_out: 0 }
    }

    /// Whether an event is told, and how many before it were not.
    pub(crate) fn admit(&mut self, now: Ticks) -> Option<u64> {
        if now >= self.began + milliseconds(1_000) || self.began == Ticks(0) {
            (self.began, self.admitted) = (now, 0);
        }
        if self.admitted >= self.most {
            self.left_out += 1;
            return None;
        }
        self.admitted += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// What somebody who listens does while nobody can be accepted, as when there are no more file descriptors: it waits, longer each
/// time, and tells the log once a second.
pub(crate) struct Respite {
    who: &'static str,
    pauses: Pauses,
    throttle: Throttle,
}

impl Respite {
    const PAUSES: Pauses = Pauses::between(Duration::from_millis(10), Duration::from_millis(500));

    /// For those who listen to such as these.
    pub(crate) fn new(who: &'static str) -> Self {
        Self { who, pauses: Self::PAUSES, throttle: Throttle::new(1) }
    }

    /// Somebody was accepted.
    pub(crate) fn over(&mut self) {
        self.pauses = Self::PAUSES;
    }

    /// Nobody could be.
    pub(crate) async fn rest(&mut self, error: &io::Error) {
        if let Some(unlogged) = self.throttle.admit(clock::now()) {
            tracing::warn!(%error, unlogged, "no {} can be accepted", self.who);
        }
        sleep(self.pauses.next()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_a_second_are_admitted_and_the_others_counted() {
        let mut throttle = Throttle::new(2);
        let at = |throttle: &mut Throttle, milli| throttle.admit(Ticks(5_000_000) + milliseconds(milli));
        assert_eq!([0, 10, 20, 999].map(|milli| at(&mut throttle, milli)), [Some(0), Some(0), None, None]);
        assert_eq!([1_000, 1_001, 1_500].map(|milli| at(&mut throttle, milli)), [Some(2), Some(0), None]);
        assert_eq!(at(&mut throttle, 60_000), Some(1));
    }
}
