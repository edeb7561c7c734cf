//! Peterson's algorithm, alone and as a tournament, with a barrier after each of its two stores. The doorway
//! ends with the second barrier: as long as the store of the turn is buffered, the rival does not see it.
//!
//! G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981.

use doorway_core::Members;
use doorway_core::shared::{Cell, Memory, Program, Progress, Register, Team, Values};
use serde::Serialize;

/// One of 2^levels processes, with one rival at each level.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Peterson {
    me: usize,
    levels: u32,
    level: u32,
    line: usize,
}

impl Peterson {
    /// A team of 2^levels.
    pub fn team(levels: u32) -> Team<Peterson> {
        let n = 1_usize << levels;
        let mut registers = Vec::new();
        for node in 1..n {
            let names = [format!("flag[{node},0]"), format!("flag[{node},1]"), format!("turn[{node}]")];
            registers.extend(names.map(|name| Cell::new(name, Values::UpTo(1))));
        }
        let members = Members::new(n).expect("a power of two");
        Team::new(&members, registers, move |me| Peterson { me: me.index(), levels, level: 0, line: 1 })
    }

    /// The tree node of its current level, and its side there.
    fn node(&self) -> (usize, usize) {
        let place = (1 << self.levels) + self.me;
        ((place >> (self.level + 1)) - 1, place >> self.level & 1)
    }

    fn flag(&self, is_mine: bool) -> Register {
        let (node, side) = self.node();
        Register::new(node * 3 + if is_mine { side } else { 1 - side })
    }

    fn turn(&self) -> Register {
        Register::new(self.node().0 * 3 + 2)
    }

    fn go_to(&mut self, line: usize) -> Progress {
        self.line = line;
        Progress::Step
    }

    /// Wins its level.
    fn win(&mut self) -> Progress {
        if self.level + 1 == self.levels {
            self.line = 7;
            return Progress::Enter;
        }
        self.level += 1;
        self.go_to(1)
    }

    fn leave(&mut self) -> Progress {
        if self.level > 0 {
            self.level -= 1;
            return Progress::Step;
        }
        self.line = 1;
        Progress::Exit
    }
}

impl Program for Peterson {
    const LINES: &'static [&'static str] = &[
        "flag[i] := 1",
        "barrier",
        "turn := i",
        "barrier",
        "await flag[j] = 0",
        "   or turn ≠ i",
        "flag[i] := 0",
    ];

    fn line(&self) -> usize {
        self.line
    }

    fn step(&mut self, memory: &mut impl Memory) -> Progress {
        let side = self.node().1 as u64;
        match self.line {
            1 => {
                memory.store(self.flag(true), 1);
                self.go_to(2)
            }
            2 => {
                memory.barrier();
                self.go_to(3)
            }
            3 => {
                memory.store(self.turn(), side);
                self.go_to(4)
            }
            4 => {
                memory.barrier();
                self.line = 5;
                if self.level == 0 { Progress::Doorway } else { Progress::Step }
            }
            5 if memory.load(self.flag(false)) == 1 => self.go_to(6),
            6 if memory.load(self.turn()) == side => {
                self.line = 5;
                Progress::Wait
            }
            5 | 6 => self.win(),
            _ => {
                memory.store(self.flag(true), 0);
                self.leave()
            }
        }
    }
}
