//! Cancels an analysis of whole runs on timeout or on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use doorway_core::Stop;

/// A cancellation token with a deadline, polled by every loop over all states. The result of a cancelled
/// analysis is meaningless.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation {
    stop: Stop,
    until: Option<Instant>,
    /// Whether any poll returned true.
    was_cancelled: Arc<AtomicBool>,
}

impl Cancellation {
    /// Cancels at this time, or when `stop` is set.
    pub(crate) fn new(stop: &Stop, until: Option<Instant>) -> Self {
        Self { stop: stop.clone(), until, was_cancelled: Arc::default() }
    }

    /// Whether the caller must stop now.
    pub(crate) fn is_cancelled(&self) -> bool {
        let is_cancelled = self.stop.is_said() || self.until.is_some_and(|until| Instant::now() > until);
        if is_cancelled {
            self.was_cancelled.store(true, Ordering::Relaxed);
        }
        is_cancelled
    }

    /// The same for tight loops: checks only once in every few thousand calls, counted by `times`.
    #[inline]
    pub(crate) fn poll(&self, times: &mut u32) -> bool {
        const INTERVAL: u32 = 1 << 12;
        *times = times.wrapping_add(1);
        times.is_multiple_of(INTERVAL) && self.is_cancelled()
    }

    /// Whether an analysis was cancelled.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.was_cancelled.load(Ordering::Relaxed)
    }
}
