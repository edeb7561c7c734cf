//! Most tests of the laboratory in one program: each algorithm of the catalog is compiled once for all of them. Sweeps, which count
//! the runs of a catalog of their own, are apart, and so is what only needs lock nodes.

mod agreement;
mod bank;
mod charts;
mod check;
mod claims;
mod drawings;
mod memory;
mod pages;
mod sections;
mod states;
mod view;
