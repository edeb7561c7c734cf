//! Explores the view change, and shows for each of its flaws the shortest run that lets two clients in.
//!
//! Run it by `cargo run --release -p doorway-chaos --example view_change`; with `-- full` every step is on its own, which takes
//! a minute longer.

use std::time::Instant;

use doorway_chaos::model::{ViewBounds, ViewFlaw, ViewModel, VoterChange, Witnesses};
use doorway_checker::{Exploration, Property, Search, System, explore};
use doorway_core::Refusal;
use doorway_simulator::parallel::processors;

fn main() -> Result<(), Refusal> {
    println!("The rules as they are: one section, three nodes or, to replace a voter, four.\n");
    println!(
        "views  changes  crash  leave  set back  age  slack  voters                 states       steps  depth  seconds  verdict"
    );
    for bounds in INSTANCES {
        tell(bounds, ViewModel::new(bounds)?);
    }
    if std::env::args().any(|word| word == "full") {
        println!("with every step on its own:");
        tell(FULL, ViewModel::new(FULL)?.without_reduction());
    }
    println!("\nOne rule broken: the shortest run to two clients inside.");
    for flaw in ViewFlaw::ALL {
        show(flaw.words(), ViewModel::new(flaw.bounds())?.with_flaw(flaw));
    }
    println!("\nThe rules as they are, but too few voters know of a disk that is set back.");
    for (words, bounds) in UNNOTICED {
        show(words, ViewModel::new(bounds)?);
    }
    Ok(())
}

const FULL: ViewBounds = bounds(2, 1, false, false, None);

const INSTANCES: [ViewBounds; 14] = [
    bounds(1, 3, true, true, None),
    bounds(2, 3, true, true, None),
    bounds(3, 1, false, true, None),
    bounds(3, 2, false, false, None),
    bounds(3, 1, true, false, None),
    bounds(2, 3, true, true, Some(Witnesses::Both)),
    bounds(3, 1, false, true, Some(Witnesses::Both)),
    bounds(3, 1, true, false, Some(Witnesses::Both)),
    ViewBounds { age: true, slack: true, ..bounds(2, 3, true, true, None) },
    changing(bounds(2, 1, false, false, None), VoterChange::HandOver),
    changing(bounds(2, 1, false, false, None), VoterChange::Growth),
    changing(bounds(2, 1, false, false, None), VoterChange::Exchange),
    changing(bounds(2, 1, true, true, None), VoterChange::HandOver),
    ViewBounds { voters: Some(VoterChange::Replacement), ..bounds(2, 1, false, false, None) },
];

const UNNOTICED: [(&str, ViewBounds); 2] = [
    ("one of the two other voters knows", bounds(2, 1, false, false, Some(Witnesses::One))),
    ("both know, and one restarts", bounds(2, 2, true, false, Some(Witnesses::BothUntilRestart))),
];

const fn bounds(
    views: u8,
    changes: usize,
    crash: bool,
    leave: bool,
    set_back: Option<Witnesses>,
) -> ViewBounds {
    ViewBounds { crash, leave, set_back, ..ViewBounds::quiet(views, changes) }
}

/// The voters may change, and ages shorten quiet times.
const fn changing(bounds: ViewBounds, change: VoterChange) -> ViewBounds {
    ViewBounds { voters: Some(change), age: true, ..bounds }
}

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
    let ViewBounds { views, changes, crash, leave, set_back, voters, age, slack } = bounds;
    let [crash, leave, set_back, age, slack] =
        [crash, leave, set_back.is_some(), age, slack].map(|may| if may { "yes" } else { "no" });
    let voters = voters.map_or("stay", VoterChange::words);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{views:>5}{changes:>9}{crash:>7}{leave:>7}{set_back:>10}{age:>5}{slack:>7}  {voters:<18}{states:>11}{transitions:>12}{depth:>7}{seconds:>9.1}  {verdict}"
    );
}

/// Prints the shortest run by which a model lets two clients in.
fn show(words: &str, mut model: ViewModel) {
    let search = Search { until: vec![Property::MutualExclusion], ..Search::default() };
    let explored = explore(&mut model, &search, &mut |_| ());
    let found = explored.violations.iter().find(|found| found.property == Property::MutualExclusion);
    println!("\n{words}: {}", found.map_or("not refuted", |found| found.what.as_str()));
    for (number, step) in found.iter().flat_map(|found| &found.steps).enumerate() {
        println!("{:>4}. {}", number + 1, model.describe(step));
    }
}
