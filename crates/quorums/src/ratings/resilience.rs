//! How many crashes a quorum system always survives.
//!
//! After the crash of a set of nodes that meets every quorum none is left; as long as the crashed nodes miss one, it is.
//! So the resilience is the size of the smallest such set, a transversal, less one. To find it is hard in general: where no
//! shape helps it is searched for, a little at a time, from the bound up that the load gives: every node meets at most the
//! share L of a best strategy's quorums, so a transversal has at least 1/L nodes. A quorum is itself a transversal.

use doorway_core::{NodeId, NodeSet};

use super::{Fraction, Load};
use crate::System;

/// A whole number that is known exactly or between bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// It is not less.
    pub least: usize,
    /// It is not more.
    pub most: usize,
}

impl Bounds {
    /// The number, if it is known exactly.
    #[must_use]
    pub fn exact(self) -> Option<usize> {
        (self.least == self.most).then_some(self.least)
    }

    fn is(number: usize) -> Self {
        Self { least: number, most: number }
    }

    fn minus_one(self) -> Self {
        Self { least: self.least.saturating_sub(1), most: self.most.saturating_sub(1) }
    }
}

/// The resilience of a system with this load, whose minimal quorums are these if they could be listed.
pub(super) fn resilience(system: &System, quorums: Option<&[NodeSet]>, load: &Load) -> Bounds {
    if let Some(structure) = system.structure() {
        return Bounds::is(structure.smallest_transversal()).minus_one();
    }
    let by_load = match load.exact.and_then(Fraction::inverse) {
        Some(capacity) => usize::try_from(capacity.ceiling()).unwrap_or(1),
        None => (1.0 / load.most - 1e-6).ceil() as usize,
    };
    let most = system.smallest_quorum();
    let bounds = Bounds { least: by_load.clamp(1, most), most };
    let searched = |quorums| Search::new(quorums, system.n()).narrow(bounds);
    quorums.map_or(bounds, searched).minus_one()
}

/// The search for a small transversal.
struct Search {
    /// The members of each quorum.
    members: Vec<Vec<usize>>,
    /// The quorums that each node is in, one bit each.
    meets: Vec<Vec<u64>>,
    /// What one step costs, in words of bits and members that are looked at.
    step: usize,
    /// What may still be spent.
    budget: usize,
}

impl Search {
    /// A fraction of a second.
    const BUDGET: usize = 50_000_000;

    fn new(quorums: &[NodeSet], n: usize) -> Self {
        let mut meets = vec![vec![0; quorums.len().div_ceil(64)]; n];
        for (number, quorum) in quorums.iter().enumerate() {
            quorum.iter().for_each(|node| meets[node.index()][number / 64] |= 1 << (number % 64));
        }
        let members = quorums.iter().map(|quorum| quorum.iter().map(NodeId::index).collect()).collect();
        let step = n * quorums.len().div_ceil(64) + quorums.iter().map(NodeSet::len).sum::<usize>();
        Self { members, meets, step, budget: Self::BUDGET }
    }

    /// Excludes one size after the other, until one exists or the budget is spent.
    fn narrow(mut self, bounds: Bounds) -> Bounds {
        let all =
            (0..self.members.len()).fold(vec![0; self.members.len().div_ceil(64)], |mut all, number| {
                all[number / 64] |= 1_u64 << (number % 64);
                all
            });
        let most = self.greedy(all.clone()).min(bounds.most);
        for size in bounds.least..most {
            match self.exists(&all, size, &mut vec![false; self.meets.len()]) {
                Some(true) => return Bounds::is(size),
                Some(false) => (),
                None => return Bounds { least: size, most },
            }
        }
        Bounds::is(most)
    }

    /// How many nodes meet all of the missed quorums if each is taken that meets the most.
    fn greedy(&self, mut missed: Vec<u64>) -> usize {
        let mut size = 0;
        while ones(&missed) > 0 {
            let Some(best) = self.meets.iter().max_by_key(|met| ones_in_common(met, &missed)) else { break };
            missed.iter_mut().zip(best).for_each(|(missed, met)| *missed &= !met);
            size += 1;
        }
        size
    }

    /// Whether `size` nodes, none of them `excluded`, meet all of the quorums that are still `missed`.
    fn exists(&mut self, missed: &[u64], size: usize, excluded: &mut Vec<bool>) -> Option<bool> {
        let count: usize = ones(missed);
        if count == 0 {
            return Some(true);
        }
        self.budget = self.budget.checked_sub(self.step)?;
        let met = |node: usize| ones_in_common(&self.meets[node], missed);
        let most = (0..self.meets.len()).filter(|&node| !excluded[node]).map(met).max().unwrap_or(0);
        if count > size * most {
            return Some(false);
        }
        let mut candidates = self.fewest_candidates(missed, excluded);
        candidates.sort_by_key(|&node| std::cmp::Reverse(ones_in_common(&self.meets[node], missed)));
        let mut answer = Some(false);
        for &node in &candidates {
            let left: Vec<u64> =
                missed.iter().zip(&self.meets[node]).map(|(missed, met)| missed & !met).collect();
            answer = self.exists(&left, size - 1, excluded);
            if answer != Some(false) {
                break;
            }
            // With this node there is none, so from here on it is left out.
            excluded[node] = true;
        }
        candidates.into_iter().for_each(|node| excluded[node] = false);
        answer
    }

    /// The members, as far as they are not excluded, of a missed quorum that has the fewest.
    fn fewest_candidates(&self, missed: &[u64], excluded: &[bool]) -> Vec<usize> {
        let is_missed = |number: usize| missed[number / 64] >> (number % 64) & 1 == 1;
        let candidates = |number: usize| self.members[number].iter().copied().filter(|&node| !excluded[node]);
        let missed = (0..self.members.len()).filter(|&number| is_missed(number));
        let fewest = missed.min_by_key(|&number| candidates(number).count());
        fewest.map(|number| candidates(number).collect()).unwrap_or_default()
    }
}

fn ones(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

fn ones_in_common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).map(|(one, other)| (one & other).count_ones() as usize).sum()
}
