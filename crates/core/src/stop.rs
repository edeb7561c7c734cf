//! A word from outside that work is to end. Algorithms never hear it; drivers that work for long listen now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A word that can be said once, and is heard by all who have a copy of it.
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
    /// Says it.
    pub fn say(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was said.
    #[inline]
    #[must_use]
    pub fn is_said(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
