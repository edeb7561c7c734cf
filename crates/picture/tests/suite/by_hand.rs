//! Space-time diagrams of runs that were written by hand, so that everything that can happen does.

use doorway_core::{Channels, Fence, NodeId, Ticks};
use doorway_picture::{DiagramOptions, Drawing, MOST_EVENTS, MOST_NODES, Spacing, Theme, space_time};
use doorway_trace::{Event, Header, What};
use roxmltree::{Document, Node};
use serde_json::json;

fn node(number: u32) -> NodeId {
    NodeId::from_number(number).expect("nodes count from 1")
}

fn event(id: u64, time: u64, at: u32, what: What, cause: u64) -> Event {
    Event { id, time: Ticks(time), node: node(at), what, rule: None, cause: (cause > 0).then_some(cause) }
}

fn send(to: u32, kind: &'static str) -> What {
    What::Send { to: node(to), kind: kind.into(), message: json!({ kind: { "clock": 7 } }) }
}

fn deliver(from: u32, kind: &'static str) -> What {
    What::Deliver { from: node(from), kind: kind.into(), message: json!({ kind: { "clock": 7 } }) }
}

fn lost(to: u32, kind: &'static str, why: &'static str) -> What {
    What::Lost { to: node(to), kind: kind.into(), why: why.into() }
}

/// A message that arrives, one that arrives twice, one to oneself, one in no time, a lost one, one under way, a crash and a violation.
fn everything() -> (Header, Vec<Event>) {
    let header = Header { channels: Channels::Any, ..Header::new("by-hand", 4, 7) };
    let violation = "nodes 2 and 3 are inside together".to_owned();
    let events = vec![
        event(1, 0, 1, What::Start, 0),
        event(2, 0, 2, What::Request, 0),
        event(3, 0, 2, send(1, "REQUEST"), 2),
        event(4, 0, 2, send(3, "REQUEST"), 2),
        event(5, 0, 2, send(4, "REQUEST"), 2),
        event(6, 0, 2, lost(4, "REQUEST", "drawn by lot"), 5),
        event(7, 10, 1, deliver(2, "REQUEST"), 3),
        event(8, 10, 1, send(2, "GRANT"), 7),
        event(9, 12, 3, deliver(2, "REQUEST"), 4),
        event(10, 12, 3, send(2, "GRANT"), 9),
        event(11, 14, 3, deliver(2, "REQUEST"), 4),
        event(12, 20, 2, deliver(1, "GRANT"), 8),
        event(13, 22, 2, deliver(3, "GRANT"), 10),
        event(14, 22, 2, What::Enter { fence: Fence(1) }, 13),
        event(15, 24, 3, What::Request, 0),
        event(16, 24, 3, send(3, "NOTE"), 15),
        event(17, 28, 3, deliver(3, "NOTE"), 16),
        event(18, 28, 3, What::Enter { fence: Fence(1) }, 17),
        event(19, 28, 3, What::Violation { what: violation }, 17),
        event(20, 32, 2, What::Release, 0),
        event(21, 32, 2, send(1, "RELEASE"), 20),
        event(22, 32, 1, deliver(2, "RELEASE"), 21),
        event(23, 36, 4, What::Crash, 0),
        event(24, 38, 3, What::Release, 0),
        event(25, 38, 3, send(4, "RELEASE"), 24),
        event(26, 38, 3, send(1, "RELEASE"), 24),
        event(27, 44, 3, lost(4, "RELEASE", "node 4 has crashed"), 25),
    ];
    (header, events)
}

fn drawn(spacing: Spacing, theme: Theme) -> Drawing {
    let (header, events) = everything();
    space_time(&header, &events, &DiagramOptions { spacing, theme, clocks: None }).expect("it can be drawn")
}

fn parsed(drawing: &Drawing) -> Document<'_> {
    Document::parse(&drawing.svg).expect("it is XML")
}

/// The elements that have all of these classes.
fn with_class<'a>(document: &'a Document<'a>, classes: &str) -> Vec<Node<'a, 'a>> {
    let has_all = |node: &Node<'_, '_>| {
        let given: Vec<&str> = node.attribute("class").unwrap_or_default().split(' ').collect();
        classes.split(' ').all(|class| given.contains(&class))
    };
    document.descendants().filter(has_all).collect()
}

#[test]
fn everything_that_happens_is_drawn_once() {
    for spacing in [Spacing::Time, Spacing::Even] {
        let drawing = drawn(spacing, Theme::Auto);
        let document = parsed(&drawing);
        let counts = [
            ("lane", 4),
            ("message delivered", 7),
            ("message delivered doubled", 2),
            ("message lost", 2),
            ("message under-way", 1),
            ("crash", 1),
            ("violation", 1),
            ("stay inside", 2),
            ("stay waiting", 2),
        ];
        for (classes, count) in counts {
            assert_eq!(with_class(&document, classes).len(), count, "{classes}");
        }
        assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]));
    }
}

#[test]
fn a_node_that_stands_still_has_a_shadow_and_one_that_is_restarted_goes_on_after_its_crash() {
    let header = Header::new("by-hand", 2, 7);
    let events = [
        event(1, 0, 1, What::Start, 0),
        event(2, 0, 2, What::Start, 0),
        event(3, 1, 1, What::Request, 0),
        event(4, 3, 1, What::Timer, 0),
        event(5, 3, 1, send(2, "REQUEST"), 4),
        event(6, 6, 2, What::Pause, 0),
        event(7, 13, 2, What::Resume, 0),
        event(8, 13, 2, deliver(1, "REQUEST"), 5),
        event(9, 15, 2, What::Written, 0),
        event(10, 16, 1, What::Crash, 0),
        event(11, 19, 1, What::Start, 0),
        event(12, 20, 1, What::Request, 0),
        event(13, 21, 1, What::Enter { fence: Fence(2) }, 12),
        event(14, 22, 1, What::Pause, 0),
        event(15, 24, 1, What::Crash, 0),
    ];
    for spacing in [Spacing::Time, Spacing::Even] {
        let options = DiagramOptions { spacing, theme: Theme::Light, clocks: None };
        let drawing = space_time(&header, &events, &options).expect("it can be drawn");
        let document = parsed(&drawing);
        let named = |classes: &str| -> Vec<String> {
            let elements = with_class(&document, classes).into_iter();
            elements.filter_map(|node| Some(node.attribute("data-event")?.to_owned())).collect()
        };
        assert_eq!(
            (named("pause"), named("crash")),
            (vec!["14".into(), "6".into()], vec!["10".into(), "15".into()])
        );
        assert_eq!(
            (named("stay waiting"), named("stay inside")),
            (vec!["3".into(), "12".into()], vec!["13".into()])
        );
        assert_eq!(named("stay outside"), ["11"], "the others are from the beginning");
        assert_eq!(named("step"), ["3", "4", "12", "8", "9"]);
        assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]));
    }
}

#[test]
fn elements_name_the_events_that_they_show() {
    let drawing = drawn(Spacing::Time, Theme::Auto);
    let document = parsed(&drawing);
    let attributes = |classes: &str, name: &str| -> Vec<String> {
        let elements = with_class(&document, classes).into_iter();
        elements.filter_map(|node| Some(node.attribute(name)?.to_owned())).collect()
    };
    assert_eq!(attributes("message lost", "data-event"), ["5", "25"]);
    assert_eq!(attributes("message lost", "data-end"), ["6", "27"]);
    assert_eq!(attributes("message delivered doubled", "data-end"), ["9", "11"]);
    assert_eq!(
        (attributes("crash", "data-event"), attributes("violation", "data-event")),
        (vec!["23".into()], vec!["19".into()])
    );
    let titles: Vec<&str> = with_class(&document, "message lost")
        .iter()
        .filter_map(|message| message.first_element_child()?.text())
        .collect();
    assert_eq!(
        titles,
        [
            "REQUEST from 2 to 4, sent at 0, lost at 0: drawn by lot\n{\"REQUEST\":{\"clock\":7}}",
            "RELEASE from 3 to 4, sent at 38, lost at 44: node 4 has crashed\n{\"RELEASE\":{\"clock\":7}}"
        ]
    );
}

#[test]
fn a_lane_ends_where_its_node_crashes() {
    let drawing = drawn(Spacing::Time, Theme::Auto);
    let document = parsed(&drawing);
    let lane =
        with_class(&document, "lane").into_iter().find(|lane| lane.attribute("data-node") == Some("4"));
    let line =
        lane.expect("lane 4").descendants().find(|node| node.has_tag_name((SVG, "line"))).expect("its line");
    let crash = with_class(&document, "crash")[0];
    let sign = crash.descendants().find(|node| node.has_tag_name((SVG, "circle"))).expect("its sign");
    assert_eq!(line.attribute("x2"), sign.attribute("cx"));
}

const SVG: &str = "http://www.w3.org/2000/svg";

#[test]
fn moments_are_evenly_spaced_or_as_far_apart_as_in_time() {
    let places = |spacing| -> Vec<f64> {
        let drawing = drawn(spacing, Theme::Auto);
        let document = parsed(&drawing);
        let steps = with_class(&document, "step").into_iter();
        let mut places: Vec<f64> =
            steps.map(|step| step.attribute("cx").and_then(|x| x.parse().ok()).expect("a place")).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    };
    let even = places(Spacing::Even);
    let step = even[1] - even[0];
    assert!(
        even.windows(2)
            .all(|pair| (pair[1] - pair[0]) % step < 0.02 || (pair[1] - pair[0]) % step > step - 0.02)
    );
    let times = places(Spacing::Time);
    let tick = (times[1] - times[0]) / 10.0;
    let ticks: Vec<f64> = times.iter().map(|place| ((place - times[0]) / tick).round()).collect();
    assert_eq!(ticks, [0.0, 10.0, 12.0, 14.0, 20.0, 22.0, 24.0, 28.0, 32.0, 38.0]);
}

#[test]
fn a_run_of_nothing_and_a_run_of_one_node_are_drawn() {
    for nodes in [1, 2] {
        let drawing = space_time(&Header::new("quiet", nodes, 1), &[], &DiagramOptions::default())
            .expect("an empty picture");
        assert_eq!(with_class(&parsed(&drawing), "lane").len(), nodes);
        assert!(drawing.overlaps().is_empty() && drawing.clipped().is_empty());
    }
    let alone = [event(1, 0, 1, What::Request, 0), event(2, 0, 1, What::Enter { fence: Fence(u64::MAX) }, 1)];
    let drawing =
        space_time(&Header::new("alone", 1, 1), &alone, &DiagramOptions::default()).expect("one node");
    assert!(drawing.labels.iter().any(|label| label.text == u64::MAX.to_string()));
}

#[test]
fn a_trace_that_begins_late_is_drawn_as_far_as_it_goes() {
    let events = [event(7, 50, 1, deliver(2, "REQUEST"), 3), event(8, 51, 2, lost(1, "GRANT", "?"), 4)];
    let drawing =
        space_time(&Header::new("late", 2, 1), &events, &DiagramOptions::default()).expect("it can be drawn");
    let document = parsed(&drawing);
    assert_eq!(with_class(&document, "message delivered").len(), 1);
    assert_eq!(with_class(&document, "message lost").len(), 1);
}

#[test]
fn hostile_traces_are_drawn_as_texts_or_refused() {
    let (mut header, mut events) = everything();
    let hostile = "\"><script>alert('&')</script>\u{0}\u{1b}[31m\u{202e}";
    header.algorithm = hostile.repeat(40);
    header.options.insert(hostile.to_owned(), hostile.repeat(9));
    for event in &mut events {
        match &mut event.what {
            What::Send { kind, .. } | What::Deliver { kind, .. } | What::Lost { kind, .. } => {
                *kind = format!("{hostile}{kind}").into();
            }
            What::Violation { what } => *what = hostile.repeat(50),
            _ => {}
        }
        event.rule = Some(hostile.to_owned().into());
    }
    let drawing = space_time(&header, &events, &DiagramOptions::default()).expect("it can be drawn");
    let document = parsed(&drawing);
    assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
    assert_eq!(drawing.overlaps(), vec![]);
}

#[test]
fn what_is_no_run_or_too_long_is_refused_in_one_sentence() {
    let refusal = |header: &Header, events: &[Event]| {
        space_time(header, events, &DiagramOptions::default()).expect_err("it cannot be drawn").to_string()
    };
    let two = Header::new("two", 2, 1);
    assert_eq!(
        refusal(&two, &[event(4, 0, 3, What::Request, 0)]),
        "event 4 is about node 3, but the run has 2 nodes"
    );
    assert_eq!(
        refusal(&two, &[event(1, 5, 1, What::Request, 0), event(2, 4, 1, What::Release, 0)]),
        "event 2 is at time 4, after one at time 5: events must be in order"
    );
    let long = vec![event(1, 0, 1, What::Start, 0); MOST_EVENTS + 1];
    assert_eq!(
        refusal(&two, &long),
        "a run of 20001 events is too long to draw, 20000 are the most: let it have fewer entries, as with --entries 20"
    );
    let many = Header::new("many", MOST_NODES + 1, 1);
    assert_eq!(refusal(&many, &[]), "513 nodes are too many to draw: at most 512 are drawn");
}

/// The same, but from time 24 on it repeats itself.
fn with_loop() -> (Header, Vec<Event>) {
    let (header, mut events) = everything();
    events.insert(14, event(28, 23, 1, What::Loop, 0));
    (header, events)
}

fn looped(spacing: Spacing, theme: Theme) -> Drawing {
    let (header, events) = with_loop();
    space_time(&header, &events, &DiagramOptions { spacing, theme, clocks: None }).expect("it can be drawn")
}

/// The band that is shaded, as left, right, top and bottom.
fn band(document: &Document<'_>) -> [f64; 4] {
    let bands = with_class(document, "repetition");
    let rectangle = bands[0].descendants().find(|node| node.has_tag_name((SVG, "rect"))).expect("its band");
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| {
        rectangle.attribute(name).and_then(|number| number.parse::<f64>().ok()).expect("a number")
    });
    [x, x + width, y, y + height]
}

#[test]
fn what_repeats_is_shaded_from_between_two_moments_to_the_edge_and_named_in_band_and_key() {
    for spacing in [Spacing::Time, Spacing::Even] {
        let drawing = looped(spacing, Theme::Auto);
        let document = parsed(&drawing);
        assert_eq!(with_class(&document, "repetition").len(), 1);
        let place = |event: &str| -> f64 {
            let steps = with_class(&document, "step").into_iter();
            let step = steps.into_iter().find(|step| step.attribute("data-event") == Some(event));
            step.and_then(|step| step.attribute("cx")?.parse().ok()).expect("its place")
        };
        let [left, right, top, bottom] = band(&document);
        assert!((left - f64::midpoint(place("13"), place("15"))).abs() < 0.02, "half-way before event 15");
        let named: Vec<_> = drawing.labels.iter().filter(|label| label.text == "repeats for ever").collect();
        assert_eq!(named.len(), 2, "the key and the band");
        let inside = named[1].area;
        assert!(left < inside.left && inside.right < right && top < inside.top && inside.bottom < bottom);
        assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]));
        assert!(drawing.svg.contains("What happens after time 23 repeats for ever.</desc>"));
    }
}

#[test]
fn the_label_of_an_arrow_has_the_ground_of_what_is_behind_it() {
    let drawing = looped(Spacing::Time, Theme::Auto);
    let document = parsed(&drawing);
    let [left, ..] = band(&document);
    let mut grounds = Vec::new();
    for label in with_class(&document, "kind") {
        let x: f64 = label.attribute("x").and_then(|x| x.parse().ok()).expect("its middle");
        let ground = label.prev_sibling_element().and_then(|ground| ground.attribute("class"));
        assert_eq!(ground, Some(if x < left { "paper" } else { "wash" }), "{label:?}");
        grounds.extend(ground);
    }
    assert!(grounds.contains(&"paper") && grounds.contains(&"wash"), "{grounds:?}");
}

#[test]
fn a_loop_moves_nothing_from_left_to_right_and_hides_nothing() {
    let (plain, looped) = (drawn(Spacing::Time, Theme::Auto), looped(Spacing::Time, Theme::Auto));
    let places = |drawing: &Drawing, class: &str, name: &str| -> Vec<String> {
        let document = parsed(drawing);
        let elements = with_class(&document, class).into_iter();
        elements.filter_map(|node| Some(node.attribute(name)?.to_owned())).collect()
    };
    for (class, name) in [("step", "cx"), ("message", "data-event"), ("fence", "x"), ("kind", "x")] {
        assert_eq!(places(&plain, class, name), places(&looped, class, name), "{class}");
    }
    assert!(looped.height > plain.height && looped.width >= plain.width);
}

#[test]
fn a_loop_of_one_moment_at_the_end_or_of_everything_keeps_its_name_on_the_paper() {
    let (header, events) = everything();
    let last = [event(28, 44, 1, What::Loop, 0), event(29, 45, 1, What::Request, 0)];
    let short = [events.clone(), last.to_vec()].concat();
    let all = [vec![event(28, 0, 1, What::Loop, 0)], events.clone()].concat();
    let twice = [all.clone(), last.to_vec()].concat();
    let nothing = vec![event(1, 0, 1, What::Loop, 0)];
    for spacing in [Spacing::Time, Spacing::Even] {
        for events in [&short, &all, &twice, &nothing] {
            let options = DiagramOptions { spacing, ..DiagramOptions::default() };
            let drawing = space_time(&header, events, &options).expect("it can be drawn");
            assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]));
            let [left, right, ..] = band(&parsed(&drawing));
            assert!(left < right && with_class(&parsed(&drawing), "repetition").len() == 1);
        }
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(drawn(Spacing::Even, Theme::Dark), drawn(Spacing::Even, Theme::Dark));
    let (light, dark) = (drawn(Spacing::Time, Theme::Light).svg, drawn(Spacing::Time, Theme::Dark).svg);
    assert!(!light.contains("@media") && !dark.contains("@media") && light != dark);
    assert!(drawn(Spacing::Time, Theme::Auto).svg.contains("@media (prefers-color-scheme:dark)"));
}

#[test]
fn everything_in_true_time_looks_as_reviewed() {
    insta::assert_snapshot!(drawn(Spacing::Time, Theme::Auto).svg);
}

#[test]
fn everything_evenly_spaced_looks_as_reviewed() {
    insta::assert_snapshot!(drawn(Spacing::Even, Theme::Light).svg);
}

#[test]
fn a_loop_looks_as_reviewed() {
    insta::assert_snapshot!(looped(Spacing::Time, Theme::Auto).svg);
}
