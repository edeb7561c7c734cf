//! Where the nodes of a system stand, for whoever draws it.

use doorway_core::{NodeId, PerNode};

/// How the nodes of a system are arranged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing but sets; the assignment has them.
    Sets,
    /// A projective plane: the assigned quorums are its lines, one for each node.
    Plane,
    /// A square: its rows from the top, of which the last may be short. The columns follow: the k-th nodes of all rows
    /// that have so many.
    Grid(Vec<Vec<NodeId>>),
    /// A wall: its rows from the top.
    Wall(Vec<Vec<NodeId>>),
    /// A binary tree whose root is node 1: the children of each node, none, one or two.
    Tree(PerNode<Vec<NodeId>>),
}
