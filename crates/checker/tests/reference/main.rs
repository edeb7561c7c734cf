//! Small systems whose numbers of states are known from five independent engines, and small systems that are wrong.
//!
//! Each is written from the textbook's page, apart from the catalog and straight against the public trait [`System`], so that an
//! error of the engine and an error of the algorithms' own machinery cannot hide behind each other. That every verdict about
//! liveness can come out either way is shown by the [`spin_locks`] and the [`mistakes`].
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
use doorway_checker::{Exploration, Fairness, Runs, Search, System, explore};

/// Explores all of a system and asks all about its runs; runs against progress are looked for under this fairness.
fn explored(system: &mut impl System, fairness: Fairness) -> Exploration {
    let runs = Runs { progress: Some(Some(fairness)), waiting: true, messages: false };
    let found = explore(system, &Search { runs, ..Search::default() }, &mut |_| ());
    assert!(found.is_complete, "it is finite and small");
    found
}

/// Under which fairness somebody enters, and under which each process does.
fn progress(found: &Exploration) -> (Option<Fairness>, Vec<Option<Fairness>>) {
    let progress = found.progress.as_ref().expect("it was asked for");
    (progress.somebody, progress.each.clone())
}
