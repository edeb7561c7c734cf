//! Lamport's fast algorithm.
//!
//! L. Lamport, "A fast mutual exclusion algorithm", ACM Transactions on Computer Systems 5(1), 1987.
//!
//! A process that wants in writes its name into x, and if y is free, into y. If x is still its own then, there was no
//! contention, and it goes in: that takes the same few accesses for any number of processes. Otherwise it lowers its
//! flag, waits until all others have either gone past or done the same, and goes in if y is its own in the end.
//!
//! Registers: x and y of n + 1 values, 0 for none, and n flags. Alone: 5 writes and 2 reads. Deadlock-free, but one
//! process may lose the race every time and starve. Total store order: a barrier after x and one after y.
//!
//! The doorway ends with the first write of x; a process that starts again is past it already.

use doorway_core::shared::{
    AboutProgram, Cell, Fairness, Memory, Program, ProgramEntry, Progress, Register, Team, Values,
};
use doorway_core::{Field, NodeId};
use serde::Serialize;

use super::lines::Then::{self, Again, Doorway, Enter, Exit, Goto, Next};
use super::lines::{barrier, test, write};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LamportFast {
    me: NodeId,
    n: usize,
    line: usize,
    /// The process for which it waits: j.
    other: usize,
}

const X: Register = Register::new(0);
const Y: Register = Register::new(1);
/// The value of x and y when they are free.
const NO_PROCESS: u64 = 0;

fn want(process: usize) -> Register {
    Register::new(2 + process)
}

impl LamportFast {
    /// Process `me` of `n`.
    pub fn new(me: NodeId, n: usize) -> Self {
        Self { me, n, line: 1, other: 0 }
    }

    /// Waits until no other flag is up, one process after the other.
    fn await_others(&mut self, wants: u64) -> Then {
        if wants == 1 {
            return Again(11);
        }
        self.other = (self.other + 1) % self.n;
        test(self.other == 0, Next, Goto(11))
    }
}

impl Program for LamportFast {
    const LINES: &'static [&'static str] = &[
        "start: want[i] := 1",
        "x := i",
        "barrier",
        "if y ≠ 0",
        "  want[i] := 0",
        "  await y = 0; goto start",
        "y := i",
        "barrier",
        "if x ≠ i",
        "  want[i] := 0",
        "  for all j: await want[j] = 0",
        "  if y ≠ i",
        "    await y = 0; goto start",
        "y := 0",
        "want[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let (mine, name) = (want(self.me.index()), u64::from(self.me.number()));
        let then = match self.line {
            1 => write(memory, mine, 1, Next),
            2 => write(memory, X, name, Doorway),
            3 => barrier(memory, Next),
            4 => test(memory.load(Y) == NO_PROCESS, Goto(7), Next),
            5 => write(memory, mine, 0, Next),
            6 => test(memory.load(Y) == NO_PROCESS, Goto(1), Again(6)),
            7 => write(memory, Y, name, Next),
            8 => barrier(memory, Next),
            9 => test(memory.load(X) == name, Enter(14), Next),
            10 => write(memory, mine, 0, Next),
            11 => self.await_others(memory.load(want(self.other))),
            12 => test(memory.load(Y) == name, Enter(14), Next),
            13 => test(memory.load(Y) == NO_PROCESS, Goto(1), Again(13)),
            14 => write(memory, Y, NO_PROCESS, Next),
            _ => write(memory, mine, 0, Exit),
        };
        then.follow(&mut self.line)
    }

    fn fields(&self) -> Vec<Field> {
        let waits_for = (self.line == 11).then(|| NodeId::new(self.other));
        vec![Field::new("i", self.me), Field::optional("j", waits_for)]
    }
}

/// The registers of `n` processes.
pub fn registers(n: usize) -> Vec<Cell> {
    let names = ["x", "y"].map(|name| Cell::new(name, Values::UpTo(n as u64)));
    names.into_iter().chain(Cell::for_each("want", n, Values::UpTo(1))).collect()
}

/// Its place in the catalog.
pub fn entry() -> ProgramEntry<LamportFast> {
    ProgramEntry {
        about: AboutProgram {
            name: "lamport-fast",
            title: "Lamport's fast algorithm",
            promise: Fairness::CanStarve,
            parameters: &[],
            variants: &[],
            source: include_str!("lamport_fast.rs"),
            specimen: None,
        },
        bind: |_, members| {
            let n = members.n();
            Ok(Team::new(members, registers(n), move |me| LamportFast::new(me, n)))
        },
    }
}
