//! Lamport's bakery, and the simple one with an atomic maximum.
//!
//! L. Lamport, "A new solution of Dijkstra's concurrent programming problem", CACM 17(8), 1974.

use doorway_core::shared::{
    Cell, Invariant, Memory, Place, Program, Progress, Register, Snapshot, Team, Values,
};
use doorway_core::{Field, Members};
use serde::Serialize;

/// One process. `choosing` are the registers from 0 on, `number` those after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Bakery {
    me: usize,
    n: usize,
    is_simple: bool,
    line: usize,
    /// The other process of the current loop. `ticket` is the largest number read so far, then the ticket.
    other: usize,
    ticket: u64,
}

impl Bakery {
    pub fn team(n: usize, is_simple: bool) -> Team<Bakery> {
        let registers = Cell::for_each("choosing", n, Values::UpTo(1));
        let registers = registers.chain(Cell::for_each("number", n, Values::Unbounded)).collect();
        let members = Members::new(n).expect("there is one");
        let line = if is_simple { 3 } else { 1 };
        Team::new(&members, registers, move |me| Bakery {
            me: me.index(),
            n,
            is_simple,
            line,
            other: 0,
            ticket: 0,
        })
    }

    fn choosing(&self, process: usize) -> Register {
        Register::new(process)
    }

    fn number(&self, process: usize) -> Register {
        Register::new(self.n + process)
    }

    /// Moves on to the next process; enters if there is none.
    fn next(&mut self, first: usize) -> Option<Progress> {
        self.other = (first..self.n).find(|other| *other != self.me).unwrap_or(self.n);
        self.line = if self.is_simple { 6 } else { 5 };
        if self.other == self.n {
            (self.line, self.other) = (7, 0);
            return Some(Progress::Enter);
        }
        None
    }

    fn goes_first(&self, number: u64) -> bool {
        number == 0 || (number, self.other) > (self.ticket, self.me)
    }
}

impl Program for Bakery {
    const LINES: &'static [&'static str] = &[
        "choosing[i] := 1",
        "for all j: max := max(max, number[j])",
        "number[i] := max + 1",
        "choosing[i] := 0",
        "for all j ≠ i: await choosing[j] = 0",
        "               await number[j] = 0 or (number[j], j) > (number[i], i)",
        "number[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        match self.line {
            1 => {
                memory.store(self.choosing(self.me), 1);
                self.line = 2;
            }
            2 => {
                self.ticket = self.ticket.max(memory.load(self.number(self.other)));
                self.other += 1;
                if self.other == self.n {
                    (self.line, self.other) = (3, 0);
                }
            }
            3 if self.is_simple => {
                self.ticket = memory.store_next(self.n..2 * self.n, self.number(self.me));
                return self.next(0).unwrap_or(Progress::Doorway);
            }
            3 => {
                self.ticket += 1;
                memory.store(self.number(self.me), self.ticket);
                self.line = 4;
            }
            4 => {
                memory.store(self.choosing(self.me), 0);
                return self.next(0).unwrap_or(Progress::Doorway);
            }
            5 if memory.load(self.choosing(self.other)) == 1 => return Progress::Wait,
            5 => self.line = 6,
            6 => {
                let number = memory.load(self.number(self.other));
                if !self.goes_first(number) {
                    return Progress::Wait;
                }
                return self.next(self.other + 1).unwrap_or(Progress::Step);
            }
            _ => {
                memory.store(self.number(self.me), 0);
                (self.line, self.ticket) = (if self.is_simple { 3 } else { 1 }, 0);
                return Progress::Exit;
            }
        }
        Progress::Step
    }

    fn fields(&self) -> Vec<Field> {
        vec![Field::new("max", self.ticket)]
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant { name: "the process inside has the smallest ticket", holds: has_smallest_ticket },
            Invariant { name: "no process has ticket 3", holds: |snapshot| !snapshot.registers.contains(&3) },
        ]
    }
}

fn has_smallest_ticket(snapshot: &Snapshot<'_, Bakery>) -> bool {
    let n = snapshot.processes.len();
    let ticket = |process: usize| (snapshot.registers[n + process], process);
    let place = |process: usize| snapshot.processes[process].place();
    let inside = (0..n).filter(|process| place(*process) == Place::Inside);
    inside.into_iter().all(|process| {
        let mut past = (0..n).filter(|other| *other != process && place(*other) == Place::Waiting);
        past.all(|other| ticket(process) < ticket(other))
    })
}
