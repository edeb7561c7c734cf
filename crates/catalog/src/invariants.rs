//! The names of the invariants that claims are about.

pub use doorway_algorithms::message::lamport::proof::OLDEST_INSIDE;
pub use doorway_algorithms::message::maekawa::proof::OLDER_HEAD_INQUIRES;
pub use doorway_algorithms::message::suzuki_kasami::proof::TOKEN_ONE_BEHIND;
