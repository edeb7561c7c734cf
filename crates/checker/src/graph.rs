//! All states and the steps between them, for questions about whole runs.

use std::collections::HashMap;

use doorway_core::Phase;

use crate::Step;
use crate::explore::{Batch, Inserted};
use crate::store::StateId;

/// A step from one state to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: StateId,
    /// Which step it is.
    pub(crate) label: u32,
}

/// The graph of all states.
pub(crate) struct Graph {
    pub(crate) processes: usize,
    pub(crate) initial: Vec<StateId>,
    /// Where the steps of each state begin, and how many they are.
    spans: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    pub(crate) labels: Vec<Step>,
    /// Where all processes stand in each state, two bits for each.
    phases: Vec<u64>,
    /// The length of a shortest run to each state.
    pub(crate) depths: Vec<u32>,
}

/// The span of a number that is no state's.
const NO_STATE: (u32, u32) = (u32::MAX, 0);

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    Outside,
    Doorway,
    Waiting,
    Inside,
}

impl Stand {
    /// Whether it wants in and is not.
    pub(crate) fn wants(self) -> bool {
        matches!(self, Stand::Doorway | Stand::Waiting)
    }
}

/// Packs where all processes stand, and whether they are past their doorways.
pub(crate) fn pack(stands: impl Iterator<Item = (Phase, bool)>) -> u64 {
    stands.enumerate().fold(0, |packed, (process, stand)| {
        let bits: u64 = match stand {
            (Phase::Outside, _) => 0,
            (Phase::Waiting, false) => 1,
            (Phase::Waiting, true) => 2,
            (Phase::Inside, _) => 3,
        };
        packed | bits << (2 * process)
    })
}

impl Graph {
    /// One more than the largest number of a state.
    pub(crate) fn bound(&self) -> usize {
        self.phases.len()
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = StateId> + '_ {
        (0..).zip(&self.spans).filter(|(_, span)| **span != NO_STATE).map(|(state, _)| state)
    }

    pub(crate) fn edges(&self, state: StateId) -> &[Edge] {
        let (first, count) = self.spans[state as usize];
        &self.edges[first as usize..][..count as usize]
    }

    pub(crate) fn step(&self, edge: Edge) -> &Step {
        &self.labels[edge.label as usize]
    }

    pub(crate) fn stand(&self, state: StateId, process: usize) -> Stand {
        match self.phases[state as usize] >> (2 * process) & 3 {
            0 => Stand::Outside,
            1 => Stand::Doorway,
            2 => Stand::Waiting,
            _ => Stand::Inside,
        }
    }

    /// Whether a step between two states lets a process in.
    pub(crate) fn enters(&self, from: StateId, to: StateId, process: usize) -> bool {
        self.stand(from, process) != Stand::Inside && self.stand(to, process) == Stand::Inside
    }

    /// Whether every step leads to a state that is further from the beginning, so that no run goes round.
    pub(crate) fn is_layered(&self) -> bool {
        self.states().all(|state| {
            let depth = self.depths[state as usize];
            self.edges(state).iter().all(|edge| self.depths[edge.to as usize] > depth)
        })
    }
}

/// A run that begins as a shortest one to a state and goes on along these steps.
pub(crate) struct Path {
    pub(crate) from: StateId,
    pub(crate) edges: Vec<Edge>,
    /// Which of them is the first that repeats for ever.
    pub(crate) loop_start: Option<usize>,
}

/// A graph that grows with the search.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    spans: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    labels: Vec<Step>,
    /// The number of each label, by all that matters of it.
    numbers: HashMap<(u64, u64), u32, Quick>,
    phases: Vec<u64>,
    depths: Vec<u32>,
}

/// A quick hash for numbers.
type Quick = std::hash::BuildHasherDefault<crate::intern::Mixer>;

impl GraphBuilder {
    pub(crate) fn bytes(&self) -> u64 {
        let states = self.spans.capacity() * 8 + self.phases.capacity() * 8 + self.depths.capacity() * 4;
        (states + self.edges.capacity() * size_of::<Edge>()) as u64
    }

    /// Notes where all processes stand in a state, and how far it is from the beginning.
    pub(crate) fn place(&mut self, state: StateId, phases: u64, depth: u32) {
        let state = state as usize;
        if state >= self.phases.len() {
            self.phases.resize(state + 1, 0);
            self.spans.resize(state + 1, NO_STATE);
            self.depths.resize(state + 1, 0);
        }
        self.phases[state] = phases;
        self.depths[state] = depth;
    }

    /// Takes the steps of a round; what is new lies at this depth.
    pub(crate) fn take_in(&mut self, batches: &[Batch], inserted: &[Inserted], depth: u32) {
        for &(state, phases) in inserted.iter().flat_map(|part| &part.phases) {
            self.place(state, phases, depth);
        }
        let mut targets: Vec<Vec<StateId>> = batches.iter().map(|batch| vec![0; batch.steps.len()]).collect();
        for &(batch, step, state) in inserted.iter().flat_map(|part| &part.targets) {
            targets[batch][step as usize] = state;
        }
        for (batch, targets) in batches.iter().zip(targets) {
            let mut steps = batch.steps.iter().zip(targets);
            for &(state, count) in &batch.counts {
                self.spans[state as usize] = (self.edges.len() as u32, count);
                for (step, to) in steps.by_ref().take(count as usize) {
                    let label = self.label(step);
                    self.edges.push(Edge { to, label });
                }
            }
        }
    }

    fn label(&mut self, step: &Step) -> u32 {
        let next = self.labels.len() as u32;
        let labels = &mut self.labels;
        let owed = step.owed.map_or(0, |class| u64::from(class) + 1);
        let key =
            (u64::from(step.action) << 32 | u64::from(step.process), owed << 24 ^ u64::from(step.sends));
        *self.numbers.entry(key).or_insert_with(|| {
            labels.push(*step);
            next
        })
    }

    pub(crate) fn finish(self, processes: usize, initial: Vec<StateId>) -> Graph {
        let Self { spans, edges, labels, phases, depths, .. } = self;
        Graph { processes, initial, spans, edges, labels, phases, depths }
    }
}
