//! Programs over shared memory: small ones of the tests' own, explored over every kind of memory.
//!
//! The numbers of states and steps were found by another program too, which knows nothing of this crate.

#[path = "../answers/mod.rs"]
mod answers;
mod bakery;
mod contract;
mod models;
mod overlaps;
mod peterson;
mod words;

use answers::{against, broken, size, worst};
use doorway_checker::{Exploration, Fairness, MemorySetting, Runs, Search, Shared, explore};
use doorway_core::shared::{Program, Team};

/// The system of a team.
fn system<P: Program>(team: &Team<P>, setting: &MemorySetting) -> Shared {
    Shared::new(team, setting.clone()).expect("it goes together")
}

/// All that is asked about runs, under weak fairness.
fn search() -> Search {
    let runs = Runs { progress: Some(Some(Fairness::Weak)), waiting: true, messages: false };
    Search { runs, ..Search::default() }
}

/// Explores all of a system and asks all about its runs.
fn explored(system: &mut Shared) -> Exploration {
    let found = explore(system, &search(), &mut |_| ());
    assert!(found.is_complete, "it is finite and small");
    found
}

/// Under which fairness somebody enters, and under which nobody starves.
fn progress(found: &Exploration) -> (Option<Fairness>, Option<Fairness>) {
    let progress = found.progress.as_ref().expect("it was asked for");
    (progress.somebody, progress.everybody())
}
