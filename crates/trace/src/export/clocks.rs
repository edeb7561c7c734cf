//! Vector clocks for a trace: what each event knows of the others.
//!
//! An event knows what its node knew, a delivery besides what its sending knew, and a reading what the writing knew whose value
//! it reads. F. Mattern: "Virtual time and global states of distributed systems", Workshop on Parallel and Distributed
//! Algorithms, 1988; C. Fidge, 1988.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::NodeId;

use crate::{AccessKind, Event, Header, What};

/// How many events of each node are known; nodes of which nothing is known are left out.
pub(super) type Clock = BTreeMap<NodeId, u64>;

/// The clocks of all nodes, and of the messages in flight.
pub(super) struct Clocks {
    nodes: BTreeMap<NodeId, Clock>,
    /// What each sending knew, by its event.
    sent: BTreeMap<u64, Clock>,
    /// The sendings that have arrived, oldest first: some are kept, as a message can arrive twice.
    arrived: VecDeque<u64>,
    /// The value that others find in a register, and what its writing knew.
    registers: BTreeMap<String, (u64, Clock)>,
    /// Whether a writing is seen by others only when it reaches memory.
    is_buffered: bool,
    /// The first event of the trace: what was sent before it is not known.
    first: Option<u64>,
    /// How many numbers all these clocks hold.
    kept: usize,
}

impl Clocks {
    /// The most numbers kept for messages in flight: about a hundred megabytes.
    const MOST_KEPT: usize = 2_000_000;
    /// The most arrived messages that are remembered.
    const MOST_ARRIVED: usize = 20_000;

    pub(super) fn new(header: &Header) -> Self {
        Self {
            nodes: BTreeMap::new(),
            sent: BTreeMap::new(),
            arrived: VecDeque::new(),
            registers: BTreeMap::new(),
            is_buffered: header.options.contains_key("memory"),
            first: None,
            kept: 0,
        }
    }

    /// The clock of an event, which comes after all that were told before.
    ///
    /// # Errors
    /// If more is in flight than can be kept, or the send of a message that arrives is no longer remembered.
    pub(super) fn tell(&mut self, event: &Event) -> Result<&Clock, String> {
        self.first.get_or_insert(event.id);
        self.hear(event)?;
        let clock = self.nodes.entry(event.node).or_default();
        *clock.entry(event.node).or_default() += 1;
        self.leave_behind(event)?;
        Ok(&self.nodes[&event.node])
    }

    /// Takes what an event learns from others into the clock of its node.
    fn hear(&mut self, event: &Event) -> Result<(), String> {
        let heard = match &event.what {
            What::Deliver { .. } => {
                let Some(cause) = event.cause.filter(|cause| Some(*cause) >= self.first) else {
                    return Ok(());
                };
                let id = event.id;
                let forgotten =
                    || format!("event {id} delivers what event {cause} sent, which is no longer remembered");
                self.arrived.push_back(cause);
                Some(self.sent.get(&cause).ok_or_else(forgotten)?)
            }
            What::Access { access: AccessKind::Read, register, value, .. } => {
                let found = self.registers.get(register.as_ref()).filter(|(held, _)| held == value);
                found.map(|(_, clock)| clock)
            }
            _ => None,
        };
        let Some(heard) = heard else { return Ok(()) };
        let clock = self.nodes.entry(event.node).or_default();
        for (&node, &count) in heard {
            let known = clock.entry(node).or_default();
            *known = count.max(*known);
        }
        Ok(())
    }

    /// Keeps the clock of an event that later events refer to, and forgets the others.
    fn leave_behind(&mut self, event: &Event) -> Result<(), String> {
        let clock = || self.nodes[&event.node].clone();
        match &event.what {
            What::Send { .. } => {
                let clock = clock();
                self.kept += clock.len();
                self.sent.insert(event.id, clock);
            }
            What::Lost { .. } => self.forget(event.cause),
            What::Access { access, register, value, .. } if self.is_seen(*access) => {
                let clock = clock();
                self.kept += clock.len();
                let before = self.registers.insert(register.clone().into_owned(), (*value, clock));
                self.kept -= before.map_or(0, |(_, clock)| clock.len());
            }
            _ => {}
        }
        while self.arrived.len() > Self::MOST_ARRIVED {
            let oldest = self.arrived.pop_front();
            self.forget(oldest);
        }
        match self.kept > Self::MOST_KEPT {
            true => {
                Err(format!("at event {} more is under way than vector clocks can be kept for", event.id))
            }
            false => Ok(()),
        }
    }

    fn forget(&mut self, sending: Option<u64>) {
        let clock = sending.and_then(|sending| self.sent.remove(&sending));
        self.kept -= clock.map_or(0, |clock| clock.len());
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
