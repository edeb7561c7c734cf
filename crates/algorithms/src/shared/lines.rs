//! How programs are written down here: as numbered lines, each of which makes one access and says where it leads.

// tidy: not an algorithm, because all programs are written with it.

use doorway_core::shared::{Memory, Progress, Register};
use doorway_core::{Field, NodeId};
use serde::Serialize;

/// Where a line leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// To the next line.
    Next,
    /// To the next line, past the doorway.
    Doorway,
    /// To this line.
    Goto(usize),
    /// To this line, as the test of a waiting loop has failed.
    Again(usize),
    /// Inside; this line is the first of the way out.
    Enter(usize),
    /// Back to the remainder and to line 1.
    Exit,
}

impl Then {
    /// Moves on from a line, and returns the step's progress.
    pub fn follow(self, line: &mut usize) -> Progress {
        let (next, progress) = match self {
            Then::Next => (*line + 1, Progress::Step),
            Then::Doorway => (*line + 1, Progress::Doorway),
            Then::Goto(to) => (to, Progress::Step),
            Then::Again(to) => (to, Progress::Wait),
            Then::Enter(leave) => (leave, Progress::Enter),
            Then::Exit => (1, Progress::Exit),
        };
        *line = next;
        progress
    }
}

/// Writes a register, then moves on.
pub fn write(memory: &mut impl Memory, register: Register, value: u64, then: Then) -> Then {
    memory.store(register, value);
    then
}

/// Waits until all processes see what was written, then moves on.
pub fn barrier(memory: &mut impl Memory, then: Then) -> Then {
    memory.barrier();
    then
}

/// Moves on to one place or the other.
pub fn test(holds: bool, yes: Then, no: Then) -> Then {
    if holds { yes } else { no }
}

/// A loop over all other processes in order; j is the current one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Others {
    me: usize,
    n: usize,
    now: usize,
}

impl Others {
    /// The others of `me` among `n`, and the first of them.
    pub fn new(me: NodeId, n: usize) -> Self {
        let me = me.index();
        Self { me, n, now: usize::from(me == 0) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 1
    }

    /// The current one, counted from 0.
    pub fn now(&self) -> usize {
        self.now
    }

    /// This line for the next of them; and after the last the line `last`, and the first of them again.
    pub fn for_all(&mut self, line: usize, last: Then) -> Then {
        let next = (self.now + 1..self.n).find(|&other| other != self.me);
        *self = Self { now: next.unwrap_or(usize::from(self.me == 0)), ..*self };
        if next.is_some() { Then::Goto(line) } else { last }
    }

    /// The current one, for people.
    pub fn field(&self) -> Field {
        Field::optional("j", (!self.is_empty()).then(|| NodeId::new(self.now)))
    }
}
