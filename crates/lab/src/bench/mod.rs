//! Measurements of real time, on this machine: [`locks`] so far.
//!
//! A machine that others use, or that lends out its processors, changes its speed from second to second. So the contestants
//! of a bench take turns, a few milliseconds each, in many rounds; what is told are ratios within one run, and how much a
//! control that never changes seemed to change meanwhile.

mod control;
pub mod locks;
mod rounds;
mod threads;

pub use control::Control;
