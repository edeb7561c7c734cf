//! Sweeps in folders: interrupted, divided and merged, they come to the same bytes, and no run is made twice.

mod fixture;
mod refusals;
mod runs;
