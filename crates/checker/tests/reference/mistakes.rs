//! Faulty locks for two processes, each with one mistake.

use doorway_core::Phase;

use crate::registers::Program;

/// The mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A process tests the rival's flag before it sets its own.
    TestThenSet,
    /// Peterson's algorithm without the turn, each test a step.
    NoTurn,
    /// The same, but a failed test is no step.
    NoTurnAndStill,
}

const REMAINDER: u32 = 0;
const STORES: u32 = 1;
const TESTS: u32 = 2;
const INSIDE: u32 = 3;

impl Program for Mistake {
    fn processes(&self) -> usize {
        2
    }

    fn registers(&self) -> Vec<u32> {
        vec![0, 0]
    }

    fn step(&self, me: usize, at: u32, flags: &mut [u32]) -> Option<u32> {
        let tests_first = *self == Mistake::TestThenSet;
        match at {
            REMAINDER if tests_first => Some(TESTS),
            REMAINDER => Some(STORES),
            STORES => {
                flags[me] = 1;
                Some(if tests_first { INSIDE } else { TESTS })
            }
            TESTS if flags[1 - me] == 1 => (*self != Mistake::NoTurnAndStill).then_some(TESTS),
            TESTS => Some(if tests_first { STORES } else { INSIDE }),
            _ => {
                flags[me] = 0;
                Some(REMAINDER)
            }
        }
    }

    fn phase(&self, at: u32) -> Phase {
        match at {
            REMAINDER => Phase::Outside,
            STORES | TESTS => Phase::Waiting,
            _ => Phase::Inside,
        }
    }

    fn is_past_doorway(&self, at: u32) -> bool {
        at == TESTS
    }
}

#[cfg(test)]
mod tests {
    use doorway_checker::{Property, SchedulerFairness};

    use super::*;
    use crate::registers::Registers;
    use crate::{against, explored, progress};

    #[test]
    fn a_test_before_the_store_breaks_exclusion_in_six_steps() {
        let found = explored(&mut Registers(Mistake::TestThenSet), SchedulerFairness::Strong);
        let run = against(&found, Property::MutualExclusion).expect("both are inside");
        assert_eq!((run.steps.len(), run.loop_start), (6, None));
        assert_eq!(run.processes, [0, 1]);
    }

    #[test]
    fn without_the_turn_both_processes_livelock() {
        let found = explored(&mut Registers(Mistake::NoTurn), SchedulerFairness::Strong);
        assert!(against(&found, Property::MutualExclusion).is_none());
        assert_eq!(progress(&found), (None, vec![None; 2]));
        let run = against(&found, Property::DeadlockFreedom).expect("no process enters");
        assert_eq!((run.steps.len(), run.loop_start), (6, Some(4)));
    }

    #[test]
    fn without_the_turn_both_deadlock_if_failed_tests_are_no_steps() {
        let found = explored(&mut Registers(Mistake::NoTurnAndStill), SchedulerFairness::Strong);
        assert_eq!(progress(&found), (None, vec![None; 2]));
        let run = against(&found, Property::DeadlockFreedom).expect("no process enters");
        assert_eq!((run.steps.len(), run.loop_start), (4, None));
        assert_eq!(run.waiting, [0, 1]);
    }
}
