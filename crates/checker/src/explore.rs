//! Breadth-first search over all states, on one thread or several.
//!
//! A round expands some states of the current depth. First every thread computes the successors of its share
//! and sorts them by shard; then every thread inserts the successors of its shards into the store. So no lock
//! is needed, and state numbers, counts and counterexamples do not depend on the number of threads.

mod at_once;
mod batch;
mod judge;
mod trail;

use std::time::{Duration, Instant};

use doorway_core::Stop;

use crate::cancellation::Cancellation;
use crate::graph::{Graph, GraphBuilder};
use crate::progress::{self, ProgressNeeds};
use crate::store::{NO_PARENT, SHARDS, StateId, Store, Visited, encode, hash, shard_of};
use crate::waiting::{self, Overtaking};
use crate::{Property, SchedulerFairness, System, Violation, counts};
use batch::insert_all;
pub(crate) use batch::{Batch, Inserted};
pub(crate) use judge::{FoundViolation, named, state as state_faults, stillness};

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// The most states.
    pub states: u64,
    /// The most bytes of memory.
    pub bytes: u64,
    /// The time limit, polled during the search.
    pub time: Duration,
    /// The greatest depth.
    pub depth: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { states: u64::MAX, bytes: 4 << 30, time: Duration::from_secs(3_600), depth: u64::MAX }
    }
}

/// The parameters of a search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The limits.
    pub limits: SearchLimits,
    /// The number of threads.
    pub threads: usize,
    /// What to store of each state.
    pub visited: Visited,
    /// The analyses of whole runs. They need memory for every transition.
    pub runs: Runs,
    /// Ends the search once all of these properties are violated, unless empty.
    pub until: Vec<Property>,
    /// The most states to visit after the first violation.
    pub patience: u64,
    /// Whether to keep the terminal states.
    pub keep_terminals: bool,
    /// A cancellation flag; when it is set, the search ends as if a limit was reached.
    pub stop: Stop,
}

impl Default for Search {
    fn default() -> Self {
        let (limits, visited, runs) = (SearchLimits::default(), Visited::default(), Runs::default());
        Self {
            limits,
            threads: 1,
            visited,
            runs,
            until: Vec::new(),
            patience: u64::MAX,
            keep_terminals: false,
            stop: Stop::default(),
        }
    }
}

/// Analyses of whole runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Progress: the fairness under which no process starves and some process always enters. Counterexamples
    /// are searched under the given fairness, or else under the strongest.
    pub progress: Option<Option<SchedulerFairness>>,
    /// The number of bypasses.
    pub waiting: bool,
    /// The number of messages of a run.
    pub messages: bool,
}

impl Runs {
    fn any(self) -> bool {
        self.progress.is_some() || self.waiting || self.messages
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// The number of states reached.
    pub states: u64,
    /// The number of transitions from them.
    pub transitions: u64,
    /// The depth of the deepest state.
    pub depth: u64,
    /// Whether every reachable state was visited. If not, a limit was reached or [`Search::until`] was met.
    pub is_complete: bool,
    /// Whether all properties of [`Search::until`] are violated.
    pub is_satisfied: bool,
    /// The memory of the states in bytes.
    pub bytes: u64,
    /// The probability that a state was missed, if only fingerprints were stored.
    pub odds_of_omission: Option<f64>,
    /// A counterexample for each violated property.
    pub violations: Vec<Violation>,
    /// The terminal states, if [`Search::keep_terminals`] is set.
    pub terminals: Vec<Vec<u32>>,
    /// The fairness that progress needs, if requested and the search is complete.
    pub progress: Option<ProgressNeeds>,
    /// The number of bypasses, if requested and the search is complete.
    pub waiting: Option<Overtaking>,
    /// The smallest and the largest number of messages of a run that ends, if requested and the search is
    /// complete.
    pub messages: Option<counts::Messages>,
}

/// Visits every reachable state; calls `watch` after each round with the number of states so far.
pub fn explore<S: System>(system: &mut S, search: &Search, watch: &mut dyn FnMut(u64)) -> Exploration {
    let mut explorer = Explorer::new(system, search);
    explorer.begin();
    while !explorer.frontier.is_empty() && !explorer.is_over {
        explorer.level(watch);
    }
    explorer.finish()
}

/// The most states of a round: many, so that a shard's table stays in the cache for many insertions.
const ROUND: usize = 1 << 18;
/// The fewest states of a round, and the size of the first one.
const SHORT_ROUND: usize = 1 << 10;
/// The target size in bytes of the successors of a round.
const BYTES_OF_ROUND: usize = 80 << 20;
/// Rounds with fewer states run on one thread without sorting by shard, which would not pay off.
const SEQUENTIAL_BELOW: usize = 1 << 11;

pub(crate) struct Explorer<'a, S: System> {
    pub(crate) system: &'a mut S,
    search: &'a Search,
    pub(crate) store: Store,
    initial: Vec<(Vec<u32>, StateId)>,
    /// The states to expand at this depth, and those found at the next.
    frontier: Vec<StateId>,
    deeper: Vec<StateId>,
    depth: u64,
    transitions: u64,
    terminals: Vec<Vec<u32>>,
    found: Vec<FoundViolation>,
    graph: Option<GraphBuilder>,
    batches: Vec<Batch>,
    /// The number of states of the next round.
    round: usize,
    /// The number of states at the first violation.
    states_when_found: Option<u64>,
    is_over: bool,
    began: Instant,
}

impl<'a, S: System> Explorer<'a, S> {
    fn new(system: &'a mut S, search: &'a Search) -> Self {
        Self {
            system,
            search,
            store: Store::new(search.visited),
            initial: Vec::new(),
            frontier: Vec::new(),
            deeper: Vec::new(),
            depth: 0,
            transitions: 0,
            terminals: Vec::new(),
            found: Vec::new(),
            graph: search.runs.any().then(GraphBuilder::default),
            batches: Vec::new(),
            round: SHORT_ROUND,
            states_when_found: None,
            is_over: false,
            began: Instant::now(),
        }
    }

    fn begin(&mut self) {
        for word in self.system.initial() {
            let mut encoded = Vec::new();
            encode(&word, &mut encoded);
            let hash = hash(&encoded);
            let shard = shard_of(hash);
            if let Some((place, true)) = self.store.shards[shard].insert(&encoded, hash, NO_PARENT) {
                let state = (place * SHARDS + shard) as StateId;
                self.frontier.push(state);
                let found = judge::state(self.system, state, &word);
                found.into_iter().for_each(|found| self.remember(found));
                if let Some(graph) = &mut self.graph {
                    graph.place(state, graph_phases(self.system, &word), 0);
                }
                self.initial.push((word, state));
            }
        }
    }

    /// Expands every state of this depth.
    fn level(&mut self, watch: &mut dyn FnMut(u64)) {
        let frontier = std::mem::take(&mut self.frontier);
        let before: Vec<usize> = self.store.shards.iter().map(|shard| shard.len()).collect();
        let mut rest = &frontier[..];
        while !rest.is_empty() {
            let (states, later) = rest.split_at(self.round.min(rest.len()));
            rest = later;
            self.round(states);
            if !self.found.is_empty() {
                self.states_when_found.get_or_insert(self.store.len() as u64);
            }
            watch(self.store.len() as u64);
            if self.must_end() {
                self.is_over = true;
                return;
            }
        }
        self.store.drop_words(&before);
        self.frontier = std::mem::take(&mut self.deeper);
        if !self.frontier.is_empty() {
            self.depth += 1;
            self.is_over |= self.depth >= self.search.limits.depth;
        }
    }

    fn must_end(&self) -> bool {
        let SearchLimits { states, bytes, time, .. } = self.search.limits;
        let graph = self.graph.as_ref().map_or(0, GraphBuilder::bytes);
        self.is_over
            || self.store.len() as u64 >= states
            || self.store.bytes() + graph + self.system.bytes() + self.buffered() > bytes
            || self.began.elapsed() > time
            || self.search.stop.is_said()
            || self.is_satisfied()
            || self
                .states_when_found
                .is_some_and(|then| self.store.len() as u64 > then.saturating_add(self.search.patience))
    }

    /// The bytes of the batches' buffers.
    fn buffered(&self) -> u64 {
        self.batches.iter().map(Batch::room).sum::<usize>() as u64
    }

    /// Whether all properties of [`Search::until`] are violated.
    fn is_satisfied(&self) -> bool {
        let until = &self.search.until;
        let is_found = |property: &Property| self.found.iter().any(|found| found.property == *property);
        !until.is_empty() && until.iter().all(is_found)
    }

    fn round(&mut self, states: &[StateId]) {
        if states.len() < SEQUENTIAL_BELOW {
            return self.at_once(states);
        }
        let threads = self.search.threads.max(1);
        self.batches.resize_with(threads + 1, Batch::default);
        let mut batches = std::mem::take(&mut self.batches);
        self.expand(states, &mut batches);
        let inserted = self.insert(&batches);
        self.take_in(&batches, inserted);
        let each = batches.iter().map(Batch::bytes).sum::<usize>().div_ceil(states.len()).max(1);
        self.round = (BYTES_OF_ROUND / each).clamp(SHORT_ROUND, ROUND).min(self.round * 4);
        self.batches = batches;
    }

    /// Expands these states. States whose steps the system must learn first are expanded at the end, on one
    /// thread, because learning changes the system.
    fn expand(&mut self, states: &[StateId], batches: &mut [Batch]) {
        let (system, store, keep) = (&*self.system, &self.store, self.graph.is_some());
        let (last, batches) = batches.split_last_mut().expect("one batch per thread and one more");
        let share = states.len().div_ceil(batches.len());
        let stop = &self.search.stop;
        let work = |batch: &mut Batch, share: &[StateId]| {
            batch.clear(keep);
            let going_on = share.iter().take_while(|_| !stop.is_said());
            going_on.for_each(|&state| batch.expand(system, store, state));
        };
        match batches {
            [only] => work(only, states),
            _ => std::thread::scope(|scope| {
                for (batch, share) in batches.iter_mut().zip(states.chunks(share)) {
                    scope.spawn(move || work(batch, share));
                }
            }),
        }
        last.clear(keep);
        let mut word = Vec::new();
        for state in batches.iter().flat_map(|batch| &batch.unknown) {
            self.store.read(*state, &mut word);
            self.system.learn(&word);
            last.expand(&*self.system, &self.store, *state);
        }
        debug_assert!(last.unknown.is_empty(), "the system has learned these states");
    }

    /// Inserts the successors into the store.
    fn insert(&mut self, batches: &[Batch]) -> Vec<Inserted> {
        let (system, keep) = (&*self.system, self.graph.is_some());
        let threads = batches.len() - 1;
        let share = SHARDS.div_ceil(threads);
        if threads == 1 {
            return vec![insert_all(system, &mut self.store.shards, 0, batches, keep)];
        }
        std::thread::scope(|scope| {
            let shares = self.store.shards.chunks_mut(share).enumerate();
            let workers: Vec<_> = shares
                .map(|(number, shards)| {
                    scope.spawn(move || insert_all(system, shards, number * share, batches, keep))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
        })
    }

    /// Merges the results of a round, in an order that does not depend on the number of threads.
    fn take_in(&mut self, batches: &[Batch], inserted: Vec<Inserted>) {
        for batch in batches {
            self.transitions += batch.transitions;
            for found in batch.found.iter().cloned() {
                self.remember(found);
            }
            if self.search.keep_terminals {
                self.terminals.extend(batch.terminals.iter().cloned());
            }
        }
        if let Some(graph) = &mut self.graph {
            graph.take_in(batches, &inserted, self.depth as u32 + 1);
        }
        for part in inserted {
            self.is_over |= part.is_full;
            self.deeper.extend(part.fresh);
            part.found.into_iter().for_each(|found| self.remember(found));
        }
    }

    /// Keeps the first violation of each property: in a breadth-first search no other is shorter.
    fn remember(&mut self, found: FoundViolation) {
        if self.found.iter().all(|other| other.property != found.property) {
            self.found.push(found);
        }
    }

    fn finish(mut self) -> Exploration {
        let is_satisfied = self.is_satisfied();
        let mut found = std::mem::take(&mut self.found);
        if self.system.is_cut() {
            found.clear();
        }
        let is_complete = self.frontier.is_empty() && !self.is_over && !self.system.is_cut();
        let violations = found.into_iter().map(|found| self.violation(found)).collect();
        let states = self.store.len() as u64;
        let odds = (states as f64).powi(2) / 2_f64.powi(65);
        let mut explored = Exploration {
            states,
            transitions: self.transitions,
            depth: self.depth,
            is_complete,
            is_satisfied,
            bytes: self.store.bytes() + self.graph.as_ref().map_or(0, GraphBuilder::bytes),
            odds_of_omission: (self.search.visited == Visited::Fingerprints).then_some(odds.min(1.0)),
            violations,
            terminals: std::mem::take(&mut self.terminals),
            ..Exploration::default()
        };
        if let Some(builder) = self.graph.take().filter(|_| is_complete) {
            let initial = self.initial.iter().map(|(_, state)| *state).collect();
            let cancellation =
                Cancellation::new(&self.search.stop, self.began.checked_add(self.search.limits.time));
            let graph = builder.finish(self.system, initial, cancellation);
            let before = explored.clone();
            self.ask_about_runs(&graph, &mut explored);
            if graph.cancellation.was_cancelled() {
                explored = Exploration { is_complete: false, ..before };
            }
        }
        explored
    }

    fn ask_about_runs(&mut self, graph: &Graph, explored: &mut Exploration) {
        let Runs { progress, waiting, messages } = self.search.runs;
        if let Some(fairness) = progress {
            let (answer, lassos) = progress::judge(graph, fairness.unwrap_or(SchedulerFairness::Strong));
            explored.progress = Some(answer);
            for lasso in lassos {
                let is_known = |known: &Violation| known.property == lasso.property;
                if !explored.violations.iter().any(is_known) {
                    let violation = self.lasso(graph, lasso);
                    explored.violations.push(violation);
                }
            }
        }
        if waiting {
            let (mut answer, waiting::Witnesses { once, worst, without_end }) = waiting::judge(graph);
            answer.witness = worst.map(|run| self.lasso(graph, run));
            explored.waiting = Some(answer);
            let violations = once.into_iter().chain(without_end).map(|run| self.lasso(graph, run));
            explored.violations.extend(violations);
        }
        if messages {
            explored.messages = counts::messages(graph);
        }
    }
}

/// The positions of all processes, packed: see [`crate::graph::pack`].
pub(crate) fn graph_phases<S: System>(system: &S, word: &[u32]) -> u64 {
    crate::graph::pack((0..system.processes()).map(|process| {
        let phase = system.phase(word, process);
        (phase, phase == doorway_core::Phase::Waiting && system.is_past_doorway(word, process))
    }))
}
