//! The number of nodes that two quorums have in common.

use std::collections::BTreeMap;

use doorway_core::NodeSet;

/// A histogram of the overlaps of all pairs of sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlaps {
    pairs: BTreeMap<usize, u64>,
}

impl Overlaps {
    /// Compares every two of the sets, each pair once.
    #[must_use]
    pub fn of(sets: &[NodeSet]) -> Self {
        let mut pairs = BTreeMap::new();
        for (place, one) in sets.iter().enumerate() {
            for other in &sets[place + 1..] {
                *pairs.entry(one.common(other)).or_insert(0) += 1;
            }
        }
        Self { pairs }
    }

    /// Each overlap that occurs, in ascending order, with its number of pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, u64)> {
        self.pairs.iter().map(|(&common, &pairs)| (common, pairs))
    }

    /// The fewest nodes that two sets have in common, if there are two sets.
    #[must_use]
    pub fn least(&self) -> Option<usize> {
        self.pairs.keys().next().copied()
    }

    /// The mean over all pairs, if there are two sets.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let pairs: u64 = self.pairs.values().sum();
        let common: f64 = self.pairs().map(|(common, pairs)| common as f64 * pairs as f64).sum();
        (pairs > 0).then(|| common / pairs as f64)
    }

    /// The most nodes that two sets have in common, if there are two sets.
    #[must_use]
    pub fn most(&self) -> Option<usize> {
        self.pairs.keys().next_back().copied()
    }
}
