//! Limits on a run.

use doorway_core::Stop;

/// Limits that end a run early, so that it takes bounded time and its log fits into memory.
#[derive(Clone, Debug, Default)]
pub struct RunLimits {
    /// The most logged events; the run ends after the step that reaches it.
    pub events: Option<usize>,
    /// A cancellation flag that the caller can set.
    pub stop: Option<Stop>,
}

impl RunLimits {
    /// The limits, or `None` if there are none.
    pub(crate) fn if_any(&self) -> Option<Self> {
        (self.events.is_some() || self.stop.is_some()).then(|| self.clone())
    }

    /// Whether a run with this number of events must end.
    pub(crate) fn is_reached(&self, events: usize) -> bool {
        let is_stopped = || self.stop.as_ref().is_some_and(Stop::is_said);
        self.events.is_some_and(|most| events >= most) || is_stopped()
    }
}
