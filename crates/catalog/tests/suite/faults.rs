//! What goes wrong, goes wrong as it should: loss, duplication, crashes, partitions, and the layer that hides them.

use crate::laboratory::{correct, run_plain, typed};
use doorway_core::{Channels, NodeId, Start, Ticks};
use doorway_simulator::{Latency, Load, Settings, Span};
use doorway_trace::{Event, What};

fn settings(seed: u64) -> Settings {
    let latency = Latency::Span(typed("uniform:1:30"));
    Settings { nodes: 5, entries: 40, latency, seed, invariants: true, ..Settings::default() }
}

#[test]
fn under_the_retransmission_layer_every_algorithm_survives_loss_duplication_and_a_partition_that_heals() {
    for (name, seed) in correct().into_iter().flat_map(|name| (1..=50).map(move |seed| (name, seed))) {
        let mut settings = settings(seed);
        settings.faults.loss = typed("0.3");
        settings.faults.duplicate = typed("0.2");
        settings.faults.retransmit = true;
        settings.faults.partitions = vec![typed("1,2|3,4,5@100..2000")];
        let outcome = run_plain(name, &settings);
        assert!(outcome.as_expected, "{name}, seed {seed}: {:?} {:?}", outcome.stall, outcome.violations);
        let traffic = outcome.measures.traffic;
        assert_eq!((outcome.measures.entries, traffic.lost), (40, 0), "{name}, seed {seed}");
        assert!(traffic.resent > 0 && traffic.acknowledgements >= traffic.messages, "{name}, seed {seed}");
    }
}

#[test]
fn without_it_every_algorithm_stalls_when_messages_are_lost_and_the_report_says_what_was_lost() {
    for name in correct() {
        let stall = (1..=20).find_map(|seed| {
            let mut settings = settings(seed);
            settings.faults.loss = typed("0.2");
            settings.invariants = false;
            run_plain(name, &settings).stall
        });
        let stall = stall.unwrap_or_else(|| panic!("{name} survives the loss of its messages"));
        assert!(!stall.waiting.is_empty() && stall.lost[0].ends_with("(drawn by lot)"), "{name}: {stall}");
        assert!(stall.waiting.iter().all(|waiting| !waiting.missing.is_empty()), "{name}: {stall}");
    }
}

#[test]
fn a_crash_of_a_needed_node_stalls_the_others_and_the_report_names_it() {
    for name in correct().into_iter().filter(|name| *name != "replicated") {
        let mut settings = Settings { nodes: 5, entries: 100, ..Settings::default() };
        settings.start = Start::Inside(NodeId::new(2));
        settings.faults.crashes = vec![typed("3@2")];
        let stall =
            run_plain(name, &settings).stall.unwrap_or_else(|| panic!("{name} survives the holder's crash"));
        assert_eq!(stall.crashed.iter().map(|node| node.number()).collect::<Vec<_>>(), [3], "{name}");
        assert!(stall.waiting.iter().all(|waiting| waiting.node.number() != 3), "{name}: {stall}");
    }
}

#[test]
fn a_node_that_is_not_needed_may_crash() {
    let mut settings = Settings { nodes: 5, entries: 100, load: Load::Active(2), ..Settings::default() };
    settings.faults.crashes = vec![typed("5@50")];
    let central = run_plain("central", &settings);
    assert!(central.as_expected, "{:?}", central.stall);
    assert_eq!(central.measures.entries, 100);
}

#[test]
fn raw_duplicates_are_noticed_by_an_algorithm_that_names_its_requests() {
    let found = (1..=20).any(|seed| {
        let mut settings = settings(seed);
        settings.faults.duplicate = typed("0.2");
        let outcome = run_plain("ricart-agrawala", &settings);
        outcome.violations.iter().any(|what| what.ends_with("REPLY that answers no open request"))
    });
    assert!(found);
}

#[test]
fn a_partition_that_heals_loses_what_was_sent_across_it_without_the_layer() {
    let mut settings = Settings { nodes: 4, entries: 100, ..Settings::default() };
    settings.faults.partitions = vec![typed("1,2|3,4@100..200")];
    let outcome = run_plain("ricart-agrawala", &settings);
    let stall = outcome.stall.expect("a REQUEST or REPLY is gone for good");
    assert!(stall.lost.iter().all(|message| message.ends_with("(the link was cut)")), "{stall}");
}

#[test]
fn causal_delivery_is_kept_whatever_the_latency() {
    for (name, seed) in correct().into_iter().flat_map(|name| (1..=20).map(move |seed| (name, seed))) {
        let latency = Latency::Span(typed("exponential:40"));
        let (channels, trace) = (Channels::Causal, true);
        let settings =
            Settings { nodes: 4, entries: 30, latency, channels, trace, seed, ..Settings::default() };
        causality::check(&run_plain(name, &settings).events(), 4);
    }
}

/// Checks causal delivery from a trace alone, by vector clocks of its own.
pub mod causality {
    use std::collections::BTreeMap;

    use doorway_core::VectorClock;
    use doorway_trace::{Event, What};

    /// No node gets a message before another one to it that was sent causally earlier.
    pub fn check(events: &[Event], n: usize) {
        let mut clocks = vec![VectorClock::new(n); n];
        let mut sent = BTreeMap::new();
        let mut undelivered: BTreeMap<u64, (VectorClock, usize)> = BTreeMap::new();
        for event in events {
            let clock = &mut clocks[event.node.index()];
            match &event.what {
                What::Send { to, .. } => {
                    clock.tick(event.node);
                    sent.insert(event.id, clock.clone());
                    undelivered.insert(event.id, (clock.clone(), to.index()));
                }
                What::Deliver { .. } => {
                    let id = event.cause.expect("a delivery names its sending");
                    let (mine, to) = undelivered.remove(&id).expect("it is delivered once");
                    let overtaken =
                        undelivered.values().find(|(other, at)| *at == to && other.happened_before(&mine));
                    assert_eq!(overtaken, None, "{event:?} arrives too early");
                    clock.merge(&mine);
                    clock.tick(event.node);
                }
                _ => {}
            }
        }
        assert!(undelivered.len() <= 1, "only a perpetual token may be left over");
    }
}

#[test]
fn entries_are_in_happened_before_order_with_lamport_and_ricart_agrawala_and_not_with_carvalho_roucairol() {
    let out_of_order = |name: &str| -> u64 {
        (1..=200)
            .map(|seed| {
                let settings = Settings { order: true, invariants: false, entries: 100, ..settings(seed) };
                run_plain(name, &settings).measures.out_of_order.expect("it was asked for")
            })
            .sum()
    };
    assert_eq!((out_of_order("lamport"), out_of_order("ricart-agrawala")), (0, 0));
    assert!(out_of_order("carvalho-roucairol") > 0);
}

#[test]
fn the_application_is_a_party_of_its_own_and_its_words_take_their_time() {
    const L: u64 = 3;
    let isolated =
        Settings { local_latency: Ticks(L), load: Load::Isolated, entries: 50, ..Settings::default() };
    let measures = run_plain("ricart-agrawala", &isolated).measures;
    assert_eq!(measures.waiting_time.max(), Some(L + 20 + L));
    assert_eq!(measures.response_time.max(), Some(L + 20 + L + 5));
    let hold = Span::Constant(50);
    let saturated = Settings { local_latency: Ticks(L), hold, entries: 50, ..Settings::default() };
    let measures = run_plain("ricart-agrawala", &saturated).measures;
    assert_eq!(
        (measures.sync_delay.quantile(0.0), measures.sync_delay.max()),
        (Some(L + 10 + L), Some(L + 10 + L))
    );
}

#[test]
fn a_latency_matrix_gives_each_pair_its_own_delay() {
    let latency = Latency::matrix("0 5 50 # from node 1\n5 0 50\n50 50 0").expect("three rows");
    let settings = Settings { nodes: 3, entries: 20, load: Load::Active(1), latency, ..Settings::default() };
    let measures = run_plain("ricart-agrawala", &settings).measures;
    assert_eq!((measures.waiting_time.quantile(0.0), measures.waiting_time.max()), (Some(100), Some(100)));
}

#[test]
fn warm_up_leaves_out_exactly_the_first_entries() {
    let all = Settings { nodes: 4, entries: 100, ..Settings::default() };
    let measured = run_plain("suzuki-kasami", &Settings { warmup: 30, ..all.clone() }).measures;
    assert_eq!(
        (measured.entries, measured.waiting_time.count(), measured.response_time.count()),
        (70, 70, 70)
    );
    let whole = run_plain("suzuki-kasami", &all).measures;
    assert!(measured.traffic.messages < whole.traffic.messages);
    assert_eq!(measured.time, whole.time, "the run itself is the same");
}

#[test]
fn a_request_that_its_node_has_not_heard_of_yet_is_no_livelock() {
    let settings =
        Settings { nodes: 3, entries: 10, local_latency: Ticks(100_000_000), ..Settings::default() };
    let outcome = run_plain("token-ring", &settings);
    assert!(outcome.as_expected, "{:?} {:?}", outcome.stall, outcome.violations);
    assert_eq!(outcome.measures.entries, 10);
}

#[test]
fn requests_that_nobody_is_left_to_make_are_reported() {
    let mut settings = Settings { nodes: 3, entries: 100, load: Load::Active(1), ..Settings::default() };
    settings.faults.crashes = vec![typed("1@100")];
    let outcome = run_plain("ricart-agrawala", &settings);
    assert_eq!((outcome.measures.entries, outcome.unissued, outcome.as_expected), (4, 96, false));
}

#[test]
fn a_holder_that_was_inside_at_the_start_may_crash_after_it_has_left() {
    for (name, entries) in correct().into_iter().flat_map(|name| [1, 100].map(|entries| (name, entries))) {
        let start = Start::Inside(NodeId::new(2));
        let mut settings =
            Settings { nodes: 3, entries, load: Load::Active(1), start, ..Settings::default() };
        settings.faults.crashes = vec![typed("3@20")];
        let outcome = run_plain(name, &settings);
        assert_eq!(
            outcome.as_expected,
            outcome.stall.is_none() && outcome.measures.entries == entries,
            "{name}"
        );
    }
}

#[test]
fn nodes_crash_when_they_must_and_first_of_all() {
    let crashes_at = |hold: &str, crash: &str| {
        let mut settings =
            Settings { nodes: 4, entries: 8, hold: typed(hold), trace: true, ..Settings::default() };
        settings.faults.crashes = vec![typed(crash)];
        let events = run_plain("central", &settings).events();
        let crash = events.iter().position(|event| event.what == What::Crash).expect("it crashes");
        let node = events[crash].node;
        assert!(
            events[crash..].iter().skip(1).all(|event| event.node != node || is_lost(event)),
            "{crash:?}"
        );
        (crash == 0, events[crash].time.0)
    };
    fn is_lost(event: &Event) -> bool {
        matches!(event.what, What::Lost { .. })
    }
    assert_eq!(crashes_at("1000", "3@50"), (false, 50));
    assert_eq!(crashes_at("5", "3@13"), (false, 13));
    assert_eq!(crashes_at("5", "3@0"), (true, 0));
}

#[test]
fn a_message_lost_to_a_crash_names_its_sending() {
    let mut settings = Settings { nodes: 3, entries: 20, trace: true, ..Settings::default() };
    settings.faults.crashes = vec![typed("3@25")];
    let events = run_plain("lamport", &settings).events();
    let lost: Vec<&Event> = events.iter().filter(|event| matches!(event.what, What::Lost { .. })).collect();
    assert!(!lost.is_empty() && lost.iter().all(|event| event.cause.is_some()), "{lost:?}");
}

#[test]
fn a_ring_whose_own_channels_take_no_time_is_stopped() {
    let latency = Latency::matrix("0 0 5\n5 0 0\n0 5 0").expect("three rows");
    let settings = Settings { nodes: 3, entries: 10, load: Load::Light(100), latency, ..Settings::default() };
    let violations = run_plain("token-ring", &settings).violations;
    assert!(
        violations[0].ends_with("time stands still: messages travel for ever within one tick"),
        "{violations:?}"
    );
}

#[test]
fn entries_out_of_order_during_the_warm_up_are_left_out() {
    let settings = Settings { order: true, invariants: false, entries: 1_000, ..settings(1) };
    let all = run_plain("raymond", &settings).measures.out_of_order.expect("it was asked for");
    let last = run_plain("raymond", &Settings { warmup: 999, ..settings }).measures.out_of_order;
    assert!(all > 1 && last.is_some_and(|last| last <= 1), "{all} in all, {last:?} in the last");
}

#[test]
fn the_synchronisation_delay_is_to_the_next_node_and_not_to_the_same_one_again() {
    let latency = Latency::Span(typed("50"));
    let settings =
        Settings { nodes: 3, entries: 500, latency, hold: Span::Constant(1), ..Settings::default() };
    let delay = run_plain("suzuki-kasami", &settings).measures.sync_delay;
    assert_eq!((delay.quantile(0.0), delay.max()), (Some(50), Some(50)));
}

#[test]
fn a_token_that_is_lost_is_no_cycle_of_waiting_nodes() {
    for name in ["suzuki-kasami", "singhal", "token-ring"] {
        let stall = (1..=20).find_map(|seed| {
            let mut settings = Settings { invariants: false, ..settings(seed) };
            settings.faults.loss = typed("0.2");
            run_plain(name, &settings).stall
        });
        let stall = stall.expect("a token is lost");
        assert!(stall.cycle.is_empty() && stall.waiting.len() > 1, "{name}: {stall}");
    }
}

#[test]
fn messages_that_multiply_are_stopped() {
    for (name, latency) in
        [("naimi-trehel", "0"), ("naimi-trehel", "1"), ("raymond", "0"), ("token-ring", "1")]
    {
        let (load, latency) = (Load::Light(1_000), Latency::Span(typed(latency)));
        let mut settings = Settings { nodes: 5, entries: 1_000, load, latency, ..Settings::default() };
        settings.faults.duplicate = typed("1");
        assert!(!run_plain(name, &settings).as_expected, "{name}");
    }
}

#[test]
fn a_crashed_node_acknowledges_nothing() {
    let mut settings = Settings { nodes: 3, entries: 10, ..Settings::default() };
    settings.faults.crashes = vec![typed("1@0")];
    settings.faults.retransmit = true;
    let traffic = run_plain("central", &settings).measures.traffic;
    assert_eq!((traffic.messages, traffic.lost, traffic.acknowledgements), (2, 2, 0));
}
