//! Most tests of experiments in one program. Sweeps have their own, because they count the runs of a catalog of their own.

mod check;
mod claims;
mod examples;
mod memory;
mod states;
