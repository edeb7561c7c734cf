//! Reorders a run so that it switches between processes less often.

use crate::{Step, StepsKnown, System};

/// Reorders independent steps so that each process takes as many in a row as possible. Two neighbours are
/// swapped only if the state after both is the same, so the run ends in the same state.
pub(crate) fn with_few_switches<S: System>(system: &S, begin: &[u32], steps: Vec<Step>) -> Vec<Step> {
    let Some(mut run) = Run::new(system, begin, steps) else { return Vec::new() };
    let mut place = 1;
    while place < run.steps.len() {
        let process = run.steps[place - 1].process;
        let next = (place..run.steps.len()).find(|&later| run.steps[later].process == process);
        if let Some(next) = next {
            let before = (run.steps.clone(), run.states.clone());
            if !(place..next).rev().all(|earlier| run.swap(earlier)) {
                (run.steps, run.states) = before;
            }
        }
        place += 1;
    }
    run.steps
}

/// Steps with the states between them.
struct Run<'a, S> {
    system: &'a S,
    steps: Vec<Step>,
    states: Vec<Vec<u32>>,
}

impl<'a, S: System> Run<'a, S> {
    fn new(system: &'a S, begin: &[u32], steps: Vec<Step>) -> Option<Self> {
        let mut states = vec![begin.to_vec()];
        for step in &steps {
            let after = after(system, states.last()?, step);
            match after {
                Some(after) => states.push(after),
                None => return Some(Self { system, states: Vec::new(), steps }),
            }
        }
        Some(Self { system, steps, states })
    }

    /// Swaps this step with the next one, if they commute.
    fn swap(&mut self, place: usize) -> bool {
        let (first, second) = (self.steps[place], self.steps[place + 1]);
        if first.process == second.process || self.states.is_empty() {
            return false;
        }
        let Some(between) = after(self.system, &self.states[place], &second) else { return false };
        if after(self.system, &between, &first).as_ref() != Some(&self.states[place + 2]) {
            return false;
        }
        self.steps.swap(place, place + 1);
        self.states[place + 1] = between;
        true
    }
}

/// The successor of a step.
fn after<S: System>(system: &S, state: &[u32], step: &Step) -> Option<Vec<u32>> {
    let mut found = None;
    let known = system.steps(state, &mut |other, after| {
        if (other.process, other.action) == (step.process, step.action) {
            found.get_or_insert_with(|| after.to_vec());
        }
    });
    found.filter(|_| known == StepsKnown::All)
}
