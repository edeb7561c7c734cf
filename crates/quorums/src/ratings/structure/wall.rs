//! Walls: from the bottom up, row by row.

use super::{Capacity, Structure};
use crate::ratings::Fraction;
use crate::wall::Wall;

impl Structure for Wall {
    fn smallest_quorum(&self) -> usize {
        let depth = self.widths().len();
        self.widths().enumerate().map(|(row, width)| width + depth - 1 - row).min().unwrap_or(0)
    }

    /// Going up, each row loses one node, until one is lost as a whole and nothing above it helps; or the top is
    /// reached.
    fn smallest_transversal(&self) -> usize {
        self.smallest_quorum().min(self.widths().len())
    }

    /// The nodes of a row can change places, so only the share of each row counts. Let a capacity of u be in use above
    /// a row of n nodes. Each of them represents u/n of it, which must not be more than 1, and 1 − u/n is left for
    /// quorums with this row as a whole.
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

    /// Every row is alive as a whole, which decides, or dead as a whole, which decides too, or partly alive, and then
    /// the row above decides.
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

    /// D. Peleg, A. Wool, 1997: exactly if the top row has one node and every other at least two. What is above the
    /// lowest row of a single node is in no minimal quorum, and does not count.
    fn is_nondominated(&self) -> Option<bool> {
        Some(self.widths().any(|width| width == 1))
    }
}
