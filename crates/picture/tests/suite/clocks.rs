//! Logical times beside the steps of a diagram, number for number.

use doorway_catalog::{Catalog, examples};
use doorway_core::{NodeId, Ticks};
use doorway_picture::{DiagramOptions, Drawing, Spacing, StepTimes, space_time, step_times};
use doorway_trace::{AccessKind, ClockKind, Event, Header, What};

/// The run of an example, which has so many nodes.
fn played(name: &str, nodes: usize) -> (Header, Vec<Event>) {
    let outcome = examples::play(name, &Catalog::textbook()).expect("it comes out as it says");
    (Header::new("ricart-agrawala", nodes, 1), outcome.events())
}

fn drawn(name: &str, nodes: usize, clocks: Option<ClockKind>, spacing: Spacing) -> Drawing {
    let (header, events) = played(name, nodes);
    let options = DiagramOptions { spacing, clocks, ..DiagramOptions::default() };
    space_time(&header, &events, &options).expect("it can be drawn")
}

/// All labels of a picture.
fn texts(drawing: &Drawing) -> Vec<&str> {
    drawing.labels.iter().map(|label| label.text.as_str()).collect()
}

#[test]
fn the_frames_of_the_jumping_clock_are_in_the_diagram() {
    let (header, events) = played("clocks/jump", 2);
    let told = |kind| -> Vec<(u32, String)> {
        let steps: Vec<StepTimes> = step_times(&header, &events, kind).expect("few are in flight");
        steps.into_iter().map(|step| (events[step.first].node.number(), step.text)).collect()
    };
    let expected =
        [(1, "1"), (2, "1"), (1, "41"), (1, "42–43"), (2, "42"), (2, "44–45"), (1, "46–47"), (1, "48")];
    assert_eq!(told(ClockKind::Lamport), expected.map(|(node, text)| (node, text.to_owned())));
    let expected = ["[1 0]", "[0 1]", "[2 0]", "[3–4 0]", "[0 2]", "[4 3–4]", "[5–6 4]", "[7 4]"];
    assert_eq!(told(ClockKind::Vector).into_iter().map(|(_, text)| text).collect::<Vec<_>>(), expected);
}

#[test]
fn every_time_is_written_and_none_is_in_the_way_of_another() {
    for (name, nodes) in [("clocks/jump", 2), ("clocks/overtaken", 3), ("thirteen-nodes-resolved", 13)] {
        let (header, events) = played(name, nodes);
        for kind in [ClockKind::Lamport, ClockKind::Vector, ClockKind::Both] {
            for spacing in [Spacing::Time, Spacing::Even] {
                let drawing = drawn(name, nodes, Some(kind), spacing);
                assert_eq!(drawing.overlaps(), [], "{name}, {kind:?}");
                assert_eq!(drawing.clipped(), Vec::<&doorway_picture::LabelBox>::new(), "{name}, {kind:?}");
                let steps = step_times(&header, &events, kind).expect("few are in flight");
                assert_eq!(drawing.svg.matches("class=\"time ink\"").count(), steps.len(), "{name}");
            }
        }
        assert_eq!(drawn(name, nodes, None, Spacing::Time).svg.matches("class=\"time ink\"").count(), 0);
    }
}

#[test]
fn the_key_says_what_the_numbers_are() {
    let drawing = drawn("clocks/jump", 2, Some(ClockKind::Lamport), Spacing::Time);
    assert!(texts(&drawing).contains(&"42–44: Lamport time of the first and the last event of a step"));
    assert!(texts(&drawing).contains(&"44–45"));
}

#[test]
fn an_access_has_its_time_in_its_label() {
    let access = |id: u64, node: usize, access, value| Event {
        id,
        time: Ticks(id),
        node: NodeId::new(node),
        what: What::Access { access, register: "turn".into(), value, line: 1 },
        rule: None,
        cause: None,
    };
    let events = [access(1, 0, AccessKind::Write, 5), access(2, 1, AccessKind::Read, 5)];
    let options = DiagramOptions { clocks: Some(ClockKind::Both), ..DiagramOptions::default() };
    let drawing = space_time(&Header::new("peterson", 2, 1), &events, &options).expect("it can be drawn");
    assert!(texts(&drawing).contains(&"turn := 5 · 1 [1 0]"));
    assert!(texts(&drawing).contains(&"turn = 5 · 2 [1 1]"));
    assert_eq!(drawing.overlaps(), []);
}
