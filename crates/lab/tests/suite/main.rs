//! Most tests of the laboratory in one program. Sweeps, which count the runs of a catalog of their own, are apart, and so is what only
//! needs lock nodes.

mod charts;
mod check;
mod claims;
mod drawings;
mod examples;
mod memory;
mod pages;
mod states;
mod view;
