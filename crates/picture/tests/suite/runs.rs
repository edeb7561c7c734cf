//! Pictures of real runs and of every quorum system: nothing in them is in the way of anything else.

use doorway_catalog::{Catalog, Trial};
use doorway_core::NodeId;
use doorway_picture::{DiagramOptions, Drawing, Spacing, Theme, quorums, space_time};
use doorway_quorums::{Construction, QuorumSystem};
use doorway_simulator::{Latency, Settings, Span};
use doorway_trace::Header;

fn names() -> Vec<&'static str> {
    let catalog = Catalog::textbook();
    catalog.list().into_iter().filter(|about| about.specimen.is_none()).map(|about| about.name).collect()
}

fn run(algorithm: &str, settings: &Settings, spacing: Spacing) -> Drawing {
    let trial = Trial::new(algorithm).under(settings.clone());
    let outcome = trial.run(&Catalog::textbook()).expect("it can be run");
    let header = Header::new(algorithm, settings.nodes, settings.seed);
    let options = DiagramOptions { spacing, theme: Theme::Auto, clocks: None };
    space_time(&header, &outcome.events(), &options).expect("it can be drawn")
}

fn assert_clear(drawing: &Drawing, what: &str) {
    assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]), "{what}");
    roxmltree::Document::parse(&drawing.svg).expect("it is XML");
}

#[test]
fn every_label_box_is_clear_of_every_other_for_up_to_sixteen_nodes() {
    let names = names();
    assert_eq!(names.len(), 13);
    for algorithm in names {
        for nodes in 1..=16 {
            for (spacing, latency) in
                [(Spacing::Time, Span::Constant(10)), (Spacing::Even, Span::Uniform(0, 20))]
            {
                let latency = Latency::Span(latency);
                let settings = Settings { nodes, entries: 5, latency, trace: true, ..Settings::default() };
                let drawing = run(algorithm, &settings, spacing);
                assert_clear(
                    &drawing,
                    &format!("{algorithm}, {nodes} nodes, {spacing:?}, seed {}", settings.seed),
                );
                let numbers = drawing.labels.iter().filter(|label| label.text.parse::<usize>().is_ok());
                assert!(numbers.count() >= nodes, "every lane has its number");
            }
        }
    }
}

#[test]
fn runs_with_every_fault_are_drawn_clearly() {
    let faults = |seed| {
        let mut settings = Settings { nodes: 6, entries: 8, seed, trace: true, ..Settings::default() };
        settings.latency = Latency::Span(Span::Exponential(15));
        settings.faults.loss = "0.1".parse().expect("a share");
        settings.faults.duplicate = "0.1".parse().expect("a share");
        settings.faults.crashes.push("2@40".parse().expect("a crash"));
        settings
    };
    for algorithm in names() {
        for seed in 1..=10 {
            assert_clear(&run(algorithm, &faults(seed), Spacing::Time), &format!("{algorithm}, seed {seed}"));
        }
    }
}

#[test]
fn a_few_hundred_events_make_a_picture_that_can_be_scrolled() {
    let settings = Settings { nodes: 16, entries: 20, trace: true, ..Settings::default() };
    let drawing = run("ricart-agrawala", &settings, Spacing::Time);
    assert_eq!((drawing.width, drawing.height), (1364.0, 1026.0));
}

#[test]
fn three_nodes_look_as_reviewed() {
    let settings = Settings { nodes: 3, entries: 4, trace: true, ..Settings::default() };
    insta::assert_snapshot!(run("ricart-agrawala", &settings, Spacing::Time).svg);
}

fn system(word: &str, nodes: usize) -> QuorumSystem {
    QuorumSystem::build(&word.parse().expect("a construction"), nodes).expect("it exists")
}

fn drawn(word: &str, nodes: usize, of: usize) -> Drawing {
    quorums::quorum(&system(word, nodes), NodeId::new(of - 1), Theme::Auto).expect("it can be drawn")
}

#[test]
fn every_quorum_system_is_drawn_with_all_of_its_nodes_and_members() {
    let plain = ["singleton", "all", "majority", "grid", "truncated", "cyclic", "tree", "triangle", "cwlog"];
    let sizes = |word: &str| if word == "plane" { vec![7, 13, 57] } else { vec![1, 2, 3, 7, 16, 40, 256] };
    for word in plain.into_iter().chain(["plane"]) {
        for nodes in sizes(word) {
            for of in [1, nodes] {
                let drawing = drawn(word, nodes, of);
                assert_clear(&drawing, &format!("{word}, {nodes} nodes, quorum of {of}"));
                let count = |class: &str| drawing.svg.matches(&format!("<g class=\"{class}\"")).count();
                let members = system(word, nodes).quorum_of(NodeId::new(of - 1)).len();
                assert_eq!(
                    (count("node member"), count("node")),
                    (members, nodes - members),
                    "{word} {nodes}"
                );
            }
        }
    }
}

#[test]
fn in_the_plane_of_seven_points_every_line_is_straight_but_one() {
    for of in 1..=7 {
        let svg = drawn("plane", 7, of).svg;
        let document = roxmltree::Document::parse(&svg).expect("it is XML");
        let figure = document.root_element().children();
        let lines = figure.clone().filter(|node| node.tag_name().name() == "line").count();
        let circles = figure.filter(|node| node.tag_name().name() == "circle").count();
        assert_eq!((lines, circles), (6, 1), "quorum of {of}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let refusal = |nodes: usize, of: usize| {
        let system = QuorumSystem::build(&Construction::Majority, nodes).expect("it exists");
        quorums::quorum(&system, NodeId::new(of - 1), Theme::Auto).expect_err("it cannot").to_string()
    };
    assert_eq!(refusal(5, 6), "there is no node 6: the nodes are 1 to 5");
    assert_eq!(refusal(257, 1), "257 nodes are too many to draw: at most 256 are drawn");
}

#[test]
fn grid_and_plane_look_as_reviewed() {
    insta::assert_snapshot!("grid", drawn("grid", 9, 5).svg);
    insta::assert_snapshot!("plane", drawn("plane", 7, 3).svg);
}
