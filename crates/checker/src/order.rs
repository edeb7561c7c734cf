//! The same run, told with few changes from one process to another.

use crate::{Known, Step, System};

/// Puts steps that do not depend on each other into an order in which one process makes as many in a row as it can. Two
/// neighbours change places only if the state after both is the same, so the run ends where it ended.
pub(crate) fn with_few_changes<S: System>(system: &S, begin: &[u32], steps: Vec<Step>) -> Vec<Step> {
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

    /// Lets the step after this one come first, if nothing changes by it.
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

/// The state after a step.
fn after<S: System>(system: &S, state: &[u32], step: &Step) -> Option<Vec<u32>> {
    let mut found = None;
    let known = system.steps(state, &mut |other, after| {
        if (other.process, other.action) == (step.process, step.action) {
            found.get_or_insert_with(|| after.to_vec());
        }
    });
    found.filter(|_| known == Known::All)
}
