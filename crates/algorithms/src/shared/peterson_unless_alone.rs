//! Peterson's algorithm, in which a process that is alone does not write the turn.
//!
//! After G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981.
//!
//! A process that wants in raises its flag and reads the other's. If that is down, it goes in at once: the other will
//! see this flag and give way. Only a process that has seen the other's flag writes the turn and waits as in Peterson's
//! algorithm. Of two that come together at least one has seen the other, so neither waits for one that went in without
//! giving way.
//!
//! Registers: two flags and a turn, of two values each. Alone: 2 writes, 1 read, and only one barrier. Starvation-free.
//! A process that has written the turn is served before one that begins later; one that has only raised its flag can be
//! overtaken once. Total store order: a barrier after the flag and one after the turn.
//!
//! This is the form that ships as a lock. The paper's writes the turn always.

use doorway_core::shared::{AboutProgram, Fairness, Memory, Program, ProgramEntry, Progress};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{Again, Doorway, Enter, Exit, Next};
use super::lines::{barrier, test, write};
use super::peterson::{TURN, flag, registers, two};

/// One of the two processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct UnlessAlone {
    /// Its side, 0 or 1.
    side: usize,
    line: usize,
}

impl UnlessAlone {
    /// The process of this side: the first node's is 0, the second's 1.
    pub fn new(me: NodeId) -> Self {
        Self { side: me.index(), line: 1 }
    }
}

impl Program for UnlessAlone {
    const LINES: &'static [&'static str] = &[
        "flag[i] := 1",
        "barrier",
        "if flag[1−i] = 1",
        "turn := i",
        "barrier",
        "await flag[1−i] = 0",
        "or turn ≠ i",
        "flag[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, rivals, side) = (flag(self.side), flag(1 - self.side), self.side as u64);
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => barrier(memory, Next),
            3 => test(memory.load(rivals) == 0, Enter(8), Next),
            4 => write(memory, TURN, side, Next),
            5 => barrier(memory, Doorway),
            6 => test(memory.load(rivals) == 0, Enter(8), Next),
            7 => test(memory.load(TURN) != side, Enter(8), Again(6)),
            _ => write(memory, mine, 0, Exit),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.side)]
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<UnlessAlone> {
    ProgramEntry {
        about: AboutProgram {
            name: "peterson/unless-alone",
            title: "Peterson, unless alone",
            promise: Fairness::Fifo,
            parameters: &[],
            variants: &[],
            source: include_str!("peterson_unless_alone.rs"),
            specimen: None,
        },
        bind: |_, members| two("peterson/unless-alone", members, registers(), UnlessAlone::new),
    }
}
