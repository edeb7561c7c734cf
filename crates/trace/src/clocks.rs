//! Logical time of a trace: the Lamport time and the vector time of each event, computed from the events alone.
//!
//! Every event counts one at its node, except [`What::Loop`], which is about the whole run. A delivery is later than its sending, and a read
//! later than the write whose value it reads. A [`What::Clock`] moves the Lamport time of its node forward to its count. So the Lamport time of
//! an event is one more than the largest before it (L. Lamport, 1978), and its vector time has, for each node, how many of its events happened
//! before or are this one (F. Mattern: "Virtual time and global states of distributed systems", Workshop on Parallel and Distributed
//! Algorithms, 1988; C. Fidge, 1988).
//!
//! This is the time of an ideal clock that ticks at every event. An algorithm's own clock may tick less often; its state shows it.

mod label;

use std::collections::{BTreeMap, VecDeque};

use doorway_core::{LamportClock, NodeId, Refusal};
use serde::{Serialize, Serializer};

use crate::{AccessKind, Event, Header, What};

pub use label::ClockKind;

/// The logical time of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogicalTime {
    /// Its Lamport time: larger than that of every event that happened before.
    pub lamport: u64,
    /// Its vector time.
    pub vector: Vector,
}

impl LogicalTime {
    /// Adds what another event knows.
    fn merge(&mut self, heard: &Self) {
        let mut clock = LamportClock::at(self.lamport);
        clock.merge(heard.lamport);
        self.lamport = clock.count();
        for (&node, &count) in &heard.vector.0 {
            let known = self.vector.0.entry(node).or_default();
            *known = count.max(*known);
        }
    }

    /// Counts an event of this node.
    fn tick(&mut self, node: NodeId, kind: ClockKind) {
        let mut clock = LamportClock::at(self.lamport);
        clock.tick();
        self.lamport = clock.count();
        if kind.has_vector() {
            *self.vector.0.entry(node).or_default() += 1;
        }
    }
}

/// How many events of each node happened before an event or are it; nodes without such events are left out, so that a run of many nodes costs
/// little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vector(BTreeMap<NodeId, u64>);

impl Vector {
    /// The number of events of `node` that it knows.
    #[must_use]
    pub fn count(&self, node: NodeId) -> u64 {
        self.0.get(&node).copied().unwrap_or_default()
    }

    /// The nodes of which it knows events, each with their number.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        self.0.iter().map(|(&node, &count)| (node, count))
    }

    /// The counts of the first `n` nodes.
    #[must_use]
    pub fn dense(&self, n: usize) -> Vec<u64> {
        NodeId::first(n).map(|node| self.count(node)).collect()
    }

    /// Whether this event happened before `other`.
    #[must_use]
    pub fn happened_before(&self, other: &Self) -> bool {
        self != other && self.iter().all(|(node, count)| count <= other.count(node))
    }

    /// Whether neither happened before the other, and they are two events.
    #[must_use]
    pub fn is_concurrent_with(&self, other: &Self) -> bool {
        self != other && !self.happened_before(other) && !other.happened_before(self)
    }
}

/// An object from nodes to counts.
impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(node, count)| (node.to_string(), count)))
    }
}

/// The logical time of each event of a run, as [`Clocks`] computes it; none for a [`What::Loop`].
///
/// # Errors
/// If more messages are in flight than times can be kept for.
pub fn times(
    header: &Header,
    events: &[Event],
    kind: ClockKind,
) -> Result<Vec<Option<LogicalTime>>, Refusal> {
    let mut clocks = Clocks::new(header, kind);
    events.iter().map(|event| Ok(clocks.tell(event)?.cloned())).collect()
}

/// The clocks of all nodes, and of the messages in flight: reads the events of a run one by one.
#[derive(Debug)]
pub struct Clocks {
    /// Without vectors, a run of many nodes costs little.
    kind: ClockKind,
    nodes: BTreeMap<NodeId, LogicalTime>,
    /// The time of each sending, by its event.
    sent: BTreeMap<u64, LogicalTime>,
    /// The sendings that have arrived, oldest first: some are kept, as a message can arrive twice.
    arrived: VecDeque<u64>,
    /// The value that others find in a register, and the time of its write.
    registers: BTreeMap<String, (u64, LogicalTime)>,
    /// Whether others see a write only when it reaches memory.
    is_buffered: bool,
    /// The first event of the trace: what was sent before it is not known.
    first: Option<u64>,
    /// How many numbers all these times hold.
    kept: usize,
}

impl Clocks {
    /// The most numbers kept for messages in flight: about a hundred megabytes.
    const MOST_KEPT: usize = 2_000_000;
    /// The most arrived messages that are remembered.
    const MOST_ARRIVED: usize = 20_000;

    /// The clocks before the first event of a run. Vectors stay empty if only Lamport time is wanted.
    #[must_use]
    pub fn new(header: &Header, kind: ClockKind) -> Self {
        Self {
            kind,
            nodes: BTreeMap::new(),
            sent: BTreeMap::new(),
            arrived: VecDeque::new(),
            registers: BTreeMap::new(),
            is_buffered: header.options.contains_key("memory"),
            first: None,
            kept: 0,
        }
    }

    /// The time of an event, which comes after all that were told before; none if it is a [`What::Loop`].
    ///
    /// # Errors
    /// If more is in flight than can be kept, or the send of a message that arrives is no longer remembered.
    pub fn tell(&mut self, event: &Event) -> Result<Option<&LogicalTime>, Refusal> {
        if let What::Loop = event.what {
            return Ok(None);
        }
        self.first.get_or_insert(event.id);
        self.hear(event)?;
        let time = self.nodes.entry(event.node).or_default();
        time.tick(event.node, self.kind);
        if let What::Clock { count } = event.what {
            time.lamport = time.lamport.max(count);
        }
        self.leave_behind(event)?;
        Ok(Some(&self.nodes[&event.node]))
    }

    /// Takes what an event learns from others into the time of its node.
    fn hear(&mut self, event: &Event) -> Result<(), Refusal> {
        let heard = match &event.what {
            What::Deliver { .. } => {
                let Some(cause) = event.cause.filter(|cause| Some(*cause) >= self.first) else {
                    return Ok(());
                };
                let id = event.id;
                let forgotten = || {
                    Refusal::new(format!(
                        "event {id} delivers what event {cause} sent, which is no longer remembered"
                    ))
                };
                self.arrived.push_back(cause);
                Some(self.sent.get(&cause).ok_or_else(forgotten)?)
            }
            What::Access { access: AccessKind::Read, register, value, .. } => {
                let found = self.registers.get(register.as_ref()).filter(|(held, _)| held == value);
                found.map(|(_, time)| time)
            }
            _ => None,
        };
        if let Some(heard) = heard {
            self.nodes.entry(event.node).or_default().merge(heard);
        }
        Ok(())
    }

    /// Keeps the time of an event that later events refer to, and forgets the others.
    fn leave_behind(&mut self, event: &Event) -> Result<(), Refusal> {
        let time = || self.nodes[&event.node].clone();
        match &event.what {
            What::Send { .. } => {
                let time = time();
                self.kept += numbers(&time);
                self.sent.insert(event.id, time);
            }
            What::Lost { .. } => self.forget(event.cause),
            What::Access { access, register, value, .. } if self.is_seen(*access) => {
                let time = time();
                self.kept += numbers(&time);
                let before = self.registers.insert(register.clone().into_owned(), (*value, time));
                self.kept -= before.map_or(0, |(_, time)| numbers(&time));
            }
            _ => {}
        }
        while self.arrived.len() > Self::MOST_ARRIVED {
            let oldest = self.arrived.pop_front();
            self.forget(oldest);
        }
        if self.kept > Self::MOST_KEPT {
            let id = event.id;
            return Err(Refusal::new(format!(
                "at event {id} more is under way than logical times can be kept for"
            )));
        }
        Ok(())
    }

    fn forget(&mut self, sending: Option<u64>) {
        let time = sending.and_then(|sending| self.sent.remove(&sending));
        self.kept -= time.map_or(0, |time| numbers(&time));
    }

    /// Whether others see what such an access has written.
    fn is_seen(&self, access: AccessKind) -> bool {
        match access {
            AccessKind::Write => !self.is_buffered,
            AccessKind::End | AccessKind::Reach => true,
            AccessKind::Read | AccessKind::Begin | AccessKind::Barrier => false,
        }
    }
}

/// How many numbers a time holds.
fn numbers(time: &LogicalTime) -> usize {
    1 + time.vector.0.len()
}
