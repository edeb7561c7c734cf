//! Manual delivery, for scripts: every message waits until the script delivers or loses it.

use doorway_core::{Machine, NodeId, VectorClock, kind};
use doorway_trace::What;

use super::{Engine, Envelope, LostMessage};

impl<M: Machine> Engine<M> {
    /// From now on every message waits for manual delivery.
    pub(crate) fn hold_messages(&mut self) {
        self.held = Some(Vec::new());
        self.plain_latency = None;
    }

    /// From now on messages carry vector clocks.
    pub(crate) fn track_causality(&mut self) {
        let n = self.machines.len();
        self.past.clocks.get_or_insert_with(|| vec![VectorClock::new(n); n]);
    }

    /// Merges one node's causal past into another's, where causality is tracked.
    pub(crate) fn tell(&mut self, from: NodeId, to: NodeId) {
        if let Some(clocks) = &mut self.past.clocks {
            let heard = clocks[from.index()].clone();
            clocks[to.index()].merge(&heard);
        }
    }

    /// The messages that wait for manual delivery, in the order of sending.
    pub(crate) fn held(&self) -> &[Envelope<M>] {
        self.held.as_deref().unwrap_or_default()
    }

    /// The event in which the message at this place was sent, if the run is recorded.
    pub(crate) fn sent_in(&self, place: usize) -> Option<u64> {
        self.held().get(place)?.note.as_ref()?.sent
    }

    /// Whether the message at one place happened before the one at another.
    pub(crate) fn held_before(&self, earlier: usize, later: usize) -> bool {
        let clock = |place: usize| self.held().get(place)?.note.as_ref()?.clock.as_ref();
        clock(earlier).zip(clock(later)).is_some_and(|(earlier, later)| earlier <= later)
    }

    /// Delivers one of them. Returns its receiver if that took a step.
    pub(crate) fn deliver_held(&mut self, place: usize) -> Option<NodeId> {
        let letter = self.held.as_mut().map(|held| held.remove(place))?;
        self.deliver(letter)
    }

    /// Loses one of them.
    pub(crate) fn lose_held(&mut self, place: usize) {
        let Some(letter) = self.held.as_mut().map(|held| held.remove(place)) else { return };
        let Envelope { from, to, msg, note, .. } = letter;
        let sent = note.and_then(|note| note.sent);
        self.lose(LostMessage { from, to, kind: kind(&msg).name, why: "lost by the script" }, sent);
    }

    /// Inserts a copy of one of them behind it.
    pub(crate) fn double_held(&mut self, place: usize) {
        if let Some(held) = &mut self.held {
            let Envelope { from, to, header, ref msg, ref note } = held[place];
            let copy = Envelope { from, to, header, msg: msg.clone(), note: note.clone() };
            held.insert(place + 1, copy);
            self.traffic.duplicated += 1;
        }
    }

    /// Logs that a node's logical clock was set to this count.
    pub(crate) fn note_clock(&mut self, node: NodeId, count: u64) {
        if let Some(log) = &mut self.log {
            log.push(self.agenda.now(), node, What::Clock { count }, "", None);
        }
    }

    /// Logs that the run repeats from here on.
    pub(crate) fn note_loop(&mut self) {
        if let Some(log) = &mut self.log {
            log.push(self.agenda.now(), NodeId::new(0), What::Loop, "", None);
        }
    }
}
