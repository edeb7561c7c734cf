//! All tests of pictures in one program.

mod accesses;
mod by_hand;
mod charts;
mod clocks;
mod plans;
mod relations;
mod runs;
