//! What must hold of every algorithm of the textbook, in one program that only links the catalog: in the simulator, by scripts,
//! in the checker, in the bank, and in what is recorded of a run.

mod agreement;
mod bank;
mod claims;
mod compared;
mod every_algorithm;
mod explanations;
mod faults;
mod instances;
mod interventions;
mod laboratory;
mod list;
mod records;
mod reduction;
mod replicated;
mod scripts;
mod settings;
mod specimens;
mod states;
mod trials;
