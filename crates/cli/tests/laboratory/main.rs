//! The verbs of the laboratory, as one types them.

mod bank;
mod bench;
mod chaos;
mod check;
mod command;
mod experiments;
mod memory;
mod pictures;
mod refusals;
mod simulate;
mod sweep;
#[path = "../terminal/mod.rs"]
mod terminal;
mod traces;
