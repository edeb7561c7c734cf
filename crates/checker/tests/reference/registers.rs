//! Processes that share registers: each makes one access per step.

use doorway_checker::{Step, StepsKnown, System};
use doorway_core::Phase;

/// The program of all processes; they differ only by their numbers.
pub trait Program: Sync {
    /// The number of processes.
    fn processes(&self) -> usize;

    /// The initial values of the registers.
    fn registers(&self) -> Vec<u32>;

    /// Runs the next step of a process at a line and returns its next line; `None` if it has no enabled step.
    /// Line 0 is the remainder: fairness never forces a process to leave it.
    fn step(&self, me: usize, line: u32, registers: &mut [u32]) -> Option<u32>;

    /// The phase of a process at a line.
    fn phase(&self, line: u32) -> Phase;

    /// Whether a process that waits at a line is past its doorway.
    fn is_past_doorway(&self, line: u32) -> bool;
}

/// The system of a program. Its word is the lines of the processes, then the registers.
pub struct Registers<P>(pub P);

impl<P: Program> System for Registers<P> {
    fn processes(&self) -> usize {
        self.0.processes()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let mut word = vec![0; self.0.processes()];
        word.extend(self.0.registers());
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let mut after = state.to_vec();
        for (me, process) in (0..self.0.processes()).zip(0..) {
            after.copy_from_slice(state);
            let (lines, registers) = after.split_at_mut(self.0.processes());
            if let Some(line) = self.0.step(me, state[me], registers) {
                lines[me] = line;
                let owed = (state[me] != 0).then_some(process);
                let step = Step { process, action: state[me], owed, lane: process, sends: 0, broken: None };
                visit(step, &after);
            }
        }
        StepsKnown::All
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.0.phase(state[process])
    }

    fn is_past_doorway(&self, state: &[u32], process: usize) -> bool {
        self.0.is_past_doorway(state[process])
    }

    fn describe(&self, step: &Step) -> String {
        format!("process {} makes the step of its line {}", step.process + 1, step.action)
    }
}
