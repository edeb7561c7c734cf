//! The number of crashes that a quorum system always survives.
//!
//! The crash of a transversal, a set that meets every quorum, leaves no quorum; any other crash leaves one.
//! So the resilience is the size of the smallest transversal minus one. Finding it is hard in general: where
//! no shape helps, a search with a budget starts from the bound that the load gives. Every node meets at most
//! the share L of a best strategy's quorums, so a transversal has at least 1/L nodes. A quorum is itself a
//! transversal.

use doorway_core::{NodeId, NodeSet};

use super::{Fraction, SystemLoad};
use crate::QuorumSystem;

/// An integer that is known exactly or between bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The lower bound.
    pub least: usize,
    /// The upper bound.
    pub most: usize,
}

impl Interval {
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

/// The resilience of a system with this load and these minimal quorums, if they could be listed.
pub(super) fn resilience(system: &QuorumSystem, quorums: Option<&[NodeSet]>, load: &SystemLoad) -> Interval {
    if let Some(structure) = system.structure() {
        return Interval::is(structure.smallest_transversal()).minus_one();
    }
    let by_load = match load.exact.and_then(Fraction::inverse) {
        Some(capacity) => usize::try_from(capacity.ceiling()).unwrap_or(1),
        None => (1.0 / load.most - 1e-6).ceil() as usize,
    };
    let most = system.smallest_quorum();
    let bounds = Interval { least: by_load.clamp(1, most), most };
    let searched = |quorums| Search::new(quorums, system.n()).narrow(bounds);
    quorums.map_or(bounds, searched).minus_one()
}

/// The search for a small transversal.
struct Search {
    /// The members of each quorum.
    members: Vec<Vec<usize>>,
    /// The quorums that contain each node, one bit each.
    meets: Vec<Vec<u64>>,
    /// The cost of one step, in bit words and members visited.
    step: usize,
    /// The remaining budget.
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

    /// Tries one size after the other, until a transversal exists or the budget is spent.
    fn narrow(mut self, bounds: Interval) -> Interval {
        let all =
            (0..self.members.len()).fold(vec![0; self.members.len().div_ceil(64)], |mut all, number| {
                all[number / 64] |= 1_u64 << (number % 64);
                all
            });
        let most = self.greedy(all.clone()).min(bounds.most);
        for size in bounds.least..most {
            match self.exists(&all, size, &mut vec![false; self.meets.len()]) {
                Some(true) => return Interval::is(size),
                Some(false) => (),
                None => return Interval { least: size, most },
            }
        }
        Interval::is(most)
    }

    /// The size of the transversal that always adds the node that meets the most missed quorums.
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
            // There is no transversal with this node, so the search leaves it out from here on.
            excluded[node] = true;
        }
        candidates.into_iter().for_each(|node| excluded[node] = false);
        answer
    }

    /// The members that are not excluded, of the missed quorum that has the fewest.
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
