//! The engine: virtual time for machines of any kind.

mod by_hand;
mod clock;
mod hosts;
mod letters;
mod past;
mod record;
mod sending;

use doorway_core::{Channels, Effects, Machine, NodeId, NodeSet, Sent, Ticks, To, VectorClock, kind};
use doorway_trace::{Log, What};

pub use self::clock::LocalClock;
use self::hosts::Host;
use self::letters::Batch;
pub(crate) use self::letters::{Letter, Loss};
use self::past::{Note, Past};
use crate::agenda::Agenda;
use crate::faults::Crash;
use crate::network::{CUT, Wire};
use crate::settings::Settings;
use crate::traffic::Traffic;

/// Machines, the network between them, and what is due when.
///
/// The engine steps machines and schedules what comes of it. What machines tell their applications it leaves in
/// [`Engine::effects`], for whoever plays the applications.
pub struct Engine<M: Machine> {
    machines: Vec<M>,
    /// What the machines run on, if that makes a difference.
    hosts: Vec<Host<M>>,
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
    /// Whether each arrival is looked at: its receiver may have crashed or be paused, its link may be cut, or it is written
    /// down.
    is_watched: bool,
    crashed: NodeSet,
    just_crashed: Vec<NodeId>,
    /// The alarm that came due last.
    alarm: Option<u64>,
    /// The write that reached its disk last.
    written: Option<(NodeId, M::Write)>,
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
    /// A message that has come through the network and had to wait for its receiver.
    Arrived(Letter<M>),
    /// The reminder of this number.
    Timer(NodeId, u64),
    /// The write of this number.
    Written(NodeId, u64),
    /// A moment that somebody outside wants to know of.
    Alarm(u64),
}

/// What has become of a message when it arrives.
enum Arrival {
    Received,
    Waits,
    Lost,
}

/// What happened next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A node made a step.
    Step(NodeId),
    /// An alarm came due.
    Alarm(u64),
    /// Nobody noticed anything: a message was lost, something waits for a node that is paused, or a node has crashed.
    Nothing,
    /// Nothing is due so soon; the present has not moved.
    Over,
}

impl<M: Machine> Engine<M> {
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
            hosts: Vec::new(),
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
            alarm: None,
            written: None,
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

    /// Whether a node is down.
    #[must_use]
    pub fn is_crashed(&self, node: NodeId) -> bool {
        self.crashed.contains(node)
    }

    /// Who is down.
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
    ///
    /// # Panics
    /// If the node is paused: its application stands still with it.
    pub fn command(&mut self, node: NodeId, command: M::Command) {
        assert!(!self.is_paused(node), "node {node} is paused and hears no command");
        let (machine, now, effects) = self.begin_step(node);
        machine.on_command(now, command, effects);
        self.end_step(node);
    }

    /// A machine hears something now that nobody of the system has sent: the word of an enemy, in the name of another machine.
    ///
    /// # Panics
    /// If the node is paused: it hears nothing.
    pub fn forge(&mut self, from: NodeId, to: NodeId, header: M::Header, msg: M::Msg) {
        assert!(!self.is_paused(to), "node {to} is paused and hears no message");
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
    }

    /// Brings a machine to life.
    pub fn start(&mut self, node: NodeId) {
        let (machine, now, effects) = self.begin_step(node);
        machine.on_start(now, effects);
        self.end_step(node);
    }

    /// Makes something known to whoever advances the engine, when the time comes: see [`Engine::take_alarm`].
    pub fn put_alarm(&mut self, at: Ticks, token: u64) {
        self.agenda.put(at, Due::Alarm(token));
    }

    /// The alarm that came due last, unless it was taken before.
    #[inline]
    pub fn take_alarm(&mut self) -> Option<u64> {
        self.alarm.take()
    }

    /// Makes the next thing happen if it is due at `limit` or before, and tells what it was.
    pub fn advance_until(&mut self, limit: Ticks) -> Happened {
        if self.next_time().is_none_or(|due| due > limit) {
            return Happened::Over;
        }
        let step = self.advance().map(Happened::Step);
        step.or_else(|| self.take_alarm().map(Happened::Alarm)).unwrap_or(Happened::Nothing)
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
        if self.is_watched {
            match self.accepts(from, to, &msg, Some(sent.into())) {
                Arrival::Received => {}
                Arrival::Waits => return self.keep_plain(from, to, header, msg, sent),
                Arrival::Lost => return None,
            }
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
            Due::Arrived(letter) => self.deliver_late(letter),
            Due::Timer(node, _) | Due::Written(node, _) if self.is_paused(node) => self.keep(node, due),
            Due::Timer(node, number) => self.remind(node, number),
            Due::Written(node, number) => self.finish_write(node, number),
            Due::Alarm(token) => {
                self.alarm = Some(token);
                None
            }
        }
    }

    /// Whether a message gets through; otherwise it is lost. Either way it is written down, if anything is.
    #[inline(never)]
    fn accepts(&mut self, from: NodeId, to: NodeId, msg: &M::Msg, sent: Option<u64>) -> Arrival {
        if self.wire.is_cut(from, to) {
            self.lose(Loss { from, to, kind: kind(msg).name, why: CUT }, sent);
            return Arrival::Lost;
        }
        self.takes(from, to, msg, sent)
    }

    /// Whether a message that has got through can be received.
    fn takes(&mut self, from: NodeId, to: NodeId, msg: &M::Msg, sent: Option<u64>) -> Arrival {
        if self.can_crash && self.is_crashed(to) {
            self.lose(Loss { from, to, kind: kind(msg).name, why: Loss::CRASHED }, sent);
            return Arrival::Lost;
        }
        if self.is_paused(to) {
            return Arrival::Waits;
        }
        if let Some((log, sent)) = self.log.as_mut().zip(sent) {
            log.deliver(self.agenda.now(), sent);
        }
        Arrival::Received
    }

    /// Delivers a message that has a note.
    fn deliver(&mut self, letter: Letter<M>) -> Option<NodeId> {
        let arrival = self.accepts(letter.from, letter.to, &letter.msg, letter.sent());
        self.hand_over(letter, arrival)
    }

    /// Delivers a message that had to wait for its receiver.
    fn deliver_late(&mut self, letter: Letter<M>) -> Option<NodeId> {
        let arrival = self.takes(letter.from, letter.to, &letter.msg, letter.sent());
        self.hand_over(letter, arrival)
    }

    fn hand_over(&mut self, letter: Letter<M>, arrival: Arrival) -> Option<NodeId> {
        match arrival {
            Arrival::Lost => return None,
            Arrival::Waits => return self.keep(letter.to, Due::Arrived(letter)),
            Arrival::Received => {}
        }
        let Letter { from, to, header, msg, note } = letter;
        self.traffic.count_received(to);
        if let Some(note) = note {
            self.past.hear(to, &note);
        }
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
        Some(to)
    }

    /// Keeps a message that has no note, but has one of its sending if there is a record.
    #[inline(never)]
    fn keep_plain(
        &mut self,
        from: NodeId,
        to: NodeId,
        header: M::Header,
        msg: M::Msg,
        sent: u32,
    ) -> Option<NodeId> {
        let note = self.log.is_some().then(|| Box::new(Note::of_sending(sent)));
        self.keep(to, Due::Arrived(Letter { from, to, header, msg, note }))
    }

    /// What a machine is told what happens with.
    #[inline(always)]
    fn begin_step(&mut self, node: NodeId) -> (&mut M, Ticks, &mut Effects<M>) {
        self.effects.clear();
        if let Some(clocks) = &mut self.past.clocks {
            clocks[node.index()].tick(node);
        }
        let now = if self.hosts.is_empty() { self.agenda.now() } else { self.local_now(node) };
        (&mut self.machines[node.index()], now, &mut self.effects)
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

    /// The network, to be changed from now on. That messages are sent more slowly afterwards is the price even if nothing is
    /// changed, so whoever changes nothing should not ask.
    pub fn network_mut(&mut self) -> &mut Wire {
        let counted_from = self.wire.prepare_for_changes(self.now());
        self.plain_latency = None;
        self.is_watched = true;
        if self.wire.is_causal() {
            let n = self.machines.len();
            self.past.horizons.get_or_insert_with(|| vec![vec![counted_from; n].into_boxed_slice(); n]);
        }
        &mut self.wire
    }

    /// Stops a node, for good unless it is restarted: it forgets its reminders and what has not reached its disk.
    pub fn crash(&mut self, node: NodeId) {
        if !self.crashed.insert(node) {
            return;
        }
        (self.can_crash, self.is_watched) = (true, true);
        self.just_crashed.push(node);
        self.note(node, What::Crash);
        self.clear_host(node);
    }

    /// A node that has crashed since this was asked last.
    #[inline]
    pub fn take_crashed(&mut self) -> Option<NodeId> {
        self.just_crashed.pop()
    }
}
