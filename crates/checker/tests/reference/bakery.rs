//! Lamport's bakery, with tickets up to a limit.
//!
//! L. Lamport, "A new solution of Dijkstra's concurrent programming problem", CACM 17(8), 1974.
//!
//! A process leaves the remainder by setting `choosing`. Then it reads the numbers of all, itself included,
//! one per step, and stores its ticket; if the ticket would exceed the limit, it gives up and clears
//! `choosing` in that same step. Then it waits for each in turn, itself included, first for `choosing`, then
//! for the number; a failed test is no step. Being inside is a step, and so is the store that ends it.

use doorway_core::Phase;

use crate::registers::Program;

pub struct Bakery {
    pub processes: usize,
    /// The largest ticket.
    pub limit: u32,
}

const REMAINDER: u32 = 0;
const STORED_NUMBER: u32 = 1;
const INSIDE: u32 = 2;
const LEAVING: u32 = 3;
/// Lines that also encode another process and the largest number read so far.
const AWAITS_CHOOSING: u32 = 4;
const AWAITS_NUMBER: u32 = 5;
const READS: u32 = 6;

/// Packs a line: the kind, the other process, and the largest number read so far.
fn line(what: u32, other: usize, most: u32) -> u32 {
    what + 8 * (other as u32 + 16 * most)
}

impl Bakery {
    /// Whether `other` goes before `me`: it has a ticket, and a smaller one.
    fn goes_before(&self, other: usize, me: usize, registers: &[u32]) -> bool {
        let ticket = |process: usize| (registers[self.processes + process], process);
        ticket(other).0 > 0 && ticket(other) < ticket(me)
    }

    /// Reads the next number, or stores the ticket after the last.
    fn choose(&self, me: usize, other: usize, most: u32, registers: &mut [u32]) -> u32 {
        if other < self.processes {
            return line(READS, other + 1, most.max(registers[self.processes + other]));
        }
        if most >= self.limit {
            registers[me] = 0;
            return REMAINDER;
        }
        registers[self.processes + me] = most + 1;
        STORED_NUMBER
    }
}

impl Program for Bakery {
    fn processes(&self) -> usize {
        self.processes
    }

    /// `choosing` of each process, then the numbers.
    fn registers(&self) -> Vec<u32> {
        vec![0; 2 * self.processes]
    }

    fn step(&self, me: usize, at: u32, registers: &mut [u32]) -> Option<u32> {
        let (what, other, most) = (at % 8, (at / 8 % 16) as usize, at / 8 / 16);
        match what {
            REMAINDER => {
                registers[me] = 1;
                Some(line(READS, 0, 0))
            }
            READS => Some(self.choose(me, other, most, registers)),
            STORED_NUMBER => {
                registers[me] = 0;
                Some(line(AWAITS_CHOOSING, 0, 0))
            }
            AWAITS_CHOOSING => (registers[other] == 0).then_some(line(AWAITS_NUMBER, other, 0)),
            AWAITS_NUMBER if self.goes_before(other, me, registers) => None,
            AWAITS_NUMBER if other + 1 < self.processes => Some(line(AWAITS_CHOOSING, other + 1, 0)),
            AWAITS_NUMBER => Some(INSIDE),
            INSIDE => Some(LEAVING),
            _ => {
                registers[self.processes + me] = 0;
                Some(REMAINDER)
            }
        }
    }

    fn phase(&self, at: u32) -> Phase {
        match at % 8 {
            REMAINDER | LEAVING => Phase::Outside,
            INSIDE => Phase::Inside,
            _ => Phase::Waiting,
        }
    }

    /// The doorway ends when `choosing` is cleared.
    fn is_past_doorway(&self, at: u32) -> bool {
        matches!(at % 8, AWAITS_CHOOSING | AWAITS_NUMBER)
    }
}

#[cfg(test)]
mod tests {
    use doorway_checker::{Property, SchedulerFairness, Step};

    use super::*;
    use crate::registers::Registers;
    use crate::{against, broken, explored, progress, size, worst};

    #[test]
    fn three_processes_have_29_171_states_and_enter_in_order() {
        let found = explored(&mut Registers(Bakery { processes: 3, limit: 4 }), SchedulerFairness::Strong);
        assert_eq!(size(&found), (29_171, 74_669));
        assert_eq!(broken(&found), []);
        assert_eq!(worst(&found), Some(0));
    }

    /// A process that waits for another's `choosing` is enabled only now and then while that one chooses and
    /// gives up again and again.
    #[test]
    fn with_a_ticket_limit_progress_needs_strong_fairness() {
        let found = explored(&mut Registers(Bakery { processes: 3, limit: 4 }), SchedulerFairness::Weak);
        assert_eq!(
            progress(&found),
            (Some(SchedulerFairness::Strong), vec![Some(SchedulerFairness::Strong); 3])
        );
        let vain = against(&found, Property::DeadlockFreedom).expect("a livelock");
        let round = &vain.steps[vain.loop_start.expect("an infinite run")..];
        let gives_up = |step: &Step| step.action == line(READS, 3, 4);
        assert!(round.iter().any(gives_up), "{round:?}");
    }
}
