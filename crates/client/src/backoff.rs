//! How long to wait before a retry.
//!
//! A daemon that restarts is back soon, and one that stays away must not be polled at that rate for ever: each pause is twice as
//! long as the one before, up to a bound.

use std::time::Duration;

/// Exponential backoff: the pauses between retries.
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// The backoff of a client that looks for its daemon.
    pub(crate) const OF_CLIENT: Self = Self::between(Duration::from_millis(25), Duration::from_secs(2));

    /// Backoff from `first`, doubling up to `longest`.
    #[must_use]
    pub const fn between(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The next pause; the one after it is longer.
    #[expect(clippy::should_implement_trait, reason = "a backoff never ends")]
    pub fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = self.longest.min(pause * 2);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_seconds() {
        let mut pauses = Backoff::OF_CLIENT;
        let first: Vec<u128> = std::iter::repeat_with(|| pauses.next().as_millis()).take(9).collect();
        assert_eq!(first, [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    }
}
