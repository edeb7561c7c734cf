//! The engine: a discrete-event simulator for machines of any kind.

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
pub(crate) use self::letters::{Envelope, LostMessage};
use self::past::{Note, Past};
use crate::agenda::Agenda;
use crate::faults::Crash;
use crate::network::{CUT, Wire};
use crate::settings::Settings;
use crate::traffic::Traffic;

/// Machines, the network between them, and the agenda of events.
///
/// The engine steps machines and schedules the effects. Notifications to applications stay in
/// [`Engine::effects`] for the driver, which plays the applications.
pub struct Engine<M: Machine> {
    machines: Vec<M>,
    /// The nodes' clocks, timers and disks; empty while none is used.
    hosts: Vec<Host<M>>,
    agenda: Agenda<Due<M>>,
    wire: Wire,
    /// The latency of all messages, if it is constant, nothing can be lost and causality is not tracked.
    plain_latency: Option<Ticks>,
    disk_latency: Ticks,
    effects: Effects<M>,
    /// The batch in delivery, one recipient at a time.
    batch: Option<Batch<M>>,
    /// Empty batches that keep their capacity.
    spare: Vec<Vec<Sent<M::Msg>>>,
    /// In a script: messages in flight that the script delivers.
    held: Option<Vec<Envelope<M>>>,
    /// Future crashes, latest first.
    crashes: Vec<Crash>,
    /// Whether a node has crashed or will.
    can_crash: bool,
    /// Whether each arrival needs a check: for a crashed or paused receiver, a cut link, or the log.
    is_watched: bool,
    crashed: NodeSet,
    just_crashed: Vec<NodeId>,
    /// The last alarm that rang.
    alarm: Option<u64>,
    /// The last write that reached its disk.
    written: Option<(NodeId, M::Write)>,
    past: Past,
    traffic: Traffic,
    /// The log of events, if the run is recorded.
    log: Option<Log>,
    lost: Vec<LostMessage>,
}

/// An event on the agenda.
enum Due<M: Machine> {
    Letter(Envelope<M>),
    Batch(Batch<M>),
    /// A message that came through the network while its receiver was paused.
    Arrived(Envelope<M>),
    /// The timer of this number.
    Timer(NodeId, u64),
    /// The write of this number.
    Written(NodeId, u64),
    /// A wake-up for the driver.
    Alarm(u64),
}

/// The fate of an arriving message.
enum Arrival {
    Received,
    Waits,
    Lost,
}

/// The event that [`Engine::advance_until`] processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A node took a step.
    Step(NodeId),
    /// An alarm rang.
    Alarm(u64),
    /// No node took a step: a message was lost, an event waits for a paused node, or a node crashed.
    Nothing,
    /// No event is due by the limit; the time has not changed.
    Over,
}

impl<M: Machine> Engine<M> {
    /// An engine for these machines, at time 0, before any step.
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

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.agenda.now()
    }

    /// The machines in the order of their nodes.
    #[must_use]
    pub fn machines(&self) -> &[M] {
        &self.machines
    }

    /// One machine, to set up a textbook example.
    pub fn machine_mut(&mut self, node: NodeId) -> &mut M {
        &mut self.machines[node.index()]
    }

    /// The effects of the last step, without its messages, which are in flight already.
    #[must_use]
    pub fn effects(&self) -> &Effects<M> {
        &self.effects
    }

    /// The message counts.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Resets the message counts.
    pub fn restart_traffic(&mut self) {
        self.traffic.restart();
    }

    /// Whether a node is down.
    #[must_use]
    pub fn is_crashed(&self, node: NodeId) -> bool {
        self.crashed.contains(node)
    }

    /// The crashed nodes.
    #[must_use]
    pub fn crashed(&self) -> &NodeSet {
        &self.crashed
    }

    /// The time of the next event.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<Ticks> {
        if self.batch.is_some() { Some(self.now()) } else { self.agenda.next_time() }
    }

    /// Whether an event is due at the current tick.
    #[inline]
    #[must_use]
    pub fn is_something_due_now(&self) -> bool {
        self.batch.is_some() || self.agenda.is_something_due_now()
    }

    /// The number of events on the agenda; all messages of one step may be a single event.
    #[must_use]
    pub fn due(&self) -> usize {
        self.agenda.len()
    }

    /// The time of the next crash. The driver must not advance beyond it.
    #[inline]
    #[must_use]
    pub fn next_crash(&self) -> Option<Ticks> {
        self.crashes.last().map(|crash| crash.at)
    }

    /// Advances to the time `to`, before which no event may be due, and crashes the nodes whose time has
    /// come.
    pub fn advance_to(&mut self, to: Ticks) {
        self.agenda.advance(to);
        while let Some(crash) = self.crashes.pop_if(|crash| crash.at <= to) {
            self.crash(crash.node);
        }
    }

    /// Passes an application's command to its machine.
    ///
    /// # Panics
    /// If the node is paused: its application is paused too.
    pub fn command(&mut self, node: NodeId, command: M::Command) {
        assert!(!self.is_paused(node), "node {node} is paused and takes no command");
        let (machine, now, effects) = self.begin_step(node);
        machine.on_command(now, command, effects);
        self.end_step(node);
    }

    /// The oracle reports to a live node that another has crashed.
    pub fn report_crash(&mut self, node: NodeId, crashed: NodeId) {
        self.note(node, What::Report { crashed });
        let (machine, now, effects) = self.begin_step(node);
        machine.on_crash(now, crashed, effects);
        self.end_step(node);
    }

    /// Delivers a message now that no machine has sent: an attacker forges it in the name of another machine.
    ///
    /// # Panics
    /// If the node is paused.
    pub fn forge(&mut self, from: NodeId, to: NodeId, header: M::Header, msg: M::Msg) {
        assert!(!self.is_paused(to), "node {to} is paused and receives no message");
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
    }

    /// Starts a machine.
    pub fn start(&mut self, node: NodeId) {
        let (machine, now, effects) = self.begin_step(node);
        machine.on_start(now, effects);
        self.end_step(node);
    }

    /// Sets an alarm for the driver: see [`Engine::take_alarm`].
    pub fn put_alarm(&mut self, at: Ticks, token: u64) {
        self.agenda.put(at, Due::Alarm(token));
    }

    /// Takes the last alarm that rang.
    #[inline]
    pub fn take_alarm(&mut self) -> Option<u64> {
        self.alarm.take()
    }

    /// Processes the next event if it is due at `limit` or before, and returns what it was.
    pub fn advance_until(&mut self, limit: Ticks) -> Happened {
        if self.next_time().is_none_or(|due| due > limit) {
            return Happened::Over;
        }
        let step = self.advance().map(Happened::Step);
        step.or_else(|| self.take_alarm().map(Happened::Alarm)).unwrap_or(Happened::Nothing)
    }

    /// Processes the next event. Returns the node that took a step, if one did; a message to a crashed node
    /// is lost.
    #[inline]
    pub fn advance(&mut self) -> Option<NodeId> {
        if self.can_crash && self.crashes_first() {
            return None;
        }
        let Some(batch) = &mut self.batch else {
            return match self.agenda.take()? {
                Due::Letter(Envelope { from, to, header, msg, note: None }) => {
                    self.receive(from, to, header, msg, 0)
                }
                rare => self.advance_rare(rare),
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

    /// Delivers a message, sent in event `sent` if the run is recorded. Inlined, so that the message goes
    /// from the agenda to the algorithm without a copy.
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

    /// Processes the crashes that are due before the next event or with it. Returns whether there were any.
    #[inline(never)]
    fn crashes_first(&mut self) -> bool {
        let crash = self.next_crash().filter(|crash| self.next_time().is_some_and(|due| *crash <= due));
        crash.into_iter().for_each(|crash| self.advance_to(crash));
        crash.is_some()
    }

    /// Processes the events that are rarer than a plain message.
    #[inline(never)]
    fn advance_rare(&mut self, due: Due<M>) -> Option<NodeId> {
        match due {
            Due::Letter(letter) => self.deliver(letter),
            Due::Batch(batch) => {
                self.batch = Some(batch);
                self.advance()
            }
            Due::Arrived(letter) => self.deliver_late(letter),
            Due::Timer(node, _) | Due::Written(node, _) if self.is_paused(node) => self.keep(node, due),
            Due::Timer(node, number) => self.fire_timer(node, number),
            Due::Written(node, number) => self.finish_write(node, number),
            Due::Alarm(token) => {
                self.alarm = Some(token);
                None
            }
        }
    }

    /// Checks the link and the receiver of an arriving message, and logs the arrival or the loss.
    #[inline(never)]
    fn accepts(&mut self, from: NodeId, to: NodeId, msg: &M::Msg, sent: Option<u64>) -> Arrival {
        if self.wire.is_cut(from, to) {
            self.lose(LostMessage { from, to, kind: kind(msg).name, why: CUT }, sent);
            return Arrival::Lost;
        }
        self.takes(from, to, msg, sent)
    }

    /// Checks the receiver of a message that came through the network.
    fn takes(&mut self, from: NodeId, to: NodeId, msg: &M::Msg, sent: Option<u64>) -> Arrival {
        if self.can_crash && self.is_crashed(to) {
            self.lose(LostMessage { from, to, kind: kind(msg).name, why: LostMessage::CRASHED }, sent);
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
    fn deliver(&mut self, letter: Envelope<M>) -> Option<NodeId> {
        let arrival = self.accepts(letter.from, letter.to, &letter.msg, letter.sent());
        self.hand_over(letter, arrival)
    }

    /// Delivers a message that waited for its paused receiver.
    fn deliver_late(&mut self, letter: Envelope<M>) -> Option<NodeId> {
        let arrival = self.takes(letter.from, letter.to, &letter.msg, letter.sent());
        self.hand_over(letter, arrival)
    }

    fn hand_over(&mut self, letter: Envelope<M>, arrival: Arrival) -> Option<NodeId> {
        match arrival {
            Arrival::Lost => return None,
            Arrival::Waits => return self.keep(letter.to, Due::Arrived(letter)),
            Arrival::Received => {}
        }
        let Envelope { from, to, header, msg, note } = letter;
        self.traffic.count_received(to);
        if let Some(note) = note {
            self.past.hear(to, &note);
        }
        let (machine, now, effects) = self.begin_step(to);
        machine.on_message(now, from, header, msg, effects);
        self.end_step(to);
        Some(to)
    }

    /// Keeps a message without a note for a paused receiver. If the run is recorded, it gets a note of its
    /// sending.
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
        self.keep(to, Due::Arrived(Envelope { from, to, header, msg, note }))
    }

    /// A machine, its local time and the cleared effects of one step.
    #[inline(always)]
    fn begin_step(&mut self, node: NodeId) -> (&mut M, Ticks, &mut Effects<M>) {
        self.effects.clear();
        if let Some(clocks) = &mut self.past.clocks {
            clocks[node.index()].tick(node);
        }
        let now = if self.hosts.is_empty() { self.agenda.now() } else { self.local_now(node) };
        (&mut self.machines[node.index()], now, &mut self.effects)
    }

    /// Sends the messages of the step and schedules its timers and writes.
    #[inline(always)]
    fn end_step(&mut self, node: NodeId) {
        if !self.effects.out.sends().is_empty() {
            match self.plain_latency {
                Some(latency) => self.send_batch(node, latency),
                None => self.send_each(node),
            }
        }
        if !self.effects.timers.is_empty() || !self.effects.writes.is_empty() {
            self.schedule(node);
        }
    }

    /// The network, to change it from now on. After this call sending is slower even if nothing changes, so
    /// call it only to change something.
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

    /// Crashes a node until it is restarted: it loses its timers and the writes that have not reached its
    /// disk.
    pub fn crash(&mut self, node: NodeId) {
        if !self.crashed.insert(node) {
            return;
        }
        (self.can_crash, self.is_watched) = (true, true);
        self.just_crashed.push(node);
        self.note(node, What::Crash);
        self.clear_host(node);
    }

    /// Takes a node that has crashed since the last call.
    #[inline]
    pub fn take_crashed(&mut self) -> Option<NodeId> {
        self.just_crashed.pop()
    }
}
