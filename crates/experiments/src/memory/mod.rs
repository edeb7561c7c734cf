//! Programs over shared memory as experiments: held against every interleaving, and replayed step by step.
//!
//! A [`ProgramInstance`] is a small system to explore, as `doorway check bakery` does; what is found wrong comes as a script of
//! steps, and a [`Replay`] follows such a script and shows what the registers hold after each step.

mod described;
mod events;
mod instance;
mod replay;
mod script;
pub mod table;

pub use described::described;
pub use instance::ProgramInstance;
pub use replay::{Followed, Replay, ReplayedStep};
