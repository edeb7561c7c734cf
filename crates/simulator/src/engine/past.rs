//! The causal past that messages carry, in runs that need it.

use doorway_core::{NodeId, Ticks, VectorClock};

/// Metadata of a message.
#[derive(Clone)]
pub(super) struct Note {
    /// The event of its sending in the log.
    pub(super) sent: Option<u64>,
    /// The sender's vector clock.
    pub(super) clock: Option<VectorClock>,
    /// On causal channels: for each node, the arrival time of the latest message to it among those sent
    /// before.
    pub(super) horizon: Option<Box<[Ticks]>>,
}

impl Note {
    /// The note of a plain message.
    pub(super) fn of_sending(sent: u32) -> Self {
        Self { sent: Some(sent.into()), clock: None, horizon: None }
    }
}

/// The causal past of each node, as far as the run needs it.
pub(super) struct Past {
    pub(super) clocks: Option<Vec<VectorClock>>,
    pub(super) horizons: Option<Vec<Box<[Ticks]>>>,
}

impl Past {
    /// The note for a message of this node, if it needs one.
    pub(super) fn note(&self, from: NodeId, sent: Option<u64>) -> Option<Box<Note>> {
        let at = from.index();
        let clock = self.clocks.as_ref().map(|clocks| clocks[at].clone());
        let horizon = self.horizons.as_ref().map(|horizons| horizons[at].clone());
        let is_plain = sent.is_none() && clock.is_none() && horizon.is_none();
        (!is_plain).then(|| Box::new(Note { sent, clock, horizon }))
    }

    pub(super) fn hear(&mut self, node: NodeId, note: &Note) {
        if let Some((clocks, heard)) = self.clocks.as_mut().zip(note.clock.as_ref()) {
            clocks[node.index()].merge(heard);
        }
        if let Some((horizons, heard)) = self.horizons.as_mut().zip(note.horizon.as_ref()) {
            for (mine, theirs) in horizons[node.index()].iter_mut().zip(heard) {
                *mine = (*mine).max(*theirs);
            }
        }
    }

    /// The arrival time of the latest message to `to` that causally precedes a message that `from` sends now.
    pub(super) fn horizon(&self, from: NodeId, to: NodeId) -> Ticks {
        self.horizons.as_ref().map_or(Ticks(0), |horizons| horizons[from.index()][to.index()])
    }

    pub(super) fn extend_horizon(&mut self, from: NodeId, to: NodeId, arrival: Ticks) {
        if let Some(horizons) = &mut self.horizons {
            let horizon = &mut horizons[from.index()][to.index()];
            *horizon = (*horizon).max(arrival);
        }
    }
}
