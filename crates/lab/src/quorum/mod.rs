//! Quorum systems: how good one is, where its nodes stand, and both together for a page.

mod layout;
mod rated;
mod spec;

pub use layout::layout;
pub use rated::{Rated, capacity};
pub use spec::QuorumSpec;
