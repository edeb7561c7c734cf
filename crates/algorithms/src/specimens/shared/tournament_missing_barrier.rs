//! The tournament without the barrier of one level (T1).
//!
//! Under total store order a process may read its rival's flag before its own flag and turn are seen: so two pass the
//! node of that level together. At the leaf they are then on the same side of the node above, and one of them takes
//! the flag of both down; at the root both are inside at once. Each level needs its own barrier; with sequential
//! memory nothing is wrong. Of four processes 22 steps suffice without the barrier of the leaves, and 18 without that
//! of the root.

use doorway_core::shared::{AboutProgram, Memory, Program, ProgramEntry, Progress, Register};
use doorway_core::{Field, Parameter, Refusal, Specimen};
use serde::Serialize;

use crate::shared::tournament::{ABOUT, Tournament, levels, team};
use crate::shared::two_process::{LOCK, TwoProcess};

/// One process of the tournament, which passes no barrier at one level.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct MissingBarrier {
    of: Tournament<TwoProcess>,
    /// The level without a barrier; 0 is that of the leaves.
    level: usize,
}

/// Which level has no barrier.
const LEVEL: Parameter = Parameter {
    name: "level",
    default: "0",
    help: "The level of the tree that has no barrier: 0 is that of the leaves, the next ones are above it.",
};

/// A memory that knows no barriers.
struct NoBarriers<'a, M> {
    memory: &'a mut M,
    is_passed: bool,
}

impl<M: Memory> Memory for NoBarriers<'_, M> {
    fn load(&mut self, register: Register) -> u64 {
        self.memory.load(register)
    }

    fn store(&mut self, register: Register, value: u64) {
        self.memory.store(register, value);
    }

    fn barrier(&mut self) {
        self.is_passed = true;
    }
}

impl Program for MissingBarrier {
    const LINES: &'static [&'static str] = Tournament::<TwoProcess>::LINES;

    fn line(&self) -> usize {
        self.of.line()
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        if self.of.level != self.level {
            return self.of.step(memory);
        }
        let mut memory = NoBarriers { memory, is_passed: false };
        let progress = self.of.step(&mut memory);
        if memory.is_passed { self.of.step(&mut memory) } else { progress }
    }

    fn fields(&self) -> Vec<Field> {
        self.of.fields()
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<MissingBarrier> {
    ProgramEntry {
        about: AboutProgram {
            name: "tournament/missing-barrier",
            title: "Tournament, a barrier missing",
            parameters: &[LOCK, LEVEL],
            source: include_str!("tournament_missing_barrier.rs"),
            specimen: Some(Specimen {
                id: "T1",
                of: "tournament",
                wrong: "at one level of the tree there is no barrier between the announcement and the first look",
                verdict: "exclusion violated under total store order",
            }),
            ..ABOUT
        },
        bind: |options, members| {
            let word = options.choice(&LEVEL).word;
            let n = members.n();
            let refusal = || {
                let last = levels(n) - 1;
                Refusal::new(format!(
                    "{word:?} is no level of the tree of {n} processes: they are 0 to {last}"
                ))
            };
            let level: usize = word.parse().map_err(|_| refusal())?;
            if level >= levels(members.n()) {
                return Err(refusal());
            }
            team(options, members, move |of| MissingBarrier { of, level })
        },
    }
}
