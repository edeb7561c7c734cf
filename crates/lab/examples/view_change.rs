//! Explores the view change, and shows for each of its flaws the shortest run that lets two clients in.
//!
//! Run it by `cargo run --release -p doorway-lab --example view_change`; with `-- full` every step is on its own, which takes
//! a minute longer.

use std::time::Instant;

use doorway_checker::{Exploration, Property, Search, System, explore};
use doorway_core::Refusal;
use doorway_lab::processors;
use doorway_lab::views::{ViewBounds, ViewFlaw, ViewModel};

fn main() -> Result<(), Refusal> {
    println!("The rules as they are: three nodes, one section.\n");
    println!("views  changes  crash  leave      states       steps  depth  seconds  verdict");
    for bounds in INSTANCES {
        tell(bounds, ViewModel::new(bounds)?);
    }
    if std::env::args().any(|word| word == "full") {
        println!("with every step on its own:");
        tell(FULL, ViewModel::new(FULL)?.without_reduction());
    }
    println!("\nOne rule broken: the shortest run to two clients inside.");
    for flaw in ViewFlaw::ALL {
        show(flaw)?;
    }
    Ok(())
}

const FULL: ViewBounds = ViewBounds { views: 2, changes: 1, crash: false, leave: false };

const INSTANCES: [ViewBounds; 5] = [
    ViewBounds { views: 1, changes: 3, crash: true, leave: true },
    ViewBounds { views: 2, changes: 3, crash: true, leave: true },
    ViewBounds { views: 3, changes: 1, crash: false, leave: true },
    ViewBounds { views: 3, changes: 2, crash: false, leave: false },
    ViewBounds { views: 3, changes: 1, crash: true, leave: false },
];

/// Explores a model within its bounds, and prints a line about it.
fn tell(bounds: ViewBounds, mut model: ViewModel) {
    let began = Instant::now();
    let search = Search { threads: processors(), ..Search::default() };
    let Exploration { states, transitions, depth, is_complete, violations, .. } =
        explore(&mut model, &search, &mut |_| ());
    let verdict = match (violations.first(), is_complete) {
        (Some(found), _) => found.what.as_str(),
        (None, true) => "all holds",
        (None, false) => "undecided",
    };
    let ViewBounds { views, changes, crash, leave } = bounds;
    let [crash, leave] = [crash, leave].map(|may| if may { "yes" } else { "no" });
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{views:>5}{changes:>9}{crash:>7}{leave:>7}{states:>12}{transitions:>12}{depth:>7}{seconds:>9.1}  {verdict}"
    );
}

/// Prints the shortest run by which a flaw lets two clients in.
fn show(flaw: ViewFlaw) -> Result<(), Refusal> {
    let mut model = ViewModel::new(flaw.bounds())?.with_flaw(flaw);
    let search = Search { until: vec![Property::MutualExclusion], ..Search::default() };
    let explored = explore(&mut model, &search, &mut |_| ());
    let found = explored.violations.iter().find(|found| found.property == Property::MutualExclusion);
    println!("\n{}: {}", flaw.words(), found.map_or("not refuted", |found| found.what.as_str()));
    for (number, step) in found.iter().flat_map(|found| &found.steps).enumerate() {
        println!("{:>4}. {}", number + 1, model.describe(step));
    }
    Ok(())
}
