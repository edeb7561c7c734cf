//! How a section runs its algorithm, and the gate that every entry passes.

use doorway_core::{Fence, NodeId, Phase, SectionName, Start, To};

use super::Sections;
use super::forget::weight_of;
use crate::message::Parcel;
use crate::recipe::{Participant, StepOutput};
use crate::wire::{COUNTER_BITS, LAST_COUNTER};
use crate::{Flaw, Rules, View};

impl<R: Rules> Sections<R> {
    /// Brings a section's algorithm to life in the present view, in the state that it would have had from its beginning.
    pub(super) fn open_section(&mut self, name: &SectionName) {
        if self.stage.is_none() || self.section(name).running.is_some() {
            return;
        }
        let fresh = self.fresh(name);
        self.section(name).running = fresh;
        if self.recipe.is_perpetual() {
            self.broadcast(&Parcel::Open(name.clone()));
        }
        self.step(name, None, |running, post| running.start(post));
    }

    /// A section's algorithm as it is made in the present view.
    pub(super) fn fresh(&self, name: &SectionName) -> Option<Box<dyn Participant>> {
        let stage = self.stage.as_ref()?;
        let place = |node: &NodeId| stage.members.binary_search(node).ok().map(NodeId::new);
        // R11: the first state
        let start = stage.holders.get(name).and_then(place).map_or(Start::Empty, Start::Inside);
        Some(stage.blueprint.participant(stage.place, start))
    }

    /// Requests a section if a client here waits for it and the algorithm does not know yet.
    pub(super) fn want(&mut self, name: &SectionName) {
        self.open_section(name);
        let Some(section) = self.open.get_mut(name) else { return };
        if section.frozen.is_some() || section.line.is_empty() || section.running.is_none() {
            return;
        }
        match self.phase(name) {
            Phase::Outside => {
                self.step(name, None, |running, post| running.request(post));
                self.settle(name);
            }
            Phase::Waiting => {}
            Phase::Inside => self.settle(name),
        }
    }

    /// If the algorithm has let this node in: lets the next client in, holds the section back for a while, or gives it back.
    pub(super) fn settle(&mut self, name: &SectionName) {
        let Some(section) = self.open.get(name) else { return };
        if section.holder.is_some() || self.phase(name) != Phase::Inside {
            return;
        }
        let is_open = self.is_gate_open(name);
        let Some(section) = self.open.get_mut(name) else { return };
        match section.line.front().copied() {
            None => self.give_to_others(name),
            // R17: held, not refused
            Some(_) if !is_open || section.clock >= LAST_COUNTER => {
                self.held_back.insert(name.clone());
            }
            Some(next) => {
                section.line.pop_front();
                // R19: +1 on entry only
                section.clock += 1;
                let clock = section.clock;
                self.highest = self.highest.max(clock);
                section.in_a_row += 1;
                section.holder = Some(next);
                section.held_since = self.gate.now;
                let fence = self.fence(clock);
                self.enter(next, fence);
            }
        }
    }

    /// A client has left: the next one here comes in, unless it is time for others.
    pub(super) fn pass_on(&mut self, name: &SectionName) {
        // R10: in limbo only noted
        if self.phase(name) != Phase::Inside {
            return;
        }
        let is_open = self.is_gate_open(name);
        let Some(section) = self.open.get(name) else { return };
        if is_open && !section.line.is_empty() && section.in_a_row < Self::MOST_IN_A_ROW {
            self.settle(name);
        } else {
            self.give_to_others(name);
        }
    }

    /// Gives a section back to the algorithm, and requests it again if a client here waits.
    fn give_to_others(&mut self, name: &SectionName) {
        if let Some(section) = self.open.get_mut(name) {
            section.in_a_row = 0;
        }
        self.held_back.remove(name);
        self.step(name, None, |running, post| running.release(post));
        self.want(name);
    }

    /// Whether a section may be granted now.
    fn is_gate_open(&self, name: &SectionName) -> bool {
        let gate = &self.gate;
        let Some(stage) = &self.stage else { return false };
        let is_known = || stage.holders.contains_key(name);
        // R17: enter
        !gate.is_closed
            && !stage.disputed.contains(name)
            && gate.now < gate.deadline
            && (gate.now >= gate.quiet_until || is_known())
    }

    /// The fence of an entry with this counter.
    fn fence(&self, clock: u64) -> Fence {
        let view = self.view().unwrap_or_default().min(View::LAST);
        // R19: fence
        if self.has(Flaw::FenceWithoutView) { Fence(clock) } else { Fence((view << COUNTER_BITS) | clock) }
    }

    /// What the algorithm of a section says at another member has arrived.
    pub(super) fn hear(&mut self, from: NodeId, name: &SectionName, clock: u64, bytes: Vec<u8>) {
        self.open_section(name);
        self.section(name);
        let Some(section) = self.open.get_mut(name) else { return };
        if let Some(kept) = &mut section.frozen {
            let one = (from, clock, bytes);
            let weight = self.frozen_weight + weight_of(std::slice::from_ref(&one));
            if weight > Self::HEAVIEST_FROZEN {
                return self.suspect(from, "more messages for frozen sections than there can be");
            }
            self.frozen_weight = weight;
            kept.push(one);
            return;
        }
        // R19: max on receipt
        section.clock = section.clock.max(clock);
        self.highest = self.highest.max(clock);
        let Some(place) = self.place_of(from) else { return };
        self.step(name, Some(from), |running, post| running.message(place, &bytes, post));
        self.settle(name);
    }

    fn place_of(&self, node: NodeId) -> Option<NodeId> {
        self.stage.as_ref()?.members.binary_search(&node).ok().map(NodeId::new)
    }

    /// One step of a section's algorithm, because of a message from `from` if because of one; what it says is sent.
    fn step(
        &mut self,
        name: &SectionName,
        from: Option<NodeId>,
        act: impl FnOnce(&mut dyn Participant, &mut StepOutput),
    ) {
        let now = self.gate.now;
        let Some((stage, section)) = self.stage.as_mut().zip(self.open.get_mut(name)) else { return };
        let Some(running) = section.running.as_mut() else { return };
        let mut post = StepOutput::default();
        act(running.as_mut(), &mut post);
        section.touched = now;
        if let Some(what) = post.broken {
            self.counters.impossible += 1;
            from.into_iter().for_each(|from| {
                self.suspects.entry(from).or_insert(what);
            });
        }
        let clock = section.clock;
        for (to, bytes) in post.sends {
            let parcel = Parcel::Section { section: name.clone(), clock, bytes };
            let mut send = |place: NodeId| {
                let Some(&member) = stage.members.get(place.index()) else { return };
                let seq = stage.delivery.send(member, parcel.clone(), now);
                match section.last_sent.iter_mut().find(|(node, _)| *node == member) {
                    Some(last) => last.1 = seq,
                    None => section.last_sent.push((member, seq)),
                }
            };
            match to {
                To::One(place) => send(place),
                To::Set(places) => places.iter().for_each(send),
            }
        }
    }

    /// Sends a parcel to all other members.
    pub(super) fn broadcast(&mut self, parcel: &Parcel) {
        let (now, me) = (self.gate.now, self.me);
        let Some(stage) = &mut self.stage else { return };
        for &member in stage.members.iter().filter(|member| **member != me) {
            stage.delivery.send(member, parcel.clone(), now);
        }
    }
}
