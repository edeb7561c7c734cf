//! Logical time of a known run, number for number.

use doorway_core::{NodeId, Ticks};
use doorway_trace::clocks::times;
use doorway_trace::{AccessKind, ClockKind, Event, Header, LogicalTime, What};
use serde_json::json;

fn node(number: u32) -> NodeId {
    NodeId::from_number(number).expect("nodes count from 1")
}

fn send(to: u32) -> What {
    What::Send { to: node(to), kind: "REQUEST".into(), message: json!(null) }
}

fn deliver(from: u32) -> What {
    What::Deliver { from: node(from), kind: "REQUEST".into(), message: json!(null) }
}

fn run(steps: impl IntoIterator<Item = (u32, What, Option<u64>)>) -> Vec<Event> {
    let event =
        |(id, (who, what, cause))| Event { id, time: Ticks(id), node: node(who), what, rule: None, cause };
    (1..).zip(steps).map(event).collect()
}

/// Node 1 is set to 41, asks and sends to nodes 2 and 3; node 2 is set to 42 and answers; node 3 works alone.
fn known() -> Vec<Event> {
    run([
        (1, What::Clock { count: 41 }, None),
        (1, What::Request, None),
        (1, send(2), Some(2)),
        (2, What::Clock { count: 42 }, None),
        (3, What::Request, None),
        (2, deliver(1), Some(3)),
        (2, send(1), Some(6)),
        (3, What::Loop, None),
        (1, deliver(2), Some(7)),
        (1, What::Clock { count: 7 }, None),
    ])
}

fn stamped(events: &[Event], nodes: usize) -> Vec<Option<LogicalTime>> {
    times(&Header::new("by-hand", nodes, 1), events, ClockKind::Both).expect("few are in flight")
}

fn labels(kind: ClockKind, nodes: usize) -> Vec<String> {
    stamped(&known(), nodes).iter().flatten().map(|time| kind.label(time, nodes)).collect()
}

#[test]
fn a_receipt_is_one_later_than_the_later_of_its_node_and_its_sending() {
    // Node 2 goes from 42 over 44 to 45: the message was sent at 43. The last clock is set back to 7, which moves no time back.
    assert_eq!(labels(ClockKind::Lamport, 3), ["41", "42", "43", "42", "1", "44", "45", "46", "47"]);
}

#[test]
fn a_vector_counts_the_events_of_each_node_that_are_known() {
    let expected =
        ["[1 0 0]", "[2 0 0]", "[3 0 0]", "[0 1 0]", "[0 0 1]", "[3 2 0]", "[3 3 0]", "[4 3 0]", "[5 3 0]"];
    assert_eq!(labels(ClockKind::Vector, 3), expected);
    assert_eq!(labels(ClockKind::Both, 3)[5], "44 [3 2 0]");
    assert_eq!(labels(ClockKind::Vector, 17)[5], "{1:3 2:2}", "many nodes: only those with a count");
}

#[test]
fn lamport_time_alone_keeps_no_vectors() {
    let scalar =
        times(&Header::new("by-hand", 3, 1), &known(), ClockKind::Lamport).expect("few are in flight");
    let of = |times: &[Option<LogicalTime>]| -> Vec<u64> {
        times.iter().flatten().map(|time| time.lamport).collect()
    };
    assert_eq!(of(&scalar), of(&stamped(&known(), 3)));
    assert!(scalar.iter().flatten().all(|time| time.vector.iter().count() == 0));
}

#[test]
fn a_loop_has_no_time() {
    let times = stamped(&known(), 3);
    assert_eq!(times.iter().position(Option::is_none), Some(7));
    assert_eq!(times.iter().flatten().count(), 9);
}

#[test]
fn vectors_decide_what_happened_before_and_scalars_do_not() {
    let times: Vec<LogicalTime> = stamped(&known(), 3).into_iter().flatten().collect();
    let (sent, alone, received) = (&times[2], &times[4], &times[5]);
    assert!(sent.vector.happened_before(&received.vector) && sent.lamport < received.lamport);
    assert!(alone.vector.is_concurrent_with(&received.vector) && alone.lamport < received.lamport);
    assert!(!received.vector.happened_before(&received.vector));
    assert!(!received.vector.is_concurrent_with(&received.vector));
}

#[test]
fn the_events_of_one_step_have_a_span() {
    let times: Vec<LogicalTime> = stamped(&known(), 3).into_iter().flatten().collect();
    let span = |kind: ClockKind, from: usize, to: usize| kind.span(node(1), [&times[from], &times[to]], 3);
    assert_eq!(span(ClockKind::Lamport, 1, 2), "42–43");
    assert_eq!(span(ClockKind::Vector, 1, 2), "[2–3 0 0]");
    assert_eq!(span(ClockKind::Both, 2, 2), "43 [3 0 0]");
}

#[test]
fn a_read_is_later_than_the_write_whose_value_it_reads() {
    let access = |kind, value| What::Access { access: kind, register: "turn".into(), value, line: 1 };
    let events = run([
        (1, access(AccessKind::Write, 1), None),
        (1, access(AccessKind::Write, 5), None),
        (2, access(AccessKind::Read, 5), None),
        (3, access(AccessKind::Read, 0), None),
    ]);
    let times: Vec<LogicalTime> = stamped(&events, 3).into_iter().flatten().collect();
    let told: Vec<String> = times.iter().map(|time| ClockKind::Both.label(time, 3)).collect();
    assert_eq!(told, ["1 [1 0 0]", "2 [2 0 0]", "3 [2 1 0]", "1 [0 0 1]"]);
}

#[test]
fn a_kind_of_clock_has_a_name() {
    assert_eq!("vector".parse(), Ok(ClockKind::Vector));
    let refusal = "wall".parse::<ClockKind>().expect_err("it is no logical clock").to_string();
    assert_eq!(refusal, "\"wall\" is not a logical clock: the clocks are lamport, vector and both");
}
