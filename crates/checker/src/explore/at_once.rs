//! A small round: inserts each successor into the store at once.

use super::{Batch, Explorer, FoundViolation, graph_phases, judge};
use crate::graph::Label;
use crate::store::{SHARDS, StateId, decode, hash, shard_of};
use crate::{StepsKnown, System};

/// The number of states between two checks of the limits.
const CHECK_INTERVAL: usize = 64;

impl<S: System> Explorer<'_, S> {
    /// Expands these states.
    pub(super) fn at_once(&mut self, states: &[StateId]) {
        let mut batch = self.batches.pop().unwrap_or_default();
        batch.clear(false);
        let (mut found, mut word) = (Vec::new(), Vec::new());
        for (number, &state) in states.iter().enumerate() {
            if number % CHECK_INTERVAL == CHECK_INTERVAL - 1 && self.must_end() {
                self.is_over = true;
                break;
            }
            if batch.make_steps(&*self.system, &self.store, state) == StepsKnown::No {
                self.system.learn(&batch.word);
                let known = batch.make_steps(&*self.system, &self.store, state);
                debug_assert_eq!(known, StepsKnown::All, "the system has learned this state");
            }
            batch.check_steps(&*self.system, state);
            if let Some(graph) = &mut self.graph {
                graph.begin_steps(state);
            }
            for step in 0..batch.scratch.steps.len() {
                self.put(&batch, state, step, &mut word, &mut found);
            }
        }
        let batches = [batch];
        self.take_in(&batches, Vec::new());
        self.batches.extend(batches);
        found.into_iter().for_each(|found| self.remember(found));
    }

    /// Inserts the successor of one of the computed steps into the store.
    fn put(
        &mut self,
        batch: &Batch,
        parent: StateId,
        step: usize,
        word: &mut Vec<u32>,
        found: &mut Vec<FoundViolation>,
    ) {
        let encoded = batch.scratch.after(step);
        let hash = hash(encoded);
        let shard = shard_of(hash);
        let Some((place, is_new)) = self.store.shards[shard].insert(encoded, hash, parent) else {
            self.is_over = true;
            return;
        };
        let state = (place * SHARDS + shard) as StateId;
        if is_new {
            decode(encoded, word);
            self.deeper.push(state);
            found.extend(judge::state(&*self.system, state, word));
        }
        if let Some(graph) = &mut self.graph {
            if is_new {
                graph.place(state, graph_phases(&*self.system, word), self.depth as u32 + 1);
            }
            graph.add_step(Label::new(&batch.scratch.steps[step]), state);
        }
    }
}
