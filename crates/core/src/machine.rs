//! Anything that a driver can step: the simplest is one node of one algorithm, the largest a whole lock node.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::{Data, Message, NodeId, Out};

/// A moment or a span of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticks(pub u64);

impl Add for Ticks {
    type Output = Ticks;

    fn add(self, span: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(span.0))
    }
}

/// The span from one moment to a later one, never negative.
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

/// A deterministic machine among others of its kind: it is told what happens at the moment `now` and answers with
/// effects. Each call is one atomic step; the same state and the same call give the same effects. What it takes in and gives out
/// is data; the machine itself need not be, and nobody but itself looks into it.
pub trait Machine: Sized + Send + 'static {
    /// What it writes on the envelope of every message of a step, besides the message.
    type Header: Data + Copy + Default;
    /// What machines tell each other.
    type Msg: Message;
    /// What its application tells it.
    type Command: Data;
    /// What it tells its application.
    type Notice: Data;
    /// What it asks to be reminded of.
    type Timer: Data;
    /// What it writes to its disk.
    type Write: Data;

    /// It comes to life.
    fn on_start(&mut self, now: Ticks, effects: &mut Effects<Self>);

    /// Its application speaks.
    fn on_command(&mut self, now: Ticks, command: Self::Command, effects: &mut Effects<Self>);

    /// A message has arrived, with what its sender wrote on the envelope.
    fn on_message(
        &mut self,
        now: Ticks,
        from: NodeId,
        header: Self::Header,
        msg: Self::Msg,
        effects: &mut Effects<Self>,
    );

    /// A reminder is due.
    fn on_timer(&mut self, now: Ticks, timer: Self::Timer, effects: &mut Effects<Self>);

    /// A write has reached the disk.
    fn on_written(&mut self, now: Ticks, write: Self::Write, effects: &mut Effects<Self>);
}

/// What one step of a machine asks of its driver, which owns it and uses it again.
#[derive(Debug)]
pub struct Effects<M: Machine> {
    /// What to write on the envelope of everything sent in this step.
    pub header: M::Header,
    /// What to send, which rule ran, and what was found broken.
    pub out: Out<M::Msg>,
    /// What to tell the application.
    pub notices: Vec<M::Notice>,
    /// What to be reminded of, and after what span.
    pub timers: Vec<(Ticks, M::Timer)>,
    /// What to write to the disk, in order.
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
    /// Empties it for the next step.
    #[inline]
    pub fn clear(&mut self) {
        self.header = M::Header::default();
        self.out.clear();
        self.notices.clear();
        self.timers.clear();
        self.writes.clear();
    }
}

/// What an application tells the node of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// It wants in.
    Request,
    /// It has left.
    Release,
}

/// What a node of one section tells its application: it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entered(pub crate::Fence);

/// What cannot be: the timers and the disk of a machine that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Never {}
