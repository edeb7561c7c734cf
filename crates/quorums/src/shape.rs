//! The layout of a system's nodes, for drawings.

use doorway_core::{NodeId, PerNode};

/// How the nodes of a system are arranged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No layout; the assignment has the sets.
    Sets,
    /// A projective plane: the assigned quorums are its lines, one for each node.
    Plane,
    /// A square: its rows from the top; the last may be short. Column k has the k-th node of each row that is
    /// long enough.
    Grid(Vec<Vec<NodeId>>),
    /// A wall: its rows from the top.
    Wall(Vec<Vec<NodeId>>),
    /// A binary tree whose root is node 1: the up to two children of each node.
    Tree(PerNode<Vec<NodeId>>),
}
