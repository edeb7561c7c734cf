//! The bakery with the printed loop over positions (E25b).
//!
//! As printed, the loop compares `number[j]` with `number[maxpos]` and remembers a position only: both numbers are read anew for each j,
//! and `number[maxpos]` once more for the assignment. A number that was read as the largest can be 0 when it is read again, and the
//! ticket is smaller than one that is still out. `bakery/maximum-by-position` keeps the value during the loop and reads it again only
//! once; this variant reads it again every time.
//!
//! Two processes are safe. With three, 43 steps suffice. 2 and 3 choose together and both take 1; 2 enters, and 3 has seen that 1
//! does not choose. Now 1 chooses, with maxpos = 2. 2 leaves, and 1 reads 0 there; it takes 1, goes before 3 and enters; 3 waits for
//! 2 alone, who has left, and enters as well.

use doorway_core::shared::{AboutProgram, Memory, Program, ProgramEntry, Progress, Team};
use doorway_core::{Field, NodeId, Specimen};
use serde::Serialize;

use crate::shared::bakery::{ABOUT, Bakery, registers};

/// One process of the bakery, which chooses in its own way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct MaxposLoop {
    of: Bakery,
    n: usize,
    /// The position that is compared, and the best so far.
    j: usize,
    maxpos: usize,
    /// `number[j]`, until it is compared.
    read: Option<u64>,
    /// `number[maxpos]` for the assignment, until it is used.
    largest: Option<u64>,
}

impl MaxposLoop {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { of: Bakery::new(me, n), n, j: 0, maxpos: 0, read: None, largest: None }
    }

    /// One read of the loop; after the last comparison the next line.
    fn compare(&mut self, memory: &mut impl Memory) -> Progress {
        let Some(theirs) = self.read.take() else {
            self.read = Some(memory.load(self.of.number_of(self.j)));
            return Progress::Step;
        };
        if theirs > memory.load(self.of.number_of(self.maxpos)) {
            self.maxpos = self.j;
        }
        self.j = (self.j + 1) % self.n;
        if self.j == 0 {
            self.of.line += 1;
        }
        Progress::Step
    }

    /// `number[maxpos]` is read a last time, and then the number is taken.
    fn assign(&mut self, memory: &mut impl Memory) -> Progress {
        let Some(largest) = self.largest.take() else {
            self.largest = Some(memory.load(self.of.number_of(self.maxpos)));
            return Progress::Step;
        };
        self.maxpos = 0;
        self.of.number = largest;
        self.of.step(memory)
    }
}

impl Program for MaxposLoop {
    const LINES: &'static [&'static str] = &[
        Bakery::LINES[0],
        Bakery::LINES[1],
        "for all j: if number[j] > number[maxpos]: maxpos := j",
        "number[i] := number[maxpos] + 1",
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
        match self.of.line() {
            3 => self.compare(memory),
            4 => self.assign(memory),
            _ => self.of.step(memory),
        }
    }

    fn fields(&self) -> Vec<Field> {
        let mut fields = self.of.fields();
        fields.push(Field::new("maxpos", NodeId::new(self.maxpos)));
        fields
    }
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<MaxposLoop> {
    ProgramEntry {
        about: AboutProgram {
            name: "bakery/maxpos-loop",
            title: "Bakery with the maxpos loop",
            source: include_str!("bakery_maxpos_loop.rs"),
            specimen: Some(Specimen {
                id: "E25b",
                of: "bakery",
                wrong: "the loop for the maximum keeps a position and reads number[maxpos] again for each comparison",
                verdict: "exclusion violated",
            }),
            ..ABOUT
        },
        bind: |_, members| {
            let n = members.n();
            Ok(Team::new(members, registers(n), move |me| MaxposLoop::new(me, n)))
        },
    }
}
