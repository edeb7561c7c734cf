//! A request to stop long work. Drivers poll it; algorithms never see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag. All clones share it, and it cannot be reset.
///
/// ```
/// let stop = doorway_core::Stop::default();
/// let heard = stop.clone();
/// assert!(!heard.is_said());
/// stop.say();
/// assert!(heard.is_said());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Requests the stop.
    pub fn say(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a stop was requested.
    #[inline]
    #[must_use]
    pub fn is_said(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
