//! How likely the crashes leave no quorum.
//!
//! D. Peleg, A. Wool: "The availability of quorum systems", Information and Computation 123(2), 1995. Every node has
//! crashed with the same probability, independently of the others. For up to twenty nodes all sets are looked at; walls,
//! trees, grids and votes answer from their shape for any number; for the others crashes are drawn, as often as time
//! allows, and the answer has an interval with 95 % confidence (E. B. Wilson: "Probable inference, the law of
//! succession, and statistical inference", Journal of the American Statistical Association 22, 1927).

use doorway_core::{NodeId, NodeSet};

use super::Ratings;
use crate::System;

/// The probability that no quorum is alive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// But for the rounding of its last digits.
    Exact(f64),
    /// From drawn crashes.
    Drawn {
        /// The share of the draws that left no quorum.
        probability: f64,
        /// The least that the probability is, with 95 % confidence.
        least: f64,
        /// The most that the probability is, with 95 % confidence.
        most: f64,
        /// How often crashes were drawn.
        draws: u32,
    },
}

impl Failure {
    /// The probability, as well as it is known.
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

/// The interval that holds the true share with 95 % confidence.
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

/// The probability that no quorum is alive, exactly, if there is a way.
pub(super) fn exact(ratings: &Ratings<'_>, crashed: f64) -> Option<f64> {
    if let Some(losing) = ratings.losing() {
        return Some(by_size(losing, crashed));
    }
    if let Some([only]) = ratings.quorums() {
        // All of them must be alive.
        return Some(-f64::exp_m1(only.len() as f64 * f64::ln_1p(-crashed)));
    }
    ratings.system().structure()?.failure_probability(crashed)
}

/// The chance to be one of the sets of live nodes that contain no quorum, given how many there are of each size.
fn by_size(losing: &[u32], crashed: f64) -> f64 {
    let members = losing.len() - 1;
    let chance = |alive: usize| (1.0 - crashed).powi(alive as i32) * crashed.powi((members - alive) as i32);
    losing.iter().enumerate().map(|(alive, &sets)| f64::from(sets) * chance(alive)).sum()
}

/// Nodes and words of sets that are looked at for all probabilities together.
const WORK: usize = 400_000_000;

/// More draws gain little.
const MOST_DRAWS: usize = 100_000;

/// What drawn crashes show, for each of the probabilities. The numbers from `random` lie between 0 and 1; each node draws
/// one, and has crashed if it is below the probability, so that the answers for two probabilities never contradict
/// each other.
pub(super) fn drawn(system: &System, crashed: &[f64], random: &mut dyn FnMut() -> f64) -> Vec<Failure> {
    let n = system.n();
    let work = n + crashed.len() * (n + n * n.div_ceil(64) / 8);
    let draws = (WORK / work).clamp(100, MOST_DRAWS);
    let mut failed = vec![0_u32; crashed.len()];
    let mut lots = vec![0.0; n];
    let everybody = NodeSet::first(n);
    let mut alive = everybody.clone();
    for _ in 0..draws {
        lots.iter_mut().for_each(|lot| *lot = random());
        for (failed, &crashed) in failed.iter_mut().zip(crashed) {
            alive.clone_from(&everybody);
            let dead = NodeId::first(n).filter(|node| lots[node.index()] < crashed);
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
    fn wilsons_interval_is_that_of_the_tables() {
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
