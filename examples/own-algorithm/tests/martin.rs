//! Martin's algorithm in the catalog: it is listed, it runs, its claims hold, and the others are still there.

use std::sync::LazyLock;

use doorway_catalog::Catalog;
use doorway_core::{Channels, NodeId, Options, Start};
use doorway_simulator::{Latency, Load, Measures, Settings, Span};

/// The delay of a message.
const T: u64 = 10;
const ENTRIES: u64 = 60;

fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> =
        LazyLock::new(|| Catalog::textbook().with(own_algorithm::martin::entry()));
    &CATALOG
}

/// What was measured, after making sure that nothing went wrong.
fn measures(name: &str, settings: &Settings) -> Measures {
    let subject = catalog().subject(name, &Options::none()).expect("it is in the catalog");
    let outcome = subject.simulate(settings).expect("the settings fit together");
    assert!(outcome.as_expected, "{name} {settings:?}: {:?} {:?}", outcome.violations, outcome.stall);
    assert_eq!(outcome.measures.entries, settings.entries, "{name} {settings:?}");
    outcome.measures
}

fn starts(nodes: usize) -> impl Iterator<Item = Start> {
    std::iter::once(Start::Empty).chain(NodeId::first(nodes).map(Start::Inside))
}

fn loads(nodes: usize) -> [Load; 4] {
    [Load::Saturated, Load::Isolated, Load::Light(100), Load::Active(nodes.div_ceil(2))]
}

#[test]
fn it_is_listed_after_the_algorithms_of_the_textbook() {
    let catalog = catalog();
    let names: Vec<&str> = catalog.list().iter().map(|about| about.name).collect();
    assert_eq!(names.len(), Catalog::textbook().list().len() + 1);
    assert_eq!(names.last(), Some(&"martin"));
    let about = catalog.about("martin").expect("it was just listed");
    assert!(about.page().starts_with("Martin's algorithm."));
}

#[test]
fn no_violation_and_no_stall_for_every_channel_order_load_start_and_fifty_seeds() {
    let latencies = [Span::Constant(T), Span::Uniform(1, 40), Span::Exponential(20), Span::Uniform(0, 3)];
    for nodes in 1..=8 {
        for (start, load) in starts(nodes).flat_map(|start| loads(nodes).map(|load| (start, load))) {
            for (channels, seed) in Channels::ALL.into_iter().flat_map(|c| (1..=50).map(move |s| (c, s))) {
                let settings = Settings {
                    nodes,
                    entries: 20,
                    load: load.clone(),
                    start,
                    channels,
                    latency: Latency::Span(latencies[seed as usize % latencies.len()]),
                    hold: Span::Uniform(0, 10),
                    seed,
                    invariants: true,
                    ..Settings::default()
                };
                let traffic = measures("martin", &settings).traffic;
                let [requests, tokens] = ["REQUEST", "TOKEN"].map(|kind| {
                    traffic.kinds().find(|(name, _)| *name == kind).map_or(0, |(_, count)| count)
                });
                assert_eq!(requests, tokens, "each REQUEST is answered by one TOKEN: {settings:?}");
            }
        }
    }
}

#[test]
fn a_lone_request_costs_two_messages_for_each_step_of_the_way_to_the_token() {
    for (nodes, start) in (1..=8).flat_map(|nodes| starts(nodes).map(move |start| (nodes, start))) {
        let settings =
            Settings { nodes, start, load: Load::Isolated, entries: ENTRIES, ..Settings::default() };
        let measures = measures("martin", &settings);
        // Message after message goes and comes while the node waits, and nothing else moves.
        let ways = (0..nodes as u64).map(|d| 2 * d);
        let waited: u64 =
            ways.map(|messages| messages * measures.waiting_time.occurrences(messages * T)).sum();
        assert_eq!(measures.traffic.messages, waited, "{nodes} nodes, {start:?}");
        assert!(measures.waiting_time.max() <= Some(2 * (nodes as u64 - 1) * T), "{nodes} nodes, {start:?}");
    }
}

#[test]
fn when_all_want_in_an_entry_costs_two_messages_and_a_delay_of_t() {
    for (nodes, start) in (2..=8).flat_map(|nodes| starts(nodes).map(move |start| (nodes, start))) {
        // A node stays inside so long that its successor's REQUEST has come before it leaves.
        let hold = Span::Constant(3 * T);
        let settings = Settings { nodes, start, hold, entries: ENTRIES, ..Settings::default() };
        let measures = measures("martin", &settings);
        // From the empty start the first entry is that of the node which has the token.
        let free = u64::from(start == Start::Empty);
        assert_eq!(measures.traffic.messages, 2 * (ENTRIES - free), "{nodes} nodes, {start:?}");
        let delay = &measures.sync_delay;
        assert_eq!((delay.quantile(0.0), delay.max()), (Some(T), Some(T)), "{nodes} nodes, {start:?}");
    }
}

#[test]
fn every_algorithm_of_the_textbook_still_runs_from_the_longer_list() {
    let catalog = catalog();
    let right = catalog.list().into_iter().filter(|about| about.specimen.is_none());
    for (about, start) in right.flat_map(|about| starts(4).map(move |start| (about, start))) {
        let settings = Settings { nodes: 4, start, entries: ENTRIES, ..Settings::default() };
        measures(about.name, &settings);
    }
}
