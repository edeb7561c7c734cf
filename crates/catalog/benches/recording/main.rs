//! What it costs to write a run down: the same run with a record and without, by turns, and the bytes that the record takes.
//!
//! With and without take turns, so that their ratio within one run means something on a noisy machine; of the rounds the
//! fastest counts. `cargo bench --bench recording -- maekawa on 20000` makes one run, for instruction counts under callgrind.

use std::time::Instant;

use doorway_catalog::Catalog;
use doorway_core::Options;
use doorway_simulator::{Outcome, Settings};

const ALGORITHMS: [&str; 3] = ["ricart-agrawala", "maekawa", "suzuki-kasami"];
const LATENCIES: [&str; 2] = ["10", "uniform:5:15"];
const NODES: usize = 25;
const ENTRIES: u64 = 20_000;
const ROUNDS: usize = 15;

fn run(algorithm: &str, latency: &str, entries: u64, trace: bool) -> Outcome {
    let latency = latency.parse().expect("a latency");
    let settings = Settings { nodes: NODES, entries, latency, trace, ..Settings::default() };
    let subject = Catalog::textbook().subject(algorithm, &Options::none()).expect("it is in the catalog");
    let outcome = subject.simulate(&settings).expect("these settings are right");
    assert!(outcome.as_expected, "{:?} {:?}", outcome.stall, outcome.violations);
    outcome
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [algorithm, record, entries] = &arguments[..] {
        let outcome = run(algorithm, "10", entries.parse().expect("a number of entries"), record == "on");
        println!("{} messages, {} events", outcome.measures.traffic.messages, outcome.log.len());
        return;
    }
    println!(
        "{NODES} nodes, saturated, {ENTRIES} entries; best of {ROUNDS} by turns; recorded / not must be at most 2.5:"
    );
    for latency in LATENCIES {
        for algorithm in ALGORITHMS {
            compare(algorithm, latency);
        }
    }
}

fn compare(algorithm: &str, latency: &str) {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, trace) in best.iter_mut().zip([false, true]) {
            let start = Instant::now();
            let outcome = run(algorithm, latency, ENTRIES, trace);
            *best = best.min(start.elapsed().as_secs_f64());
            assert_eq!(outcome.log.is_empty(), !trace);
        }
    }
    let outcome = run(algorithm, latency, ENTRIES, true);
    let (messages, log) = (outcome.measures.traffic.messages as f64, &outcome.log);
    let nanoseconds = best.map(|seconds| seconds * 1e9 / messages);
    let bytes = |bytes: usize| bytes as f64 / log.len() as f64;
    println!(
        "  {algorithm:16} latency {latency:13} {:5.1} ns a message, {:5.1} recorded: {:4.2}; {} events of {:.1} bytes and {:.1} of messages",
        nanoseconds[0],
        nanoseconds[1],
        nanoseconds[1] / nanoseconds[0],
        log.len(),
        bytes(log.event_bytes()),
        bytes(log.message_bytes()),
    );
}
