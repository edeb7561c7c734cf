//! Grades the homework. Work from top to bottom: the first tests are about single blanks, the last ones about all of them.

use doorway_checker::{
    Messages, Property, Runs, SchedulerFairness, Search, Setting, System, Watches, explore,
};
use doorway_core::{Channels, Input, Members, Node, NodeId, Out, Phase, Sent, Stamp, Start, To};
use doorway_simulator::{Latency, Load, Settings, Span, simulate};
use homework::{Msg, RicartAgrawala};

/// A node of a system of three, driven by hand. Nodes are numbered from 1, as in the lecture.
struct Desk {
    node: Node<RicartAgrawala>,
    out: Out<Msg>,
}

impl Desk {
    fn of(number: u32) -> Self {
        let members = Members::new(3).expect("three nodes are a system");
        let node = Node::new(RicartAgrawala::new(id(number), &members, Start::Empty));
        Self { node, out: Out::default() }
    }

    /// Takes one step, and returns the messages that it sends: to whom, and which.
    fn step(&mut self, input: Input<Msg>) -> Vec<(u32, Msg)> {
        self.node.step(input, &mut self.out);
        assert_eq!(self.out.breach(), None, "the contract was broken");
        let copies = |sent: &Sent<Msg>| match &sent.to {
            To::One(to) => vec![(to.number(), sent.msg.clone())],
            To::Set(nodes) => nodes.iter().map(|to| (to.number(), sent.msg.clone())).collect(),
        };
        self.out.sends().iter().flat_map(copies).collect()
    }

    fn request(&mut self, from: u32, counter: u64) -> Vec<(u32, Msg)> {
        self.step(Input::Message { from: id(from), msg: Msg::Request(stamp(counter, from)) })
    }

    fn reply(&mut self, from: u32) -> Vec<(u32, Msg)> {
        self.step(Input::Message { from: id(from), msg: Msg::Reply })
    }
}

fn id(number: u32) -> NodeId {
    NodeId::from_number(number).expect("nodes are numbered from 1")
}

fn stamp(counter: u64, node: u32) -> Stamp {
    Stamp { counter, node: id(node) }
}

#[test]
fn blank_1_a_node_that_wants_in_asks_all_others_with_its_timestamp() {
    let mut desk = Desk::of(1);
    let sent = desk.step(Input::Request);
    let request = Msg::Request(stamp(1, 1));
    assert_eq!(
        sent,
        [(2, request.clone()), (3, request)],
        "node 1 asks nodes 2 and 3, and the clock shows 1"
    );
    assert_eq!(desk.node.phase(), Phase::Waiting, "it must wait for their replies");
}

#[test]
fn blank_2_a_node_that_wants_nothing_replies_at_once() {
    let sent = Desk::of(2).request(1, 7);
    assert_eq!(sent, [(1, Msg::Reply)], "node 2 wants nothing, so it replies to node 1");
}

#[test]
fn blank_2_a_node_whose_clock_is_behind_catches_up() {
    let mut desk = Desk::of(2);
    desk.request(1, 41);
    let sent = desk.step(Input::Request);
    let later = |(_, msg): &(u32, Msg)| matches!(msg, Msg::Request(stamp) if stamp.counter > 41);
    assert!(
        sent.iter().all(later),
        "a request made after one with counter 41 has a larger counter: {sent:?}"
    );
}

#[test]
fn blank_2_the_older_request_goes_first() {
    let mut desk = Desk::of(2);
    desk.step(Input::Request);
    assert_eq!(desk.request(3, 1), [], "both have counter 1, and 2 is smaller than 3: node 2 goes first");
    assert_eq!(desk.request(1, 1), [(1, Msg::Reply)], "both have counter 1, and 1 is smaller than 2");
}

#[test]
fn blank_3_a_node_enters_after_the_last_reply_and_not_before() {
    let mut desk = Desk::of(1);
    desk.step(Input::Request);
    desk.reply(3);
    assert_eq!(desk.node.phase(), Phase::Waiting, "the reply of node 2 is still missing");
    desk.reply(2);
    assert_eq!(desk.node.phase(), Phase::Inside, "both have replied");
    assert_eq!(desk.request(2, 9), [], "a node inside replies to nobody");
}

#[test]
fn blank_4_a_node_that_leaves_replies_to_those_it_kept_waiting_and_to_each_once() {
    let mut desk = Desk::of(1);
    let enter_and_leave = |desk: &mut Desk| {
        desk.reply(2);
        desk.reply(3);
        desk.step(Input::Release)
    };
    desk.step(Input::Request);
    desk.request(2, 5);
    assert_eq!(enter_and_leave(&mut desk), [(2, Msg::Reply)], "node 2 was kept waiting, node 3 was not");
    desk.step(Input::Request);
    assert_eq!(enter_and_leave(&mut desk), [], "node 2 has its reply already: a second one would be wrong");
}

/// Explores every run of a small system, and shows a shortest run against the property, if there is one.
fn check(requests: &[u32], properties: &[Property]) {
    let mut setting = Setting::new(requests.to_vec(), Channels::Any);
    setting.watches = Watches { fences: true, ..Watches::default() };
    let mut system = Messages::new(&RicartAgrawala::factory(), setting).expect("a small system");
    let runs = Runs { progress: Some(Some(SchedulerFairness::Weak)), ..Runs::default() };
    let found = explore(&mut system, &Search { runs, ..Search::default() }, &mut |_| ());
    assert!(found.is_complete, "the system is small");
    let wrong = found.violations.iter().find(|violation| properties.contains(&violation.property));
    if let Some(violation) = wrong {
        let steps = (1..)
            .zip(&violation.steps)
            .map(|(number, step)| format!("{number:>4}  {}\n", system.describe(step)));
        panic!("{}: {}, by this run:\n{}", violation.property, violation.what, steps.collect::<String>());
    }
}

#[test]
fn together_never_two_nodes_are_inside_whatever_the_order_of_messages() {
    check(&[1, 1, 1], &[Property::MutualExclusion, Property::Invariants, Property::Fence]);
    check(&[3, 3], &[Property::MutualExclusion, Property::Invariants, Property::Fence]);
}

#[test]
fn together_no_node_waits_for_ever() {
    check(&[1, 1, 1], &[Property::DeadlockFreedom, Property::StarvationFreedom]);
    check(&[3, 3], &[Property::DeadlockFreedom, Property::StarvationFreedom]);
}

#[test]
fn together_an_entry_costs_two_messages_for_each_other_node() {
    for nodes in [1, 2, 5, 16] {
        for load in [Load::Saturated, Load::Isolated, Load::Light(100)] {
            let latency = Latency::Span(Span::Uniform(1, 40));
            let settings = Settings {
                nodes,
                entries: 200,
                load,
                latency,
                channels: Channels::Any,
                ..Settings::default()
            };
            let outcome = simulate(&RicartAgrawala::factory(), &settings).expect("good settings");
            assert!(outcome.as_expected, "{:?} {:?}", outcome.violations, outcome.stall);
            let messages = outcome.measures.traffic.messages;
            assert_eq!(messages, 200 * 2 * (nodes as u64 - 1), "{nodes} nodes, 200 entries");
        }
    }
}
