//! The verbs of the laboratory, as one types them.

mod bank;
mod book;
mod chaos;
mod check;
mod command;
mod experiments;
#[allow(dead_code)] // Most of it is for the tests of the lock.
#[path = "../locks/fleet.rs"]
mod fleet;
mod memory;
mod pictures;
#[path = "../../../daemon/tests/ports/mod.rs"]
mod ports;
mod refusals;
mod settings;
mod simulate;
mod structures;
mod sweep;
#[path = "../terminal/mod.rs"]
mod terminal;
mod traces;
