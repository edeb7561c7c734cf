//! What a machine runs on: a clock, reminders, a disk, and a processor that can stand still.
//!
//! Reminders and writes are kept here, and the agenda has only their numbers. A number is never given twice, so whatever a crash
//! has taken away, or a clock has put off, is simply not found when its time comes.

use std::collections::BTreeMap;

use doorway_core::{Machine, NodeId, Ticks};
use doorway_trace::What;

use super::clock::{Clockwork, LocalClock, millionths};
use super::{Due, Engine, Letter, Loss};

/// What one node runs on.
pub(super) struct Host<M: Machine> {
    /// Its clock, if that does not show true time.
    clock: Option<Clockwork>,
    /// How long a write takes, if not as long as everybody's.
    disk_latency: Option<Ticks>,
    /// Its reminders, by their numbers, each with when it is due by the node's clock, in millionths of a tick.
    timers: BTreeMap<u64, (u128, M::Timer)>,
    /// What it writes and what has not reached its disk, by their numbers: the order of issue.
    writes: BTreeMap<u64, M::Write>,
    /// When the last write of all reaches the disk.
    last_written: Ticks,
    /// The next number.
    next: u64,
    /// If it is paused: what has come and waits, in its order.
    waiting: Option<Vec<Due<M>>>,
}

impl<M: Machine> Default for Host<M> {
    fn default() -> Self {
        Self {
            clock: None,
            disk_latency: None,
            timers: BTreeMap::new(),
            writes: BTreeMap::new(),
            last_written: Ticks(0),
            next: 0,
            waiting: None,
        }
    }
}

impl<M: Machine> Host<M> {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// What its clock shows, in millionths of a tick.
    fn millionths(&self, now: Ticks) -> u128 {
        self.clock.as_ref().map_or_else(|| millionths(now), |clock| clock.millionths(now))
    }

    /// The first true tick at which its clock shows at least so many millionths.
    fn first_at(&self, due: u128) -> Ticks {
        let plain = || Ticks(u64::try_from(due / millionths(Ticks(1))).unwrap_or(u64::MAX));
        self.clock.as_ref().map_or_else(plain, |clock| clock.first_at(due))
    }

    /// Gives it another clock. Reminders are of spans: what is missing to each stays the same.
    fn set_clock(&mut self, clock: LocalClock, now: Ticks) {
        let before = self.millionths(now);
        self.clock = Some(Clockwork::new(clock, now));
        let after = self.millionths(now);
        self.timers.values_mut().for_each(|(due, _)| *due = due.saturating_sub(before) + after);
    }

    /// Takes what is due now, if it is.
    fn take_timer(&mut self, number: u64, now: Ticks) -> Option<M::Timer> {
        let (due, _) = self.timers.get(&number)?;
        if self.millionths(now) < *due {
            return None;
        }
        self.timers.remove(&number).map(|(_, timer)| timer)
    }
}

/// Clocks.
impl<M: Machine> Engine<M> {
    /// Gives a node a clock of its own, which is what its steps are told the time of and what its reminders go by. Without one
    /// it has true time. If it has reminders, what is missing to each stays the same.
    pub fn set_clock(&mut self, node: NodeId, clock: LocalClock) {
        let now = self.now();
        let host = self.host(node);
        host.set_clock(clock, now);
        if let Some(clock) = host.clock.as_mut().filter(|_| host.waiting.is_some()) {
            clock.pause(now);
        }
        self.schedule_again(node);
    }

    /// From now on a node's clock runs so many millionths faster than true time, or slower; it does not jump.
    pub fn set_drift(&mut self, node: NodeId, drift_ppm: i32) {
        let now = self.now();
        let clock = &mut self.host(node).clock;
        clock.get_or_insert_with(|| Clockwork::new(LocalClock::default(), now)).set_drift(drift_ppm, now);
        self.schedule_again(node);
    }

    /// What a node's clock shows at a true time, in whole ticks that are over: what it showed, if that is past, and what it
    /// will show if its rate stays the same. Before it was set it is not known, and the time at which it was set is told.
    #[must_use]
    pub fn local_time(&self, node: NodeId, time: Ticks) -> Ticks {
        self.clock_of(node).map_or(time, |clock| clock.local_time(time))
    }

    /// The last true tick at which a node's clock shows at most this time, if its rate stays the same. If it showed more when it
    /// was set, that is the tick before; if it stands still, the end of all times.
    #[must_use]
    pub fn true_time(&self, node: NodeId, local: Ticks) -> Ticks {
        self.clock_of(node).map_or(local, |clock| clock.true_time(local))
    }

    fn clock_of(&self, node: NodeId) -> Option<&Clockwork> {
        self.hosts.get(node.index())?.clock.as_ref()
    }

    /// The present of one node.
    #[inline(never)]
    pub(super) fn local_now(&self, node: NodeId) -> Ticks {
        self.local_time(node, self.now())
    }

    /// Puts all reminders of a node on the agenda for when they are due now that its clock has changed. What is on it already
    /// comes too early, when it is not yet due, or too late, when it is over.
    fn schedule_again(&mut self, node: NodeId) {
        let Some(host) = self.hosts.get(node.index()).filter(|host| host.clock.is_some()) else { return };
        for (&number, (due, _)) in &host.timers {
            self.agenda.put(host.first_at(*due), Due::Timer(node, number));
        }
    }
}

/// Pauses.
impl<M: Machine> Engine<M> {
    /// Lets a node stand still: it makes no step until it goes on. What comes for it waits.
    ///
    /// # Panics
    /// If it has crashed.
    pub fn pause(&mut self, node: NodeId) {
        assert!(!self.is_crashed(node), "node {node} has crashed and cannot be paused");
        if self.is_paused(node) {
            return;
        }
        let now = self.now();
        self.is_watched = true;
        let host = self.host(node);
        host.waiting = Some(Vec::new());
        host.clock.iter_mut().for_each(|clock| clock.pause(now));
        self.note(node, What::Pause);
    }

    /// Lets a node go on: what has come for it meanwhile happens now, in its order and before all else.
    pub fn resume(&mut self, node: NodeId) {
        let Some(waiting) = self.end_pause(node) else { return };
        self.note(node, What::Resume);
        self.schedule_again(node);
        if let Some(batch) = self.batch.take() {
            self.agenda.put_first(Due::Batch(batch));
        }
        waiting.into_iter().rev().for_each(|due| self.agenda.put_first(due));
    }

    fn end_pause(&mut self, node: NodeId) -> Option<Vec<Due<M>>> {
        let now = self.now();
        let host = self.hosts.get_mut(node.index())?;
        let waiting = host.waiting.take()?;
        host.clock.iter_mut().for_each(|clock| clock.resume(now));
        Some(waiting)
    }

    /// Whether a node stands still.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, node: NodeId) -> bool {
        self.hosts.get(node.index()).is_some_and(|host| host.waiting.is_some())
    }

    /// Keeps what has come for a node that is paused: nobody makes a step.
    pub(super) fn keep(&mut self, node: NodeId, due: Due<M>) -> Option<NodeId> {
        self.host(node).waiting.get_or_insert_default().push(due);
        None
    }

    /// What waits for a node to go on.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Due<M>> {
        self.hosts.iter().filter_map(|host| host.waiting.as_ref()).flatten()
    }
}

/// Reminders, disks and what a crash leaves of them.
impl<M: Machine> Engine<M> {
    /// What a node has written that has not reached its disk, in the order in which it was issued. A crash forgets it: who
    /// wants to know how much of it was saved all the same asks before.
    pub fn unsynced(&self, node: NodeId) -> impl Iterator<Item = &M::Write> {
        self.hosts.get(node.index()).into_iter().flat_map(|host| host.writes.values())
    }

    /// The write that has reached its disk last, unless it was taken before.
    #[inline]
    pub fn take_written(&mut self) -> Option<(NodeId, M::Write)> {
        self.written.take()
    }

    /// From now on a write of this node takes so long; but none reaches the disk before one that was issued earlier.
    pub fn set_disk_latency(&mut self, node: NodeId, latency: Ticks) {
        self.host(node).disk_latency = Some(latency);
    }

    /// Puts on the agenda what the machine wants to be reminded of and what it writes.
    #[inline(never)]
    pub(super) fn schedule(&mut self, node: NodeId) {
        let (now, latency) = (self.agenda.now(), self.disk_latency);
        self.host(node);
        let Self { hosts, effects, agenda, .. } = self;
        let host = &mut hosts[node.index()];
        for (after, timer) in effects.timers.drain(..) {
            let due = host.millionths(now) + millionths(after);
            let number = host.number();
            agenda.put(host.first_at(due), Due::Timer(node, number));
            host.timers.insert(number, (due, timer));
        }
        for write in effects.writes.drain(..) {
            let number = host.number();
            host.last_written = host.last_written.max(now + host.disk_latency.unwrap_or(latency));
            agenda.put(host.last_written, Due::Written(node, number));
            host.writes.insert(number, write);
        }
    }

    /// A reminder may be due.
    pub(super) fn remind(&mut self, node: NodeId, number: u64) -> Option<NodeId> {
        let now = self.now();
        let timer = self.hosts.get_mut(node.index())?.take_timer(number, now)?;
        self.note(node, What::Timer);
        let (machine, now, effects) = self.begin_step(node);
        machine.on_timer(now, timer, effects);
        self.end_step(node);
        Some(node)
    }

    /// A write has reached the disk, unless a crash came first.
    pub(super) fn finish_write(&mut self, node: NodeId, number: u64) -> Option<NodeId> {
        let write = self.hosts.get_mut(node.index())?.writes.remove(&number)?;
        self.written = Some((node, write.clone()));
        self.note(node, What::Written);
        let (machine, now, effects) = self.begin_step(node);
        machine.on_written(now, write, effects);
        self.end_step(node);
        Some(node)
    }

    /// A node that has crashed lives again, as this machine. It knows nothing of reminders and writes from before; messages
    /// that arrive from now on reach it, whenever they were sent.
    ///
    /// # Panics
    /// If it has not crashed.
    pub fn restart(&mut self, node: NodeId, machine: M) {
        assert!(self.crashed.remove(node), "node {node} has not crashed and cannot be restarted");
        self.machines[node.index()] = machine;
        self.note(node, What::Start);
        self.start(node);
    }

    /// A crash takes everything but the clock and the speed of the disk.
    pub(super) fn clear_host(&mut self, node: NodeId) {
        let waiting = self.end_pause(node).unwrap_or_default();
        for due in waiting {
            if let Due::Arrived(letter) = due {
                self.lose_to_crash(&letter);
            }
        }
        if let Some(host) = self.hosts.get_mut(node.index()) {
            host.timers.clear();
            host.writes.clear();
            host.last_written = Ticks(0);
        }
    }

    fn lose_to_crash(&mut self, letter: &Letter<M>) {
        let kind = doorway_core::kind(&letter.msg).name;
        let loss = Loss { from: letter.from, to: letter.to, kind, why: Loss::CRASHED };
        self.lose(loss, letter.sent());
    }

    /// What a node runs on, made for all when somebody asks for the first time.
    fn host(&mut self, node: NodeId) -> &mut Host<M> {
        if self.hosts.is_empty() {
            self.hosts.resize_with(self.machines.len(), Host::default);
        }
        &mut self.hosts[node.index()]
    }
}
