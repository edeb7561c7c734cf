//! How the tests run an algorithm that they know by name.

#![allow(dead_code)] // Each test file uses what it needs.

use doorway_core::{About, Catalog, Explain, Factory, Hints, Options, Visitor};
use doorway_simulator::{Outcome, Settings, simulate};

struct Run<'a>(&'a Settings);

impl Visitor for Run<'_> {
    type Output = Outcome;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Outcome {
        simulate(&factory, self.0).expect("the settings fit together")
    }
}

/// Runs the algorithm of this name.
pub fn run(name: &str, options: &Options, settings: &Settings) -> Outcome {
    let outcome = doorway_algorithms::catalog().visit(name, options, Run(settings));
    outcome.expect("it is in the catalog").expect("the options are right")
}

/// Runs it with what is chosen when nothing is said.
pub fn run_plain(name: &str, settings: &Settings) -> Outcome {
    run(name, &Options::none(), settings)
}

/// The names of all correct algorithms.
pub fn correct() -> Vec<&'static str> {
    let catalog = doorway_algorithms::catalog();
    catalog.list().into_iter().filter(|about| about.specimen.is_none()).map(|about| about.name).collect()
}

/// What people type, read.
pub fn typed<T: std::str::FromStr<Err: std::fmt::Debug>>(word: &str) -> T {
    word.parse().expect("what people type")
}
