//! Messages in flight.

use doorway_core::{Machine, NodeId, Sent, To};

use super::past::Note;

/// A message for one recipient.
pub(crate) struct Envelope<M: Machine> {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(super) header: M::Header,
    pub(crate) msg: M::Msg,
    /// Data that only some runs need.
    pub(super) note: Option<Box<Note>>,
}

/// All messages of one step, which arrive at the same time.
pub(super) struct Batch<M: Machine> {
    pub(super) from: NodeId,
    pub(super) header: M::Header,
    /// If the run is recorded: the event in which the next message was sent. Later messages have consecutive
    /// events.
    pub(super) sent: u32,
    /// The undelivered messages, in reverse order.
    pub(super) sends: Vec<Sent<M::Msg>>,
}

/// A message that never arrived.
#[derive(Clone, Debug)]
pub(crate) struct LostMessage {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) kind: &'static str,
    pub(crate) why: &'static str,
}

impl LostMessage {
    /// The reason for the loss of a message to a crashed node.
    pub(super) const CRASHED: &'static str = "its receiver had crashed";
}

impl<M: Machine> Envelope<M> {
    /// The event of its sending in the log.
    pub(super) fn sent(&self) -> Option<u64> {
        self.note.as_ref()?.sent
    }

    pub(super) fn outline(&self) -> doorway_core::InFlightMessage<'_, M::Msg> {
        doorway_core::InFlightMessage { from: self.from, to: self.to, msg: &self.msg }
    }
}

impl<M: Machine> Batch<M> {
    pub(super) fn outlines(&self) -> Vec<doorway_core::InFlightMessage<'_, M::Msg>> {
        let mut letters = Vec::new();
        for Sent { to, msg, .. } in &self.sends {
            let mut add = |to| letters.push(doorway_core::InFlightMessage { from: self.from, to, msg });
            match to {
                To::One(to) => add(*to),
                To::Set(nodes) => nodes.iter().for_each(add),
            }
        }
        letters
    }
}

impl std::fmt::Display for LostMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LostMessage { from, to, kind, why } = self;
        write!(f, "{kind} {from}->{to} ({why})")
    }
}
