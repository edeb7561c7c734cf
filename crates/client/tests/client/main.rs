//! A client against a daemon that does what the test says: see `daemon`. Nothing here waits for a time to pass that could be
//! observed.

mod clocks;
mod daemon;
mod forked;
mod giving_up;
mod holding;
mod hostile;
mod leaving_daemons;
mod questions;
mod runtime;
mod sessions;
