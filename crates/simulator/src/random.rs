//! Random numbers from a seed, the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::settings::Span;

/// A random stream. Different parts of a run use different streams of one seed, so that a change of the
/// network's faults does not change when applications make requests.
pub struct Random(Pcg64Mcg);

impl Random {
    /// The stream with this number of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// An integer from 0 to `bound` − 1. (D. Lemire, "Fast random integer generation in an interval", 2019,
    /// without the rejection: for bounds below 2³² the bias is under 2⁻³².)
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// A random duration.
    pub fn ticks(&mut self, span: Span) -> u64 {
        match span {
            Span::Constant(ticks) => ticks,
            Span::Uniform(from, to) => from + self.below(to - from + 1),
            Span::Exponential(mean) => {
                let drawn = -(mean as f64) * natural_logarithm(1.0 - self.fraction());
                (drawn + 0.5) as u64
            }
        }
    }
}

/// ln x for 0 < x ≤ 1 by additions, multiplications and divisions alone, because the platforms' logarithms
/// differ in their last bits and runs must not.
fn natural_logarithm(x: f64) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1)/(m + 1)), a series in z² ≤ 0.03.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let square = z * z;
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    exponent as f64 * LN_2 + 2.0 * z * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_accurate_to_fifteen_digits() {
        for step in 1..=100_000_u32 {
            let x = f64::from(step) / 100_000.0;
            let error = (natural_logarithm(x) - x.ln()).abs();
            assert!(error <= 1e-15 * x.ln().abs().max(1.0), "ln {x} is off by {error}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(1, 0);
        let drawn: Vec<u64> = (0..5).map(|_| random.below(1_000)).collect();
        assert_eq!(
            drawn,
            [856, 137, 470, 726, 369],
            "the stream has changed: every recorded run would change with it"
        );
    }

    #[test]
    fn exponential_spans_have_the_right_mean_and_spread() {
        let mut random = Random::new(7, 0);
        let drawn: Vec<f64> = (0..200_000).map(|_| random.ticks(Span::Exponential(1_000)) as f64).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let deviation = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
        assert!((mean - 1_000.0).abs() < 10.0 && (deviation - 1_000.0).abs() < 15.0, "{mean} ± {deviation}");
    }

    #[test]
    fn uniform_spans_reach_both_ends() {
        let mut random = Random::new(7, 0);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.ticks(Span::Uniform(5, 8))).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&5), Some(&8)));
    }
}
