//! Several named sections in one process: participants, one clock, and why all must acquire them in one
//! order.

use std::sync::Arc;

use doorway_algorithms::message::ricart_agrawala::{Msg, RicartAgrawala};
use doorway_core::{
    Ask, Charter, Factory, Fence, LamportClock, Named, NodeId, NodeSet, Out, Phase, Register, SectionName,
    Sections, Stamp, To,
};
use doorway_simulator::{Engine, Settings};

type Process = Sections<RicartAgrawala>;
type Answer = Named<Msg>;

fn process(number: u32) -> NodeId {
    NodeId::from_number(number).expect("people count from 1")
}

fn set(numbers: &[u32]) -> NodeSet {
    numbers.iter().map(|&number| process(number)).collect()
}

fn section(name: &str) -> SectionName {
    SectionName::new(name).expect("a good name")
}

/// Sections `a` and `b` of the same participants; no other section exists.
fn register(participants: &[u32]) -> Register<RicartAgrawala> {
    let factory = Factory::simple(RicartAgrawala::new);
    let charter = Arc::new(Charter::new(&set(participants), &factory).expect("at least one"));
    Register::new(move |name| ["a", "b"].contains(&name.as_str()).then(|| Arc::clone(&charter)))
}

fn sent(out: &Out<Answer>) -> Vec<(To, &str, &Msg)> {
    out.sends().iter().map(|sent| (sent.to.clone(), sent.msg.section.as_str(), &sent.msg.msg)).collect()
}

fn request(counter: u64, node: u32) -> Msg {
    Msg::Request(Stamp { counter, node: process(node) })
}

#[test]
fn participants_are_renumbered_for_the_algorithm() {
    let mut five = Process::new(process(5), register(&[3, 5, 9]));
    let mut out: Out<Answer> = Out::default();
    assert_eq!(five.request(&section("a"), &mut out), None);
    assert_eq!(sent(&out), [(To::Set(set(&[3, 9])), "a", &request(1, 2))]);
    let reply = |out: &mut Out<Answer>, from, five: &mut Process| {
        let msg = Msg::Reply { counter: 1, clock: LamportClock::at(1) };
        five.message(process(from), Named { section: section("a"), fence: Fence(6), msg }, out)
    };
    assert_eq!(reply(&mut out, 3, &mut five), None);
    assert_eq!(reply(&mut out, 9, &mut five), Some(Fence(7)), "one more than what was heard of");
    assert_eq!((five.phase(&section("a")), five.phase(&section("b"))), (Phase::Inside, Phase::Outside));
}

#[test]
fn a_request_for_an_unopened_section_is_answered_at_once() {
    let mut one = Process::new(process(1), register(&[1, 2]));
    let mut out = Out::default();
    let named = Named { section: section("b"), fence: Fence(0), msg: request(41, 2) };
    assert_eq!(one.message(process(2), named, &mut out), None);
    let reply = Msg::Reply { counter: 41, clock: LamportClock::at(41) };
    assert_eq!(sent(&out), [(To::One(process(2)), "b", &reply)]);
}

#[test]
fn all_sections_of_a_process_share_one_clock() {
    let mut one = Process::new(process(1), register(&[1, 2]));
    one.hear(LamportClock::at(41));
    let mut out = Out::default();
    one.request(&section("a"), &mut out);
    assert_eq!(sent(&out), [(To::Set(set(&[2])), "a", &request(42, 1))], "the notes ask at T = 42");
    out.clear();
    let late = Named { section: section("b"), fence: Fence(0), msg: request(41, 2) };
    one.message(process(2), late, &mut out);
    assert_eq!(one.clock(), LamportClock::at(42), "41 is no news");
    let young = Named { section: section("b"), fence: Fence(0), msg: request(99, 2) };
    one.message(process(2), young, &mut out);
    out.clear();
    one.request(&section("b"), &mut out);
    assert_eq!(sent(&out), [(To::Set(set(&[2])), "b", &request(100, 1))], "younger than all heard of in b");
    out.clear();
    let reply = Msg::Reply { counter: 42, clock: LamportClock::at(150) };
    one.message(process(2), Named { section: section("a"), fence: Fence(0), msg: reply }, &mut out);
    one.release(&section("a"), &mut out);
    out.clear();
    one.request(&section("a"), &mut out);
    assert_eq!(sent(&out), [(To::Set(set(&[2])), "a", &request(151, 1))]);
}

#[test]
fn a_message_from_outside_is_reported_and_changes_nothing() {
    let mut one = Process::new(process(1), register(&[1, 2]));
    let before = one.clone();
    for (name, from) in [("a", 3), ("c", 2)] {
        let mut out: Out<Answer> = Out::default();
        let named = Named { section: section(name), fence: Fence(9), msg: request(9, 2) };
        assert_eq!(one.message(process(from), named, &mut out), None);
        assert_eq!(out.breach(), Some("a message for a section in which its sender takes no part"));
        assert!(out.sends().is_empty());
    }
    let mut out: Out<Answer> = Out::default();
    one.request(&section("c"), &mut out);
    assert_eq!(out.breach(), Some("a section that does not exist"));
    assert_eq!(one, before);
    let mut stranger = Process::new(process(3), register(&[1, 2]));
    let mut out: Out<Answer> = Out::default();
    stranger.request(&section("a"), &mut out);
    assert_eq!(out.breach(), Some("a section in which this process takes no part"));
}

/// Each process acquires its sections in the order of its list and releases them when it holds both.
fn done_when_taken_in(orders: [[&str; 2]; 2]) -> [bool; 2] {
    let machines = [1, 2].map(|number| Process::new(process(number), register(&[1, 2])));
    let mut engine = Engine::new(machines.into(), &Settings { nodes: 2, ..Settings::default() });
    let mut taken = [0, 0];
    for number in [1, 2] {
        engine.command(process(number), (section(orders[number as usize - 1][0]), Ask::Request));
    }
    while engine.next_time().is_some() {
        let Some(node) = engine.advance() else { continue };
        for _ in 0..engine.effects().notices.len() {
            let order = orders[node.index()];
            taken[node.index()] += 1;
            match taken[node.index()] {
                1 => engine.command(node, (section(order[1]), Ask::Request)),
                _ => order.iter().for_each(|name| engine.command(node, (section(name), Ask::Release))),
            }
        }
    }
    taken.map(|taken| taken == 2)
}

#[test]
fn only_a_common_order_of_acquisition_avoids_deadlock() {
    assert_eq!(done_when_taken_in([["a", "b"], ["a", "b"]]), [true, true]);
    assert_eq!(done_when_taken_in([["a", "b"], ["b", "a"]]), [false, false]);
}
