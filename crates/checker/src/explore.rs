//! The search: breadth first, every state once.

use std::time::{Duration, Instant};

use doorway_core::Phase;

use crate::store::Store;
use crate::{Property, Step, System, Violation};

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states.
    pub states: u64,
    /// The most bytes for them.
    pub bytes: u64,
    /// The longest time; it is looked at now and then.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: u64::MAX, bytes: 4 << 30, time: Duration::from_secs(3_600) }
    }
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// How many states were reached.
    pub states: u64,
    /// How many steps lead from them.
    pub transitions: u64,
    /// How many steps the longest of all shortest runs has.
    pub depth: u64,
    /// Whether every state was reached; otherwise a limit was.
    pub is_complete: bool,
    /// The bytes that the states took.
    pub bytes: u64,
    /// For each property that does not hold a shortest run to where it does not.
    pub violations: Vec<Violation>,
}

/// Visits every state that can be reached.
pub fn explore<S: System>(system: &S, limits: Limits, watch: &mut dyn FnMut(u64)) -> Exploration {
    let mut search = Search::new(system, limits);
    let began = Instant::now();
    search.begin();
    while search.next < search.store.len() as u32 && !search.is_full {
        if search.next.is_multiple_of(1 << 14) {
            watch(search.store.len() as u64);
            search.is_full |= began.elapsed() > limits.time;
        }
        search.expand();
    }
    search.finish()
}

struct Search<'a, S: System> {
    system: &'a S,
    memory: S::Memory,
    limits: Limits,
    store: Store,
    /// The state to be expanded next.
    next: u32,
    /// The first state that lies one step deeper.
    deeper: u32,
    depth: u64,
    transitions: u64,
    is_full: bool,
    found: Vec<Found>,
}

/// Where a property does not hold: in a state, or in the step from another one to it.
struct Found {
    property: Property,
    what: String,
    processes: Vec<usize>,
    state: u32,
    from: Option<u32>,
}

impl<'a, S: System> Search<'a, S> {
    fn new(system: &'a S, limits: Limits) -> Self {
        Self {
            system,
            memory: S::Memory::default(),
            limits,
            store: Store::new(),
            next: 0,
            deeper: 0,
            depth: 0,
            transitions: 0,
            is_full: false,
            found: Vec::new(),
        }
    }

    fn begin(&mut self) {
        for word in self.system.initial(&mut self.memory) {
            if let Some((state, true)) = self.store.insert(&word, Store::NOBODY) {
                self.judge(state);
            }
        }
        self.deeper = self.store.len() as u32;
    }

    /// Makes every step that is possible in the next state.
    fn expand(&mut self) {
        let state = self.next;
        if state == self.deeper {
            self.depth += 1;
            self.deeper = self.store.len() as u32;
        }
        let word = self.store.word(state).to_vec();
        let (mut steps, mut can_go_on) = (0, false);
        let mut fresh = Vec::new();
        let mut broken = None;
        let (store, is_full) = (&mut self.store, &mut self.is_full);
        self.system.steps(&mut self.memory, &word, &mut |step: Step, after: &[u32]| {
            steps += 1;
            can_go_on |= !step.is_request;
            match store.insert(after, state) {
                Some((number, true)) => fresh.push(number),
                Some((_, false)) => {}
                None => *is_full = true,
            }
            if let Some(what) = step.broken {
                broken.get_or_insert((what, after.to_vec()));
            }
        });
        self.transitions += steps;
        self.next += 1;
        if let Some(((property, what), after)) = broken
            && let Some((number, _)) = self.store.insert(&after, state)
        {
            let (what, processes) = (what.to_owned(), Vec::new());
            self.remember(Found { property, what, processes, state: number, from: Some(state) });
        }
        if !can_go_on {
            self.judge_stillness(state, &word);
        }
        for number in fresh {
            self.judge(number);
        }
        self.is_full |=
            self.store.len() as u64 >= self.limits.states || self.store.bytes() > self.limits.bytes;
    }

    fn judge(&mut self, state: u32) {
        let word = self.store.word(state).to_vec();
        let inside = self.in_phase(&word, Phase::Inside);
        if inside.len() > 1 {
            let what = format!("nodes {} are inside together", joined(&inside));
            self.remember(Found {
                property: Property::MutualExclusion,
                what,
                processes: inside,
                state,
                from: None,
            });
        }
        if let Some(what) = self.system.flaw(&mut self.memory, &word) {
            self.remember(Found {
                property: Property::Invariants,
                what,
                processes: Vec::new(),
                state,
                from: None,
            });
        }
    }

    /// Nothing can happen but new requests.
    fn judge_stillness(&mut self, state: u32, word: &[u32]) {
        let waiting = self.in_phase(word, Phase::Waiting);
        if !waiting.is_empty() {
            let what = match waiting[..] {
                [one] => format!("node {} waits for ever", one + 1),
                _ => format!("nodes {} wait for ever", joined(&waiting)),
            };
            self.remember(Found {
                property: Property::DeadlockFreedom,
                what,
                processes: waiting,
                state,
                from: None,
            });
        }
    }

    fn in_phase(&mut self, word: &[u32], phase: Phase) -> Vec<usize> {
        let (system, memory) = (self.system, &mut self.memory);
        (0..system.processes()).filter(|&process| system.phase(memory, word, process) == phase).collect()
    }

    /// Remembers where a property does not hold, if it is the first such place: no other is nearer.
    fn remember(&mut self, found: Found) {
        if self.found.iter().all(|other| other.property != found.property) {
            self.found.push(found);
        }
    }

    fn finish(mut self) -> Exploration {
        let found = std::mem::take(&mut self.found);
        let violations = found.into_iter().map(|Found { property, what, processes, state, from }| {
            let steps = match from {
                None => self.run_to(state),
                Some(from) => {
                    let mut steps = self.run_to(from);
                    steps.extend(self.step_between(from, state, |step| step.broken.is_some()));
                    steps
                }
            };
            Violation { property, what, processes, steps }
        });
        let violations = violations.collect();
        Exploration {
            states: self.store.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            is_complete: !self.is_full,
            bytes: self.store.bytes(),
            violations,
        }
    }

    /// The steps from the beginning to a state.
    fn run_to(&mut self, state: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = state;
        while let Some(before) = self.store.parent(at) {
            steps.extend(self.step_between(before, at, |_| true));
            at = before;
        }
        steps.reverse();
        steps
    }

    /// A step that leads from one state to another.
    fn step_between(&mut self, from: u32, to: u32, wanted: impl Fn(&Step) -> bool) -> Option<Step> {
        let (from, to) = (self.store.word(from).to_vec(), self.store.word(to).to_vec());
        let mut taken = None;
        self.system.steps(&mut self.memory, &from, &mut |step, after| {
            if after == to && wanted(&step) {
                taken.get_or_insert(step);
            }
        });
        taken
    }
}

/// Processes by their numbers, which count from 1.
fn joined(processes: &[usize]) -> String {
    let numbers: Vec<String> = processes.iter().map(|process| (process + 1).to_string()).collect();
    numbers.join(", ")
}
