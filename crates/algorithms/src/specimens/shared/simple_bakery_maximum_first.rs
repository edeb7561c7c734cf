//! The simple bakery with an atomic maximum and then the ticket (E24b).
//!
//! The largest number is found in one atomic step, and the ticket is written in the next: what lecture notes print where they put the
//! maximum in front of the assignment. That the maximum is atomic does not help. Between the two steps another process can draw the
//! same number, write it, find no ticket of the first and enter; then the first writes its own, which wins the tie.
//!
//! Two processes and six steps suffice: 1 finds the maximum; 2 does so too, takes 1, sees no ticket of 1 and enters; then 1
//! takes 1, finds (1, 2) behind (1, 1), and enters as well.
//!
//! The number that was drawn is kept in a register that no other process reads, since the atomic maximum writes what it finds.

use doorway_core::shared::{
    AboutProgram, Cell, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, Specimen};
use serde::Serialize;

use crate::shared::simple_bakery::{ABOUT, SimpleBakery, number, registers};

/// One process of the simple bakery, which draws in two steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct MaximumFirst {
    of: SimpleBakery,
    /// One more than the maximum, until it is written.
    drawn: Option<u64>,
}

impl MaximumFirst {
    /// The register in which this process keeps what it drew.
    fn next(&self) -> Register {
        Register::new(self.of.n + self.of.me.index())
    }
}

impl Program for MaximumFirst {
    const LINES: &'static [&'static str] = &[
        "next := 1 + max(number[1], …, number[n]), at once",
        "number[i] := next",
        SimpleBakery::LINES[1],
        SimpleBakery::LINES[2],
    ];

    fn line(&self) -> usize {
        if self.of.line() == 1 && self.drawn.is_none() { 1 } else { self.of.line() + 1 }
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        match self.drawn.take() {
            Some(drawn) => {
                memory.store(number(self.of.me.index()), drawn);
                self.of.drew(drawn)
            }
            None if self.of.line() == 1 => {
                self.drawn = Some(memory.store_next(0..self.of.n, self.next()));
                Progress::Step
            }
            None => self.of.step(memory),
        }
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::optional("next", self.drawn));
        fields
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<MaximumFirst> {
    ProgramEntry {
        about: AboutProgram {
            name: "simple-bakery/maximum-first",
            title: "Simple bakery, maximum first",
            source: include_str!("simple_bakery_maximum_first.rs"),
            specimen: Some(Specimen {
                id: "E24b",
                of: "simple-bakery",
                wrong: "the maximum is found atomically, but the ticket is written in a later step",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_, members| {
            let n = members.n();
            let mut cells = registers(n);
            cells.extend(Cell::for_each("next", n, Values::Unbounded));
            let make = move |me| MaximumFirst { of: SimpleBakery::new(me, n), drawn: None };
            Ok(Team::new(members, cells, make))
        },
    }
}
