//! The graph of all states and transitions, for analyses of whole runs.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use doorway_core::Phase;

use crate::cancellation::Cancellation;
use crate::explore::{Batch, Inserted};
use crate::store::StateId;
use crate::{Step, System};

/// A transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: StateId,
    /// The number of its label.
    pub(crate) label: u32,
}

/// The part of a step that the analyses need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label {
    pub(crate) process: u32,
    pub(crate) action: u32,
    /// Its fairness class, or [`Label::FREE`] if fairness does not apply.
    owed: u32,
    pub(crate) sends: u32,
}

impl Label {
    const FREE: u32 = u32::MAX;

    pub(crate) fn new(step: &Step) -> Self {
        let Step { process, action, sends, .. } = *step;
        Self { process, action, owed: step.owed.unwrap_or(Self::FREE), sends }
    }

    /// Its fairness class, if fairness applies.
    pub(crate) fn owed(self) -> Option<u32> {
        Some(self.owed).filter(|class| *class != Self::FREE)
    }

    fn hash(self) -> u64 {
        let action = u64::from(self.action) << 32 | u64::from(self.process);
        let rest = u64::from(self.owed) << 32 | u64::from(self.sends);
        (action ^ rest.rotate_left(20)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// The graph of all states.
pub(crate) struct Graph {
    pub(crate) processes: usize,
    /// The noun for a process, singular and plural.
    pub(crate) nouns: [&'static str; 2],
    pub(crate) initial: Vec<StateId>,
    /// The first edge and the number of edges of each state.
    spans: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    pub(crate) labels: Vec<Label>,
    /// The positions of all processes in each state: see [`pack`].
    phases: Vec<u64>,
    /// The length of a shortest run to each state.
    pub(crate) depths: Vec<u32>,
    /// Cancels the analyses.
    pub(crate) cancellation: Cancellation,
}

/// The span of an unused state number.
const NO_STATE: (u32, u32) = (u32::MAX, 0);

/// The lower bit of every process.
const LOW_BITS: u64 = 0x5555_5555_5555_5555;

/// The position of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Outside,
    Doorway,
    Waiting,
    Inside,
}

impl Position {
    /// Whether it has requested and is not inside.
    pub(crate) fn competes(self) -> bool {
        matches!(self, Position::Doorway | Position::Waiting)
    }
}

/// Packs the phases of all processes, and whether they are past their doorways: process i has the bits 2i and
/// 2i + 1. 00 is outside, 01 in the doorway, 10 waiting, 11 inside; so exactly one bit is set in a process
/// that competes.
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
    /// One more than the largest state number.
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

    /// The target of the next edge of a state that `follow` accepts; the cursor, which starts at 0, moves
    /// past it.
    #[inline]
    pub(crate) fn next(
        &self,
        state: StateId,
        cursor: &mut u32,
        follow: impl Fn(Edge) -> Option<u32>,
    ) -> Option<u32> {
        let edges = self.edges(state);
        while let Some(edge) = edges.get(*cursor as usize) {
            *cursor += 1;
            if let Some(to) = follow(*edge) {
                return Some(to);
            }
        }
        None
    }

    pub(crate) fn label(&self, edge: Edge) -> Label {
        self.labels[edge.label as usize]
    }

    pub(crate) fn position(&self, state: StateId, process: usize) -> Position {
        match self.phases[state as usize] >> (2 * process) & 3 {
            0 => Position::Outside,
            1 => Position::Doorway,
            2 => Position::Waiting,
            _ => Position::Inside,
        }
    }

    /// Whether some process competes.
    pub(crate) fn any_competes(&self, state: StateId) -> bool {
        let phases = self.phases[state as usize];
        (phases ^ phases >> 1) & LOW_BITS != 0
    }

    /// Whether some process enters between two states.
    pub(crate) fn any_enters(&self, from: StateId, to: StateId) -> bool {
        let inside =
            |state: StateId| self.phases[state as usize] & self.phases[state as usize] >> 1 & LOW_BITS;
        inside(to) & !inside(from) != 0
    }

    /// Whether a process enters between two states.
    pub(crate) fn enters(&self, from: StateId, to: StateId, process: usize) -> bool {
        self.position(from, process) != Position::Inside && self.position(to, process) == Position::Inside
    }

    /// Whether a competing process can give up.
    pub(crate) fn any_gives_up(&self) -> bool {
        let outside = |state: StateId| !(self.phases[state as usize] | self.phases[state as usize] >> 1);
        let wants = |state: StateId| self.phases[state as usize] ^ self.phases[state as usize] >> 1;
        let gives_up = |from, edge: &Edge| wants(from) & outside(edge.to) & LOW_BITS != 0;
        self.states().any(|state| self.edges(state).iter().any(|edge| gives_up(state, edge)))
    }

    /// Whether every edge leads to a greater depth, so that the graph has no cycles.
    pub(crate) fn is_layered(&self) -> bool {
        self.states().all(|state| {
            let depth = self.depths[state as usize];
            self.edges(state).iter().all(|edge| self.depths[edge.to as usize] > depth)
        })
    }
}

/// A run: a shortest one to `from`, then along these edges.
pub(crate) struct Path {
    pub(crate) from: StateId,
    pub(crate) edges: Vec<Edge>,
    /// The first edge of the endless loop.
    pub(crate) loop_start: Option<usize>,
}

/// Builds the graph during the search.
#[derive(Default)]
pub(crate) struct GraphBuilder {
    spans: Vec<(u32, u32)>,
    /// The state whose steps are being added.
    latest: StateId,
    edges: Vec<Edge>,
    labels: Vec<Label>,
    numbers: HashMap<Label, u32, FastHash>,
    /// A cache of recent labels, by a part of their hash: most steps have one of few labels.
    recent: Vec<(Label, u32)>,
    phases: Vec<u64>,
    depths: Vec<u32>,
}

/// The size of that cache.
const RECENT: usize = 1 << 10;
/// A label that no step has: no system has that many processes.
const NO_LABEL: (Label, u32) =
    (Label { process: u32::MAX, action: u32::MAX, owed: u32::MAX, sends: u32::MAX }, 0);

/// A fast hash for numbers.
type FastHash = std::hash::BuildHasherDefault<crate::intern::Mixer>;

impl GraphBuilder {
    pub(crate) fn bytes(&self) -> u64 {
        let states = self.spans.capacity() * 8 + self.phases.capacity() * 8 + self.depths.capacity() * 4;
        (states + self.edges.capacity() * size_of::<Edge>()) as u64
    }

    /// Adds a state with its positions and depth.
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

    /// Adds the steps of a round; its new states have this depth.
    pub(crate) fn take_in(&mut self, batches: &[Batch], inserted: &[Inserted], depth: u32) {
        for &(state, phases) in inserted.iter().flat_map(|part| &part.phases) {
            self.place(state, phases, depth);
        }
        for batch in batches {
            let mut steps = batch.steps.iter().zip(&batch.targets);
            for &(state, count) in &batch.counts {
                self.begin_steps(state);
                for (step, to) in steps.by_ref().take(count as usize) {
                    self.add_step(*step, to.load(Ordering::Relaxed));
                }
            }
        }
    }

    /// Starts the edges of this state.
    pub(crate) fn begin_steps(&mut self, state: StateId) {
        self.spans[state as usize] = (self.edges.len() as u32, 0);
        self.latest = state;
    }

    /// Adds a step.
    pub(crate) fn add_step(&mut self, label: Label, to: StateId) {
        let label = self.number(label);
        self.edges.push(Edge { to, label });
        self.spans[self.latest as usize].1 += 1;
    }

    /// The number of a label.
    fn number(&mut self, label: Label) -> u32 {
        if self.recent.is_empty() {
            self.recent.resize(RECENT, NO_LABEL);
        }
        let slot = (label.hash() >> (64 - RECENT.trailing_zeros())) as usize;
        let (known, number) = self.recent[slot];
        if known == label {
            return number;
        }
        let labels = &mut self.labels;
        let number = *self.numbers.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        });
        self.recent[slot] = (label, number);
        number
    }

    pub(crate) fn finish<S: System>(
        self,
        system: &S,
        initial: Vec<StateId>,
        cancellation: Cancellation,
    ) -> Graph {
        let (processes, nouns) = (system.processes(), system.nouns());
        let Self { spans, edges, labels, phases, depths, .. } = self;
        Graph { processes, nouns, initial, spans, edges, labels, phases, depths, cancellation }
    }
}
