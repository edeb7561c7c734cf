//! M. Maekawa: "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on Computer Systems
//! 3(2), 1985; S. Y. Cheung, M. H. Ammar, M. Ahamad: "The grid protocol", IEEE Transactions on Knowledge and Data
//! Engineering 4(6), 1992.
//!
//! The nodes form rows of ⌈√N⌉, and a quorum is one row and one column: the row of one quorum crosses the
//! column of the other. The last row may be short: of the two crossings at least one exists, unless both
//! quorums share the last row. Node i is assigned its own row and column; after crashes any live row with any
//! live column is a quorum.
//!
//! A row with one node of each other row would also be a quorum, and would survive more crashes; the
//! literature rates row and column, and so do we.

use doorway_core::{NodeId, NodeSet, PerNode};

use crate::coterie;

/// A square of nodes whose last row may be short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    n: usize,
    width: usize,
}

impl Grid {
    pub(crate) fn new(n: usize) -> Self {
        let root = n.isqrt();
        Self { n, width: if root * root == n { root } else { root + 1 } }
    }

    /// For each node its row and its column.
    pub(crate) fn assignment(self) -> PerNode<NodeSet> {
        PerNode::from_fn(self.n, |node| self.cross(node.index() / self.width, node.index() % self.width))
    }

    /// The first live row with the first live column.
    pub(crate) fn choose(self, alive: &NodeSet) -> Option<NodeSet> {
        let row = (0..self.height()).find(|&row| self.row(row).all(|node| alive.contains(node)))?;
        let column = (0..self.width).find(|&column| self.column(column).all(|node| alive.contains(node)))?;
        Some(self.cross(row, column))
    }

    /// Every row with every column, without the sets that contain another one, which occur where the last row
    /// is short.
    pub(crate) fn quorums(self) -> Vec<NodeSet> {
        coterie(self.crosses().collect())
    }

    /// Every row with every column.
    pub(crate) fn crosses(self) -> impl Iterator<Item = NodeSet> {
        let rows = 0..self.height();
        rows.flat_map(move |row| (0..self.width).map(move |column| self.cross(row, column)))
    }

    /// The number of nodes of a full row.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The number of nodes of the last row.
    pub(crate) fn last_row(self) -> usize {
        self.n - (self.height() - 1) * self.width
    }

    /// The number of rows.
    pub(crate) fn height(self) -> usize {
        self.n.div_ceil(self.width)
    }

    fn cross(self, row: usize, column: usize) -> NodeSet {
        self.row(row).chain(self.column(column)).collect()
    }

    /// The nodes of a row.
    pub(crate) fn row(self, row: usize) -> impl Iterator<Item = NodeId> {
        (row * self.width..self.n.min((row + 1) * self.width)).map(NodeId::new)
    }

    /// The nodes of a column.
    pub(crate) fn column(self, column: usize) -> impl Iterator<Item = NodeId> {
        (column..self.n).step_by(self.width).map(NodeId::new)
    }
}
