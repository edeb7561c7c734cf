//! A lock that is one register, taken by one indivisible test-and-set: what it needs of a scheduler depends on whether a test
//! that fails is a step.

use doorway_core::Phase;

use crate::registers::Program;

/// Two processes and one register.
pub struct SpinLock {
    /// Whether a test that fails is a step: then a process that starves makes steps for ever, and no fairness helps it. If not, it
    /// can go on whenever the lock is free, again and again, and strong fairness makes it.
    pub tests_are_steps: bool,
}

const REMAINDER: u32 = 0;
const TESTS: u32 = 1;
const INSIDE: u32 = 2;

impl Program for SpinLock {
    fn processes(&self) -> usize {
        2
    }

    fn registers(&self) -> Vec<u32> {
        vec![0]
    }

    fn step(&self, _: usize, at: u32, registers: &mut [u32]) -> Option<u32> {
        match at {
            REMAINDER => Some(TESTS),
            TESTS if registers[0] == 1 => self.tests_are_steps.then_some(TESTS),
            TESTS => {
                registers[0] = 1;
                Some(INSIDE)
            }
            _ => {
                registers[0] = 0;
                Some(REMAINDER)
            }
        }
    }

    fn phase(&self, at: u32) -> Phase {
        match at {
            REMAINDER => Phase::Outside,
            TESTS => Phase::Waiting,
            _ => Phase::Inside,
        }
    }

    fn is_past_doorway(&self, _: u32) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use doorway_checker::{Fairness, Property};

    use super::*;
    use crate::registers::Registers;
    use crate::{against, broken, explored, progress, worst};

    #[test]
    fn with_tests_that_are_steps_one_starves_whatever_the_scheduler_grants() {
        let found = explored(&mut Registers(SpinLock { tests_are_steps: true }), Fairness::Strong);
        assert_eq!(progress(&found), (Some(Fairness::Weak), vec![None; 2]));
        let starved = against(&found, Property::StarvationFreedom).expect("it starves");
        let round = &starved.steps[starved.loop_start.expect("it is a run without end")..];
        let makes_steps = |process| round.iter().any(|step| step.process == process);
        assert!(makes_steps(0) && makes_steps(1), "a fair run lets both go on: {round:?}");
    }

    #[test]
    fn with_tests_that_are_waits_strong_fairness_is_needed_and_enough() {
        let mut lock = Registers(SpinLock { tests_are_steps: false });
        let found = explored(&mut lock, Fairness::Strong);
        assert_eq!(progress(&found), (Some(Fairness::None), vec![Some(Fairness::Strong); 2]));
        assert_eq!(broken(&found), [Property::Fifo, Property::BoundedWaiting]);
        assert_eq!(worst(&found), None);
        let found = explored(&mut lock, Fairness::Weak);
        assert!(against(&found, Property::StarvationFreedom).is_some_and(|run| run.loop_start.is_some()));
    }
}
