//! What is known of a run: what is on its way, what was lost, and what was written down.

use doorway_core::{Machine, NodeId, VectorClock};
use doorway_trace::{Log, What};

use super::letters::Batch;
use super::{Due, Engine, Letter, Loss};
use crate::traffic::Traffic;

impl<M: Machine> Engine<M> {
    /// Writes down what happens to a node now, if anything is.
    #[inline]
    pub(super) fn note(&mut self, node: NodeId, what: What) {
        if let Some(log) = &mut self.log {
            log.push(self.agenda.now(), node, what, "", None);
        }
    }

    /// The first messages that never arrived.
    pub(crate) fn losses(&self) -> &[Loss] {
        &self.lost
    }

    /// What had happened before the present, as node `node` knows it, if that is tracked.
    pub(crate) fn clock(&self, node: NodeId) -> Option<&VectorClock> {
        self.past.clocks.as_ref().map(|clocks| &clocks[node.index()])
    }

    /// The messages about which something was decided and that were never sent.
    pub(crate) fn never_sent(&self) -> Vec<u64> {
        self.wire.never_sent()
    }

    /// From now on what happens is written down: messages, reminders, writes, pauses, crashes and restarts by the engine. Whoever
    /// starts machines and gives them commands writes that down before it does, as a step of that node, since whatever is sent
    /// comes of the step before it; and besides whatever else it knows.
    ///
    /// # Panics
    /// If a message is under way, whose sending was not written down.
    pub fn record(&mut self) {
        assert!(self.in_flight().is_empty(), "a record begins before anything is sent");
        (self.log, self.is_watched) = (Some(Log::of::<M::Msg>()), true);
    }

    /// What happened, if it is written down.
    pub fn log(&mut self) -> Option<&mut Log> {
        self.log.as_mut()
    }

    /// What was recorded and counted, at the end of a run.
    #[must_use]
    pub fn into_records(self) -> (Option<Log>, Traffic) {
        (self.log, self.traffic)
    }

    /// What is on its way, in no particular order.
    pub fn in_flight(&self) -> Vec<doorway_core::Letter<'_, M::Msg>> {
        let due = self.agenda.iter().chain(self.kept()).flat_map(|due| match due {
            Due::Letter(letter) | Due::Arrived(letter) => vec![letter.outline()],
            Due::Batch(batch) => batch.outlines(),
            Due::Timer(..) | Due::Written(..) | Due::Alarm(_) => Vec::new(),
        });
        let held = self.held.iter().flatten().map(Letter::outline);
        self.batch.iter().flat_map(Batch::outlines).chain(due).chain(held).collect()
    }
}
