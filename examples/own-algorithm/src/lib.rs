//! An algorithm written outside of Doorway's workspace: one file, and one line in `main.rs`.

pub mod martin;
