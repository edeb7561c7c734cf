//! One thread's share of a round.

use std::sync::atomic::{AtomicU32, Ordering};

use doorway_core::Phase;

use super::judge::{self, FoundViolation};
use crate::graph::Label;
use crate::store::{BLOCK, SHARDS, Shard, StateId, Store, encode, hash, shard_of};
use crate::{Step, StepsKnown, System};

/// The steps of some states, and their successors by shard.
#[derive(Default)]
pub(crate) struct Batch {
    buckets: Vec<Bucket>,
    /// The states that the system must learn before their steps are known.
    pub(super) unknown: Vec<StateId>,
    pub(super) found: Vec<FoundViolation>,
    pub(super) terminals: Vec<Vec<u32>>,
    pub(super) transitions: u64,
    /// For each expanded state its number of steps, and the steps, if they are kept for the graph.
    pub(crate) counts: Vec<(StateId, u32)>,
    pub(crate) steps: Vec<Label>,
    /// The target of each of these steps, written once by the thread that owns its shard. Atomic because
    /// several threads write to one list.
    pub(crate) targets: Vec<AtomicU32>,
    keeps: bool,
    pub(super) word: Vec<u32>,
    pub(super) scratch: Scratch,
}

/// The steps of one state.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) steps: Vec<Step>,
    words: Vec<u16>,
    ends: Vec<usize>,
}

impl Scratch {
    /// The encoded state after a step.
    pub(super) fn after(&self, step: usize) -> &[u16] {
        let begin = if step == 0 { 0 } else { self.ends[step - 1] };
        &self.words[begin..self.ends[step]]
    }
}

/// Successors that belong to one shard.
#[derive(Default)]
struct Bucket {
    entries: Vec<Entry>,
    words: Vec<u16>,
}

struct Entry {
    hash: u64,
    parent: StateId,
    /// The step of the batch that led to it.
    step: u32,
    end: u32,
}

impl Batch {
    pub(super) fn clear(&mut self, keeps: bool) {
        self.buckets.resize_with(SHARDS, Bucket::default);
        for bucket in &mut self.buckets {
            bucket.entries.clear();
            bucket.words.clear();
        }
        self.unknown.clear();
        self.found.clear();
        self.terminals.clear();
        self.transitions = 0;
        self.counts.clear();
        self.steps.clear();
        self.targets.clear();
        self.keeps = keeps;
    }

    /// The bytes of the successors.
    pub(super) fn bytes(&self) -> usize {
        let bucket = |bucket: &Bucket| bucket.entries.len() * size_of::<Entry>() + bucket.words.len() * 2;
        self.buckets.iter().map(bucket).sum()
    }

    /// The bytes allocated for them.
    pub(super) fn room(&self) -> usize {
        let bucket =
            |bucket: &Bucket| bucket.entries.capacity() * size_of::<Entry>() + bucket.words.capacity() * 2;
        self.buckets.iter().map(bucket).sum()
    }

    /// Expands a state.
    pub(super) fn expand<S: System>(&mut self, system: &S, store: &Store, state: StateId) {
        match self.make_steps(system, store, state) {
            StepsKnown::All => self.sort(system, state),
            StepsKnown::No => self.unknown.push(state),
        }
    }

    /// Computes the steps of a state and their successors into the scratch buffers.
    pub(super) fn make_steps<S: System>(&mut self, system: &S, store: &Store, state: StateId) -> StepsKnown {
        store.read(state, &mut self.word);
        let Scratch { steps, words, ends } = &mut self.scratch;
        steps.clear();
        words.clear();
        ends.clear();
        system.steps(&self.word, &mut |step, after| {
            steps.push(step);
            encode(after, words);
            ends.push(words.len());
        })
    }

    /// Counts and checks the steps in the scratch buffers.
    pub(super) fn check_steps<S: System>(&mut self, system: &S, state: StateId) {
        let steps = &self.scratch.steps;
        self.transitions += steps.len() as u64;
        for step in steps {
            if let Some((property, what)) = step.broken {
                self.found.push(FoundViolation::step(property, what, state, *step));
            }
        }
        if steps.iter().all(|step| step.owed.is_none()) {
            self.found.extend(judge::stillness(system, state, &self.word));
        }
        if steps.is_empty() {
            self.terminals.push(self.word.clone());
        }
    }

    /// Sorts the successors by shard, and checks the steps.
    fn sort<S: System>(&mut self, system: &S, state: StateId) {
        let Scratch { steps, words, ends } = &self.scratch;
        let first = self.transitions as u32;
        let mut begin = 0;
        for (number, &end) in (first..).zip(ends) {
            let word = &words[begin..end];
            begin = end;
            let hash = hash(word);
            let bucket = &mut self.buckets[shard_of(hash)];
            bucket.words.extend_from_slice(word);
            let end = bucket.words.len() as u32;
            bucket.entries.push(Entry { hash, parent: state, step: number, end });
        }
        if self.keeps {
            self.counts.push((state, steps.len() as u32));
            self.steps.extend(steps.iter().map(Label::new));
            self.targets.resize_with(self.steps.len(), AtomicU32::default);
        }
        self.check_steps(system, state);
    }
}

/// The result of inserting into some shards, in their order.
#[derive(Default)]
pub(crate) struct Inserted {
    /// The new states.
    pub(super) fresh: Vec<StateId>,
    pub(super) found: Vec<FoundViolation>,
    pub(super) is_full: bool,
    /// The positions of all processes in the new states, if they are kept.
    pub(crate) phases: Vec<(StateId, u64)>,
}

/// Inserts the successors of all batches into these shards, the first of which has the number `first`.
pub(super) fn insert_all<S: System>(
    system: &S,
    shards: &mut [Shard],
    first: usize,
    batches: &[Batch],
    keep: bool,
) -> Inserted {
    let mut inserted = Inserted::default();
    for (number, shard) in (first..).zip(shards) {
        insert(system, shard, number, batches, keep, &mut inserted);
    }
    inserted
}

fn insert<S: System>(
    system: &S,
    shard: &mut Shard,
    number: usize,
    batches: &[Batch],
    keep: bool,
    inserted: &mut Inserted,
) {
    let first_fresh = inserted.fresh.len();
    for batch in batches {
        let Bucket { entries, words } = &batch.buckets[number];
        let mut begin = 0;
        for (place_in_bucket, entry) in entries.iter().enumerate() {
            if place_in_bucket % BLOCK == 0 {
                shard.prefetch(entries[place_in_bucket..].iter().take(BLOCK).map(|entry| entry.hash));
            }
            let word = &words[begin..entry.end as usize];
            begin = entry.end as usize;
            let Some((place, is_new)) = shard.insert(word, entry.hash, entry.parent) else {
                inserted.is_full = true;
                return;
            };
            let state = (place * SHARDS + number) as StateId;
            if is_new {
                inserted.fresh.push(state);
            }
            if keep {
                batch.targets[entry.step as usize].store(state, Ordering::Relaxed);
            }
        }
    }
    let mut word = Vec::new();
    for place in first_fresh..inserted.fresh.len() {
        let state = inserted.fresh[place];
        crate::store::decode(shard.encoded(state as usize / SHARDS), &mut word);
        inserted.found.extend(judge::state(system, state, &word));
        if keep {
            inserted.phases.push((state, super::graph_phases(system, &word)));
        }
    }
}

/// The processes in a phase.
pub(super) fn in_phase<S: System>(system: &S, word: &[u32], phase: Phase) -> Vec<usize> {
    (0..system.processes()).filter(|&process| system.phase(word, process) == phase).collect()
}
