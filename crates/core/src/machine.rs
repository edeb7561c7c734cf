//! The interface that drivers step. The simplest machine is one node of one algorithm, the largest a whole
//! lock node.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::{Data, Message, NodeId, Out};

/// A point in virtual time, or a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticks(pub u64);

impl Add for Ticks {
    type Output = Ticks;

    fn add(self, span: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(span.0))
    }
}

/// The duration since an earlier point, never negative.
impl Sub for Ticks {
    type Output = Ticks;

    fn sub(self, earlier: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }
}

impl std::fmt::Display for Ticks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A deterministic state machine among others of its kind: it handles an event at time `now` and returns
/// effects. Each call is one atomic step; the same state and the same call give the same effects. Inputs and
/// outputs are data; the machine's own state is private and need not be.
pub trait Machine: Sized + Send + 'static {
    /// A header that every message of a step carries.
    type Header: Data + Copy + Default;
    /// The messages between machines.
    type Msg: Message;
    /// The application's commands.
    type Command: Data;
    /// Its notifications to the application.
    type Notice: Data;
    /// Its timers.
    type Timer: Data;
    /// Its disk writes.
    type Write: Data;

    /// The machine starts.
    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>);

    /// The application gives a command.
    fn on_command(&mut self, now: Ticks, command: Self::Command, effects: &mut Effects<Self>);

    /// A message has arrived, with its header.
    fn on_message(
        &mut self,
        now: Ticks,
        from: NodeId,
        header: Self::Header,
        msg: Self::Msg,
        effects: &mut Effects<Self>,
    );

    /// The driver's oracle reports that the machine of another node has crashed. Most machines find out by
    /// themselves and are never told.
    fn on_crash(&mut self, _now: Ticks, _node: NodeId, _effects: &mut Effects<Self>) {}

    /// A timer has expired.
    fn on_timer(&mut self, now: Ticks, timer: Self::Timer, effects: &mut Effects<Self>);

    /// A write has reached the disk.
    fn on_written(&mut self, now: Ticks, write: Self::Write, effects: &mut Effects<Self>);
}

/// The outputs of one step of a machine. The driver owns the buffer and reuses it.
#[derive(Debug)]
pub struct Effects<M: Machine> {
    /// The header of every message sent in this step.
    pub header: M::Header,
    /// The messages to send, the rule that ran, and a breach if one was found.
    pub out: Out<M::Msg>,
    /// The notifications to the application.
    pub notices: Vec<M::Notice>,
    /// The timers to set, each with its delay.
    pub timers: Vec<(Ticks, M::Timer)>,
    /// The disk writes, in order.
    pub writes: Vec<M::Write>,
}

impl<M: Machine> Default for Effects<M> {
    fn default() -> Self {
        Self {
            header: M::Header::default(),
            out: Out::default(),
            notices: Vec::new(),
            timers: Vec::new(),
            writes: Vec::new(),
        }
    }
}

impl<M: Machine> Effects<M> {
    /// Clears it for the next step.
    #[inline]
    pub fn clear(&mut self) {
        self.header = M::Header::default();
        self.out.clear();
        self.notices.clear();
        self.timers.clear();
        self.writes.clear();
    }
}

/// An application's command to the node of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// It requests the section.
    Request,
    /// It releases the section.
    Release,
}

/// Notifies the application that the node of its section has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entered(pub crate::Fence);

/// The uninhabited type, for the timers or disk writes of a machine that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Never {}
