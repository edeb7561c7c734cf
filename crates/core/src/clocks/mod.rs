//! Logical time: Lamport's scalar clock with its stamps, and vector clocks.

mod lamport;
mod vector;

pub use lamport::{LamportClock, Stamp};
pub use vector::VectorClock;
