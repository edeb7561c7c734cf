//! Algorithms for processes that share memory, one file each.
//!
//! Each is a [`doorway_core::shared::Program`]: the lines of the textbook, one access to one register in each.
//! Processes are counted from 1 where people see them; the two sides of Peterson's algorithm are 0 and 1.

pub mod bakery;
pub mod bakery_one_word;
pub mod black_white_bakery;
pub mod black_white_one_word;
pub mod lamport_fast;
pub mod lines;
pub mod peterson;
pub mod peterson_unless_alone;
pub mod simple_bakery;
pub mod tickets;
pub mod tournament;
pub mod two_process;
