//! Wrong programs over shared memory.
//!
//! The header of each file tells what is wrong, why that fails, and the shortest run that shows it, in which a step is
//! an access to a register. Each holds the correct program and does only its wrong lines itself.

pub mod bakery_maximum_by_position;
pub mod bakery_maxpos_loop;
pub mod black_white_number_first;
pub mod black_white_split;
pub mod black_white_two_registers;
pub mod peterson_no_turn;
pub mod simple_bakery_maximum_first;
pub mod simple_bakery_two_steps;
pub mod tournament_leaf_first;
pub mod tournament_missing_barrier;
