//! Experiments as a library: what the command line and the studio both need to run an algorithm, compare it with others
//! and hold a claim of the literature against it.
//!
//! A [`doorway_catalog::Trial`] is one run as a person would type it; [`in_order`] makes many of them on all processors, and a
//! [`Recording`] is what is left of one, to be drawn or written to a file. [`claims`] are what the literature says, [`compare`]
//! puts algorithms side by side, and a [`sweep`] makes a grid of runs and keeps a row for each. [`chaos`] runs whole lock nodes
//! through faults.
//!
//! All of it is ordinary code over a [`doorway_catalog::Catalog`]: nothing here is generic over algorithms.

pub mod bench;
pub mod chaos;
pub mod chart;
pub mod check;
pub mod claims;
pub mod compare;
pub mod memory;
pub mod page;
mod parallel;
pub mod quorum;
pub mod quorum_drawing;
mod recording;
pub mod sweep;
pub mod view;
pub mod views;

pub use parallel::{Step, in_order, processors};
pub use recording::Recording;
