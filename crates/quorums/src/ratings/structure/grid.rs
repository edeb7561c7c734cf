//! Grids: rows of equal length are interchangeable, and so are columns.

use super::{Capacity, Structure};
use crate::grid::Grid;
use crate::ratings::Fraction;
use crate::ratings::program::Program;

impl Structure for Grid {
    /// The last row, which is the shortest, with a column that does not reach it if there is one: that column
    /// is one node shorter.
    fn smallest_quorum(&self) -> usize {
        self.last_row() + self.height() - 1
    }

    /// One node of every row, or of every column.
    fn smallest_transversal(&self) -> usize {
        self.height().min(self.width())
    }

    /// Three kinds of nodes: those of the last row, and above it those of the columns that reach it and of those that
    /// do not. Four kinds of quorums: one of the upper rows or the last, with a column that reaches it or not.
    fn capacity(&self) -> Option<Capacity> {
        let (last, short, upper) = (self.last_row(), self.width() - self.last_row(), self.height() - 1);
        let room = [last, upper * last, upper * short];
        let kinds = [
            (upper > 0).then(|| [1, last + upper - 1, short]),
            (upper > 0 && short > 0).then(|| [0, last, short + upper - 1]),
            Some([last, upper, 0]),
            (short > 0).then_some([last, 0, upper]),
        ];
        let used: Vec<usize> = (0..3).filter(|&kind| room[kind] > 0).collect();
        let column = |kind: [usize; 3]| used.iter().map(|&row| kind[row] as u32).collect();
        let columns = kinds.into_iter().flatten().map(column).collect();
        let program = Program { columns, room: used.iter().map(|&row| room[row] as u32).collect() };
        let solution = program.solve()?;
        Some(Fraction::new(solution.value.unsigned_abs(), solution.scale.unsigned_abs()).into())
    }

    /// Goes row by row from the top and tracks the number of columns that are fully alive. The grid fails
    /// with no live column, or with a live column but no live row.
    fn failure_probability(&self, crashed: f64) -> Option<f64> {
        let (width, last) = (self.width(), self.last_row());
        let chance = Chance::new(crashed, width);
        let mut columns = vec![0.0; width + 1];
        columns[width] = 1.0;
        for _ in 1..self.height() {
            columns = chance.without_a_row(&columns, width);
        }
        let no_column =
            chance.no_column(self.height(), last) * chance.no_column(self.height() - 1, width - last);
        let column_but_no_row: f64 = (1..=width)
            .map(|alive| columns[alive] * chance.last_row_fails_and_a_column_lives(alive, width, last))
            .sum();
        Some(no_column + column_but_no_row)
    }

    /// A set with one node of each row hits every row; it contains no quorum if it spans two columns and
    /// completes no row. Where such a set exists, the grid is dominated: for all sizes but one node, and
    /// three, where any two are a quorum.
    fn is_nondominated(&self) -> Option<bool> {
        let n = (self.height() - 1) * self.width() + self.last_row();
        Some(n == 1 || n == 3)
    }
}

/// The probabilities of rows and columns.
struct Chance {
    alive: f64,
    crashed: f64,
    /// The binomial coefficients of each number up to the width.
    choices: Vec<Vec<f64>>,
}

impl Chance {
    fn new(crashed: f64, width: usize) -> Self {
        let mut choices = vec![vec![1.0]];
        for n in 1..=width {
            let above: &Vec<f64> = &choices[n - 1];
            let inner = (1..n).map(|k| above[k - 1] + above[k]);
            choices.push(std::iter::once(1.0).chain(inner).chain([1.0]).collect());
        }
        Self { alive: 1.0 - crashed, crashed, choices }
    }

    /// After one more row, the probability of each number of live columns without a live row.
    fn without_a_row(&self, before: &[f64], width: usize) -> Vec<f64> {
        let step = |from: usize, to: usize| {
            if from == to {
                // These columns all stay alive, but not the whole row.
                self.all(from) * (1.0 - self.all(width - from))
            } else {
                self.choices[from][to] * self.all(to) * self.crashed.powi((from - to) as i32)
            }
        };
        (0..=width).map(|to| (to..=width).map(|from| before[from] * step(from, to)).sum()).collect()
    }

    /// The probability that none of `count` columns of `nodes` nodes is alive. An empty column counts as
    /// alive.
    fn no_column(&self, nodes: usize, count: usize) -> f64 {
        (1.0 - self.all(nodes)).powi(count as i32)
    }

    /// Given that any `alive` of `width` columns are alive above the last row, the probability that the last
    /// row, which covers `last` columns, is not alive but a column is.
    fn last_row_fails_and_a_column_lives(&self, alive: usize, width: usize, last: usize) -> f64 {
        let row_fails = 1.0 - self.all(last);
        if alive > last {
            return row_fails;
        }
        let all_are_tall = self.choices[last][alive] / self.choices[width][alive];
        let some_stays = 1.0 - self.crashed.powi(alive as i32);
        (1.0 - all_are_tall) * row_fails + all_are_tall * (some_stays - self.all(last)).max(0.0)
    }

    fn all(&self, nodes: usize) -> f64 {
        self.alive.powi(nodes as i32)
    }
}
