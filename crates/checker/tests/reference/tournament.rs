//! Peterson's algorithm, alone and as a tournament: two processes meet at each node of a tree, the winner goes up.
//!
//! G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981; G. L. Peterson,
//! M. J. Fischer, "Economical solutions for the critical section problem in a distributed system", STOC 1977.
//!
//! A process leaves its remainder, then at each level stores its flag, stores the turn, and reads the rival's flag and the turn
//! in turns until one of them lets it go on; it is inside; it takes its flags back, root first. All these are steps of their
//! own, so a process can always make exactly one, and a test that fails is the step to the other test.

use doorway_core::Phase;

use crate::registers::Program;

/// A tournament of 2^levels processes: Peterson's algorithm if there is one level.
pub struct Tournament {
    /// How many rivals a process meets.
    pub levels: u32,
}

const REMAINDER: u32 = 0;
/// At each level there are these four lines, level after level.
const STORE_FLAG: u32 = 0;
const STORE_TURN: u32 = 1;
const READ_FLAG: u32 = 2;
const READ_TURN: u32 = 3;

fn line(level: u32, what: u32) -> u32 {
    1 + level * 4 + what
}

impl Tournament {
    fn inside(&self) -> u32 {
        line(self.levels, 0)
    }

    /// The line at which the flag of a level is taken back; that of the root comes right after the inside.
    fn leaving(&self, level: u32) -> u32 {
        self.inside() + self.levels - level
    }

    /// The registers of the node that a process meets at a level: its own flag, the rival's, and the turn; and its side.
    fn meeting(&self, me: usize, level: u32) -> (usize, usize, usize, u32) {
        let place = (1 << self.levels) + me;
        let (node, side) = ((place >> (level + 1)) - 1, place >> level & 1);
        (node * 3 + side, node * 3 + 1 - side, node * 3 + 2, side as u32)
    }
}

impl Program for Tournament {
    fn processes(&self) -> usize {
        1 << self.levels
    }

    /// For each node of the tree, root first, two flags and a turn.
    fn registers(&self) -> Vec<u32> {
        vec![0; 3 * (self.processes() - 1)]
    }

    fn step(&self, me: usize, at: u32, registers: &mut [u32]) -> Option<u32> {
        if at == REMAINDER {
            return Some(line(0, STORE_FLAG));
        }
        if at == self.inside() {
            return Some(self.leaving(self.levels - 1));
        }
        if at > self.inside() {
            let level = self.inside() + self.levels - at;
            registers[self.meeting(me, level).0] = 0;
            return Some(if level == 0 { REMAINDER } else { at + 1 });
        }
        let (level, what) = ((at - 1) / 4, (at - 1) % 4);
        let (mine, rivals, turn, side) = self.meeting(me, level);
        let won = line(level + 1, STORE_FLAG);
        Some(match what {
            STORE_FLAG => {
                registers[mine] = 1;
                line(level, STORE_TURN)
            }
            STORE_TURN => {
                registers[turn] = side;
                line(level, READ_FLAG)
            }
            READ_FLAG if registers[rivals] == 1 => line(level, READ_TURN),
            READ_TURN if registers[turn] == side => line(level, READ_FLAG),
            _ => won,
        })
    }

    fn phase(&self, at: u32) -> Phase {
        match at {
            REMAINDER => Phase::Outside,
            at if at < self.inside() => Phase::Waiting,
            at if at == self.inside() => Phase::Inside,
            _ => Phase::Outside,
        }
    }

    /// The doorway ends with the store of the first turn.
    fn is_past_doorway(&self, at: u32) -> bool {
        at >= line(0, READ_FLAG)
    }
}
