//! The simple bakery.
//!
//! The first step towards L. Lamport, "A new solution of Dijkstra's concurrent programming problem", CACM 17(8), 1974,
//! as textbooks tell it.
//!
//! A process that wants in draws a ticket with a larger number than any that is out, and waits until no other has a
//! smaller one. To draw is to read all numbers and write one in one atomic step, which no memory offers and which the
//! bakery itself does without.
//!
//! Registers: one number for each process, without limit: while some process is always waiting, they grow for ever.
//! Alone: the atomic draw, n − 1 reads and 1 write. Starvation-free; the first to draw is the first to be served.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit};
use super::lines::{Others, test, write};
use super::tickets::{SMALLEST_INSIDE, goes_before, is_smallest_inside};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SimpleBakery {
    pub(crate) me: NodeId,
    pub(crate) n: usize,
    line: usize,
    others: Others,
    /// Its own ticket, 0 for none.
    number: u64,
}

pub(crate) fn number(process: usize) -> Register {
    Register::new(process)
}

impl SimpleBakery {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, n, line: 1, others: Others::new(me, n), number: 0 }
    }

    /// It has its ticket, and begins to wait.
    pub(crate) fn drew(&mut self, number: u64) -> Progress {
        self.number = number;
        test(self.others.is_empty(), Enter(3), Doorway).follow(&mut self.line)
    }

    fn await_number(&mut self, theirs: u64) -> Then {
        match goes_before((theirs, self.others.now()), (self.number, self.me.index())) {
            true => Again(2),
            false => self.others.for_all(2, Enter(3)),
        }
    }
}

impl Program for SimpleBakery {
    const LINES: &'static [&'static str] = &[
        "number[i] := 1 + max(number[1], …, number[n]), at once",
        "for all j ≠ i: await number[j] = 0 or (number[j], j) > (number[i], i)",
        "number[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let mine = number(self.me.index());
        let then = match self.line {
            1 => {
                let drawn = memory.store_next(0..self.n, mine);
                return self.drew(drawn);
            }
            2 => self.await_number(memory.load(number(self.others.now()))),
            _ => {
                self.number = 0;
                write(memory, mine, 0, Exit)
            }
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("i", self.me), self.others.field(), Field::new("own number", self.number)]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant { name: SMALLEST_INSIDE, holds: |snapshot| is_smallest_inside(snapshot, 0) }]
    }
}

/// The registers of `n` processes.
pub fn registers(n: usize) -> Vec<Cell> {
    Cell::for_each("number", n, Values::Unbounded).collect()
}

/// Its description in the catalog.
pub(crate) const ABOUT: AboutProgram = AboutProgram {
    name: "simple-bakery",
    title: "Simple bakery",
    promise: Fairness::Fifo,
    parameters: &[],
    variants: &[],
    source: include_str!("simple_bakery.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<SimpleBakery> {
    ProgramEntry {
        about: ABOUT,
        bind: |_, members| {
            let n = members.n();
            Ok(Team::new(members, registers(n), move |me| SimpleBakery::new(me, n)))
        },
    }
}
