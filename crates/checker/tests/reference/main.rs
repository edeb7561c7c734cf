//! Small systems whose state counts are known from five independent checkers, and small faulty systems.
//!
//! Each is written from the textbook, independently of the catalog and directly against the public trait
//! [`System`], so that errors of the checker and of the algorithms cannot mask each other. The [`spin_locks`]
//! and the [`mistakes`] show that every liveness verdict can come out either way.
//!
//! [`System`]: doorway_checker::System

#[path = "../answers/mod.rs"]
mod answers;
mod bakery;
mod lamport;
mod mistakes;
mod peterson;
mod registers;
mod ricart_agrawala;
mod spin_locks;
mod tournament;

use answers::{against, broken, size, worst};
use doorway_checker::{Exploration, Runs, SchedulerFairness, Search, System, explore};

/// Explores a whole system with all analyses; counterexamples to progress are searched under this fairness.
fn explored(system: &mut impl System, fairness: SchedulerFairness) -> Exploration {
    let runs = Runs { progress: Some(Some(fairness)), waiting: true, messages: false };
    let found = explore(system, &Search { runs, ..Search::default() }, &mut |_| ());
    assert!(found.is_complete, "a small finite system");
    found
}

/// The fairness under which some process enters, and under which each does.
fn progress(found: &Exploration) -> (Option<SchedulerFairness>, Vec<Option<SchedulerFairness>>) {
    let progress = found.progress.as_ref().expect("the analysis was requested");
    (progress.any, progress.each.clone())
}
