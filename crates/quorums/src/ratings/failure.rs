//! The probability that crashes leave no quorum.
//!
//! D. Peleg, A. Wool: "The availability of quorum systems", Information and Computation 123(2), 1995. Every
//! node has crashed with the same probability, independently of the others. Up to twenty nodes all sets are
//! enumerated; walls, trees, grids and votes have closed forms for any number; for other systems crashes are
//! sampled within a work limit, and the answer has a 95 % confidence interval (E. B. Wilson: "Probable
//! inference, the law of succession, and statistical inference", Journal of the American Statistical
//! Association 22, 1927).

use doorway_core::{NodeId, NodeSet};

use super::Ratings;
use crate::QuorumSystem;

/// The probability that no quorum is alive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// Exact up to rounding.
    Exact(f64),
    /// Estimated from sampled crashes.
    Drawn {
        /// The share of samples without a quorum.
        probability: f64,
        /// The lower end of the 95 % confidence interval.
        least: f64,
        /// The upper end of the 95 % confidence interval.
        most: f64,
        /// The number of samples.
        draws: u32,
    },
}

impl Failure {
    /// The probability, exact or estimated.
    #[must_use]
    pub fn probability(self) -> f64 {
        match self {
            Self::Exact(probability) | Self::Drawn { probability, .. } => probability,
        }
    }

    fn drawn(failed: u32, draws: u32) -> Self {
        let (least, most) = wilson(failed, draws);
        Self::Drawn { probability: f64::from(failed) / f64::from(draws), least, most, draws }
    }
}

/// Wilson's 95 % confidence interval.
fn wilson(hits: u32, draws: u32) -> (f64, f64) {
    /// The 97.5th percentile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let (n, share) = (f64::from(draws), f64::from(hits) / f64::from(draws));
    let square = Z * Z;
    let middle = (share + square / (2.0 * n)) / (1.0 + square / n);
    let half = Z / (1.0 + square / n) * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let least = if hits == 0 { 0.0 } else { middle - half };
    let most = if hits == draws { 1.0 } else { middle + half };
    (least, most)
}

/// The exact probability that no quorum is alive, if it can be computed.
pub(super) fn exact(ratings: &Ratings<'_>, crashed: f64) -> Option<f64> {
    if let Some(losing) = ratings.losing() {
        return Some(by_size(losing, crashed));
    }
    if let Some([only]) = ratings.quorums() {
        // All its members must be alive.
        return Some(-f64::exp_m1(only.len() as f64 * f64::ln_1p(-crashed)));
    }
    ratings.system().structure()?.failure_probability(crashed)
}

/// The probability of a set of live nodes without a quorum, given the number of such sets of each size.
fn by_size(losing: &[u32], crashed: f64) -> f64 {
    let members = losing.len() - 1;
    let chance = |alive: usize| (1.0 - crashed).powi(alive as i32) * crashed.powi((members - alive) as i32);
    losing.iter().enumerate().map(|(alive, &sets)| f64::from(sets) * chance(alive)).sum()
}

/// The work limit for all probabilities together, in nodes and words of sets.
const WORK: usize = 400_000_000;

/// The most samples; more gain little.
const MOST_DRAWS: usize = 100_000;

/// Samples crashes for each of the probabilities. `random` returns numbers between 0 and 1; each node draws
/// one, and has crashed if it is below the probability. All probabilities use the same draws, so their
/// answers never contradict each other.
pub(super) fn drawn(system: &QuorumSystem, crashed: &[f64], random: &mut dyn FnMut() -> f64) -> Vec<Failure> {
    let n = system.n();
    let work = n + crashed.len() * (n + n * n.div_ceil(64) / 8);
    let draws = (WORK / work).clamp(100, MOST_DRAWS);
    let mut failed = vec![0_u32; crashed.len()];
    let mut numbers = vec![0.0; n];
    let all = NodeSet::first(n);
    let mut alive = all.clone();
    for _ in 0..draws {
        numbers.iter_mut().for_each(|number| *number = random());
        for (failed, &crashed) in failed.iter_mut().zip(crashed) {
            alive.clone_from(&all);
            let dead = NodeId::first(n).filter(|node| numbers[node.index()] < crashed);
            dead.for_each(|node| _ = alive.remove(node));
            *failed += u32::from(system.choose(&alive).is_none());
        }
    }
    failed.into_iter().map(|failed| Failure::drawn(failed, draws as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilsons_interval_agrees_with_published_tables() {
        // R. G. Newcombe: "Two-sided confidence intervals for the single proportion", 1998: 81 of 263, 15 of 148,
        // 0 of 20, 1 of 29.
        for (hits, draws, least, most) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (low, high) = wilson(hits, draws);
            assert!((low - least).abs() < 5e-5 && (high - most).abs() < 5e-5, "{hits}/{draws}: {low} {high}");
        }
        assert_eq!(wilson(20, 20).1, 1.0);
    }
}
