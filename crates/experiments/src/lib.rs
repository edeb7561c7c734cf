//! Experiments as a library: what the command line and the studio both need to check an algorithm, compare it with others and
//! test a claim of the literature.
//!
//! [`check`] explores every interleaving of a small system and [`memory`] does the same for programs over shared memory. [`claims`]
//! holds the statements of the literature, [`compare`] puts algorithms side by side, [`sweep`] runs a grid of settings and keeps
//! a row for each run, [`quorums`] rates quorum systems, [`structures`] measures structures and trees, and [`record_script`] plays a script.
//!
//! All of it is ordinary code over a [`doorway_catalog::Catalog`]: nothing here is generic over algorithms.

pub mod check;
pub mod claims;
pub mod compare;
pub mod memory;
pub mod quorums;
mod record;
pub mod structures;
pub mod sweep;

pub use record::record_script;
