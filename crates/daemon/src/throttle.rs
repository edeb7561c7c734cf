//! A limit of log lines a second, and the backoff of listeners.

use std::io;
use std::time::Duration;

use doorway_client::backoff::Backoff;
use doorway_client::clock;
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

    /// Whether to log an event, and if so how many before it were not logged.
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

/// The backoff of a listener while it cannot accept connections, as when there are no more file descriptors: it waits, longer each
/// time, and tells the log once a second.
pub(crate) struct AcceptBackoff {
    who: &'static str,
    pauses: Backoff,
    throttle: Throttle,
}

impl AcceptBackoff {
    const PAUSES: Backoff = Backoff::between(Duration::from_millis(10), Duration::from_millis(500));

    /// For a listener of this kind of connections.
    pub(crate) fn new(who: &'static str) -> Self {
        Self { who, pauses: Self::PAUSES, throttle: Throttle::new(1) }
    }

    /// A connection was accepted.
    pub(crate) fn over(&mut self) {
        self.pauses = Self::PAUSES;
    }

    /// No connection could be accepted.
    pub(crate) async fn rest(&mut self, error: &io::Error) {
        if let Some(unlogged) = self.throttle.admit(clock::now()) {
            tracing::warn!(%error, unlogged, "cannot accept {}", self.who);
        }
        sleep(self.pauses.next()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_number_per_second_is_admitted_the_rest_is_counted() {
        let mut throttle = Throttle::new(2);
        let at = |throttle: &mut Throttle, milli| throttle.admit(Ticks(5_000_000) + milliseconds(milli));
        assert_eq!([0, 10, 20, 999].map(|milli| at(&mut throttle, milli)), [Some(0), Some(0), None, None]);
        assert_eq!([1_000, 1_001, 1_500].map(|milli| at(&mut throttle, milli)), [Some(2), Some(0), None]);
        assert_eq!(at(&mut throttle, 60_000), Some(1));
    }
}
