//! Traces for other tools: a known run exactly as reviewed, and hostile ones that stay data.

use doorway_core::{Fence, NodeId, Ticks};
use doorway_trace::export::{ExportFormat, PARSER, convert, export};
use doorway_trace::{AccessKind, Event, Header, TraceError, What, read, write};
use serde_json::{Value, json};

/// Node 2 enters by asking node 1, a message is lost, another one doubled, and something goes wrong.
fn run() -> (Header, Vec<Event>) {
    let request = || json!({"REQUEST": 3});
    let deliver = |from| What::Deliver { from: node(from), kind: "REQUEST".into(), message: request() };
    let events = [
        (0, 1, What::Start, None),
        (0, 2, What::Start, None),
        (1, 2, What::Request, None),
        (1, 2, What::Send { to: node(1), kind: "REQUEST".into(), message: request() }, Some(3)),
        (4, 1, deliver(2), Some(4)),
        (4, 1, What::Send { to: node(2), kind: "GRANT".into(), message: json!("GRANT") }, Some(5)),
        (4, 1, What::Send { to: node(3), kind: "GRANT".into(), message: json!("GRANT") }, Some(5)),
        (4, 1, What::Lost { to: node(3), kind: "GRANT".into(), why: "drawn by lot".into() }, Some(7)),
        (6, 1, deliver(2), Some(4)),
        (7, 2, What::Deliver { from: node(1), kind: "GRANT".into(), message: json!("GRANT") }, Some(6)),
        (7, 2, What::Enter { fence: Fence(1) }, Some(10)),
        (8, 3, What::Violation { what: "two are inside".to_owned() }, None),
        (8, 3, What::Loop, None),
        (9, 2, What::Release, None),
        (9, 1, What::Request, None),
        (10, 3, What::Crash, None),
    ];
    let event = |(id, (time, who, what, cause))| {
        let rule = matches!(what, What::Send { .. }).then(|| "ask".into());
        Event { id, time: Ticks(time), node: node(who), what, rule, cause }
    };
    (
        Header { start_inside: Some(node(3)), ..Header::new("by-hand", 3, 7) },
        (1..).zip(events).map(event).collect(),
    )
}

fn node(number: u32) -> NodeId {
    NodeId::from_number(number).expect("nodes count from 1")
}

fn exported(form: ExportFormat, header: &Header, events: &[Event]) -> String {
    let mut text = Vec::new();
    export(form, header, events, &mut text).expect("it can be told so");
    String::from_utf8(text).expect("a text")
}

fn known(form: ExportFormat) -> String {
    let (header, events) = run();
    exported(form, &header, &events)
}

#[test]
fn the_log_for_shiviz_looks_as_reviewed() {
    insta::assert_snapshot!(known(ExportFormat::ShiViz));
}

#[test]
fn the_json_for_perfetto_looks_as_reviewed() {
    insta::assert_snapshot!(known(ExportFormat::Perfetto));
}

/// Each event of a log with the number of its node and its clock, as the parser reads them.
fn clocks(log: &str) -> Vec<(String, Value)> {
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!((lines[0], lines[1]), (PARSER, ""));
    let clock = |pair: &[&str]| {
        let (host, clock) = pair[0].split_once(' ').expect("a host and its clock");
        (host.to_owned(), serde_json::from_str(clock).expect("a clock is JSON"))
    };
    lines[2..].chunks(2).map(clock).collect()
}

#[test]
fn a_clock_ticks_with_each_event_of_its_node_and_a_delivery_knows_its_sending() {
    let clocks = clocks(&known(ExportFormat::ShiViz));
    assert_eq!(clocks.len(), 15, "the loop is no event of a node");
    for name in ["node1", "node2", "node3"] {
        let own = clocks.iter().filter(|(host, _)| host == name).map(|(_, clock)| clock[name].as_u64());
        let count = own.clone().count() as u64;
        assert_eq!(own.collect::<Vec<_>>(), (1..=count).map(Some).collect::<Vec<_>>());
    }
    // The GRANT was sent by the third event of node 1, which knew of three events of node 2.
    assert_eq!(clocks[9].1, json!({"node1": 3, "node2": 4}));
    assert_eq!(clocks[8].1, json!({"node1": 6, "node2": 3}), "what is doubled is known twice");
}

#[test]
fn a_reading_knows_the_writing_whose_value_it_reads() {
    let access = |kind, value| What::Access { access: kind, register: "turn".into(), value, line: 1 };
    let log = |header: &Header| {
        let steps = [
            (1, access(AccessKind::Write, 5)),
            (2, access(AccessKind::Read, 5)),
            (3, access(AccessKind::Read, 0)),
        ];
        let event =
            |(id, (who, what))| Event { id, time: Ticks(id), node: node(who), what, rule: None, cause: None };
        let events: Vec<Event> = (1..).zip(steps).map(event).collect();
        clocks(&exported(ExportFormat::ShiViz, header, &events))
    };
    let mut header = Header::new("peterson", 3, 1);
    assert_eq!(log(&header)[1].1, json!({"node1": 1, "node2": 1}));
    assert_eq!(log(&header)[2].1, json!({"node3": 1}), "it reads the initial value");
    header.options.insert("memory".to_owned(), "tso".to_owned());
    assert_eq!(log(&header)[1].1, json!({"node2": 1}), "a buffered store is not seen by others yet");
}

#[test]
fn perfetto_gets_whole_slices_and_a_flow_for_each_message_that_arrives() {
    let trace: Value = serde_json::from_str(&known(ExportFormat::Perfetto)).expect("it is JSON");
    assert_eq!(trace["otherData"]["algorithm"], "by-hand");
    let entries = trace["traceEvents"].as_array().expect("a list");
    let of = |phase: &str| entries.iter().filter(|entry| entry["ph"] == phase).collect::<Vec<_>>();
    assert_eq!((of("B").len(), of("E").len()), (4, 4), "two wait, two are inside, and every slice is closed");
    let ids = |phase: &str| of(phase).iter().map(|entry| entry["id"].as_u64()).collect::<Vec<_>>();
    assert_eq!((ids("s"), ids("f")), (vec![Some(4), Some(6), Some(7)], vec![Some(4), Some(4), Some(6)]));
    let instants: Vec<&str> = of("i").iter().filter_map(|entry| entry["cat"].as_str()).collect();
    assert_eq!(instants, ["loss", "violation", "loop", "crash"]);
    for flow in of("s").into_iter().chain(of("f")) {
        let holds = |slice: &&Value| slice["tid"] == flow["tid"] && slice["ts"] == flow["ts"];
        assert!(of("X").into_iter().any(|slice| holds(&slice)), "nothing holds {flow}");
    }
}

#[test]
fn lines_become_the_same_lines_and_keep_their_number() {
    let (header, events) = run();
    let mut text = Vec::new();
    write(&mut text, &header, &events).expect("memory does not fail");
    assert!(text.starts_with(b"{\"version\":1,\"algorithm\":\"by-hand\""));
    let (header, events) = read(text.as_slice()).expect("a header");
    assert_eq!(events.declared(), Some(16));
    let (mut again, mut told) = (Vec::new(), 0);
    convert(ExportFormat::JsonLines, &header, events, &mut again, &mut |count| told = count)
        .expect("it can be read");
    assert_eq!((told, again), (16, text));
}

#[test]
fn hostile_names_stay_in_their_line_and_their_string() {
    let name = "\"}\nnode9 {\"node9\":1}\n</script>";
    let what = What::Send { to: node(1), kind: name.into(), message: json!({name: name}) };
    let event =
        Event { id: 1, time: Ticks(u64::MAX), node: node(2), what, rule: Some(name.into()), cause: None };
    let header = Header::new(name, 2, 1);
    let log = exported(ExportFormat::ShiViz, &header, std::slice::from_ref(&event));
    assert_eq!(clocks(&log), [("node2".to_owned(), json!({"node2": 1}))]);
    let trace: Value =
        serde_json::from_str(&exported(ExportFormat::Perfetto, &header, &[event])).expect("JSON");
    assert_eq!(trace["otherData"]["algorithm"], name);
}

#[test]
fn a_delivery_of_what_nobody_sent_is_refused_and_a_trace_that_begins_late_is_not() {
    let (header, mut events) = run();
    let exported = |events: &[Event]| export(ExportFormat::ShiViz, &header, events, Vec::new());
    assert!(exported(&events[4..]).is_ok());
    events[9].cause = Some(5);
    let refused = exported(&events).expect_err("event 5 sent nothing");
    assert!(matches!(refused, TraceError::Line { number: 11, .. }));
    assert_eq!(
        refused.to_string(),
        "line 11 of the trace cannot be read: event 10 delivers what event 5 sent, which is no longer remembered"
    );
}
