//! Ratings of a construction from its shape, without listing quorums.
//!
//! Walls, trees, grids and votes can have too many quorums to list, but their shape yields the ratings
//! directly, in time that grows slowly with the number of nodes. For small systems the tests compare every
//! answer with an enumeration of all quorums and all sets of live nodes.

mod grid;
mod tree;
mod votes;
mod wall;

use super::Fraction;

/// The ratings of a rule, from its shape.
pub(crate) trait Structure {
    /// The size of the smallest quorum.
    fn smallest_quorum(&self) -> usize;

    /// The size of the smallest set that meets every quorum.
    fn smallest_transversal(&self) -> usize;

    /// The inverse of the load: the number of quorums that fit beside each other if a node may be split
    /// between them.
    fn capacity(&self) -> Option<Capacity>;

    /// A lower bound on the load if the capacity is unknown.
    fn least_load(&self) -> f64 {
        0.0
    }

    /// The probability that no quorum is alive if each node has crashed with probability `crashed`.
    /// Implementations avoid cancellation, so that even the smallest probability keeps its digits.
    fn failure_probability(&self, crashed: f64) -> Option<f64>;

    /// Whether no other system is alive whenever the minimal quorums are, and more often; `None` if unknown.
    fn is_nondominated(&self) -> Option<bool>;
}

/// One divided by the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Capacity {
    /// The exact value, unless it has too many digits.
    pub(crate) fraction: Option<Fraction>,
    /// The value up to rounding.
    pub(crate) value: f64,
}

impl From<Fraction> for Capacity {
    fn from(fraction: Fraction) -> Self {
        Self { fraction: Some(fraction), value: fraction.value() }
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::NodeSet;

    use crate::ratings::Ratings;
    use crate::{Construction, QuorumSystem};

    fn build(word: &str, n: usize) -> QuorumSystem {
        QuorumSystem::build(&word.parse::<Construction>().expect(word), n).expect(word)
    }

    /// All walls of up to `n` nodes; a bit of `cuts` starts a new row.
    fn walls(n: usize) -> Vec<QuorumSystem> {
        let wall = |n: usize, cuts: usize| {
            let mut widths = vec![1_usize];
            for place in 0..n - 1 {
                match cuts >> place & 1 {
                    1 => widths.push(1),
                    _ => *widths.last_mut().expect("there is a row") += 1,
                }
            }
            QuorumSystem::build(&Construction::Wall(widths), n).expect("the widths sum up")
        };
        (1..=n).flat_map(|n| (0..1 << (n - 1)).map(move |cuts| wall(n, cuts))).collect()
    }

    /// Votes of up to `n` nodes: some with many equal ones, some with zeros, some with odd and some with even
    /// totals.
    fn votes(n: usize) -> Vec<QuorumSystem> {
        let patterns: [fn(usize) -> u64; 5] = [
            |i| (i as u64 * 7 + 3) % 5,
            |i| i as u64 + 1,
            |i| 1 + (i as u64) % 2,
            |i| if i == 0 { 5 } else { 1 },
            |i| 1 << (i % 6),
        ];
        let system = |n: usize, pattern: fn(usize) -> u64| {
            QuorumSystem::build(&Construction::Weighted((0..n).map(pattern).collect()), n)
                .expect("some have votes")
        };
        (1..=n).flat_map(|n| patterns.map(|pattern| system(n, pattern))).collect()
    }

    fn all_shapes() -> Vec<QuorumSystem> {
        let words = ["majority", "grid", "tree", "triangle", "cwlog"];
        let named = (1..=14).flat_map(|n| words.map(|word| build(word, n)));
        named.chain([build("grid", 16), build("tree", 15)]).chain(walls(9)).chain(votes(12)).collect()
    }

    #[test]
    fn every_shape_agrees_with_an_enumeration_of_its_quorums() {
        for system in all_shapes() {
            let (structure, ratings) = (system.structure().expect("it has a shape"), Ratings::new(&system));
            let (name, quorums) = (format!("{} of {}", system.construction(), system.n()), system.quorums());
            let smallest = quorums.expect("few").iter().map(NodeSet::len).min();
            assert_eq!(Some(structure.smallest_quorum()), smallest, "{name}");
            let capacity = structure.capacity().and_then(|capacity| capacity.fraction).expect(&name);
            let load = ratings.load();
            assert!(load.certificate.is_some(), "{name}");
            assert_eq!(capacity.inverse(), load.exact, "{name}");
            let losing = ratings.losing().expect("few nodes");
            let largest = losing.iter().rposition(|&sets| sets > 0).expect("the empty set has no quorum");
            assert_eq!(structure.smallest_transversal(), losing.len() - 1 - largest, "{name}");
            if let Some(nondominated) = structure.is_nondominated() {
                assert_eq!(Some(nondominated), ratings.is_minimal_nondominated(), "{name}");
            }
        }
    }

    #[test]
    fn every_failure_probability_agrees_with_an_enumeration() {
        for system in all_shapes() {
            let (structure, ratings) = (system.structure().expect("it has a shape"), Ratings::new(&system));
            for crashed in [0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0] {
                let by_shape = structure.failure_probability(crashed).expect("few votes");
                let by_sets = ratings.exact_failure(crashed).expect("few nodes");
                assert!(
                    (by_shape - by_sets).abs() <= 1e-12 * by_sets.max(1e-3),
                    "{} of {} at {crashed}: {by_shape} {by_sets}",
                    system.construction(),
                    system.n()
                );
            }
        }
    }
}
