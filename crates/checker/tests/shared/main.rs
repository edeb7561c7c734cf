//! Programs over shared memory: small ones of the tests' own, explored over every kind of memory.
//!
//! The numbers of states and steps were found by another program too, which knows nothing of this crate.

mod bakery;
mod contract;
mod models;
mod overlaps;
mod peterson;
mod words;

use doorway_checker::{
    Exploration, Fairness, MemorySetting, Property, Runs, Search, Shared, Violation, explore,
};
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

/// How many states and transitions there are.
fn size(found: &Exploration) -> (u64, u64) {
    (found.states, found.transitions)
}

/// The run against a property.
fn against(found: &Exploration, property: Property) -> Option<&Violation> {
    found.violations.iter().find(|violation| violation.property == property)
}

/// The properties that do not hold.
fn broken(found: &Exploration) -> Vec<Property> {
    let mut broken: Vec<Property> = found.violations.iter().map(|violation| violation.property).collect();
    broken.sort_unstable();
    broken
}

/// Under which fairness somebody enters, and under which nobody starves.
fn progress(found: &Exploration) -> (Option<Fairness>, Option<Fairness>) {
    let progress = found.progress.as_ref().expect("it was asked for");
    (progress.somebody, progress.everybody())
}

/// How often one can be overtaken; `None` if there is no bound.
fn worst(found: &Exploration) -> Option<u32> {
    found.waiting.as_ref().expect("it was asked for").worst()
}
