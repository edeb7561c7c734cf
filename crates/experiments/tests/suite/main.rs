//! Most tests of experiments in one program. Sweeps have their own, because they count the runs of a catalog of their own.

mod check;
mod claims;
#[path = "../../../catalog/tests/suite/compared.rs"]
mod compared;
mod examples;
mod faults;
mod lectures;
mod memory;
mod states;
