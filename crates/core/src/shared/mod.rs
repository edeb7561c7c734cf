//! Shared memory: the contract between an algorithm over registers and its drivers.
//!
//! A [`Program`] is one process, written as the textbook's numbered lines: each step makes one access to
//! [`Memory`], and local variables are the process's own state. The driver decides whether memory is atomic,
//! safe or buffered and which process steps next; the program cannot tell. [`Process`] holds a program to its
//! contract, as [`crate::Node`] does an algorithm.
//!
//! ```
//! use doorway_core::Phase;
//! use doorway_core::shared::{Memory, Process, Program, Progress, Register};
//! use serde::Serialize;
//!
//! /// Two processes that take turns: register 0 says whose turn it is.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
//! struct Turns { me: u64, is_inside: bool }
//!
//! impl Program for Turns {
//!     const LINES: &'static [&'static str] = &["await turn = i", "turn := 1 − i"];
//!
//!     fn line(&self) -> usize {
//!         if self.is_inside { 2 } else { 1 }
//!     }
//!
//!     fn step(&mut self, memory: &mut impl Memory) -> Progress {
//!         let turn = Register::new(0);
//!         if self.is_inside {
//!             memory.store(turn, 1 - self.me);
//!             self.is_inside = false;
//!             return Progress::Exit;
//!         }
//!         self.is_inside = memory.load(turn) == self.me;
//!         if self.is_inside { Progress::Enter } else { Progress::Wait }
//!     }
//! }
//!
//! /// A memory for one process that is alone.
//! struct Cells([u64; 1]);
//!
//! impl Memory for Cells {
//!     fn load(&mut self, register: Register) -> u64 { self.0[register.index()] }
//!     fn store(&mut self, register: Register, value: u64) { self.0[register.index()] = value; }
//!     fn barrier(&mut self) {}
//! }
//!
//! let mut process = Process::new(Turns { me: 0, is_inside: false });
//! let mut memory = Cells([0]);
//! assert_eq!(process.step(&mut memory), Ok(Progress::Enter));
//! assert_eq!(process.phase(), Phase::Inside);
//! ```

mod alone;
mod entry;
mod process;

use std::ops::Range;

pub use alone::Accesses;
pub use entry::{AboutProgram, Cell, Fairness, ProgramEntry, Team, Values};
pub use process::{Place, Process};

use crate::{Data, Field};

/// One process of an algorithm over shared registers, as a pure state machine.
///
/// It starts in the remainder and may stay there for ever; its first step is the first access of its entry
/// code. The step after the entry is the first of its exit code: the critical section makes no access.
pub trait Program: Data {
    /// The lines of the textbook, in order.
    const LINES: &'static [&'static str];

    /// The line that the next step executes, from 1.
    fn line(&self) -> usize;

    /// Runs the next step: exactly one call of one method of `memory`.
    fn step(&mut self, memory: &mut impl Memory) -> Progress;

    /// The local variables, in the textbook's words.
    fn fields(&self) -> Vec<Field> {
        Vec::new()
    }

    /// Predicates over all processes and registers that hold in every reachable state.
    fn invariants() -> &'static [Invariant<Self>] {
        &[]
    }
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// The process moves on.
    Step,
    /// The test of a waiting loop failed; the next step repeats it.
    Wait,
    /// The process moves on and has passed its doorway: one that starts later should not enter before it.
    Doorway,
    /// The process enters the critical section.
    Enter,
    /// The process is back in the remainder.
    Exit,
}

/// A register of shared memory, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(usize);

impl Register {
    /// The register with this number.
    #[must_use]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Its number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// The memory that all processes share. Every register starts at 0.
pub trait Memory {
    /// Reads a register.
    fn load(&mut self, register: Register) -> u64;

    /// Writes a register.
    fn store(&mut self, register: Register, value: u64);

    /// Waits until all stores of this process have reached memory.
    fn barrier(&mut self);

    /// Atomically reads these registers, writes their maximum plus one into another, and returns it. The
    /// simple bakery assumes this operation; no hardware has it. The default is not atomic: it makes several
    /// accesses.
    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        let largest = among.map(|index| self.load(Register::new(index))).max().unwrap_or(0);
        self.store(into, largest + 1);
        largest + 1
    }
}

impl<M: Memory + ?Sized> Memory for &mut M {
    fn load(&mut self, register: Register) -> u64 {
        (**self).load(register)
    }

    fn store(&mut self, register: Register, value: u64) {
        (**self).store(register, value);
    }

    fn barrier(&mut self) {
        (**self).barrier();
    }

    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        (**self).store_next(among, into)
    }
}

/// A predicate that holds in every reachable state of a correct program.
pub struct Invariant<P> {
    /// What it says, as a sentence.
    pub name: &'static str,
    /// Whether it holds in a given state.
    pub holds: fn(&Snapshot<'_, P>) -> bool,
}

/// A global state: all processes and the values of the registers.
pub struct Snapshot<'a, P> {
    /// The processes in order.
    pub processes: Vec<&'a Process<P>>,
    /// The values of all registers, without stores that are still buffered.
    pub registers: &'a [u64],
}
