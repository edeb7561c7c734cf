//! Peterson's algorithm without the turn: bounded waiting that does not help (C56).
//!
//! A process that wants in raises its flag and waits while the other's is up. A process that has raised its flag is
//! never overtaken by one that comes later, so waiting is 0-bounded, and exclusion holds. But if both raise their flags
//! before either looks, both wait for ever: bounded bypass does not imply progress.
//!
//! Two steps suffice: 1 raises its flag, 2 raises its own; from then on each reads the other's flag again and again.

use doorway_core::shared::{AboutProgram, Fairness, Memory, Program, ProgramEntry, Progress};
use doorway_core::{Field, NodeId, Specimen};
use serde::Serialize;

use crate::shared::lines::Then::{Again, Doorway, Enter, Exit, Next};
use crate::shared::lines::{barrier, test, write};
use crate::shared::peterson::{flag, registers, two};

/// One of the two processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NoTurn {
    /// Its side, 0 or 1.
    side: usize,
    line: usize,
}

impl NoTurn {
    /// The process of this side: the first node's is 0, the second's 1.
    pub fn new(me: NodeId) -> Self {
        Self { side: me.index(), line: 1 }
    }
}

impl Program for NoTurn {
    const LINES: &'static [&'static str] =
        &["flag[i] := 1", "barrier", "await flag[1−i] = 0", "flag[i] := 0"];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, rivals) = (flag(self.side), flag(1 - self.side));
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => barrier(memory, Doorway),
            3 => test(memory.load(rivals) == 0, Enter(4), Again(3)),
            _ => write(memory, mine, 0, Exit),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.side)]
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<NoTurn> {
    ProgramEntry {
        about: AboutProgram {
            name: "peterson/no-turn",
            title: "Peterson, without the turn",
            promise: Fairness::Fifo,
            parameters: &[],
            variants: &[],
            source: include_str!("peterson_no_turn.rs"),
            specimen: Some(Specimen {
                id: "C56",
                of: "peterson",
                wrong: "neither gives way: a process waits while the other's flag is up, even if it came first",
                verdict: "deadlock, although waiting is bounded",
            }),
        },
        bind: |_, members| two("peterson/no-turn", members, registers()[..2].to_vec(), NoTurn::new),
    }
}
