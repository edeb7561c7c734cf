//! Messages on their way.

use doorway_core::{Machine, NodeId, Sent, To};

use super::past::Note;

/// A message for one recipient.
pub(crate) struct Letter<M: Machine> {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(super) header: M::Header,
    pub(crate) msg: M::Msg,
    /// What only some runs need to know of it.
    pub(super) note: Option<Box<Note>>,
}

/// All that one step has sent, where all of it arrives at the same time.
pub(super) struct Batch<M: Machine> {
    pub(super) from: NodeId,
    pub(super) header: M::Header,
    /// If there is a record: the event in which the next one was sent. Those behind it follow each other.
    pub(super) sent: u32,
    /// What is still to be delivered, the next one last.
    pub(super) sends: Vec<Sent<M::Msg>>,
}

/// A message that never arrived.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) kind: &'static str,
    pub(crate) why: &'static str,
}

impl Loss {
    /// Why a message does not reach a node that is down.
    pub(super) const CRASHED: &'static str = "its receiver had crashed";
}

impl<M: Machine> Letter<M> {
    /// The event of its sending in the trace.
    pub(super) fn sent(&self) -> Option<u64> {
        self.note.as_ref()?.sent
    }

    pub(super) fn outline(&self) -> doorway_core::Letter<'_, M::Msg> {
        doorway_core::Letter { from: self.from, to: self.to, msg: &self.msg }
    }
}

impl<M: Machine> Batch<M> {
    pub(super) fn outlines(&self) -> Vec<doorway_core::Letter<'_, M::Msg>> {
        let mut letters = Vec::new();
        for Sent { to, msg, .. } in &self.sends {
            let mut add = |to| letters.push(doorway_core::Letter { from: self.from, to, msg });
            match to {
                To::One(to) => add(*to),
                To::Set(nodes) => nodes.iter().for_each(add),
            }
        }
        letters
    }
}
