//! Space-time diagrams of runs over shared memory that were written by hand.

use doorway_core::{Fence, NodeId, Ticks};
use doorway_picture::{DiagramOptions, Drawing, LabelBox, Spacing, Theme, space_time};
use doorway_trace::AccessKind::{Barrier, Begin, End, Reach, Read, Write};
use doorway_trace::{AccessKind, Event, Header, What, read, write};
use roxmltree::{Document, Node};

/// A run in the making: each access is a step at a time of its own.
struct Run {
    header: Header,
    events: Vec<Event>,
    steps: u64,
}

impl Run {
    fn new(program: &str, processes: usize) -> Self {
        Self { header: Header::new(program, processes, 1), events: Vec::new(), steps: 0 }
    }

    fn access(&mut self, at: u32, access: AccessKind, register: &str, value: u64, line: u32) {
        self.steps += 1;
        self.push(at, accessed(access, register, value, line));
    }

    /// The same as the first step of an entry: it comes with a request.
    fn request(&mut self, at: u32, access: AccessKind, register: &str, value: u64, line: u32) {
        self.steps += 1;
        self.push(at, What::Request);
        self.push(at, accessed(access, register, value, line));
    }

    fn enter(&mut self, at: u32, fence: u64) {
        self.push(at, What::Enter { fence: Fence(fence) });
    }

    fn push(&mut self, at: u32, what: What) {
        let (id, time) = (self.events.len() as u64 + 1, Ticks(self.steps));
        let node = NodeId::from_number(at).expect("nodes count from 1");
        self.events.push(Event { id, time, node, what, rule: None, cause: None });
    }

    fn drawn(&self, spacing: Spacing, theme: Theme) -> Drawing {
        space_time(&self.header, &self.events, &DiagramOptions { spacing, theme, clocks: None })
            .expect("it can be drawn")
    }
}

fn accessed(access: AccessKind, register: &str, value: u64, line: u32) -> What {
    What::Access { access, register: register.to_owned().into(), value, line }
}

/// Peterson's algorithm on a machine that buffers stores: 15 steps, and both are inside.
fn peterson() -> Run {
    let mut run = Run::new("peterson", 2);
    run.header.options.insert("memory".to_owned(), "tso".to_owned());
    run.header.options.insert("barrier".to_owned(), "off".to_owned());
    run.request(1, Write, "flag[1]", 1, 1);
    run.access(1, Write, "turn", 2, 2);
    run.access(1, Reach, "flag[1]", 1, 0);
    run.access(1, Reach, "turn", 2, 0);
    run.access(1, Read, "flag[2]", 0, 3);
    run.enter(1, 1);
    run.access(1, Write, "flag[1]", 0, 5);
    run.push(1, What::Release);
    run.request(2, Write, "flag[2]", 1, 1);
    run.access(1, Reach, "flag[1]", 0, 0);
    run.request(1, Write, "flag[1]", 1, 1);
    run.access(2, Write, "turn", 1, 2);
    run.access(2, Read, "flag[1]", 0, 3);
    run.enter(2, 2);
    run.access(1, Write, "turn", 2, 2);
    run.access(1, Reach, "flag[1]", 1, 0);
    run.access(1, Reach, "turn", 2, 0);
    run.access(1, Read, "flag[2]", 0, 3);
    run.enter(1, 3);
    run.push(1, What::Violation { what: "nodes 1 and 2 are inside together".to_owned() });
    run
}

/// One enters again and again, and the other waits for ever.
fn starvation() -> Run {
    let mut run = Run::new("flags", 2);
    run.request(1, Write, "flag[1]", 1, 1);
    run.request(2, Write, "flag[2]", 1, 1);
    run.access(1, Read, "flag[2]", 1, 2);
    run.push(1, What::Loop);
    run.access(1, Write, "flag[1]", 0, 3);
    run.access(2, Read, "flag[1]", 0, 2);
    run.enter(2, 1);
    run.access(1, Read, "flag[2]", 1, 4);
    run.access(2, Write, "flag[2]", 0, 5);
    run.push(2, What::Release);
    run.request(2, Write, "flag[2]", 1, 1);
    run.access(1, Read, "flag[2]", 1, 4);
    run.access(1, Write, "flag[1]", 1, 1);
    run.access(1, Read, "flag[2]", 1, 2);
    run
}

/// Four processes take their tickets with slow writes, one after the other.
fn bakery() -> Run {
    let mut run = Run::new("bakery", 4);
    for me in 1..=4 {
        run.request(me, Begin, &format!("choosing[{me}]"), 1, 1);
        run.access(me % 4 + 1, Read, &format!("choosing[{me}]"), 0, 5);
        run.access(me, End, &format!("choosing[{me}]"), 1, 1);
        for other in 1..=4 {
            let ticket = if other < me { u64::from(other) } else { 0 };
            run.access(me, Read, &format!("number[{other}]"), ticket, 2);
        }
        run.access(me, Write, &format!("number[{me}]"), u64::from(me), 3);
    }
    run.enter(4, 1);
    run
}

/// Sixty steps of two processes with labels of twelve letters; each process makes `in_a_row` steps at a time.
fn sixty(in_a_row: u64) -> Run {
    let mut run = Run::new("sixty", 2);
    for step in 0..60 {
        let at = [1, 2][(step / in_a_row % 2) as usize];
        run.access(at, Read, &format!("value[{}]", step % 10), step % 7, 1);
    }
    run
}

/// Two processes of which one has short labels and the other long ones.
fn long_and_short() -> Run {
    let mut run = Run::new("long and short", 2);
    for value in 0..16 {
        run.access(1, Write, "x", value, 1);
        run.access(2, Read, "a register with its name", 1_000_000 + value, 1);
    }
    run
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

/// What is written beside the accesses, in their order.
fn labels(drawing: &Drawing) -> Vec<String> {
    let document = parsed(drawing);
    let texts = with_class(&document, "label").into_iter();
    texts.filter_map(|label| Some(label.text()?.to_owned())).collect()
}

fn attributes(drawing: &Drawing, classes: &str, name: &str) -> Vec<String> {
    let document = parsed(drawing);
    let elements = with_class(&document, classes).into_iter();
    elements.filter_map(|node| Some(node.attribute(name)?.to_owned())).collect()
}

/// Where a number is an attribute.
fn numbers(drawing: &Drawing, classes: &str, name: &str) -> Vec<f64> {
    attributes(drawing, classes, name).iter().map(|text| text.parse().expect("a number")).collect()
}

const NOTHING: (Vec<(&LabelBox, &LabelBox)>, Vec<&LabelBox>) = (vec![], vec![]);

#[test]
fn a_run_over_shared_memory_is_read_again_as_it_was_written() {
    for run in [peterson(), starvation(), bakery()] {
        let mut text = Vec::new();
        write(&mut text, &run.header, &run.events).expect("memory does not fail");
        let (header, events) = read(text.as_slice()).expect("a header");
        assert_eq!(header, run.header);
        assert_eq!(events.collect::<Result<Vec<_>, _>>().expect("events"), run.events);
    }
}

#[test]
fn every_access_has_its_sign_and_its_label_and_none_is_in_the_way_of_another() {
    let runs = [peterson(), starvation(), bakery(), long_and_short()]
        .into_iter()
        .chain([1, 2, 3, 5, 7, 30, 60].map(sixty));
    for run in runs {
        for (spacing, theme) in [(Spacing::Time, Theme::Light), (Spacing::Even, Theme::Dark)] {
            let drawing = run.drawn(spacing, theme);
            assert_eq!((drawing.overlaps(), drawing.clipped()), NOTHING, "{}", run.header.algorithm);
            assert_eq!(labels(&drawing).len() as u64, run.steps, "{}", run.header.algorithm);
            assert_eq!(attributes(&drawing, "access", "data-event").len() as u64, run.steps);
            assert_eq!(attributes(&drawing, "step", "cx"), Vec::<String>::new(), "the signs are the steps");
        }
    }
}

#[test]
fn columns_are_no_wider_than_their_labels_need() {
    let width = |in_a_row| sixty(in_a_row).drawn(Spacing::Time, Theme::Auto).width;
    assert_eq!([1, 2, 60].map(width), [2177.0, 2242.0, 2316.0]);
}

#[test]
fn a_label_says_in_the_signs_of_the_textbook_what_was_read_or_written() {
    let drawing = peterson().drawn(Spacing::Time, Theme::Auto);
    let expected = "flag[1] := 1, turn := 2, flag[1] → 1, turn → 2, flag[2] = 0, flag[1] := 0, flag[2] := 1, \
                    flag[1] → 0, flag[1] := 1, turn := 1, flag[1] = 0, turn := 2, flag[1] → 1, turn → 2, flag[2] = 0";
    assert_eq!(labels(&drawing).join(", "), expected);
    let slow = bakery().drawn(Spacing::Time, Theme::Auto);
    assert_eq!(labels(&slow)[..3], ["choosing[1] := 1 …", "choosing[1] = 0", "… choosing[1] := 1"]);
}

#[test]
fn a_label_stands_at_its_step_above_its_lane_or_below_it() {
    let drawing = bakery().drawn(Spacing::Time, Theme::Auto);
    let document = parsed(&drawing);
    let mut sides = Vec::new();
    for access in with_class(&document, "access read") {
        let number = |node: Node<'_, '_>, name: &str| -> f64 {
            node.attribute(name).and_then(|text| text.parse().ok()).expect("a number")
        };
        let find = |name: &str| access.descendants().find(|node| node.tag_name().name() == name);
        let (sign, label) = (find("circle").expect("its sign"), find("text").expect("its label"));
        assert_eq!(number(sign, "cx"), number(label, "x"));
        let down = number(label, "y") - number(sign, "cy");
        assert!(down == -18.0 || down == 26.0, "its baseline is {down} below the lane");
        sides.push(down < 0.0);
    }
    assert!(sides.contains(&true) && sides.contains(&false));
}

#[test]
fn entries_and_waits_are_drawn_as_ever_and_a_violation_is_marked() {
    let drawing = peterson().drawn(Spacing::Time, Theme::Auto);
    let counts = [("stay waiting", 3), ("stay inside", 3), ("violation", 1), ("fence", 3)];
    for (classes, count) in counts {
        assert_eq!(with_class(&parsed(&drawing), classes).len(), count, "{classes}");
    }
    assert!(drawing.labels.iter().any(|label| label.text == "time 15: nodes 1 and 2 are inside together"));
}

#[test]
fn an_access_shares_its_moment_with_the_request_or_release_of_its_node_and_with_nothing_else() {
    let mut run = Run::new("at once", 2);
    run.request(1, Write, "x", 1, 1);
    run.request(2, Write, "y", 1, 1);
    run.access(1, Read, "y", 1, 2);
    run.access(2, Read, "x", 1, 2);
    for event in &mut run.events {
        event.time = Ticks(0);
    }
    // A driver may say that the request is the cause of the access.
    run.events[1].cause = Some(1);
    let drawing = run.drawn(Spacing::Time, Theme::Auto);
    let signs: Vec<f64> = numbers(&drawing, "label", "x");
    let waits = attributes(&drawing, "stay waiting", "data-event");
    assert_eq!(waits, ["1", "3"]);
    let document = parsed(&drawing);
    let begins: Vec<f64> = with_class(&document, "stay waiting")
        .iter()
        .filter_map(|stay| stay.last_element_child()?.attribute("x")?.parse().ok())
        .collect();
    assert_eq!(begins, signs[..2]);
    assert!(signs.len() == 4 && signs.is_sorted_by(|one, next| one < next), "{signs:?}");
}

/// Where the band begins that repeats itself.
fn edge(drawing: &Drawing) -> f64 {
    let document = parsed(drawing);
    let band = with_class(&document, "repetition")[0];
    let line = band.descendants().find(|node| node.tag_name().name() == "line").expect("its edge");
    line.attribute("x1").and_then(|x| x.parse().ok()).expect("a place")
}

/// How many labels of accesses are on the left and on the right of a place.
fn sides(drawing: &Drawing, edge: f64) -> [usize; 2] {
    let written = labels(drawing);
    let boxes: Vec<&LabelBox> = drawing.labels.iter().filter(|label| written.contains(&label.text)).collect();
    let left = boxes.iter().filter(|label| label.area.right < edge).count();
    let right = boxes.iter().filter(|label| label.area.left > edge).count();
    [left, right]
}

#[test]
fn what_repeats_is_shaded() {
    let drawing = starvation().drawn(Spacing::Time, Theme::Auto);
    assert_eq!(sides(&drawing, edge(&drawing)), [3, 8]);
    assert!(drawing.svg.contains("What happens after time 3 repeats for ever.</desc>"));
}

#[test]
fn wherever_a_run_begins_to_repeat_itself_no_label_reaches_over_that() {
    for (make, step) in (1..=32).flat_map(|step| [(bakery as fn() -> Run, step), (long_and_short, step)]) {
        let mut run = make();
        let first = run.events.iter().position(|event| event.time == Ticks(step)).expect("a step");
        let before = Event { id: 100, time: Ticks(step - 1), what: What::Loop, ..run.events[first].clone() };
        run.events.insert(first, before);
        let drawing = run.drawn(Spacing::Time, Theme::Auto);
        assert_eq!((drawing.overlaps(), drawing.clipped()), NOTHING, "before step {step}");
        let before = step as usize - 1;
        assert_eq!(sides(&drawing, edge(&drawing)), [before, 32 - before], "before step {step}");
    }
}

#[test]
fn the_key_explains_the_signs_that_occur_and_no_others() {
    let explained = |run: &Run| -> Vec<String> {
        let names = ["read", "write", "a slow write begins", "a slow write ends", "a store reaches memory"];
        let drawing = run.drawn(Spacing::Time, Theme::Auto);
        let texts = drawing.labels.into_iter().map(|label| label.text);
        texts.filter(|text| names.contains(&text.as_str())).collect()
    };
    assert_eq!(explained(&peterson()), ["read", "write", "a store reaches memory"]);
    assert_eq!(explained(&bakery()), ["read", "write", "a slow write begins", "a slow write ends"]);
    assert_eq!(explained(&sixty(1)), ["read"]);
}

#[test]
fn a_barrier_stands_across_its_lane_and_is_in_the_key() {
    let mut run = Run::new("peterson", 2);
    run.request(1, Write, "flag[1]", 1, 1);
    run.access(1, Barrier, "", 0, 2);
    run.access(1, Read, "flag[2]", 0, 3);
    let drawing = run.drawn(Spacing::Time, Theme::Light);
    assert_eq!(labels(&drawing), ["flag[1] := 1", "barrier", "flag[2] = 0"]);
    assert!(drawing.overlaps().is_empty() && drawing.clipped().is_empty());
    assert_eq!(drawing.labels.iter().filter(|label| label.text == "barrier").count(), 2, "one is in the key");
    let document = parsed(&drawing);
    let title =
        with_class(&document, "access barrier")[0].first_element_child().and_then(|title| title.text());
    assert_eq!(title, Some("node 1 passes a barrier, at 2, line 2"));
}

#[test]
fn pointing_at_an_access_tells_who_when_and_which_line() {
    let titles = |run: &Run, classes: &str| -> String {
        let drawing = run.drawn(Spacing::Time, Theme::Auto);
        let document = parsed(&drawing);
        let title = with_class(&document, classes)[0].first_element_child().and_then(|title| title.text());
        title.expect("a title").to_owned()
    };
    assert_eq!(titles(&peterson(), "access read"), "node 1 reads flag[2] = 0, at 5, line 3");
    assert_eq!(titles(&peterson(), "access write"), "node 1 writes flag[1] := 1, at 1, line 1");
    assert_eq!(titles(&peterson(), "access reach"), "what node 1 wrote reaches memory: flag[1] → 1, at 3");
    assert_eq!(titles(&bakery(), "access begin"), "node 1 begins to write choosing[1] := 1, at 1, line 1");
    assert_eq!(titles(&bakery(), "access end"), "node 1 has written choosing[1] := 1, at 3, line 1");
}

#[test]
fn there_is_no_talk_of_channels_where_nothing_is_sent() {
    let drawing = peterson().drawn(Spacing::Time, Theme::Auto);
    let subtitle = "2 nodes · seed 1 · barrier off · memory tso";
    assert!(drawing.labels.iter().any(|label| label.text == subtitle), "{:?}", drawing.labels[1]);
}

#[test]
fn hostile_registers_are_only_texts_and_leave_room_for_others() {
    let mut run = peterson();
    let hostile = "\"><script>alert('&')</script>\u{0}\u{1b}[31m\u{202e}".repeat(9);
    for event in &mut run.events {
        if let What::Access { register, value, line, .. } = &mut event.what {
            (*register, *value, *line) = (hostile.clone().into(), u64::MAX, u32::MAX);
        }
    }
    let drawing = run.drawn(Spacing::Time, Theme::Auto);
    assert!(parsed(&drawing).descendants().all(|node| node.tag_name().name() != "script"));
    assert_eq!((drawing.overlaps(), drawing.clipped()), NOTHING);
    assert_eq!(labels(&drawing).len(), 15);
}

#[test]
fn both_inside_in_buffered_memory_looks_as_reviewed() {
    insta::assert_snapshot!(peterson().drawn(Spacing::Time, Theme::Auto).svg);
}

#[test]
fn starvation_looks_as_reviewed() {
    insta::assert_snapshot!(starvation().drawn(Spacing::Time, Theme::Light).svg);
}

#[test]
fn slow_writes_of_four_look_as_reviewed() {
    insta::assert_snapshot!(bakery().drawn(Spacing::Even, Theme::Dark).svg);
}
