//! Votes: only the sum counts.

use std::collections::BTreeMap;

use super::{Capacity, Structure};
use crate::ratings::Fraction;
use crate::ratings::program::Program;
use crate::weighted::Votes;

/// The step limit for one answer.
const MOST_STEPS: u128 = 1 << 26;

/// The most kinds of quorums in the linear program.
const MOST_KINDS: usize = 512;

/// The most distinct numbers of votes.
const MOST_GROUPS: usize = 32;

impl Structure for Votes {
    /// Takes the nodes with the most votes.
    fn smallest_quorum(&self) -> usize {
        self.most_votes_until(|votes, total| 2 * votes > total)
    }

    /// Takes the nodes with the most votes, until the others have no more than half.
    fn smallest_transversal(&self) -> usize {
        self.most_votes_until(|votes, total| 2 * votes >= total)
    }

    /// Nodes with equal votes are interchangeable, so a quorum is characterised by its number of nodes from
    /// each group.
    fn capacity(&self) -> Option<Capacity> {
        let groups = self.groups();
        let kinds = Kinds::of(&groups, self.total())?;
        let room = groups.iter().map(|&(_, nodes)| nodes as u32).collect();
        let solution = Program { columns: kinds, room }.solve()?;
        Some(Fraction::new(solution.value.unsigned_abs(), solution.scale.unsigned_abs()).into())
    }

    /// With the votes as weights every quorum weighs more than half of the total.
    fn least_load(&self) -> f64 {
        (self.total() / 2 + 1) as f64 / self.total() as f64 * (1.0 - 1e-12)
    }

    /// Computes the distribution of live votes node by node, up to half of the total.
    fn failure_probability(&self, crashed: f64) -> Option<f64> {
        let total = self.total();
        if (total / 2 + 1).checked_mul(self.ranking().count() as u128)? > MOST_STEPS {
            return None;
        }
        let mut likely = vec![0.0; total as usize / 2 + 1];
        likely[0] = 1.0;
        for votes in self.ranking() {
            let votes = votes as usize;
            for sum in (0..likely.len()).rev() {
                let joins = sum.checked_sub(votes).map_or(0.0, |before| likely[before]);
                likely[sum] = likely[sum] * crashed + joins * (1.0 - crashed);
            }
        }
        Some(likely.into_iter().sum())
    }

    /// True exactly if no set of nodes has exactly half of the votes.
    fn is_nondominated(&self) -> Option<bool> {
        if !self.total().is_multiple_of(2) {
            return Some(true);
        }
        let half = self.total() / 2;
        if (half + 1).checked_mul(self.ranking().count() as u128)? > MOST_STEPS {
            return None;
        }
        let mut can_be = vec![false; half as usize + 1];
        can_be[0] = true;
        for votes in self.ranking() {
            for sum in (votes as usize..can_be.len()).rev() {
                can_be[sum] |= can_be[sum - votes as usize];
            }
        }
        Some(!can_be[half as usize])
    }
}

impl Votes {
    fn most_votes_until(&self, suffice: impl Fn(u128, u128) -> bool) -> usize {
        let mut votes = 0;
        let needed = self.ranking().take_while(|&own| {
            let more = !suffice(votes, self.total());
            votes += u128::from(own);
            more
        });
        needed.count()
    }

    /// The distinct numbers of votes, largest first, each with its number of nodes.
    fn groups(&self) -> Vec<(u64, usize)> {
        let mut groups = BTreeMap::new();
        self.ranking().for_each(|votes| *groups.entry(votes).or_insert(0) += 1);
        groups.into_iter().rev().collect()
    }
}

/// The minimal quorums by their number of nodes from each group.
struct Kinds<'a> {
    groups: &'a [(u64, usize)],
    total: u128,
    /// The votes of all groups after each.
    after: Vec<u128>,
    found: Vec<Vec<u32>>,
}

impl<'a> Kinds<'a> {
    /// All of them, unless there are too many.
    fn of(groups: &'a [(u64, usize)], total: u128) -> Option<Vec<Vec<u32>>> {
        if groups.len() > MOST_GROUPS {
            return None;
        }
        let mut rest = total;
        let after = groups.iter().map(|&(each, nodes)| {
            rest -= u128::from(each) * nodes as u128;
            rest
        });
        let mut kinds = Self { groups, total, after: after.collect(), found: Vec::new() };
        kinds.complete(0, &mut vec![0; groups.len()], 0)?;
        Some(kinds.found)
    }

    /// Completes `taken`, the numbers of nodes from the groups before this one. Groups with many votes come
    /// first, so a set is minimal if its last node was needed. The search never enters a branch without a
    /// quorum.
    fn complete(&mut self, group: usize, taken: &mut Vec<u32>, votes: u128) -> Option<()> {
        let (each, nodes) = self.groups[group];
        for count in 0..=nodes {
            taken[group] = count as u32;
            let sum = votes + u128::from(each) * count as u128;
            if 2 * sum > self.total {
                self.found.push(taken.clone());
                break;
            }
            if 2 * (sum + self.after[group]) > self.total {
                self.complete(group + 1, taken, sum)?;
            }
        }
        taken[group] = 0;
        (self.found.len() <= MOST_KINDS).then_some(())
    }
}
