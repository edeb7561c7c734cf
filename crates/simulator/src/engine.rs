//! The engine: virtual time for machines of any kind.

mod by_hand;
mod letters;
mod past;

use doorway_core::{Channels, Effects, Kind, Machine, NodeId, NodeSet, Sent, Ticks, To, VectorClock, kind};
use doorway_trace::{Log, What};

use self::letters::Batch;
pub(crate) use self::letters::{Letter, Loss};
use self::past::Past;
use crate::agenda::Agenda;
use crate::faults::Crash;
use crate::network::{Fate, Wire};
use crate::settings::Settings;
use crate::size::measure;
use crate::traffic::Traffic;

/// Machines, the network between them, and what is due when.
///
/// The engine steps machines and schedules what comes of it. What machines tell their applications it leaves in
/// [`Engine::effects`], for whoever plays the applications.
pub struct Engine<M: Machine> {
    machines: Vec<M>,
    agenda: Agenda<Due<M>>,
    wire: Wire,
    /// The latency of everything, if nothing can go wrong and nobody asks what happened before what.
    plain_latency: Option<Ticks>,
    disk_latency: Ticks,
    effects: Effects<M>,
    /// What is being delivered, one recipient at a time.
    batch: Option<Batch<M>>,
    /// Emptied batches with their room.
    spare: Vec<Vec<Sent<M::Msg>>>,
    /// In a script: what was sent and waits to be delivered by hand.
    held: Option<Vec<Letter<M>>>,
    /// Crashes to come, latest first.
    crashes: Vec<Crash>,
    /// Whether anybody has crashed or will.
    can_crash: bool,
    /// Whether each arrival is looked at: its receiver may have crashed, or it is written down.
    is_watched: bool,
    crashed: NodeSet,
    just_crashed: Vec<NodeId>,
    past: Past,
    traffic: Traffic,
    /// What happened, if it is written down.
    log: Option<Log>,
    lost: Vec<Loss>,
}

/// Something on the agenda.
enum Due<M: Machine> {
    Letter(Letter<M>),
    Batch(Batch<M>),
    Timer(NodeId, M::Timer),
    Written(NodeId, M::Write),
}

impl<M: Machine> Engine<M> {
    /// How many lost messages are remembered for a diagnosis.
    const LOSSES_KEPT: usize = 16;

    /// An engine for these machines, at time 0. Nothing is stepped yet.
    #[must_use]
    pub fn new(machines: Vec<M>, settings: &Settings) -> Self {
        let n = machines.len();
        let wire = Wire::new(settings);
        let causal = settings.channels == Channels::Causal;
        let past = Past {
            clocks: settings.order.then(|| vec![VectorClock::new(n); n]),
            horizons: (causal && wire.plain_latency().is_none())
                .then(|| vec![vec![Ticks(0); n].into_boxed_slice(); n]),
        };
        let mut crashes = settings.faults.crashes.clone();
        crashes.sort_by_key(|crash| (std::cmp::Reverse(crash.at), std::cmp::Reverse(crash.node)));
        Self {
            plain_latency: wire.plain_latency().filter(|_| past.clocks.is_none()),
            disk_latency: settings.disk_latency,
            traffic: Traffic::new(n),
            log: None,
            machines,
            agenda: Agenda::new(),
            wire,
            effects: Effects::default(),
            batch: None,
            spare: Vec::new(),
            held: None,
            can_crash: !crashes.is_empty(),
            is_watched: !crashes.is_empty(),
            crashes,
            crashed: NodeSet::new(),
            just_crashed: Vec::new(),
            past,
            lost: Vec::new(),
        }
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.agenda.now()
    }

    /// The machines in the order of their nodes.
    #[must_use]
    pub fn machines(&self) -> &[M] {
        &self.machines
    }

    /// One machine, to prepare a textbook example.
    pub fn machine_mut(&mut self, node: NodeId) -> &mut M {
        &mut self.machines[node.index()]
    }

    /// What came of the last step; what was to be sent is on its way already.
    #[must_use]
    pub fn effects(&self) -> &Effects<M> {
        &self.effects
    }

    /// What the network has carried.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Forgets what the network has carried so far.
    pub fn restart_traffic(&mut self) {
        self.traffic.restart();
    }

    /// Whether a node has stopped for good.
    #[must_use]
    pub fn is_crashed(&self, node: NodeId) -> bool {
        self.crashed.contains(node)
    }

    /// Who has stopped for good.
    #[must_use]
    pub fn crashed(&self) -> &NodeSet {
        &self.crashed
    }

    /// When the next thing is due.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        if self.batch.is_some() { Some(self.now()) } else { self.agenda.next_time() }
    }

    /// Whether something is due at the present tick.
    #[inline]
    #[must_use]
    pub fn is_something_due_now(&self) -> bool {
        self.batch.is_some() || self.agenda.is_something_due_now()
    }

    /// How many things are on the agenda; all that one step sent may be one of them.
    #[must_use]
    pub fn due(&self) -> usize {
        self.agenda.len()
    }

    /// When the next node crashes. Whoever moves the time must come to that time first.
    #[inline]
    #[must_use]
    pub fn next_crash(&self) -> Option<Ticks> {
        self.crashes.last().map(|crash| crash.at)
    }

    /// Moves the present to `to`, where nothing may be due before, and lets those crash who must.
    pub fn advance_to(&mut self, to: Ticks) {
        self.agenda.advance(to);
        while let Some(crash) = self.crashes.pop_if(|crash| crash.at <= to) {
            self.crash(crash.node);
        }
    }

    /// An application speaks to its machine.
    pub fn command(&mut self, node: NodeId, command: M::Command) {
        let (machine, now, effects) = self.begin_step(node);
        machine.on_command(now, command, effects);
        self.end_step(node);
    }

    /// Brings a machine to life.
    pub fn start(&mut self, node: NodeId) {
        let (machine, now, effects) = self.begin_step(node);
        machine.on_start(now, effects);
        self.end_step(node);
    }

    /// Makes the next thing happen that is due; tells which node made a step, if one did: what was meant for a node
    /// that has crashed is lost.
    #[inline]
    pub fn advance(&mut self) -> Option<NodeId> {
        if self.can_crash && self.crashes_first() {
            return None;
        }
        let Some(batch) = &mut self.batch else {
            return match self.agenda.take()? {
                Due::Letter(Letter { from, to, header, msg, note: None }) => {
                    self.receive(from, to, header, msg, 0)
                }
                rare => self.advance_rarely(rare),
            };
        };
        let Batch { from, header, sent, ref mut sends } = *batch;
        batch.sent = sent.wrapping_add(1);
        let next = sends.last_mut()?;
        let (to, is_last) = match &mut next.to {
            To::One(to) => (*to, true),
            To::Set(nodes) => (nodes.pop_least()?, nodes.is_empty()),
        };
        if !is_last {
            let msg = next.msg.clone();
            return self.receive(from, to, header, msg, sent);
        }
        let Sent { msg, .. } = sends.pop()?;
        if sends.is_empty() {
            self.spare.extend(self.batch.take().map(|batch| batch.sends));
        }
        self.receive(from, to, header, msg, sent)
    }

    /// A message arrives, that was sent in event `sent` if there is a record. Inlined, so that it goes from the agenda to the algorithm without being copied in between.
    #[inline(always)]
    fn receive(
        &mut self,
        from: NodeId,
        to: NodeId,
        header: M::Header,
        msg: M::Msg,
        sent: u32,
    ) -> Option<NodeId> {
        if self.is_watched && !self.accepts(from, to, &msg, Some(sent.into())) {
            return None;
        }
        self.traffic.count_received(to);
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
        Some(to)
    }

    /// Lets those crash who must before the next thing that is due, or with it; tells whether somebody did.
    #[inline(never)]
    fn crashes_first(&mut self) -> bool {
        let crash = self.next_crash().filter(|crash| self.next_time().is_some_and(|due| *crash <= due));
        crash.into_iter().for_each(|crash| self.advance_to(crash));
        crash.is_some()
    }

    /// The things that are due more seldom than a plain message.
    #[inline(never)]
    fn advance_rarely(&mut self, due: Due<M>) -> Option<NodeId> {
        match due {
            Due::Letter(letter) => self.deliver(letter),
            Due::Batch(batch) => {
                self.batch = Some(batch);
                self.advance()
            }
            Due::Timer(node, _) | Due::Written(node, _) if self.is_crashed(node) => None,
            Due::Timer(node, timer) => {
                let (machine, now, effects) = self.begin_step(node);
                machine.on_timer(now, timer, effects);
                self.end_step(node);
                Some(node)
            }
            Due::Written(node, write) => {
                let (machine, now, effects) = self.begin_step(node);
                machine.on_written(now, write, effects);
                self.end_step(node);
                Some(node)
            }
        }
    }

    /// Whether a message can be received; otherwise it is lost. Either way it is written down, if anything is.
    #[inline(never)]
    fn accepts(&mut self, from: NodeId, to: NodeId, msg: &M::Msg, sent: Option<u64>) -> bool {
        let crashed = self.can_crash && self.is_crashed(to);
        if crashed {
            self.lose(Loss { from, to, kind: kind(msg).name, why: "its receiver had crashed" }, sent);
        } else if let Some((log, sent)) = self.log.as_mut().zip(sent) {
            log.deliver(self.agenda.now(), sent);
        }
        !crashed
    }

    /// Delivers a message that has a note.
    fn deliver(&mut self, letter: Letter<M>) -> Option<NodeId> {
        let Letter { from, to, header, msg, note } = letter;
        if !self.accepts(from, to, &msg, note.as_ref().and_then(|note| note.sent)) {
            return None;
        }
        self.traffic.count_received(to);
        if let Some(note) = note {
            self.past.hear(to, &note);
        }
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
        Some(to)
    }

    /// What a machine is told what happens with.
    #[inline(always)]
    fn begin_step(&mut self, node: NodeId) -> (&mut M, Ticks, &mut Effects<M>) {
        self.effects.clear();
        if let Some(clocks) = &mut self.past.clocks {
            clocks[node.index()].tick(node);
        }
        (&mut self.machines[node.index()], self.agenda.now(), &mut self.effects)
    }

    /// Carries out what the machine asked for.
    #[inline(always)]
    fn end_step(&mut self, node: NodeId) {
        if !self.effects.out.sends().is_empty() {
            match self.plain_latency {
                Some(latency) => self.send_plainly(node, latency),
                None => self.send_with_care(node),
            }
        }
        if !self.effects.timers.is_empty() || !self.effects.writes.is_empty() {
            self.schedule(node);
        }
    }

    #[inline(never)]
    fn schedule(&mut self, node: NodeId) {
        let now = self.agenda.now();
        for (after, timer) in self.effects.timers.drain(..) {
            self.agenda.put(now + after, Due::Timer(node, timer));
        }
        for write in self.effects.writes.drain(..) {
            self.agenda.put(now + self.disk_latency, Due::Written(node, write));
        }
    }

    /// Sends what takes the same time to everybody and always arrives: all of it is one thing on the agenda.
    #[inline(never)]
    fn send_plainly(&mut self, from: NodeId, latency: Ticks) {
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
                agenda.put(arrival, Due::Letter(Letter { from, to, header, msg, note: None }));
            }
        } else {
            let mut sends = effects.out.take_sends(spare.pop().unwrap_or_default());
            sends.reverse();
            agenda.put(arrival, Due::Batch(Batch { from, header, sent, sends }));
        }
    }

    /// Sends what may take its time, get lost or be looked at, each copy on its own.
    fn send_with_care(&mut self, from: NodeId) {
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
            let note = Some(Box::new(self.past.note(from, sent)));
            return held.push(Letter { from, to, header, msg, note });
        }
        let fate = self.wire.fate(from, to, now, self.past.horizon(from, to));
        self.count_fate(&fate);
        if let Some(arrival) = fate.arrival {
            self.past.extend_horizon(from, to, arrival.max(fate.duplicate.unwrap_or_default()));
            let note = Some(Box::new(self.past.note(from, sent)));
            if let Some(again) = fate.duplicate {
                let copy = Letter { from, to, header, msg: msg.clone(), note: note.clone() };
                self.agenda.put(again, Due::Letter(copy));
            }
            self.agenda.put(arrival, Due::Letter(Letter { from, to, header, msg, note }));
        } else {
            self.lose(Loss { from, to, kind: kind.name, why: fate.lost }, sent);
        }
    }

    fn count_fate(&mut self, fate: &Fate) {
        self.traffic.resent += fate.resent;
        self.traffic.acknowledgements += fate.acknowledgements;
        self.traffic.duplicated += u64::from(fate.duplicate.is_some()) + fate.removed;
    }

    fn lose(&mut self, loss: Loss, sent: Option<u64>) {
        self.traffic.lost += 1;
        if let Some((log, sent)) = self.log.as_mut().zip(sent) {
            log.lose(self.agenda.now(), sent, loss.why);
        }
        if self.lost.len() < Self::LOSSES_KEPT {
            self.lost.push(loss);
        }
    }

    /// Stops a node for good.
    pub fn crash(&mut self, node: NodeId) {
        if !self.crashed.insert(node) {
            return;
        }
        (self.can_crash, self.is_watched) = (true, true);
        self.just_crashed.push(node);
        if let Some(log) = &mut self.log {
            log.push(self.agenda.now(), node, What::Crash, "", None);
        }
    }

    /// A node that has crashed since this was asked last.
    #[inline]
    pub fn take_crashed(&mut self) -> Option<NodeId> {
        self.just_crashed.pop()
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

    /// From now on what happens is written down. Whoever tells machines of starts and commands writes those down before it does.
    pub(crate) fn record(&mut self) {
        (self.log, self.is_watched) = (Some(Log::of::<M::Msg>()), true);
    }

    /// What happened, if it is written down.
    pub(crate) fn log(&mut self) -> Option<&mut Log> {
        self.log.as_mut()
    }

    /// What was recorded and counted, at the end of a run.
    pub(crate) fn into_records(self) -> (Option<Log>, Traffic) {
        (self.log, self.traffic)
    }

    /// What is on its way, in no particular order.
    pub fn in_flight(&self) -> Vec<doorway_core::Letter<'_, M::Msg>> {
        let due = self.agenda.iter().flat_map(|due| match due {
            Due::Letter(letter) => vec![letter.outline()],
            Due::Batch(batch) => batch.outlines(),
            Due::Timer(..) | Due::Written(..) => Vec::new(),
        });
        let held = self.held.iter().flatten().map(Letter::outline);
        self.batch.iter().flat_map(Batch::outlines).chain(due).chain(held).collect()
    }
}
