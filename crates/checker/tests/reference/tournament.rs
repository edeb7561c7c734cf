//! Peterson's algorithm, alone and as a tournament: two processes meet at each node of a tree, the winner goes up.
//!
//! G. L. Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981; G. L. Peterson,
//! M. J. Fischer, "Economical solutions for the critical section problem in a distributed system", STOC 1977.
//!
//! A process leaves its remainder; at each level it sets its flag, sets the turn, and alternately reads the
//! rival's flag and the turn until one of them lets it pass; it is inside; it clears its flags, root first.
//! Each of these is a step, so exactly one step of a process is enabled at any time, and a failed test is the
//! step to the other test.

use doorway_core::Phase;

use crate::registers::Program;

/// A tournament of 2^levels processes: Peterson's algorithm if there is one level.
pub struct Tournament {
    /// The number of rivals of a process.
    pub levels: u32,
}

const REMAINDER: u32 = 0;
/// The four lines of each level.
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

    /// The line that clears the flag of a level; the root's comes right after the critical section.
    fn leaving(&self, level: u32) -> u32 {
        self.inside() + self.levels - level
    }

    /// The registers of the tree node of a process at a level: its own flag, the rival's, and the turn; and
    /// its side.
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

    /// The doorway ends once the first turn is set.
    fn is_past_doorway(&self, at: u32) -> bool {
        at >= line(0, READ_FLAG)
    }
}
