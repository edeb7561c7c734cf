//! What ends an analysis of whole runs before its end: its time is up, or somebody says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use doorway_core::Stop;

/// Looked at now and then by whatever goes through all states. What an analysis says that was ended by it means nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brake {
    stop: Stop,
    until: Option<Instant>,
    /// Whether anybody was told to end.
    has_ended: Arc<AtomicBool>,
}

impl Brake {
    /// Ends what is still going on at this time, or when it is said.
    pub(crate) fn new(stop: &Stop, until: Option<Instant>) -> Self {
        Self { stop: stop.clone(), until, has_ended: Arc::default() }
    }

    /// Whether whoever asks has to end now.
    pub(crate) fn is_pulled(&self) -> bool {
        let is_pulled = self.stop.is_said() || self.until.is_some_and(|until| Instant::now() > until);
        if is_pulled {
            self.has_ended.store(true, Ordering::Relaxed);
        }
        is_pulled
    }

    /// The same for who asks very often: only each so many times it is looked at.
    #[inline]
    pub(crate) fn is_pulled_after(&self, times: &mut u32) -> bool {
        const SELDOM: u32 = 1 << 12;
        *times = times.wrapping_add(1);
        times.is_multiple_of(SELDOM) && self.is_pulled()
    }

    /// Whether somebody ended before the end.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }
}
