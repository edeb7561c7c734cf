//! All tests of the simulator in one program: each algorithm of the catalog is compiled once for all of them.

mod claims;
mod engine;
mod every_algorithm;
mod explanations;
mod faults;
mod hosts;
mod interventions;
mod laboratory;
mod links;
mod probe;
mod scripts;
mod specimens;
