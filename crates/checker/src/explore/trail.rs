//! Reconstructs the run that leads to a state.

use doorway_core::Phase;

use super::Explorer;
use super::batch::in_phase;
use super::judge::FoundViolation;
use crate::graph::{Edge, Graph, Label, Path};
use crate::order::with_few_switches;
use crate::progress::Lasso;
use crate::store::{StateId, encode, hash};
use crate::{Step, StepsKnown, System, Violation};

impl<S: System> Explorer<'_, S> {
    /// The counterexample to a property.
    pub(super) fn violation(&mut self, found: FoundViolation) -> Violation {
        let FoundViolation { property, what, processes, state, step } = found;
        let (mut steps, mut end) = self.run_to(state);
        if let Some(step) = step {
            steps.extend(self.system.unfold(&end, &step));
            let same = |other: &Step, _: &[u32]| (other.process, other.action) == (step.process, step.action);
            end = self.step_to(&end, same).map_or(end, |(_, after)| after);
        }
        let steps = with_few_switches(self.system, self.begins(state), steps);
        let waiting = in_phase(self.system, &end, Phase::Waiting);
        Violation { property, what, processes, waiting, steps, loop_start: None }
    }

    /// A run along a path of the graph.
    pub(super) fn lasso(&mut self, graph: &Graph, lasso: Lasso) -> Violation {
        let Lasso { property, what, processes, path: Path { from, edges, loop_start } } = lasso;
        let (steps, mut word) = self.run_to(from);
        let mut steps = with_few_switches(self.system, self.begins(from), steps);
        let (before, round) = edges.split_at(loop_start.unwrap_or(edges.len()));
        steps.extend(self.along(graph, &mut word, before));
        let repeats = loop_start.map(|_| steps.len());
        steps.extend(self.along(graph, &mut word, round));
        let waiting = in_phase(self.system, &word, Phase::Waiting);
        Violation { property, what, processes, waiting, steps, loop_start: repeats }
    }

    /// The steps along some edges; `word` moves from their start to their end.
    fn along(&self, graph: &Graph, word: &mut Vec<u32>, edges: &[Edge]) -> Vec<Step> {
        let (begin, mut steps) = (word.clone(), Vec::new());
        for edge in edges {
            let (label, target) = (graph.label(*edge), self.store.fingerprint(edge.to));
            let is_taken =
                |step: &Step, after: &[u32]| Label::new(step) == label && fingerprint(after) == target;
            let Some((step, after)) = self.step_to(word, is_taken) else { break };
            steps.extend(self.system.unfold(word, &step));
            *word = after;
        }
        with_few_switches(self.system, &begin, steps)
    }

    /// The steps from the initial state to a state, and its word.
    fn run_to(&mut self, state: StateId) -> (Vec<Step>, Vec<u32>) {
        let mut states = vec![state];
        while let Some(before) = self.store.parent(states[states.len() - 1]) {
            states.push(before);
        }
        let mut word = self.begins(state).to_vec();
        let mut steps = Vec::new();
        for &next in states.iter().rev().skip(1) {
            let target = self.store.fingerprint(next);
            let Some((step, after)) = self.step_to(&word, |_, after| fingerprint(after) == target) else {
                break;
            };
            steps.extend(self.system.unfold(&word, &step));
            word = after;
        }
        (steps, word)
    }

    /// The initial state of the run to a state.
    fn begins(&self, state: StateId) -> &[u32] {
        let mut first = state;
        while let Some(before) = self.store.parent(first) {
            first = before;
        }
        let begin = self.initial.iter().find(|(_, state)| *state == first);
        begin.map_or(&[], |(word, _)| word)
    }

    /// The first step from a state that satisfies `wanted`, and its successor.
    fn step_to(&self, word: &[u32], wanted: impl Fn(&Step, &[u32]) -> bool) -> Option<(Step, Vec<u32>)> {
        let mut taken = None;
        let known = self.system.steps(word, &mut |step, after| {
            if taken.is_none() && wanted(&step, after) {
                taken = Some((step, after.to_vec()));
            }
        });
        debug_assert_eq!(known, StepsKnown::All, "this state was expanded before");
        taken
    }
}

fn fingerprint(word: &[u32]) -> u64 {
    let mut encoded = Vec::new();
    encode(word, &mut encoded);
    hash(&encoded)
}
