//! Peterson's algorithm for two processes.
//!
//! G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981.
//!
//! A process that wants in raises its flag and then gives way: it writes its own side into the turn, and waits while the
//! other's flag is up and the turn is still its own. If both want in, one of them wrote the turn last; that one waits,
//! and the other goes in.
//!
//! Registers: two flags and a turn, of two values each; the first process is side 0, the second side 1. Alone: 3
//! writes, 1 read. Starvation-free. A process that has written the turn is served before one that begins later; one that
//! has only raised its flag can be overtaken once. Total store order: a barrier after the turn, so that both writes are seen before the
//! other's flag is read.
//!
//! Flag and turn are read apart, the turn only if the flag is up: the algorithm does not need both at once.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, Members, NodeId, Refusal};
use serde::Serialize;

use super::lines::Then::{Again, Doorway, Enter, Exit, Next};
use super::lines::{barrier, test, write};

/// One of the two processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Peterson {
    /// Its side, 0 or 1.
    side: usize,
    line: usize,
}

/// The register that says whose turn it is to wait.
pub(crate) const TURN: Register = Register::new(2);

/// The register by which a side says that it wants in.
pub(crate) fn flag(side: usize) -> Register {
    Register::new(side)
}

impl Peterson {
    /// The process of this side: the first node's is 0, the second's 1.
    pub fn new(me: NodeId) -> Self {
        Self { side: me.index(), line: 1 }
    }
}

impl Program for Peterson {
    const LINES: &'static [&'static str] =
        &["flag[i] := 1", "turn := i", "barrier", "await flag[1−i] = 0", "or turn ≠ i", "flag[i] := 0"];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, rivals, side) = (flag(self.side), flag(1 - self.side), self.side as u64);
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => write(memory, TURN, side, Next),
            3 => barrier(memory, Doorway),
            4 => test(memory.load(rivals) == 0, Enter(6), Next),
            5 => test(memory.load(TURN) != side, Enter(6), Again(4)),
            _ => write(memory, mine, 0, Exit),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.side)]
    }
}

/// The registers of the two processes.
pub fn registers() -> Vec<Cell> {
    ["flag[0]", "flag[1]", "turn"].map(|name| Cell::new(name, Values::UpTo(1))).into()
}

/// Two processes and their registers; any other number is refused.
pub(crate) fn two<P: Program>(
    name: &str,
    members: &Members,
    registers: Vec<Cell>,
    make: fn(NodeId) -> P,
) -> Result<Team<P>, Refusal> {
    if members.n() != 2 {
        let sentence =
            format!("{name} is for two processes, not for {}: a tournament is for any number", members.n());
        return Err(Refusal::new(sentence));
    }
    Ok(Team::new(members, registers, make))
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<Peterson> {
    ProgramEntry {
        about: AboutProgram {
            name: "peterson",
            title: "Peterson",
            promise: Fairness::Fifo,
            parameters: &[],
            variants: &[],
            source: include_str!("peterson.rs"),
            specimen: None,
        },
        bind: |_, members| two("peterson", members, registers(), Peterson::new),
    }
}
