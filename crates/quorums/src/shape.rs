//! How the nodes of a quorum system stand, for those who draw it.

/// The figure in which the quorums of a system can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Rows of so many nodes, the last of which may be short.
    Grid {
        /// How many nodes a row has.
        columns: usize,
    },
    /// Rows of different widths, from the top.
    Wall {
        /// How many nodes each row has.
        widths: Vec<usize>,
    },
    /// A binary tree: the children of node i are 2i and 2i + 1.
    Tree,
    /// The points of a projective plane, whose lines are the quorums.
    Plane,
    /// None that would show anything.
    Ring,
}
