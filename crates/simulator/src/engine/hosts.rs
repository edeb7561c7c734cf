//! The hosts of machines: clocks, timers, disks, pauses and restarts.
//!
//! A host keeps its timers and writes; the agenda holds only their numbers. Numbers are never reused, so an
//! event whose timer a crash has removed, or a clock change has moved, finds nothing and is ignored.

use std::collections::BTreeMap;

use doorway_core::{Machine, NodeId, Ticks};
use doorway_trace::What;

use super::clock::{Clockwork, LocalClock, millionths};
use super::{Due, Engine, Envelope, LostMessage};

/// The host of one node.
pub(super) struct Host<M: Machine> {
    /// Its clock, if it differs from true time.
    clock: Option<Clockwork>,
    /// Its disk latency, if it differs from the default.
    disk_latency: Option<Ticks>,
    /// Its timers by number, each with its due time by the node's clock, in millionths of a tick.
    timers: BTreeMap<u64, (u128, M::Timer)>,
    /// Its pending writes by number, which is the order of issue.
    writes: BTreeMap<u64, M::Write>,
    /// When the last write reaches the disk.
    last_written: Ticks,
    /// The next number.
    next: u64,
    /// The events that wait, in order, if it is paused.
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

    /// Its local time, in millionths of a tick.
    fn millionths(&self, now: Ticks) -> u128 {
        self.clock.as_ref().map_or_else(|| millionths(now), |clock| clock.millionths(now))
    }

    /// The first true tick at which its local time is at least `due`.
    fn first_at(&self, due: u128) -> Ticks {
        let plain = || Ticks(u64::try_from(due / millionths(Ticks(1))).unwrap_or(u64::MAX));
        self.clock.as_ref().map_or_else(plain, |clock| clock.first_at(due))
    }

    /// Replaces its clock. Timers are durations, so the remaining time of each stays the same.
    fn set_clock(&mut self, clock: LocalClock, now: Ticks) {
        let before = self.millionths(now);
        self.clock = Some(Clockwork::new(clock, now));
        let after = self.millionths(now);
        self.timers.values_mut().for_each(|(due, _)| *due = due.saturating_sub(before) + after);
    }

    /// Takes a timer, if it is due.
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
    /// Gives a node its own clock, which drives its local time and its timers. Without one it has true time.
    /// The remaining time of each pending timer stays the same.
    pub fn set_clock(&mut self, node: NodeId, clock: LocalClock) {
        let now = self.now();
        let host = self.host(node);
        host.set_clock(clock, now);
        if let Some(clock) = host.clock.as_mut().filter(|_| host.waiting.is_some()) {
            clock.pause(now);
        }
        self.schedule_again(node);
    }

    /// Changes the drift of a node's clock from now on, in millionths. The clock does not jump.
    pub fn set_drift(&mut self, node: NodeId, drift_ppm: i32) {
        let now = self.now();
        let clock = &mut self.host(node).clock;
        clock.get_or_insert_with(|| Clockwork::new(LocalClock::default(), now)).set_drift(drift_ppm, now);
        self.schedule_again(node);
    }

    /// A node's local time at a true time, rounded down to ticks. For the future it assumes the current rate;
    /// for a time before the clock was set it returns the local time that it was set to.
    #[must_use]
    pub fn local_time(&self, node: NodeId, time: Ticks) -> Ticks {
        self.clock_of(node).map_or(time, |clock| clock.local_time(time))
    }

    /// The last true tick at which a node's local time is at most `local`, at the current rate. That is the
    /// tick before the clock was set if it showed more from the start, and the end of time if the clock is
    /// stopped.
    #[must_use]
    pub fn true_time(&self, node: NodeId, local: Ticks) -> Ticks {
        self.clock_of(node).map_or(local, |clock| clock.true_time(local))
    }

    fn clock_of(&self, node: NodeId) -> Option<&Clockwork> {
        self.hosts.get(node.index())?.clock.as_ref()
    }

    /// The current local time of one node.
    #[inline(never)]
    pub(super) fn local_now(&self, node: NodeId) -> Ticks {
        self.local_time(node, self.now())
    }

    /// Schedules all timers of a node again after a change of its clock. The old events stay on the agenda
    /// but have no effect: they come before the timer is due, or after it is gone.
    fn schedule_again(&mut self, node: NodeId) {
        let Some(host) = self.hosts.get(node.index()).filter(|host| host.clock.is_some()) else { return };
        for (&number, (due, _)) in &host.timers {
            self.agenda.put(host.first_at(*due), Due::Timer(node, number));
        }
    }
}

/// Pauses.
impl<M: Machine> Engine<M> {
    /// Pauses a node: it takes no step until it resumes, and its events wait.
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

    /// Resumes a node: the events that waited happen now, in order and before all others.
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

    /// Whether a node is paused.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, node: NodeId) -> bool {
        self.hosts.get(node.index()).is_some_and(|host| host.waiting.is_some())
    }

    /// Keeps an event for a paused node. Returns `None`, as no node takes a step.
    pub(super) fn keep(&mut self, node: NodeId, due: Due<M>) -> Option<NodeId> {
        self.host(node).waiting.get_or_insert_default().push(due);
        None
    }

    /// The events that wait for paused nodes.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Due<M>> {
        self.hosts.iter().filter_map(|host| host.waiting.as_ref()).flatten()
    }
}

/// Timers, disks and crashes.
impl<M: Machine> Engine<M> {
    /// A node's writes that have not reached its disk, in the order of issue. A crash drops them; a driver
    /// that wants some of them to survive must ask before the crash.
    pub fn unsynced(&self, node: NodeId) -> impl Iterator<Item = &M::Write> {
        self.hosts.get(node.index()).into_iter().flat_map(|host| host.writes.values())
    }

    /// Takes the last write that reached its disk.
    #[inline]
    pub fn take_written(&mut self) -> Option<(NodeId, M::Write)> {
        self.written.take()
    }

    /// Sets the disk latency of a node from now on. Writes still reach the disk in the order of issue.
    pub fn set_disk_latency(&mut self, node: NodeId, latency: Ticks) {
        self.host(node).disk_latency = Some(latency);
    }

    /// Schedules the timers and writes of a step.
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

    /// Runs a timer if it exists and is due.
    pub(super) fn fire_timer(&mut self, node: NodeId, number: u64) -> Option<NodeId> {
        let now = self.now();
        let timer = self.hosts.get_mut(node.index())?.take_timer(number, now)?;
        self.note(node, What::Timer);
        let (machine, now, effects) = self.begin_step(node);
        machine.on_timer(now, timer, effects);
        self.end_step(node);
        Some(node)
    }

    /// Completes a write, unless a crash came first.
    pub(super) fn finish_write(&mut self, node: NodeId, number: u64) -> Option<NodeId> {
        let write = self.hosts.get_mut(node.index())?.writes.remove(&number)?;
        self.written = Some((node, write.clone()));
        self.note(node, What::Written);
        let (machine, now, effects) = self.begin_step(node);
        machine.on_written(now, write, effects);
        self.end_step(node);
        Some(node)
    }

    /// Restarts a crashed node as this machine. Its old timers and writes are gone; messages that arrive from
    /// now on reach it, whenever they were sent.
    ///
    /// # Panics
    /// If it has not crashed.
    pub fn restart(&mut self, node: NodeId, machine: M) {
        assert!(self.crashed.remove(node), "node {node} has not crashed and cannot be restarted");
        self.machines[node.index()] = machine;
        self.note(node, What::Start);
        self.start(node);
    }

    /// Clears a crashed node's host, except for its clock and disk latency.
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

    fn lose_to_crash(&mut self, letter: &Envelope<M>) {
        let kind = doorway_core::kind(&letter.msg).name;
        let loss = LostMessage { from: letter.from, to: letter.to, kind, why: LostMessage::CRASHED };
        self.lose(loss, letter.sent());
    }

    /// The host of a node. The first call creates the hosts of all nodes.
    fn host(&mut self, node: NodeId) -> &mut Host<M> {
        if self.hosts.is_empty() {
            self.hosts.resize_with(self.machines.len(), Host::default);
        }
        &mut self.hosts[node.index()]
    }
}
