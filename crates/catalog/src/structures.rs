//! Whom nodes ask and whom they inform: the structures of Sanders' algorithm, for those who compute with them.

pub use doorway_algorithms::message::sanders::Structure;
pub use doorway_algorithms::structures::structures;
