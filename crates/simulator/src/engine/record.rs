//! Records of a run: messages in flight, losses, and the log.

use doorway_core::{Machine, NodeId, VectorClock};
use doorway_trace::{Log, What};

use super::letters::Batch;
use super::{Due, Engine, Envelope, LostMessage};
use crate::traffic::Traffic;

impl<M: Machine> Engine<M> {
    /// Logs an event of a node, if the run is recorded.
    #[inline]
    pub(super) fn note(&mut self, node: NodeId, what: What) {
        if let Some(log) = &mut self.log {
            log.push(self.agenda.now(), node, what, "", None);
        }
    }

    /// The first messages that never arrived.
    pub(crate) fn losses(&self) -> &[LostMessage] {
        &self.lost
    }

    /// The vector clock of a node, if causality is tracked.
    pub(crate) fn clock(&self, node: NodeId) -> Option<&VectorClock> {
        self.past.clocks.as_ref().map(|clocks| &clocks[node.index()])
    }

    /// The numbers of messages that have an intervention but were never sent.
    pub(crate) fn never_sent(&self) -> Vec<u64> {
        self.wire.never_sent()
    }

    /// Starts the log. The engine logs messages, timers, writes, pauses, crashes and restarts. The driver
    /// logs starts and commands, each as a step of its node and before it executes it, because every sending
    /// refers to the step logged before it; it may log more.
    ///
    /// # Panics
    /// If a message is in flight, whose sending is not in the log.
    pub fn record(&mut self) {
        assert!(self.in_flight().is_empty(), "a record begins before anything is sent");
        (self.log, self.is_watched) = (Some(Log::of::<M::Msg>()), true);
    }

    /// The log, if the run is recorded.
    pub fn log(&mut self) -> Option<&mut Log> {
        self.log.as_mut()
    }

    /// The log and the message counts, at the end of a run.
    #[must_use]
    pub fn into_records(self) -> (Option<Log>, Traffic) {
        (self.log, self.traffic)
    }

    /// The messages in flight, in no particular order.
    pub fn in_flight(&self) -> Vec<doorway_core::InFlightMessage<'_, M::Msg>> {
        let due = self.agenda.iter().chain(self.kept()).flat_map(|due| match due {
            Due::Letter(letter) | Due::Arrived(letter) => vec![letter.outline()],
            Due::Batch(batch) => batch.outlines(),
            Due::Timer(..) | Due::Written(..) | Due::Alarm(_) => Vec::new(),
        });
        let held = self.held.iter().flatten().map(Envelope::outline);
        self.batch.iter().flat_map(Batch::outlines).chain(due).chain(held).collect()
    }
}
