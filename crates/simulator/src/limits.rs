//! When a run is to end although it could go on.

use doorway_core::Stop;

/// When a run is to end although it could go on, so that nobody waits for it for ever and its record fits into memory.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// So many events are recorded and no more than a step beyond.
    pub events: Option<usize>,
    /// Somebody else says this when the run is to end.
    pub stop: Option<Stop>,
}

impl Limits {
    /// The same, or none where nothing limits a run.
    pub(crate) fn if_any(&self) -> Option<Self> {
        (self.events.is_some() || self.stop.is_some()).then(|| self.clone())
    }

    /// Whether a run with so many events has to end.
    pub(crate) fn is_reached(&self, events: usize) -> bool {
        let is_told = || self.stop.as_ref().is_some_and(Stop::is_said);
        self.events.is_some_and(|most| events >= most) || is_told()
    }
}
