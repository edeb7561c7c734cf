//! What if the coordinator fails? The replicated coordinator goes on, the central one does not.

use doorway_core::{NodeId, Ticks};
use doorway_simulator::{Crash, Latency, Load, Outcome, Settings, Span};

use crate::laboratory::{run_plain, subject, typed};

/// A run in which `crashes` nodes crash, the lowest first, and each node hears of that at another time.
fn crashing(seed: u64, crashes: u64) -> Settings {
    let nodes = 2 + (seed % 5) as usize;
    let loads = [Load::Saturated, Load::Light(60), Load::Active(nodes)];
    let mut settings = Settings {
        nodes,
        entries: 60,
        load: loads[seed as usize % 3].clone(),
        latency: Latency::Span(Span::Uniform(1, 40)),
        hold: Span::Uniform(0, 30),
        invariants: true,
        seed,
        ..Settings::default()
    };
    settings.faults.detection = Span::Uniform(0, 100);
    let at = |number: u64| Ticks(seed * 7 % 400 + number * (seed * 13 % 90));
    let crash = |number: u64| Crash { node: NodeId::new(number as usize), at: at(number) };
    settings.faults.crashes = (0..crashes.min(nodes as u64 - 1)).map(crash).collect();
    settings
}

fn inside_together(outcome: &Outcome) -> bool {
    outcome.violations.iter().any(|what| what.ends_with("are inside together"))
}

#[test]
fn it_goes_on_after_the_crash_of_every_primary_but_the_last() {
    for (seed, crashes) in (1..=1_000).flat_map(|seed| [1, 2, 6].map(|crashes| (seed, crashes))) {
        let settings = crashing(seed, crashes);
        let outcome = run_plain("replicated", &settings);
        assert!(outcome.as_expected, "seed {seed}: {:?} {:?}", outcome.violations, outcome.stall);
        let died = settings.entries - outcome.measures.entries;
        assert!(
            died <= settings.faults.crashes.len() as u64,
            "a crashed node takes one request with it at most"
        );
    }
}

#[test]
fn the_central_coordinator_stalls_after_its_crash() {
    let stalls = (1..=100).filter(|seed| run_plain("central", &crashing(*seed, 1)).stall.is_some());
    assert!(stalls.count() >= 90);
}

#[test]
fn without_acknowledgements_two_are_inside_after_a_crash() {
    let wrong = |seed: &u64| inside_together(&run_plain("replicated/grant-before-ack", &crashing(*seed, 1)));
    assert!((1..=1_000).any(|seed| wrong(&seed)));
    let harmless = (1..=100).map(|seed| run_plain("replicated/grant-before-ack", &crashing(seed, 0)));
    assert!(harmless.into_iter().all(|outcome| outcome.as_expected), "without a crash it is right");
}

#[test]
fn a_wrong_suspicion_of_the_primary_inside_lets_a_second_node_in() {
    let mut settings = Settings { nodes: 3, entries: 20, hold: Span::Constant(60), ..Settings::default() };
    assert!(run_plain("replicated", &settings).as_expected);
    settings.faults.suspicions = vec![typed("1@30")];
    assert!(inside_together(&run_plain("replicated", &settings)));
    let refusal = subject("central", "").simulate(&settings).expect_err("it watches no crashes");
    assert!(refusal.to_string().contains("are not told of crashes"), "{refusal}");
}

#[test]
fn an_entry_costs_three_messages_and_two_for_each_backup_and_takes_4t_in_an_idle_system() {
    for n in [2, 3, 5, 9] {
        let run = |load| {
            let settings = Settings { nodes: n, entries: 50, load, ..Settings::default() };
            run_plain("replicated", &settings).measures
        };
        let client = run(Load::Only([NodeId::new(n - 1)].into_iter().collect()));
        assert_eq!(client.traffic.messages, 50 * (3 + 2 * (n as u64 - 1)), "{n}");
        assert_eq!(client.waiting_time.max(), Some(40), "{n}");
        let primary = run(Load::Active(1));
        assert_eq!(primary.traffic.messages, 50 * 2 * (n as u64 - 1), "{n}");
        // Among two nodes the next ticket comes too late to be acknowledged in time.
        let delay = run(Load::Saturated).sync_delay.max();
        assert!(n == 2 || delay == Some(20), "{n}: {delay:?} is not 2T");
    }
}

#[test]
fn detection_decides_how_long_the_section_is_idle_after_a_crash() {
    let idle = |detection: u64| {
        let mut settings = Settings { nodes: 4, entries: 200, ..Settings::default() };
        settings.faults.crashes = vec![typed("1@500")];
        settings.faults.detection = Span::Constant(detection);
        run_plain("replicated", &settings).measures.sync_delay.max().expect("nodes wait")
    };
    assert!(idle(1_000) >= 1_000 && idle(30) < 120, "{} {}", idle(1_000), idle(30));
}
