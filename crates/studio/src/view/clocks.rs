//! The logical times of a run, as a page shows them.

use doorway_core::Refusal;
use doorway_picture::{StepTimes, step_times};
use doorway_trace::clocks::times;
use doorway_trace::{ClockKind, Event, Header};
use serde::Serialize;

/// The logical times of all events, and of all steps as labels for the diagram. Empty lists where they are not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClocksView {
    /// The times of each event, or nothing if it has none.
    lamport: Vec<Option<u64>>,
    vector: Vec<Option<String>>,
    /// The labels of steps.
    lamport_steps: Vec<StepTimes>,
    vector_steps: Vec<StepTimes>,
}

impl ClocksView {
    /// In longer runs of many nodes there are no vectors: a page would be too large.
    const MOST_NUMBERS: usize = 400_000;

    /// The times of a run; none if they cannot be computed.
    #[must_use]
    pub fn new(header: &Header, events: &[Event]) -> Self {
        Self::computed(header, events).unwrap_or_default()
    }

    fn computed(header: &Header, events: &[Event]) -> Result<Self, Refusal> {
        let scalars = times(header, events, ClockKind::Lamport)?;
        let lamport = scalars.iter().map(|time| time.as_ref().map(|time| time.lamport)).collect();
        let lamport_steps = step_times(header, events, ClockKind::Lamport)?;
        let view = Self { lamport, lamport_steps, ..Self::default() };
        if events.len().saturating_mul(header.nodes) > Self::MOST_NUMBERS {
            return Ok(view);
        }
        let label = |time| ClockKind::Vector.label(time, header.nodes);
        let vectors = times(header, events, ClockKind::Vector)?;
        let vector = vectors.iter().map(|time| time.as_ref().map(label)).collect();
        Ok(Self { vector, vector_steps: step_times(header, events, ClockKind::Vector)?, ..view })
    }
}
