//! Writes down what happens, when asked to.

use std::borrow::Cow;

use doorway_core::{NodeId, Ticks};
use doorway_trace::{Event, What};

/// The events of a run so far.
#[derive(Debug, Default)]
pub struct Recorder {
    events: Vec<Event>,
    /// The step that is being made: the cause of what it sends and of the entry it leads to.
    step: Option<u64>,
}

impl Recorder {
    /// A node makes a step, which causes what is written down until the next one.
    pub fn step(&mut self, time: Ticks, node: NodeId, what: What, cause: Option<u64>) {
        self.step = Some(self.write(time, node, what, "", cause));
    }

    /// Something comes of the step that is being made.
    pub fn effect(&mut self, time: Ticks, node: NodeId, what: What, rule: &'static str) -> u64 {
        self.write(time, node, what, rule, self.step)
    }

    /// Something happens by itself.
    pub fn incident(&mut self, time: Ticks, node: NodeId, what: What, cause: Option<u64>) {
        self.write(time, node, what, "", cause);
    }

    fn write(
        &mut self,
        time: Ticks,
        node: NodeId,
        what: What,
        rule: &'static str,
        cause: Option<u64>,
    ) -> u64 {
        let id = self.events.len() as u64 + 1;
        let rule = (!rule.is_empty()).then_some(Cow::Borrowed(rule));
        self.events.push(Event { id, time, node, what, rule, cause });
        id
    }

    /// How many events there are so far.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// All events.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}
