//! Lamport's bakery.
//!
//! L. Lamport, "A new solution of Dijkstra's concurrent programming problem", Communications of the ACM 17(8), 1974.
//!
//! A process that wants in reads the numbers of all, one after the other, and takes one more than the largest. Two may
//! take the same; then the smaller process goes first. While a process chooses its number a flag says so, and a process
//! that compares itself with it waits for that: otherwise a number that was computed long ago could be written late and
//! still be the smallest.
//!
//! Registers: a flag and a number for each process; numbers are unbounded, and grow for ever while some process is
//! always waiting. Each is written by its own process alone and need only be safe: a read during a write may return
//! anything. Alone: 4 writes, 3(n − 1) reads. Starvation-free; first come, first served from the end of the choosing.
//! Total store order: a barrier after the choosing has begun and one after the number; the second could
//! also stand after the choosing has ended, but not where writes overtake each other.
//!
//! Every number is read once, into a local maximum. The paper's process reads its own number too and waits for itself;
//! as it knows what it would read, both are left out.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Snapshot,
    Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit, Goto, Next};
use super::lines::{Others, barrier, test, write};
use super::tickets::{SMALLEST_INSIDE, goes_before, is_smallest_inside};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Bakery {
    me: NodeId,
    n: usize,
    pub(crate) line: usize,
    pub(crate) others: Others,
    /// While it chooses, the largest number that it has read; then its own.
    pub(crate) number: u64,
}

fn choosing(process: usize) -> Register {
    Register::new(process)
}

impl Bakery {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, n, line: 1, others: Others::new(me, n), number: 0 }
    }

    pub(crate) fn number_of(&self, process: usize) -> Register {
        Register::new(self.n + process)
    }

    fn read_number(&mut self, theirs: u64) -> Then {
        self.number = self.number.max(theirs);
        self.others.for_all(3, Next)
    }

    fn take_number(&mut self, memory: &mut impl Memory) -> Then {
        self.number += 1;
        write(memory, self.number_of(self.me.index()), self.number, Next)
    }

    fn await_number(&mut self, theirs: u64) -> Then {
        match goes_before((theirs, self.others.now()), (self.number, self.me.index())) {
            true => Again(8),
            false => self.others.for_all(7, Enter(9)),
        }
    }

    fn leave(&mut self, memory: &mut impl Memory) -> Then {
        self.number = 0;
        write(memory, self.number_of(self.me.index()), 0, Exit)
    }
}

impl Program for Bakery {
    const LINES: &'static [&'static str] = &[
        "choosing[i] := 1",
        "barrier",
        "for all j ≠ i: max := max(max, number[j])",
        "number[i] := max + 1",
        "barrier",
        "choosing[i] := 0",
        "for all j ≠ i: await choosing[j] = 0",
        "  await number[j] = 0 or (number[j], j) > (number[i], i)",
        "number[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, theirs) = (choosing(self.me.index()), choosing(self.others.now()));
        let is_alone = self.others.is_empty();
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => barrier(memory, test(is_alone, Goto(4), Next)),
            3 => self.read_number(memory.load(self.number_of(self.others.now()))),
            4 => self.take_number(memory),
            5 => barrier(memory, Next),
            6 => write(memory, mine, 0, test(is_alone, Enter(9), Doorway)),
            7 => test(memory.load(theirs) == 0, Next, Again(7)),
            8 => self.await_number(memory.load(self.number_of(self.others.now()))),
            _ => self.leave(memory),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        let name = if self.line <= 4 { "max" } else { "own number" };
        vec![Field::new("i", self.me), self.others.field(), Field::new(name, self.number)]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        fn holds(snapshot: &Snapshot<'_, Bakery>) -> bool {
            is_smallest_inside(snapshot, snapshot.processes.len())
        }
        &[Invariant { name: SMALLEST_INSIDE, holds }]
    }
}

/// The registers of `n` processes.
pub fn registers(n: usize) -> Vec<Cell> {
    let flags = Cell::for_each("choosing", n, Values::UpTo(1));
    flags.chain(Cell::for_each("number", n, Values::Unbounded)).collect()
}

/// Its description in the catalog.
pub(crate) const ABOUT: AboutProgram = AboutProgram {
    name: "bakery",
    title: "Bakery",
    promise: Fairness::Fifo,
    parameters: &[],
    variants: &[],
    source: include_str!("bakery.rs"),
    specimen: None,
};

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<Bakery> {
    ProgramEntry {
        about: ABOUT,
        bind: |_, members| {
            let n = members.n();
            Ok(Team::new(members, registers(n), move |me| Bakery::new(me, n)))
        },
    }
}
