//! Experiments as a library: what the command line and the studio both need to run an algorithm, compare it with others
//! and hold a claim of the literature against it.
//!
//! A [`Trial`] is one run as a person would type it; [`in_order`] makes many of them on all processors.

pub mod chart;
mod parallel;
pub mod quorum_drawing;
pub mod shell;
mod trial;

pub use parallel::{Step, in_order, processors};
pub use trial::Trial;
