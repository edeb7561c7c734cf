//! D. Peleg, A. Wool: "Crumbling walls: a class of practical and efficient quorum systems", Distributed Computing
//! 10(2), 1997, where it is called CWlog.
//!
//! The wall whose i-th row has ⌊log₂ 2i⌋ nodes: 1, 2, 2, 3, 3, 3, 3, 4, … Narrow rows make the quorums near
//! the bottom as small as log N. Still, if nodes crash with probability below one half, the wall's
//! availability grows with the number of nodes. [`Wall::by_rule`] places nodes that do not fill a last row.

use crate::wall::Wall;

/// The logarithmic wall of `n` nodes.
pub(crate) fn wall(n: usize) -> Wall {
    Wall::by_rule(n, |row| (2 * row).ilog2() as usize)
}
