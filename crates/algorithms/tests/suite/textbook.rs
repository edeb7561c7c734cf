//! The correct algorithms over messages, each handed to a visitor with its type.
//!
//! The tests in this program drive algorithms without the checker and the simulator, so they are generic over the algorithm
//! and compiled once for each. That is why there is a second list here: through [`doorway_algorithms::register`] they would
//! also be compiled for the specimens, which they never run. A test keeps the two lists equal.

use doorway_algorithms::message::{
    cao_singhal, carvalho_roucairol, central, lamport, maekawa, naimi_trehel, raymond, replicated,
    ricart_agrawala, sanders, singhal, suzuki_kasami, token_ring,
};
use doorway_core::shared::{Program, ProgramEntry};
use doorway_core::{Entry, Explain, Hints, Options, Registrar};

/// Takes the correct algorithms, each with its type.
pub trait Visit {
    /// Takes one algorithm, and the options worth testing it with: the defaults first.
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, options: &[Options]);
}

/// Visits every correct algorithm, in the order of the textbook.
pub fn visit_all(visitor: &mut impl Visit) {
    let default = [Options::none()];
    visitor.visit(&central::entry(), &default);
    visitor.visit(&replicated::entry(), &default);
    visitor.visit(&token_ring::entry(), &default);
    visitor.visit(&lamport::entry(), &default);
    visitor.visit(&ricart_agrawala::entry(), &default);
    visitor.visit(&carvalho_roucairol::entry(), &default);
    visitor.visit(&maekawa::entry(), &default_and("quorum", &["all"]));
    visitor.visit(&sanders::entry(), &default_and("structure", &["lamport", "ricart-agrawala"]));
    visitor.visit(&suzuki_kasami::entry(), &default);
    visitor.visit(&singhal::entry(), &default_and("arbitration", &["nearest"]));
    visitor.visit(&raymond::entry(), &default_and("tree", &["chain"]));
    visitor.visit(&naimi_trehel::entry(), &default);
    visitor.visit(&cao_singhal::entry(), &default_and("quorum", &["all"]));
}

/// The defaults, and then each of these words for one parameter.
fn default_and(parameter: &str, words: &[&str]) -> Vec<Options> {
    let chosen = words.iter().map(|word| Options::none().with(parameter, word));
    [Options::none()].into_iter().chain(chosen).collect()
}

/// The names of the correct algorithms of a list.
#[derive(Default)]
struct Names(Vec<&'static str>);

impl Visit for Names {
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, _: &[Options]) {
        self.0.push(entry.about.name);
    }
}

impl Registrar for Names {
    fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
        if entry.about.specimen.is_none() {
            self.0.push(entry.about.name);
        }
    }

    fn program<P: Program>(&mut self, _: ProgramEntry<P>) {}
}

#[test]
fn every_correct_algorithm_is_visited() {
    let (mut visited, mut registered) = (Names::default(), Names::default());
    visit_all(&mut visited);
    doorway_algorithms::register(&mut registered);
    assert_eq!(visited.0, registered.0);
}
