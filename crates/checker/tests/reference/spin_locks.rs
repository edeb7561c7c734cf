//! A test-and-set lock on one register. The fairness that it needs depends on whether a failed test is a
//! step.

use doorway_core::Phase;

use crate::registers::Program;

/// Two processes and one register.
pub struct SpinLock {
    /// Whether a failed test is a step: then a starving process takes steps for ever, and no fairness helps
    /// it. If not, its step is enabled whenever the lock is free, and strong fairness lets it enter.
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
    use doorway_checker::{Property, SchedulerFairness};

    use super::*;
    use crate::registers::Registers;
    use crate::{against, broken, explored, progress, worst};

    #[test]
    fn if_failed_tests_are_steps_no_fairness_prevents_starvation() {
        let found = explored(&mut Registers(SpinLock { tests_are_steps: true }), SchedulerFairness::Strong);
        assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), vec![None; 2]));
        let starved = against(&found, Property::StarvationFreedom).expect("it starves");
        let round = &starved.steps[starved.loop_start.expect("an infinite run")..];
        let makes_steps = |process| round.iter().any(|step| step.process == process);
        assert!(makes_steps(0) && makes_steps(1), "both processes step in a fair run: {round:?}");
    }

    #[test]
    fn if_failed_tests_are_no_steps_strong_fairness_is_needed() {
        let mut lock = Registers(SpinLock { tests_are_steps: false });
        let found = explored(&mut lock, SchedulerFairness::Strong);
        assert_eq!(
            progress(&found),
            (Some(SchedulerFairness::None), vec![Some(SchedulerFairness::Strong); 2])
        );
        assert_eq!(broken(&found), [Property::Fifo, Property::BoundedWaiting]);
        assert_eq!(worst(&found), None);
        let found = explored(&mut lock, SchedulerFairness::Weak);
        assert!(against(&found, Property::StarvationFreedom).is_some_and(|run| run.loop_start.is_some()));
    }
}
