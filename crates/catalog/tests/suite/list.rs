//! The catalog as a value: what is in it, how it is extended, and how a name becomes something that runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use doorway_algorithms::message::central;
use doorway_algorithms::shared::bakery;
use doorway_catalog::{Catalog, Has, Listed};
use doorway_core::{Members, Options};
use doorway_simulator::Settings;

use crate::laboratory::{run_plain, subject, textbook};

fn refusal<T>(answer: Result<T, doorway_core::Refusal>) -> String {
    answer.err().expect("it is refused").to_string()
}

#[test]
fn the_textbook_has_every_name_once() {
    let (algorithms, programs) = (textbook().list(), textbook().programs());
    assert_eq!((algorithms.len(), programs.len()), (44, 18));
    let names = algorithms.iter().map(|about| about.name).chain(programs.iter().map(|about| about.name));
    assert_eq!(names.collect::<BTreeSet<_>>().len(), 44 + 18);
}

#[test]
fn entries_are_added_at_the_end_and_found_by_their_names() {
    let catalog = Catalog::default().with(central::entry()).with_program(bakery::entry());
    assert_eq!(catalog.list().iter().map(|about| about.name).collect::<Vec<_>>(), ["central"]);
    assert_eq!(catalog.programs().iter().map(|about| about.name).collect::<Vec<_>>(), ["bakery"]);
    assert!(catalog.about("central").is_some() && catalog.about("bakery").is_none());
    assert!(catalog.about_program("bakery").is_some() && catalog.about_program("central").is_none());
    assert_eq!(format!("{catalog:?}"), "Catalog { algorithms: \"central\", programs: \"bakery\" }");
}

#[test]
fn an_entry_with_a_known_name_takes_its_place() {
    let mut own = central::entry();
    own.about.title = "Ours";
    let catalog = Catalog::textbook().with(own);
    assert_eq!(catalog.list().len(), 44);
    assert_eq!(catalog.list()[0].title, "Ours");
    let subject = catalog.subject("central", &Options::none()).expect("it is there");
    assert_eq!(subject.about().title, "Ours");
}

#[test]
fn what_cannot_be_had_is_refused_in_one_sentence() {
    let none = Options::none();
    let grid = Options::none().with("quorum", "grid");
    let round = Options::none().with("quorum", "round");
    assert_eq!(refusal(textbook().subject("paxos", &none)), "there is no algorithm \"paxos\"");
    assert_eq!(refusal(textbook().subject("central", &grid)), "central has no quorum to choose");
    assert!(refusal(textbook().subject("maekawa", &round)).contains("round"));
    assert_eq!(refusal(textbook().program_subject("paxos", &none, 2)), "there is no program \"paxos\"");
    assert_eq!(refusal(textbook().program_subject("bakery", &none, 0)), "a system needs at least one node");
    let two = "peterson has no quorum to choose";
    assert!(refusal(textbook().program_subject("peterson", &grid, 2)).starts_with(two));
    let members = Members::new(3).expect("three");
    let plane = Options::none().with("quorum", "plane");
    let planes = textbook().subject("maekawa", &plane).expect("it is understood");
    assert!(planes.check_members(&Members::new(7).expect("seven")).is_ok());
    assert!(planes.check_members(&Members::new(8).expect("eight")).is_err(), "no plane has 8 points");
    assert!(subject("central", "").check_members(&members).is_ok());
}

#[test]
fn a_subject_tells_what_its_type_knows() {
    let maekawa = subject("maekawa", "quorum=grid");
    assert_eq!(maekawa.about().name, "maekawa");
    assert!(
        maekawa.kinds().contains(&"INQUIRE") && maekawa.rules().iter().any(|rule| rule.name == "inquire")
    );
    assert!(!maekawa.invariants().is_empty());
    assert_eq!(maekawa.recipe().name(), "maekawa --quorum grid");
    let has = |name| subject(name, "").has();
    let all = [has("maekawa"), has("raymond"), has("ricart-agrawala")];
    assert_eq!(all, [Has::Votes, Has::Token, Has::Nothing]);
    assert_eq!(maekawa.read_message(&[255, 255, 255]), None, "no message of the algorithm");
}

#[test]
fn recipes_are_those_of_the_same_algorithms() {
    let recipes = textbook().recipes();
    let names = |abouts: Vec<&doorway_core::About>| abouts.iter().map(|about| about.name).collect::<Vec<_>>();
    assert_eq!(names(recipes.abouts().collect()), names(textbook().list()));
    let recipe = recipes.recipe("raymond", &Options::none().with("tree", "chain")).expect("it can be had");
    assert_eq!((recipe.name(), recipe.blueprint(3).is_ok()), ("raymond --tree chain", true));
}

#[test]
fn a_changed_catalog_runs_what_it_was_changed_to() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let swapped = Catalog::textbook().map(|listed| match listed.about.name {
        "lamport" => {
            let count = Arc::clone(&count);
            Listed::new(listed.about, move |options| {
                count.fetch_add(1, Ordering::SeqCst);
                textbook().subject("ricart-agrawala", options)
            })
        }
        _ => listed,
    });
    let settings = Settings { nodes: 4, entries: 50, ..Settings::default() };
    let messages = |catalog: &Catalog| {
        let subject = catalog.subject("lamport", &Options::none()).expect("it is there");
        subject.simulate(&settings).expect("it runs").measures.traffic.messages
    };
    assert_eq!((messages(textbook()), messages(&swapped)), (50 * 3 * 3, 50 * 2 * 3));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(run_plain("central", &settings).measures.entries, 50);
}
