//! G. B. Dantzig: "Maximization of a linear function of variables subject to linear inequalities", 1951; with whole
//! numbers as in J. Edmonds, J.-F. Maurras: "Note sur les Q-matrices d'Edmonds", RAIRO 31(2), 1997; against cycles
//! R. G. Bland: "New finite pivoting rules for the simplex method", Mathematics of Operations Research 2(2), 1977.
//!
//! A packing linear program: maximise the sum of all w ≥ 0 where, for every row, the sum of column × w is at
//! most the row's room. w = 0 is feasible, so the simplex method starts there. All numbers of its tableau
//! have one common denominator, the last pivot, and every division by the previous pivot is exact (the
//! numbers are determinants of the matrix). So 128-bit integers give exact results, and the solver gives up
//! on overflow.

/// A packing program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What each activity uses of each row.
    pub(crate) columns: Vec<Vec<u32>>,
    /// The capacity of each row.
    pub(crate) room: Vec<u32>,
}

/// An optimal solution, with dual prices that prove it optimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Solution {
    /// The common denominator of the other fields.
    pub(crate) scale: i128,
    /// The amount of each activity.
    pub(crate) uses: Vec<i128>,
    /// The dual price of each row's room.
    pub(crate) prices: Vec<i128>,
    /// The sum of the uses.
    pub(crate) value: i128,
}

impl Program {
    /// The most pivots.
    const MOST_PIVOTS: usize = 4_000;

    /// The solution, or `None` on overflow or too many pivots.
    pub(crate) fn solve(&self) -> Option<Solution> {
        let mut tableau = Tableau::new(self);
        for _ in 0..Self::MOST_PIVOTS {
            let Some(column) = tableau.entering() else {
                return Some(tableau.solution()).filter(|solution| solution.is_optimal_for(self));
            };
            let row = tableau.leaving(column)?;
            tableau.pivot(row, column)?;
        }
        None
    }
}

impl Solution {
    /// Whether the uses fit, every activity costs at least 1 at the prices, and both sums are equal: then
    /// both are optimal by duality. The check is independent of the solver.
    pub(crate) fn is_optimal_for(&self, program: &Program) -> bool {
        let columns = || program.columns.iter().zip(&self.uses);
        let taken = |row: usize| sum(columns().map(|(column, &used)| (column[row], used)));
        let fits = (0..program.room.len())
            .all(|row| taken(row).is_some_and(|taken| within(taken, self.scale, program.room[row])));
        let cost = |column: &Vec<u32>| sum(column.iter().copied().zip(self.prices.iter().copied()));
        let is_dear = |column| cost(column).is_some_and(|cost| cost >= self.scale);
        let not_negative = self.scale > 0 && self.uses.iter().chain(&self.prices).all(|&number| number >= 0);
        let worth = sum(program.room.iter().copied().zip(self.prices.iter().copied()));
        not_negative
            && fits
            && program.columns.iter().all(is_dear)
            && sum(self.uses.iter().map(|&used| (1, used))) == Some(self.value)
            && worth == Some(self.value)
    }
}

fn sum(products: impl Iterator<Item = (u32, i128)>) -> Option<i128> {
    products
        .into_iter()
        .try_fold(0_i128, |sum, (factor, number)| sum.checked_add(number.checked_mul(i128::from(factor))?))
}

fn within(taken: i128, scale: i128, room: u32) -> bool {
    scale.checked_mul(i128::from(room)).is_some_and(|room| taken <= room)
}

/// The rows of the program and below them the objective, each with its right-hand side last.
struct Tableau {
    cells: Vec<Vec<i128>>,
    /// The last pivot, which is the denominator of every cell.
    scale: i128,
    /// The variable of each row: an activity, or, from the number of activities on, the slack of a row.
    basic: Vec<usize>,
    /// The variable of each column.
    others: Vec<usize>,
    /// Pivots since the objective last grew. After a few, Bland's rule prevents cycling.
    stalled: usize,
}

impl Tableau {
    const PATIENCE: usize = 8;

    fn new(program: &Program) -> Self {
        let (rows, columns) = (program.room.len(), program.columns.len());
        let cell = |row: usize, column: usize| match program.columns.get(column) {
            Some(activity) => activity[row],
            None => program.room[row],
        };
        let row = |row| (0..=columns).map(|column| i128::from(cell(row, column))).collect();
        let mut cells: Vec<Vec<i128>> = (0..rows).map(row).collect();
        let mut objective = vec![-1; columns + 1];
        objective[columns] = 0;
        cells.push(objective);
        let (basic, others) = ((columns..columns + rows).collect(), (0..columns).collect());
        Self { cells, scale: 1, basic, others, stalled: 0 }
    }

    /// A column whose variable raises the objective: the steepest, or by Bland's rule the first.
    fn entering(&self) -> Option<usize> {
        let objective = &self.cells[self.basic.len()];
        let raising = (0..self.others.len()).filter(|&column| objective[column] < 0);
        if self.stalled > Self::PATIENCE {
            raising.min_by_key(|&column| self.others[column])
        } else {
            raising.min_by_key(|&column| (objective[column], self.others[column]))
        }
    }

    /// The row whose room runs out first when the variable of `column` grows.
    fn leaving(&self, column: usize) -> Option<usize> {
        let mut first: Option<usize> = None;
        for row in (0..self.basic.len()).filter(|&row| self.cells[row][column] > 0) {
            let Some(other) = first else {
                first = Some(row);
                continue;
            };
            let mine = self.room(row).checked_mul(self.cells[other][column])?;
            let theirs = self.room(other).checked_mul(self.cells[row][column])?;
            if (mine, self.basic[row]) < (theirs, self.basic[other]) {
                first = Some(row);
            }
        }
        first
    }

    fn room(&self, row: usize) -> i128 {
        self.cells[row][self.others.len()]
    }

    /// Exchanges the variables of a row and a column.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        self.stalled = if self.room(row) > 0 { 0 } else { self.stalled + 1 };
        let pivot_row = self.cells[row].clone();
        let (pivot, scale) = (pivot_row[column], self.scale);
        for (_, cells) in self.cells.iter_mut().enumerate().filter(|(other, _)| *other != row) {
            let factor = cells[column];
            for (place, cell) in cells.iter_mut().enumerate().filter(|(place, _)| *place != column) {
                *cell = exchanged(*cell, pivot, factor, pivot_row[place], scale)?;
            }
            cells[column] = -factor;
        }
        self.cells[row][column] = scale;
        self.scale = pivot;
        std::mem::swap(&mut self.basic[row], &mut self.others[column]);
        Some(())
    }

    fn solution(&self) -> Solution {
        let (rows, columns) = (self.basic.len(), self.others.len());
        let (mut uses, mut prices) = (vec![0; columns], vec![0; rows]);
        for (row, &variable) in self.basic.iter().enumerate().filter(|(_, variable)| **variable < columns) {
            uses[variable] = self.room(row);
        }
        for (column, &variable) in
            self.others.iter().enumerate().filter(|(_, variable)| **variable >= columns)
        {
            prices[variable - columns] = self.cells[rows][column];
        }
        Solution { scale: self.scale, uses, prices, value: self.room(rows) }
    }
}

/// (cell · pivot − factor · other) ÷ scale; the division is exact.
fn exchanged(cell: i128, pivot: i128, factor: i128, other: i128, scale: i128) -> Option<i128> {
    if factor == 0 && pivot == scale {
        return Some(cell);
    }
    let product = cell.checked_mul(pivot)?.checked_sub(factor.checked_mul(other)?)?;
    // 64-bit division is many times faster, and most numbers fit.
    Some(match (i64::try_from(product), i64::try_from(scale)) {
        (Ok(product), Ok(scale)) => i128::from(product / scale),
        _ => product / scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(columns: &[&[u32]], room: &[u32]) -> Solution {
        let program =
            Program { columns: columns.iter().map(|column| column.to_vec()).collect(), room: room.to_vec() };
        program.solve().expect("small numbers")
    }

    #[test]
    fn two_of_three_nodes_have_a_capacity_of_one_and_a_half() {
        let solution = solved(&[&[1, 1, 0], &[0, 1, 1], &[1, 0, 1]], &[1, 1, 1]);
        assert_eq!(2 * solution.value, 3 * solution.scale);
        assert!(solution.uses.iter().chain(&solution.prices).all(|&number| 2 * number == solution.scale));
    }

    #[test]
    fn rooms_and_uses_may_exceed_one() {
        // Maximise a + b where 2a + b ≤ 8 and a + 3b ≤ 9: a = 3, b = 2.
        let solution = solved(&[&[2, 1], &[1, 3]], &[8, 9]);
        let of_scale = |number: i128| (number / solution.scale, number % solution.scale);
        assert_eq!((of_scale(solution.uses[0]), of_scale(solution.uses[1])), ((3, 0), (2, 0)));
        assert_eq!(solution.value, 5 * solution.scale);
    }

    #[test]
    fn a_changed_solution_is_rejected() {
        let program =
            Program { columns: vec![vec![1, 1, 0], vec![0, 1, 1], vec![1, 0, 1]], room: vec![1, 1, 1] };
        let right = program.solve().expect("small numbers");
        assert!(right.is_optimal_for(&program));
        for place in 0..3 {
            let mut wrong = right.clone();
            wrong.uses[place] += 1;
            wrong.value += 1;
            assert!(!wrong.is_optimal_for(&program), "more than fits");
            let mut wrong = right.clone();
            wrong.prices[place] -= 1;
            assert!(!wrong.is_optimal_for(&program), "too cheap");
        }
    }

    #[test]
    fn overflow_of_128_bits_gives_up() {
        let large = |row: u32, column: u32| {
            if row == column { u32::MAX } else { u32::MAX / (2 + (row * 5 + column * 3) % 7) }
        };
        let columns = (0..12).map(|column| (0..12).map(|row| large(row, column)).collect()).collect();
        assert_eq!(Program { columns, room: (0..12).map(|row| 1_000_000_007 + row).collect() }.solve(), None);
    }
}
