//! What a program uses to hold a lock through the Doorway daemon on its machine.

pub mod clock;
pub mod place;
pub mod protocol;
