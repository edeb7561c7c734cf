//! D. Peleg, A. Wool: "Crumbling walls: a class of practical and efficient quorum systems", Distributed Computing
//! 10(2), 1997.
//!
//! The nodes are the bricks of a wall, in rows that may have different widths. A quorum is one whole row with
//! one representative of each row below it: of two quorums, the one with the higher row has a representative
//! in the row of the other, or both share the row. Every node matters if the top row has one brick and the
//! others at least two; a row of one brick further down forms a quorum with the rows below it, so the rows
//! above do not matter.
//!
//! Node i is assigned a smallest quorum that contains it: its own row, or a higher one with i as
//! representative where that is smaller; among equals the lowest row. The node's number spreads the
//! representatives.

use std::ops::Range;

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

use crate::construction::joined;

/// Rows of nodes, from the top.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    rows: Vec<Range<usize>>,
}

impl Wall {
    /// The wall of `n` nodes with these widths from the top.
    pub(crate) fn new(widths: &[usize], n: usize) -> Result<Self, Refusal> {
        if widths.is_empty() {
            return Err(Refusal::new("a wall needs at least one row"));
        }
        if let Some(row) = widths.iter().position(|&width| width == 0) {
            return Err(Refusal::new(format!("row {} of the wall is empty: each row needs a node", row + 1)));
        }
        let sum: u128 = widths.iter().map(|&width| width as u128).sum();
        if sum != n as u128 {
            let widths = joined(widths, " + ");
            return Err(Refusal::new(format!("the rows of the wall have {widths} = {sum} nodes, not {n}")));
        }
        Ok(Self::stacked(widths))
    }

    /// The wall of `n` nodes whose i-th row from 1 has `width(i)` nodes.
    ///
    /// The nodes left below the last full row form a row of their own if it is only one node short. A shorter
    /// row would be in every small quorum, or a single node that decides alone; so fewer nodes widen the
    /// lowest rows instead, by one each. Thus the top row keeps its one node, except for n = 2, which is one
    /// row.
    pub(crate) fn by_rule(n: usize, width: impl Fn(usize) -> usize) -> Self {
        let (mut widths, mut left) = (Vec::new(), n);
        let mut next = width(1);
        while left >= next {
            widths.push(next);
            left -= next;
            next = width(widths.len() + 1);
        }
        if left >= 2 && left + 1 == next {
            widths.push(left);
        } else {
            widths.iter_mut().rev().take(left).for_each(|width| *width += 1);
        }
        Self::stacked(&widths)
    }

    fn stacked(widths: &[usize]) -> Self {
        let mut end = 0;
        let rows = widths.iter().map(|width| {
            end += width;
            end - width..end
        });
        Self { rows: rows.collect() }
    }

    /// For each node, a smallest quorum that contains it.
    pub(crate) fn assignment(&self) -> PerNode<NodeSet> {
        let assigned = self.rows.iter().enumerate().flat_map(|(row, nodes)| {
            let whole = self.best_row_down_to(row);
            nodes.clone().map(move |node| self.quorum_with(NodeId::new(node), row, whole))
        });
        PerNode::from(assigned.collect::<Vec<_>>())
    }

    /// The row from the top to `lowest` that makes the smallest quorum.
    fn best_row_down_to(&self, lowest: usize) -> usize {
        let size = |row: usize| self.rows[row].len() + self.rows.len() - row;
        (0..=lowest).rev().min_by_key(|&row| size(row)).expect("there is a row")
    }

    /// The quorum with the row `whole`, in which `node` of `row` represents its row if that is another.
    fn quorum_with(&self, node: NodeId, row: usize, whole: usize) -> NodeSet {
        let below = self.rows.iter().enumerate().skip(whole + 1);
        let representatives = below.map(|(other, nodes)| {
            if other == row { node } else { NodeId::new(nodes.start + node.index() % nodes.len()) }
        });
        self.nodes(whole).chain(representatives).collect()
    }

    /// The lowest row that is alive as a whole, with the first live node of each row below it.
    pub(crate) fn choose(&self, alive: &NodeSet) -> Option<NodeSet> {
        let mut representatives = NodeSet::new();
        for row in (0..self.rows.len()).rev() {
            if self.nodes(row).all(|node| alive.contains(node)) {
                representatives.extend(self.nodes(row));
                return Some(representatives);
            }
            representatives.insert(self.nodes(row).find(|&node| alive.contains(node))?);
        }
        None
    }

    /// All minimal quorums, unless there are more than `most`.
    pub(crate) fn quorums(&self, most: usize) -> Option<Vec<NodeSet>> {
        let highest = self.rows.iter().rposition(|row| row.len() == 1).unwrap_or(0);
        (self.count_from(highest) <= most).then(|| {
            let from_row =
                |row| self.combinations(row + 1).into_iter().map(move |below| self.with_row(below, row));
            (highest..self.rows.len()).flat_map(from_row).collect()
        })
    }

    fn count_from(&self, highest: usize) -> usize {
        let (mut combinations, mut count) = (1_usize, 0_usize);
        for row in self.rows[highest..].iter().rev() {
            count = count.saturating_add(combinations);
            combinations = combinations.saturating_mul(row.len());
        }
        count
    }

    /// Every way to take one node of each row from `highest` down.
    fn combinations(&self, highest: usize) -> Vec<NodeSet> {
        (highest..self.rows.len()).fold(vec![NodeSet::new()], |combinations, row| {
            let with_each =
                |set: NodeSet| self.nodes(row).map(move |node| set.iter().chain([node]).collect());
            combinations.into_iter().flat_map(with_each).collect()
        })
    }

    fn with_row(&self, mut below: NodeSet, row: usize) -> NodeSet {
        below.extend(self.nodes(row));
        below
    }

    /// The widths of the rows from the top.
    pub(crate) fn widths(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.rows.iter().map(Range::len)
    }

    /// The nodes of a row.
    pub(crate) fn nodes(&self, row: usize) -> impl Iterator<Item = NodeId> + use<> {
        self.rows[row].clone().map(NodeId::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(wall: &Wall) -> Vec<usize> {
        wall.widths().collect()
    }

    #[test]
    fn a_wide_bottom_row_is_only_represented() {
        let wall = Wall::new(&[1, 2, 100], 103).expect("sums up");
        assert!(wall.assignment().values().iter().all(|quorum| quorum.len() == 3));
    }

    #[test]
    fn widths_that_do_not_fit_are_refused_in_one_sentence() {
        let refusal = |widths: &[usize], n| Wall::new(widths, n).unwrap_err().to_string();
        assert_eq!(refusal(&[1, 2, 3], 7), "the rows of the wall have 1 + 2 + 3 = 6 nodes, not 7");
        assert_eq!(refusal(&[1, 0, 3], 4), "row 2 of the wall is empty: each row needs a node");
        assert_eq!(refusal(&[], 4), "a wall needs at least one row");
        assert!(refusal(&[usize::MAX, usize::MAX], 4).ends_with("= 36893488147419103230 nodes, not 4"));
    }

    #[test]
    fn leftover_nodes_form_a_row_or_widen_the_lowest_ones() {
        let triangle = |n| widths(&crate::triangle::wall(n));
        assert_eq!([triangle(1), triangle(2), triangle(3)], [vec![1], vec![2], vec![1, 2]]);
        assert_eq!([triangle(4), triangle(5), triangle(6)], [vec![1, 3], vec![1, 2, 2], vec![1, 2, 3]]);
        assert_eq!([triangle(7), triangle(8), triangle(9)], [vec![1, 2, 4], vec![1, 3, 4], vec![1, 2, 3, 3]]);
        let cwlog = |n| widths(&crate::cwlog::wall(n));
        assert_eq!([cwlog(2), cwlog(4), cwlog(5)], [vec![2], vec![1, 3], vec![1, 2, 2]]);
        assert_eq!(cwlog(17), [1, 2, 2, 3, 3, 3, 3]);
        assert_eq!([cwlog(18), cwlog(20)], [vec![1, 2, 2, 3, 3, 3, 4], vec![1, 2, 2, 3, 3, 3, 3, 3]]);
    }

    #[test]
    fn walls_by_rule_have_one_node_on_top_and_two_or_more_below() {
        for n in 3..=4096 {
            for wall in [crate::triangle::wall(n), crate::cwlog::wall(n)] {
                let widths = widths(&wall);
                assert_eq!((widths.iter().sum::<usize>(), widths[0]), (n, 1));
                assert!(widths[1..].iter().all(|&width| width >= 2), "{n}: {widths:?}");
            }
        }
    }
}
