//! The bakery in which the largest number is remembered by its position (E25).
//!
//! While it looks for the largest number a process remembers where it is, and reads it there again when it takes its
//! own. By then the process that had it may have left, and the number taken is smaller than one that was seen and is
//! still out.
//!
//! Two processes are safe. With three, 31 steps suffice. 2 and 3 choose together and both take 1; 2 enters, and 3 has
//! seen that 1 does not choose. Now 1 chooses and finds 1, first at 2. 2 leaves, 1 reads 0 there, and 3 reads that 1
//! has no number. 1 takes 1, goes before 3 and enters; 3 waits for 2 alone, who has left, and enters as well. Order is
//! lost in 27 steps already.

use doorway_core::shared::{AboutProgram, Memory, Program, ProgramEntry, Progress, Team};
use doorway_core::{Field, NodeId, Specimen};
use serde::Serialize;

use crate::shared::bakery::{ABOUT, Bakery, registers};

/// One process of the bakery, which does not trust what it has read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct MaximumByPosition {
    of: Bakery,
    /// Where the largest number was, until it is read there again: k.
    position: Option<usize>,
}

impl Program for MaximumByPosition {
    const LINES: &'static [&'static str] = &[
        Bakery::LINES[0],
        Bakery::LINES[1],
        "for all j ≠ i: if number[j] > max: max := number[j], k := j",
        "number[i] := number[k] + 1",
        Bakery::LINES[4],
        Bakery::LINES[5],
        Bakery::LINES[6],
        Bakery::LINES[7],
        Bakery::LINES[8],
    ];

    fn line(&self) -> usize {
        self.of.line()
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        if self.of.line() == 4
            && let Some(position) = self.position.take()
        {
            self.of.number = memory.load(self.of.number_of(position));
            return Progress::Step;
        }
        let (line, other, largest) = (self.of.line(), self.of.others.now(), self.of.number);
        let progress = self.of.step(memory);
        if line == 3 && (self.position.is_none() || self.of.number > largest) {
            self.position = Some(other);
        }
        progress
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::optional("k", self.position.map(NodeId::new)));
        fields
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<MaximumByPosition> {
    ProgramEntry {
        about: AboutProgram {
            name: "bakery/maximum-by-position",
            title: "Bakery, maximum by position",
            source: include_str!("bakery_maximum_by_position.rs"),
            specimen: Some(Specimen {
                id: "E25",
                of: "bakery",
                wrong: "the largest number is remembered by its position and read again",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_, members| {
            let n = members.n();
            Ok(Team::new(members, registers(n), move |me| MaximumByPosition {
                of: Bakery::new(me, n),
                position: None,
            }))
        },
    }
}
