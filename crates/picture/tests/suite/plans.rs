//! The plan of a diagram, which pages draw: what is in it, and that no arrow covers another.

use std::collections::BTreeSet;

use doorway_catalog::{Catalog, Trial};
use doorway_picture::{DiagramPlan, plan};
use doorway_simulator::Settings;
use doorway_trace::Header;

fn planned(algorithm: &str, settings: &Settings) -> DiagramPlan {
    let outcome =
        Trial::new(algorithm).under(settings.clone()).run(&Catalog::textbook()).expect("it can be run");
    let header = Header::new(algorithm, settings.nodes, settings.seed);
    plan(&header, &outcome.events()).expect("it can be planned")
}

/// Raymond's algorithm sends a REQUEST right after the TOKEN, to the same node, and both arrive at the same time.
#[test]
fn messages_that_go_the_same_way_bend_apart() {
    let settings = Settings { nodes: 5, entries: 8, trace: true, ..Settings::default() };
    let plan = planned("raymond", &settings);
    let mut ways = BTreeSet::new();
    let mut bent = 0;
    for message in &plan.messages {
        for arrow in &message.arrows {
            let end = arrow.end.map(|end| plan.moments[end.moment]);
            let way = (message.from, message.to, plan.moments[message.sent], end, arrow.bends[0]);
            assert!(ways.insert(way), "two arrows are drawn on top of each other: {way:?}");
            bent += usize::from(arrow.bends[0] > 0);
        }
    }
    assert!(bent >= 4, "{bent} arrows bend");
}

#[test]
fn a_plan_tells_of_losses_copies_and_crashes() {
    let mut settings = Settings { nodes: 6, entries: 8, trace: true, ..Settings::default() };
    settings.faults.loss = "0.2".parse().expect("a share");
    settings.faults.duplicate = "0.2".parse().expect("a share");
    settings.faults.crashes.push("2@5".parse().expect("a crash"));
    let plan = planned("ricart-agrawala", &settings);
    let arrows = || plan.messages.iter().flat_map(|message| &message.arrows);
    assert!(arrows().any(|arrow| arrow.lost.is_some()), "a message is lost");
    assert!(plan.messages.iter().any(|message| message.arrows.len() == 2), "a message arrives twice");
    let down: Vec<bool> = plan.lanes.iter().map(|lane| lane.down).collect();
    assert_eq!(down, [false, true, false, false, false, false]);
    assert_eq!(plan.lanes[1].crashes.len(), 1);
    let inside = plan.lanes.iter().flat_map(|lane| &lane.stays).filter(|stay| stay.phase == "inside");
    assert!(inside.into_iter().all(|stay| stay.fence.is_some()));
}

/// An arrow keeps its distance from the band of a node that waits or is inside.
#[test]
fn arrows_know_at_which_ends_there_is_a_band() {
    let settings = Settings {
        nodes: 3,
        entries: 1,
        load: "isolated".parse().expect("a load"),
        trace: true,
        ..Settings::default()
    };
    let plan = planned("ricart-agrawala", &settings);
    let told: Vec<(&str, [bool; 2])> =
        plan.messages.iter().map(|message| (message.kind.as_str(), message.arrows[0].bands)).collect();
    assert_eq!(
        told,
        [
            ("REQUEST", [true, false]),
            ("REQUEST", [true, false]),
            ("REPLY", [false, true]),
            ("REPLY", [false, true]),
        ],
        "one node waits, the others are outside"
    );
}
