//! The black-white bakery with the colour and the number of a ticket in two registers.
//!
//! The program is the correct one, and what it takes for one register is two. So a read of a ticket is two steps, the
//! colour first or the number; after the first of them the program has not moved. A write changes the number, or else
//! the colour.

use std::ops::Range;

use doorway_core::shared::{Cell, Invariant, Memory, Program, Progress, Register, Snapshot, Team, Values};
use doorway_core::{Field, Members};
use serde::Serialize;

use crate::shared::black_white_bakery::BlackWhiteBakery;
use crate::shared::tickets::{Coloured, TICKETS_UP_TO_N};

/// What of a ticket is read first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum First {
    /// Its colour.
    Colour,
    /// Its number.
    Number,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Split {
    of: BlackWhiteBakery,
    first: First,
    /// What it has read of a ticket whose other half it reads next.
    half: Option<u64>,
    /// The number of its own ticket.
    number: u64,
}

impl Program for Split {
    const LINES: &'static [&'static str] = BlackWhiteBakery::LINES;

    fn line(&self) -> usize {
        self.of.line()
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let mut after = self.of.clone();
        let mut halves = Halves { memory, process: self, is_half: false };
        let progress = after.step(&mut halves);
        if halves.is_half {
            return Progress::Step;
        }
        self.of = after;
        progress
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::optional("half of a ticket", self.half));
        fields
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant { name: TICKETS_UP_TO_N, holds: are_up_to_n }]
    }
}

fn are_up_to_n(snapshot: &Snapshot<'_, Split>) -> bool {
    let n = snapshot.processes.len();
    snapshot.registers[1 + 2 * n..].iter().all(|&number| number <= n as u64)
}

/// The memory with two registers for a ticket, which looks as if there were one.
struct Halves<'a, M> {
    memory: &'a mut M,
    process: &'a mut Split,
    /// Whether the step has read only half of what it wants.
    is_half: bool,
}

impl<M> Halves<'_, M> {
    /// The registers of colour and number, if this is a ticket.
    fn ticket(&self, register: Register) -> Option<[Register; 2]> {
        let n = self.process.of.n;
        let number = Register::new(register.index() + n);
        (register.index() > n).then_some([register, number])
    }
}

impl<M: Memory> Memory for Halves<'_, M> {
    fn load(&mut self, register: Register) -> u64 {
        let Some([colour, number]) = self.ticket(register) else { return self.memory.load(register) };
        let [first, second] = match self.process.first {
            First::Colour => [colour, number],
            First::Number => [number, colour],
        };
        let Some(half) = self.process.half.take() else {
            self.process.half = Some(self.memory.load(first));
            self.is_half = true;
            return 0;
        };
        let rest = self.memory.load(second);
        let (colour, number) = if second == number { (half, rest) } else { (rest, half) };
        Coloured { colour, number }.word()
    }

    fn store(&mut self, register: Register, value: u64) {
        let Some([colour, number]) = self.ticket(register) else { return self.memory.store(register, value) };
        let ticket = Coloured::from_word(value);
        match ticket.number == self.process.number {
            true => self.memory.store(colour, ticket.colour),
            false => self.memory.store(number, ticket.number),
        }
        self.process.number = ticket.number;
    }

    fn barrier(&mut self) {
        self.memory.barrier();
    }

    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        self.memory.store_next(among, into)
    }
}

/// The team of these members.
pub fn team(members: &Members, first: First) -> Team<Split> {
    let n = members.n();
    let colours = |name| Cell::for_each(name, n, Values::UpTo(1));
    let sign = [Cell::new("colour", Values::UpTo(1))].into_iter();
    let numbers = Cell::for_each("number", n, Values::Unbounded);
    let registers = sign.chain(colours("choosing")).chain(colours("mycolour")).chain(numbers).collect();
    let make = move |me| Split { of: BlackWhiteBakery::new(me, n), first, half: None, number: 0 };
    Team::new(members, registers, make)
}
