//! Y. Freund, R. E. Schapire: "Adaptive game playing using multiplicative weights", Games and Economic Behavior 29,
//! 1999.
//!
//! A good strategy for systems that are too large for the linear program: ask a light quorum, make its members a little
//! heavier, and so on. How often the busiest node was asked bounds the load from above. Where the quorum that is asked is
//! the lightest of all, its weight bounds the load from below, in every round.

use doorway_core::NodeSet;

use crate::System;

/// Bounds on a load.
pub(super) struct Balanced {
    pub(super) least: f64,
    pub(super) most: f64,
}

/// Members of quorums that are looked at in all.
const WORK: usize = 200_000_000;

/// More rounds gain little.
const MOST_ROUNDS: usize = 20_000;

/// Asks one quorum after the other.
pub(super) fn balanced(system: &System) -> Balanced {
    let n = system.n();
    let rounds = (WORK / system.work_of_lightest()).clamp(2, MOST_ROUNDS);
    // The step for which the known bound on the error is least, if the load is about that of the smallest quorum.
    let asked = rounds as f64 * system.smallest_quorum() as f64 / n as f64;
    let step = ((n as f64).ln() / asked).sqrt().min(0.5);
    let mut game = Game { weights: vec![1.0; n], sums: vec![0.0; n], asked: vec![0; n], least: 0.0 };
    for _ in 0..rounds {
        let lightest = system.lightest_quorum(&game.weights);
        game.play(&lightest, step);
    }
    // The mean of all weights is better than each alone.
    let sums = std::mem::take(&mut game.sums);
    game.note(&system.lightest_quorum(&sums), &sums);
    let busiest = game.asked.iter().max().copied().unwrap_or(0);
    Balanced { least: game.least, most: f64::from(busiest) / rounds as f64 }
}

/// A quorum that is light by some weights.
pub(crate) struct Lightest {
    pub(crate) quorum: NodeSet,
    /// Whether no other is lighter.
    pub(crate) is_lightest: bool,
}

struct Game {
    /// What each node weighs now; all together n.
    weights: Vec<f64>,
    /// What each node has weighed in all rounds.
    sums: Vec<f64>,
    /// How often each node was asked.
    asked: Vec<u32>,
    least: f64,
}

impl Game {
    fn play(&mut self, lightest: &Lightest, step: f64) {
        let weights = std::mem::take(&mut self.weights);
        self.note(lightest, &weights);
        self.weights = weights;
        self.sums.iter_mut().zip(&self.weights).for_each(|(sum, weight)| *sum += weight);
        for node in &lightest.quorum {
            self.asked[node.index()] += 1;
            self.weights[node.index()] *= 1.0 + step;
        }
        let scale = self.weights.len() as f64 / self.weights.iter().sum::<f64>();
        self.weights.iter_mut().for_each(|weight| *weight *= scale);
    }

    /// Remembers what the lightest quorum weighs, less what adding numbers may have lost.
    fn note(&mut self, lightest: &Lightest, weights: &[f64]) {
        const CAUTION: f64 = 1.0 - 1e-9;
        if lightest.is_lightest {
            let weight: f64 = lightest.quorum.iter().map(|node| weights[node.index()]).sum();
            self.least = self.least.max(weight / weights.iter().sum::<f64>() * CAUTION);
        }
    }
}
