//! P. Erdős, L. Lovász: "Problems and results on 3-chromatic hypergraphs and some related questions", Infinite and
//! Finite Sets, 1975; D. Peleg, A. Wool: "Crumbling walls: a class of practical and efficient quorum systems",
//! Distributed Computing 10(2), 1997.
//!
//! The wall whose rows have 1, 2, 3, … nodes. Row i with a representative of each row below always has as
//! many nodes as there are rows, so all quorums have the same size, about √(2N). [`Wall::by_rule`] places
//! nodes that do not fill a last row.

use crate::wall::Wall;

/// The triangle of `n` nodes.
pub(crate) fn wall(n: usize) -> Wall {
    Wall::by_rule(n, |row| row)
}
