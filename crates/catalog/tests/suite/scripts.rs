//! The scripts that ship with Doorway come out as they say, and wrong ones are refused with their line.

use std::fs;

use doorway_core::{NodeId, NodeSet, Ticks};
use doorway_simulator::Repetition;
use doorway_trace::{Event, What};

use crate::laboratory::{play, scripts, shipped};

fn refusal(text: &str) -> String {
    play(text).expect_err("it cannot be done").to_string()
}

#[test]
fn every_script_that_ships_comes_out_as_it_says() {
    for path in scripts() {
        let text = fs::read_to_string(&path).expect("it can be read");
        let outcome = play(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(outcome.as_expected, "{}: {outcome:?}", path.display());
    }
    let specimens =
        scripts().into_iter().filter(|path| path.parent().is_some_and(|to| to.ends_with("specimens")));
    assert_eq!((scripts().len(), specimens.count()), (52, 33));
}

#[test]
fn the_thirteen_nodes_end_in_a_deadlock_without_remedies() {
    let outcome = play(&shipped("thirteen-nodes-deadlock.script")).expect("it can be played");
    let stall = outcome.stall.expect("nobody can go on");
    assert_eq!(stall.cycle.iter().map(|node| node.number()).collect::<Vec<_>>(), [7, 8, 11]);
    assert_eq!(
        stall.to_string(),
        "node 7 waits for {10}; node 8 waits for {1}; node 11 waits for {13}; wait-for cycle: 7 → 8 → 11 → 7"
    );
}

#[test]
fn the_thirteen_nodes_are_resolved_by_the_full_algorithm_in_32_messages() {
    let outcome = play(&shipped("thirteen-nodes-resolved.script")).expect("it can be played");
    let kinds: Vec<(&str, u64)> = outcome.measures.traffic.kinds().collect();
    let expected =
        [("REQUEST", 9), ("LOCKED", 10), ("FAILED", 1), ("INQUIRE", 2), ("RELINQUISH", 1), ("RELEASE", 9)];
    assert_eq!(kinds, expected);
    assert_eq!((outcome.measures.entries, outcome.stall), (3, None));
}

#[test]
fn maekawa_as_printed_ends_in_the_overtaking_deadlock_and_corrected_does_not() {
    let printed = shipped("maekawa-overtaken.script");
    assert_eq!(play(&printed).expect("it can be played").stall.expect("a deadlock").waiting.len(), 3);
    let corrected = printed.replace("maekawa/no-failed-when-overtaken", "maekawa");
    let corrected = corrected.split("expect deadlock").next().expect("the actions").to_owned();
    let outcome =
        play(&format!("{corrected}expect in-flight 1\ndeliver 4->3 FAILED\ndeliver all")).expect("it plays");
    assert_eq!(outcome.stall, None);
}

#[test]
fn lamport_lets_two_in_when_channels_are_not_fifo_and_fifo_channels_forbid_that_run() {
    let script = shipped("lamport-without-fifo.script");
    let outcome = play(&script).expect("it can be played");
    assert_eq!(outcome.violations[0], "time 8: nodes 1 and 2 are inside together");
    assert_eq!(
        refusal(&script.replace("channels any", "channels fifo")),
        "line 12 of the script: REPLY 3->1 cannot arrive on fifo channels before REQUEST 3->1, which was sent first"
    );
}

#[test]
fn an_impossible_delivery_is_refused_with_its_line_and_what_is_in_flight() {
    let start = "algorithm central\nnodes 3\nrequest 2\n";
    assert_eq!(
        refusal(&format!("{start}deliver 1->2 GRANT")),
        "line 4 of the script: there is no GRANT 1->2 in flight; in flight: 2->1 REQUEST"
    );
    assert_eq!(
        refusal(&format!("{start}deliver 2->1\ndeliver 1->2\ndeliver 2->1")),
        "line 6 of the script: there is no message 2->1 in flight; nothing is"
    );
}

#[test]
fn what_a_node_cannot_do_is_refused_with_its_line() {
    let start = "algorithm central\nnodes 3\n";
    let said = |line: &str| refusal(&format!("{start}{line}"));
    assert_eq!(said("request 4"), "line 3 of the script: there is no node 4: nodes are 1 to 3");
    assert_eq!(
        said("release 2"),
        "line 3 of the script: node 2 is outside and cannot leave: it must be inside"
    );
    assert_eq!(
        said("request 2\nrequest 2"),
        "line 4 of the script: node 2 is waiting and cannot ask: it must be outside"
    );
    assert_eq!(said("crash 2\nrequest 2"), "line 4 of the script: node 2 has crashed and cannot ask");
    assert_eq!(said("clock 1 = 3"), "line 3 of the script: this algorithm has no logical clock to set");
    assert_eq!(
        said("expect state 1 mood = good"),
        "line 3 of the script: node 1 has no field \"mood\", only busy with, queue"
    );
    assert!(refusal("algorithm token-ring\nnodes 3\ndeliver all").contains("does not come to an end"));
}

#[test]
fn an_expectation_that_is_not_met_says_what_is_so_instead() {
    let error =
        play("algorithm central\nnodes 3\nrequest 1\nexpect inside 2").expect_err("1 is inside, not 2");
    assert!(error.is_unmet());
    assert_eq!(error.to_string(), "line 4 of the script: who is inside is expected to be {2} and is {1}");
    let error = play("algorithm central\nnodes 3\nrequest 2\nexpect deadlock 2").expect_err("it can go on");
    assert!(error.to_string().ends_with("something can still happen; in flight: 2->1 REQUEST"), "{error}");
}

#[test]
fn messages_can_be_lost_and_doubled_by_hand() {
    let lost = play("algorithm central\nnodes 3\nrequest 2\nlose 2->1\nexpect deadlock 2")
        .expect("it can be played");
    assert_eq!(lost.stall.expect("a stall").lost, ["REQUEST 2->1 (lost by the script)"]);
    let doubled = "algorithm central\nnodes 3\nrequest 2\nduplicate 2->1\nexpect in-flight 2\ndeliver all\nrelease 2\n\
                   deliver all\nexpect violation";
    play(doubled).expect("a doubled REQUEST lets node 2 in again when it does not wait");
}

#[test]
fn causal_channels_forbid_what_fifo_channels_allow() {
    let relayed = "algorithm ricart-agrawala\nnodes 3\nrequest 1\ndeliver 1->2 REQUEST\nrequest 2\n";
    play(&format!("{relayed}channels fifo\n")).expect_err("the heading comes first");
    play(&format!("{relayed}deliver 2->3 REQUEST")).expect("fifo looks at one channel at a time");
    assert_eq!(
        refusal(&format!("channels causal\n{relayed}deliver 2->3 REQUEST")),
        "line 7 of the script: REQUEST 2->3 cannot arrive on causal channels before REQUEST 1->3, which was sent first"
    );
}

#[test]
fn a_message_is_named_by_its_place_among_those_of_its_kind() {
    // Node 1 asks, node 2 answers and asks: two kinds on one channel.
    let start =
        "algorithm ricart-agrawala\nnodes 2\nchannels any\nrequest 1\ndeliver 1->2 REQUEST\nrequest 2\n";
    let after = |line: &str, rest: &str| play(&format!("{start}{line}\nexpect in-flight 1\n{rest}"));
    after("deliver 2->1 #1", "expect inside 1\ndeliver 2->1 REQUEST").expect("the REPLY was sent first");
    after("deliver 2->1 #2", "expect inside nobody\ndeliver 2->1 REPLY")
        .expect("the REQUEST was sent second");
    after("lose 2->1 #2", "deliver 2->1 REPLY\nexpect inside 1").expect("the REQUEST is gone");
    assert_eq!(
        refusal(&format!("{start}deliver 2->1 REPLY #2")),
        "line 7 of the script: there is no REPLY 2->1 #2 in flight, only 1; in flight: 2->1 REPLY, 2->1 REQUEST"
    );
    assert_eq!(
        refusal(&format!("{start}lose 2->1 #3")),
        "line 7 of the script: there is no message 2->1 #3 in flight, only 2; in flight: 2->1 REPLY, 2->1 REQUEST"
    );
    assert_eq!(
        refusal(&format!("{start}duplicate 1->2 REPLY #2")),
        "line 7 of the script: there is no REPLY 1->2 in flight; in flight: 2->1 REPLY, 2->1 REQUEST"
    );
    let fifo = start.replace("channels any", "channels fifo");
    assert_eq!(
        refusal(&format!("{fifo}deliver 2->1 #2")),
        "line 7 of the script: REQUEST 2->1 cannot arrive on fifo channels before REPLY 2->1, which was sent first"
    );
}

#[test]
fn of_two_messages_of_a_kind_the_second_can_come_first() {
    // A copy of the REPLY to the first request is still under way when that to the second one is sent.
    let start = "algorithm ricart-agrawala\nnodes 2\nchannels any\nrequest 1\ndeliver 1->2\nduplicate 2->1 REPLY\n\
                 deliver 2->1 REPLY\nrelease 1\nrequest 1\ndeliver 1->2\n";
    let events = |line: &str| play(&format!("{start}{line}")).expect("it can be played").events();
    let sent_by = |line: &str| {
        let events = events(line);
        let delivery = events.iter().rfind(|event| matches!(event.what, What::Deliver { .. })).expect("one");
        let cause = delivery.cause.expect("it was sent");
        events.iter().find(|event| event.id == cause).expect("it is there").time.0
    };
    assert_eq!(sent_by("deliver 2->1 REPLY"), 2);
    assert_eq!(sent_by("deliver 2->1 REPLY #1"), 2);
    assert_eq!(sent_by("deliver 2->1 REPLY #2"), 7);
}

/// Node 2 of a central server is never served, because its request got lost; node 3 comes and goes.
const STARVED: &str = "algorithm central\nnodes 3\nrequest 2\nlose 2->1 REQUEST\nloop\nrequest 3\ndeliver 3->1 REQUEST\n\
                       deliver 1->3 GRANT\nexpect inside 3\nrelease 3\ndeliver 3->1 RELEASE\nexpect waiting 2\n";

#[test]
fn a_script_with_a_loop_comes_out_if_its_expectations_hold_after_it() {
    let outcome = play(STARVED).expect("it can be played");
    let starving: NodeSet = [NodeId::new(1)].into_iter().collect();
    assert_eq!(outcome.repetition, Some(Repetition { from: Ticks(2), starving }));
    assert!(outcome.as_expected && outcome.stall.is_none(), "it goes on for ever: {:?}", outcome.stall);
    assert_eq!(outcome.measures.time, 7, "a loop takes no tick");
    let without = play(&STARVED.replace("loop\n", "")).expect("it can be played");
    assert!(!without.as_expected && without.stall.is_some() && without.repetition.is_none());
    let error = play(&STARVED.replace("waiting 2", "waiting 3")).expect_err("2 waits, not 3");
    assert_eq!(error.to_string(), "line 12 of the script: who is waiting is expected to be {3} and is {2}");
}

#[test]
fn who_enters_in_the_loop_does_not_starve_although_it_waits_at_both_ends() {
    let outcome = play(&shipped("specimens/maekawa-node-first.script")).expect("it can be played");
    let repetition = outcome.repetition.expect("it has a loop");
    assert_eq!((repetition.from, repetition.starving.to_string()), (Ticks(34), "{3}".to_owned()));
}

#[test]
fn a_trace_remembers_where_the_loop_begins() {
    let traced = play(STARVED).expect("it can be played").events();
    let found = traced.iter().position(|event| event.what == What::Loop).expect("it is there");
    assert_eq!(traced[found].time, Ticks(2));
    assert!(matches!(traced[found + 1].what, What::Request), "{:?}", traced[found + 1]);
    let plain = play(&STARVED.replace("loop\n", "")).expect("it can be played").events();
    let whats = |events: &[Event]| -> Vec<What> {
        events.iter().map(|event| event.what.clone()).filter(|what| *what != What::Loop).collect()
    };
    assert_eq!(whats(&traced), whats(&plain), "it changes nothing");
}
