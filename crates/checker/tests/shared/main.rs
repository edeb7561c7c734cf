//! Shared-memory programs: small test programs, explored over every memory model.
//!
//! An independent program confirmed the numbers of states and steps.

#[path = "../answers/mod.rs"]
mod answers;
mod bakery;
mod contract;
mod models;
mod overlaps;
mod peterson;
mod words;

use answers::{against, broken, size, worst};
use doorway_checker::{Exploration, MemorySetting, Runs, SchedulerFairness, Search, SharedMemory, explore};
use doorway_core::shared::{Program, Team};

/// The system of a team.
fn system<P: Program>(team: &Team<P>, setting: &MemorySetting) -> SharedMemory {
    SharedMemory::new(team, setting.clone()).expect("a consistent setting")
}

/// A search with all analyses of runs, under weak fairness.
fn search() -> Search {
    let runs = Runs { progress: Some(Some(SchedulerFairness::Weak)), waiting: true, messages: false };
    Search { runs, ..Search::default() }
}

/// Explores a whole system with all analyses.
fn explored(system: &mut SharedMemory) -> Exploration {
    let found = explore(system, &search(), &mut |_| ());
    assert!(found.is_complete, "a small finite system");
    found
}

/// The fairness under which some process enters, and under which none starves.
fn progress(found: &Exploration) -> (Option<SchedulerFairness>, Option<SchedulerFairness>) {
    let progress = found.progress.as_ref().expect("the analysis was requested");
    (progress.any, progress.all())
}
