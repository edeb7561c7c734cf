//! How long a client waits before it looks for its daemon once more.
//!
//! A daemon that restarts is back in no time, and one that does not come back must not be asked for ever as if it would: each
//! pause is twice as long as the one before, up to a bound.

use std::time::Duration;

/// The pauses between two tries.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
}

impl Pauses {
    /// How long after the end of a connection the next is tried.
    const FIRST: Duration = Duration::from_millis(25);
    /// The longest pause.
    const LONGEST: Duration = Duration::from_secs(2);

    pub(crate) fn new() -> Self {
        Self { next: Self::FIRST }
    }

    /// The next pause; the one after it is longer.
    pub(crate) fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = Self::LONGEST.min(pause * 2);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_seconds() {
        let mut pauses = Pauses::new();
        let first: Vec<u128> = std::iter::repeat_with(|| pauses.next().as_millis()).take(9).collect();
        assert_eq!(first, [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    }
}
