//! All tests of the laboratory in one program: each algorithm of the catalog is compiled once for all of them.

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
mod sweep;
mod view;
