//! The memory accesses of an uncontended entry, counted by running it.

use std::ops::{Add, Range};

use super::{Memory, Place, Process, Program, Progress, Register, Team};
use crate::NodeId;

/// Memory accesses by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Reads of a register.
    pub loads: usize,
    /// Writes of a register.
    pub stores: usize,
    /// Atomic stores of a maximum plus one: [`Memory::store_next`].
    pub maxima: usize,
    /// Barriers. They touch no register and do not count as accesses.
    pub barriers: usize,
}

impl Accesses {
    /// All but the barriers.
    #[must_use]
    pub fn total(self) -> usize {
        self.loads + self.stores + self.maxima
    }
}

impl Add for Accesses {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            loads: self.loads + more.loads,
            stores: self.stores + more.stores,
            maxima: self.maxima + more.maxima,
            barriers: self.barriers + more.barriers,
        }
    }
}

impl<P: Program> Team<P> {
    /// The accesses of `me` from remainder to remainder while no other process competes; `None` if it does
    /// not return there, because it waits for another process or breaks its contract.
    #[must_use]
    pub fn accesses_alone(&self, me: NodeId) -> Option<Accesses> {
        let mut memory = Counted { registers: vec![0; self.registers.len()], used: Accesses::default() };
        let mut process = self.process(me);
        let limit = 100 * (1 + self.registers.len());
        let is_back = (0..limit).find_map(|_| step_alone(&mut process, &mut memory));
        is_back?.then_some(memory.used)
    }
}

/// One step: `None` to continue, else whether the process is back in its remainder.
fn step_alone<P: Program>(process: &mut Process<P>, memory: &mut Counted) -> Option<bool> {
    match process.step(memory) {
        Ok(Progress::Wait) | Err(_) => Some(false),
        Ok(_) => (process.place() == Place::Remainder).then_some(true),
    }
}

/// A memory for one process that counts its accesses.
struct Counted {
    registers: Vec<u64>,
    used: Accesses,
}

impl Memory for Counted {
    fn load(&mut self, register: Register) -> u64 {
        self.used.loads += 1;
        self.registers[register.index()]
    }

    fn store(&mut self, register: Register, value: u64) {
        self.used.stores += 1;
        self.registers[register.index()] = value;
    }

    fn barrier(&mut self) {
        self.used.barriers += 1;
    }

    fn store_next(&mut self, among: Range<usize>, into: Register) -> u64 {
        self.used.maxima += 1;
        let next = self.registers[among].iter().max().map_or(1, |largest| largest + 1);
        self.registers[into.index()] = next;
        next
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::Members;

    /// Waits until the first register holds `wanted`, enters, and sets it to 0 on exit.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
    struct UntilOne {
        is_inside: bool,
        wanted: u64,
    }

    impl Program for UntilOne {
        const LINES: &'static [&'static str] = &["await r = wanted", "r := 0"];

        fn line(&self) -> usize {
            if self.is_inside { 2 } else { 1 }
        }

        fn step(&mut self, memory: &mut impl Memory) -> Progress {
            if self.is_inside {
                memory.store(Register::new(0), 0);
                return Progress::Exit;
            }
            self.is_inside = memory.load(Register::new(0)) == self.wanted;
            if self.is_inside { Progress::Enter } else { Progress::Wait }
        }
    }

    fn alone(wanted: u64) -> Option<Accesses> {
        let members = Members::new(1).ok()?;
        let cells = vec![super::super::Cell::new("r", super::super::Values::UpTo(1))];
        let team = Team::new(&members, cells, move |_| UntilOne { is_inside: false, wanted });
        team.accesses_alone(NodeId::new(0))
    }

    #[test]
    fn only_a_process_that_enters_and_exits_alone_is_counted() {
        let used = Accesses { loads: 1, stores: 1, maxima: 0, barriers: 0 };
        assert_eq!(alone(0), Some(used));
        assert_eq!(alone(1), None);
        assert_eq!((used + used).total(), 4);
    }
}
