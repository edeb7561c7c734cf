//! P. Erdős, L. Lovász: "Problems and results on 3-chromatic hypergraphs and some related questions", Infinite and
//! Finite Sets, 1975; D. Peleg, A. Wool: "Crumbling walls: a class of practical and efficient quorum systems",
//! Distributed Computing 10(2), 1997.
//!
//! The wall whose rows have 1, 2, 3, … nodes. Row i and a representative of each of the rows below are always as many
//! nodes as there are rows, so all quorums have the same size, about √(2N). Nodes that do not fill a last row are
//! placed as [`Wall::by_rule`] says.

use crate::wall::Wall;

/// The triangle of `n` nodes.
pub(crate) fn wall(n: usize) -> Wall {
    Wall::by_rule(n, |row| row)
}
