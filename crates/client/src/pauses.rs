//! How long to wait before something that failed is tried once more.
//!
//! A daemon that restarts is back in no time, and one that does not come back must not be asked for ever as if it would: each
//! pause is twice as long as the one before, up to a bound.

use std::time::Duration;

/// The pauses between two tries.
#[derive(Clone, Debug)]
pub struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    /// Those of a client that looks for its daemon.
    pub(crate) const OF_CLIENT: Self = Self::between(Duration::from_millis(25), Duration::from_secs(2));

    /// Pauses of which the first is as short and none is longer.
    #[must_use]
    pub const fn between(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The next pause; the one after it is longer.
    #[expect(clippy::should_implement_trait, reason = "there is no end to pauses")]
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
        let mut pauses = Pauses::OF_CLIENT;
        let first: Vec<u128> = std::iter::repeat_with(|| pauses.next().as_millis()).take(9).collect();
        assert_eq!(first, [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    }
}
