//! All tests of the simulator in one program: each algorithm of the catalog is compiled once for all of them.

mod claims;
mod engine;
mod every_algorithm;
mod explanations;
mod faults;
mod interventions;
mod laboratory;
mod scripts;
mod specimens;
