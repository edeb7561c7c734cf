//! How the tests run an algorithm that they know by name.

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
