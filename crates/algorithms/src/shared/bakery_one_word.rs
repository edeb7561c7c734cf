//! The bakery with one word for each process.
//!
//! After L. Lamport, "A new solution of Dijkstra's concurrent programming problem", Communications of the ACM 17(8),
//! 1974.
//!
//! Flag and number of the bakery are never both of interest: while a process chooses, its old number is 0. So one word
//! says it all: 0 for idle, 1 for choosing, and from 2 on a ticket. A process that wants in reads the words of all
//! others, takes one more than the largest, and then needs one read for each test instead of two: as 1 is smaller than
//! every ticket, it waits for a process that chooses as for one with a smaller ticket.
//!
//! Registers: one word for each process, without limit. Alone: 3 writes, 2(n − 1) reads. Starvation-free; first come,
//! first served from when the ticket is seen. Total store order: a barrier after the choosing has begun and one after
//! the ticket.
//!
//! This is the form that ships as a lock. Unlike the bakery it waits also for one that chooses again, which gets a
//! larger ticket and will wait itself. A word changes from choosing to a ticket in one write, so a read must not give
//! anything else meanwhile: registers that are only safe are not enough.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Invariant, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit, Goto, Next};
use super::lines::{Others, barrier, test, write};
use super::tickets::{SMALLEST_INSIDE, goes_before, is_smallest_inside};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BakeryOneWord {
    me: NodeId,
    line: usize,
    others: Others,
    /// While it chooses, the largest word that it has read; then its own ticket.
    ticket: u64,
}

const IDLE: u64 = 0;
const CHOOSING: u64 = 1;

fn word(process: usize) -> Register {
    Register::new(process)
}

impl BakeryOneWord {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, line: 1, others: Others::new(me, n), ticket: CHOOSING }
    }

    fn read_word(&mut self, theirs: u64) -> Then {
        self.ticket = self.ticket.max(theirs);
        self.others.for_all(3, Next)
    }

    fn take_ticket(&mut self, memory: &mut impl Memory) -> Then {
        self.ticket += 1;
        write(memory, word(self.me.index()), self.ticket, test(self.others.is_empty(), Enter(7), Next))
    }

    fn await_word(&mut self, theirs: u64) -> Then {
        match goes_before((theirs, self.others.now()), (self.ticket, self.me.index())) {
            true => Again(6),
            false => self.others.for_all(6, Enter(7)),
        }
    }

    fn leave(&mut self, memory: &mut impl Memory) -> Then {
        self.ticket = CHOOSING;
        write(memory, word(self.me.index()), IDLE, Exit)
    }
}

impl Program for BakeryOneWord {
    const LINES: &'static [&'static str] = &[
        "word[i] := 1",
        "barrier",
        "for all j ≠ i: max := max(max, word[j])",
        "word[i] := max + 1",
        "barrier",
        "for all j ≠ i: await word[j] = 0 or (word[j], j) > (word[i], i)",
        "word[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, theirs) = (word(self.me.index()), word(self.others.now()));
        let then = match self.line {
            1 => write(memory, mine, CHOOSING, Next),
            2 => barrier(memory, test(self.others.is_empty(), Goto(4), Next)),
            3 => self.read_word(memory.load(theirs)),
            4 => self.take_ticket(memory),
            5 => barrier(memory, Doorway),
            6 => self.await_word(memory.load(theirs)),
            _ => self.leave(memory),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        let name = if self.line <= 4 { "max" } else { "own word" };
        vec![Field::new("i", self.me), self.others.field(), Field::new(name, self.ticket)]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant { name: SMALLEST_INSIDE, holds: |snapshot| is_smallest_inside(snapshot, 0) }]
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<BakeryOneWord> {
    ProgramEntry {
        about: AboutProgram {
            name: "bakery/one-word",
            title: "Bakery, one word each",
            promise: Fairness::Fifo,
            parameters: &[],
            variants: &[],
            source: include_str!("bakery_one_word.rs"),
            specimen: None,
        },
        bind: |_, members| {
            let n = members.n();
            let words = Cell::for_each("word", n, Values::Unbounded).collect();
            Ok(Team::new(members, words, move |me| BakeryOneWord::new(me, n)))
        },
    }
}
