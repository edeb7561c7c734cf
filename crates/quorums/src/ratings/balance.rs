//! Y. Freund, R. E. Schapire: "Adaptive game playing using multiplicative weights", Games and Economic Behavior 29,
//! 1999.
//!
//! A good strategy for systems that are too large for the linear program: ask a light quorum, make its
//! members a little heavier, and repeat. The share of the busiest node bounds the load from above. Where the
//! asked quorum is the lightest, its weight bounds the load from below, in every round.

use doorway_core::NodeSet;

use crate::QuorumSystem;

/// Bounds on a load.
pub(super) struct Balanced {
    pub(super) least: f64,
    pub(super) most: f64,
}

/// The work limit, in quorum members visited.
const WORK: usize = 200_000_000;

/// The most rounds; more gain little.
const MOST_ROUNDS: usize = 20_000;

/// Plays the rounds and returns the bounds.
pub(super) fn balanced(system: &QuorumSystem) -> Balanced {
    let n = system.n();
    let rounds = (WORK / system.work_of_lightest()).clamp(2, MOST_ROUNDS);
    // The step that minimises the known error bound, if the load is about that of the smallest quorum.
    let asked = rounds as f64 * system.smallest_quorum() as f64 / n as f64;
    let step = ((n as f64).ln() / asked).sqrt().min(0.5);
    let mut game = Game { weights: vec![1.0; n], sums: vec![0.0; n], asked: vec![0; n], least: 0.0 };
    for _ in 0..rounds {
        let lightest = system.lightest_quorum(&game.weights);
        game.play(&lightest, step);
    }
    // The mean of the weights of all rounds gives a better bound than each round alone.
    let sums = std::mem::take(&mut game.sums);
    game.note(&system.lightest_quorum(&sums), &sums);
    let busiest = game.asked.iter().max().copied().unwrap_or(0);
    Balanced { least: game.least, most: f64::from(busiest) / rounds as f64 }
}

/// A quorum of small weight.
pub(crate) struct Lightest {
    pub(crate) quorum: NodeSet,
    /// Whether no other is lighter.
    pub(crate) is_lightest: bool,
}

struct Game {
    /// The current weight of each node; the sum is n.
    weights: Vec<f64>,
    /// The sum of each node's weights over all rounds.
    sums: Vec<f64>,
    /// The number of times that each node was asked.
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

    /// Records the weight of the lightest quorum as a lower bound, with a margin for rounding.
    fn note(&mut self, lightest: &Lightest, weights: &[f64]) {
        const MARGIN: f64 = 1.0 - 1e-9;
        if lightest.is_lightest {
            let weight: f64 = lightest.quorum.iter().map(|node| weights[node.index()]).sum();
            self.least = self.least.max(weight / weights.iter().sum::<f64>() * MARGIN);
        }
    }
}
