//! Sends the messages of a step or loses them.

use doorway_core::{Kind, Machine, NodeId, Sent, Ticks, To};

use super::letters::Batch;
use super::{Due, Engine, Envelope, LostMessage};
use crate::network::Fate;
use crate::size::measure;

impl<M: Machine> Engine<M> {
    /// The number of lost messages kept for a diagnosis.
    const LOSSES_KEPT: usize = 16;

    /// Sends all messages of a step as one event: on a network with constant latency and no loss.
    #[inline(never)]
    pub(super) fn send_batch(&mut self, from: NodeId, latency: Ticks) {
        let Self { agenda, effects, traffic, spare, log, .. } = self;
        let header = effects.header;
        let sent = log.as_ref().map_or(0, |log| log.len() as u32 + 1);
        for Sent { to, msg, rule } in effects.out.sends() {
            let (kind, bytes) = measure(&header, msg);
            traffic.count_sent(from, kind, bytes, to.count() as u64);
            if let Some(log) = log {
                log.seal(kind.name, rule, msg);
                log.send_to(to);
            }
        }
        let arrival = agenda.now() + latency;
        if let ([Sent { to: To::One(to), .. }], None) = (effects.out.sends(), &log) {
            let to = *to;
            for Sent { msg, .. } in effects.out.drain() {
                agenda.put(arrival, Due::Letter(Envelope { from, to, header, msg, note: None }));
            }
        } else {
            let mut sends = effects.out.take_sends(spare.pop().unwrap_or_default());
            sends.reverse();
            agenda.put(arrival, Due::Batch(Batch { from, header, sent, sends }));
        }
    }

    /// Sends each copy on its own, with its own latency, loss and note.
    pub(super) fn send_each(&mut self, from: NodeId) {
        let mut out = std::mem::take(&mut self.effects.out);
        for Sent { to, msg, rule } in out.drain() {
            let (kind, bytes) = measure(&self.effects.header, &msg);
            self.traffic.count_sent(from, kind, bytes, to.count() as u64);
            if let Some(log) = &mut self.log {
                log.seal(kind.name, rule, &msg);
            }
            match to {
                To::One(to) => self.send_one(from, to, msg, kind),
                To::Set(nodes) => nodes.iter().for_each(|to| self.send_one(from, to, msg.clone(), kind)),
            }
        }
        self.effects.out = out;
    }

    fn send_one(&mut self, from: NodeId, to: NodeId, msg: M::Msg, kind: Kind) {
        let now = self.agenda.now();
        let header = self.effects.header;
        let sent = self.log.as_mut().map(|log| log.send(to));
        if let Some(held) = &mut self.held {
            let note = self.past.note(from, sent);
            return held.push(Envelope { from, to, header, msg, note });
        }
        let fate = self.wire.fate(from, to, now, self.past.horizon(from, to));
        self.count_fate(&fate);
        if let Some(arrival) = fate.arrival {
            self.past.extend_horizon(from, to, arrival.max(fate.duplicate.unwrap_or_default()));
            let note = self.past.note(from, sent);
            if let Some(again) = fate.duplicate {
                let copy = Envelope { from, to, header, msg: msg.clone(), note: note.clone() };
                self.agenda.put(again, Due::Letter(copy));
            }
            self.agenda.put(arrival, Due::Letter(Envelope { from, to, header, msg, note }));
        } else {
            self.lose(LostMessage { from, to, kind: kind.name, why: fate.lost }, sent);
        }
    }

    fn count_fate(&mut self, fate: &Fate) {
        self.traffic.resent += fate.resent;
        self.traffic.acknowledgements += fate.acknowledgements;
        self.traffic.duplicated += u64::from(fate.duplicate.is_some()) + fate.removed;
    }

    pub(super) fn lose(&mut self, loss: LostMessage, sent: Option<u64>) {
        self.traffic.lost += 1;
        if let Some((log, sent)) = self.log.as_mut().zip(sent) {
            log.lose(self.agenda.now(), sent, loss.why);
        }
        if self.lost.len() < Self::LOSSES_KEPT {
            self.lost.push(loss);
        }
    }
}
