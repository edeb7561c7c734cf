//! The simple bakery with maximum and ticket in two steps (E24).
//!
//! The numbers are read first, and then the ticket is written. In between another can draw the same number, write it,
//! find no ticket of the first and enter; then the first writes its own, which wins the tie.
//!
//! Two processes and eight steps suffice: 1 reads both numbers; 2 does so too, takes 1, sees no ticket of 1 and enters;
//! then 1 takes 1, finds (1, 2) behind (1, 1), and enters as well.

use doorway_core::shared::{AboutProgram, Memory, Program, ProgramEntry, Progress, Team};
use doorway_core::{Field, Specimen};
use serde::Serialize;

use crate::shared::simple_bakery::{ABOUT, SimpleBakery, number, registers};

/// One process of the simple bakery, which draws in its own way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct TwoSteps {
    of: SimpleBakery,
    /// How many numbers it has read, and the largest of them.
    read: usize,
    max: u64,
}

impl TwoSteps {
    fn is_drawing(&self) -> bool {
        self.of.line() == 1
    }
}

impl Program for TwoSteps {
    const LINES: &'static [&'static str] = &[
        "for all j: max := max(max, number[j])",
        "number[i] := max + 1",
        SimpleBakery::LINES[1],
        SimpleBakery::LINES[2],
    ];

    fn line(&self) -> usize {
        if self.is_drawing() && self.read < self.of.n { 1 } else { self.of.line() + 1 }
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        if !self.is_drawing() {
            return self.of.step(memory);
        }
        if self.read < self.of.n {
            self.max = self.max.max(memory.load(number(self.read)));
            self.read += 1;
            return Progress::Step;
        }
        let drawn = self.max + 1;
        (self.read, self.max) = (0, 0);
        memory.store(number(self.of.me.index()), drawn);
        self.of.drew(drawn)
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::new("max", self.max));
        fields
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<TwoSteps> {
    ProgramEntry {
        about: AboutProgram {
            name: "simple-bakery/two-steps",
            title: "Simple bakery in two steps",
            source: include_str!("simple_bakery_two_steps.rs"),
            specimen: Some(Specimen {
                id: "E24",
                of: "simple-bakery",
                wrong: "the maximum is read and the ticket is written in two steps",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_, members| {
            let n = members.n();
            let make = move |me| TwoSteps { of: SimpleBakery::new(me, n), read: 0, max: 0 };
            Ok(Team::new(members, registers(n), make))
        },
    }
}
