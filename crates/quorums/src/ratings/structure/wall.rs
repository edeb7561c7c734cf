//! Walls: from the bottom up, row by row.

use super::{Capacity, Structure};
use crate::ratings::Fraction;
use crate::wall::Wall;

impl Structure for Wall {
    fn smallest_quorum(&self) -> usize {
        let depth = self.widths().len();
        self.widths().enumerate().map(|(row, width)| width + depth - 1 - row).min().unwrap_or(0)
    }

    /// Takes one node of each row going up, until it takes a whole row, or reaches the top.
    fn smallest_transversal(&self) -> usize {
        self.smallest_quorum().min(self.widths().len())
    }

    /// The nodes of a row are interchangeable, so only the share of each row counts. If the rows above a row
    /// of n nodes use a capacity of u, each of the n represents u/n of it, at most 1, which leaves 1 − u/n
    /// for quorums with this whole row.
    fn capacity(&self) -> Option<Capacity> {
        let mut capacity = Capacity::from(Fraction::from(0));
        for width in self.widths() {
            let fraction = capacity.fraction.and_then(|above| {
                let kept = Fraction::new(width as u128 - 1, width as u128);
                above.min(Fraction::from(width)).times(kept)?.plus(Fraction::from(1))
            });
            let width = width as f64;
            capacity =
                Capacity { fraction, value: capacity.value.min(width) * ((width - 1.0) / width) + 1.0 };
        }
        Some(capacity)
    }

    /// From the bottom up: a row that is fully alive or fully dead decides; if it is partly alive, the row
    /// above decides.
    fn failure_probability(&self, crashed: f64) -> Option<f64> {
        let (mut failed, mut undecided) = (0.0, 1.0);
        for width in self.widths().rev() {
            let nodes = width as i32;
            let (dead, alive) = (crashed.powi(nodes), (1.0 - crashed).powi(nodes));
            failed += undecided * dead;
            undecided *= if width == 1 { 0.0 } else { (1.0 - dead - alive).max(0.0) };
        }
        Some(failed + undecided)
    }

    /// D. Peleg, A. Wool, 1997: true exactly if the top row has one node and every other at least two. Rows
    /// above the lowest single-node row are in no minimal quorum and do not count.
    fn is_nondominated(&self) -> Option<bool> {
        Some(self.widths().any(|width| width == 1))
    }
}
