//! The speed of the simulator: Ricart and Agrawala's algorithm with 16 nodes, saturated, constant latency,
//! metrics on.
//!
//! The baselines are a loop written by hand for this algorithm (flat arrays, a timing wheel, no metrics) and
//! the crate `simcore` (a heap, boxed events). The three take turns, so that their ratio is meaningful on a
//! noisy machine; the fastest round counts. `cargo bench --bench simulator -- ours 300000` runs one
//! contestant once, for instruction counts under callgrind.

mod by_hand;
mod by_simcore;

use std::time::Instant;

use doorway_algorithms::message::ricart_agrawala::RicartAgrawala;
use doorway_core::Factory;
use doorway_simulator::{Settings, simulate};

/// N.
pub const NODES: usize = 16;
/// The message latency.
pub const LATENCY: u64 = 10;
/// The time in the critical section.
pub const HOLD: u64 = 5;

const ENTRIES: u64 = 100_000;
const ROUNDS: usize = 7;

/// The results, on which all contestants must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Entries served.
    pub entries: u64,
    /// Messages sent.
    pub messages: u64,
    /// When the last node left.
    pub time: u64,
}

type Contestant = (&'static str, fn(u64) -> Done);

const CONTESTANTS: [Contestant; 3] =
    [("ours", ours), ("by-hand", by_hand::run), ("simcore", by_simcore::run)];

fn ours(entries: u64) -> Done {
    let settings = Settings { nodes: NODES, entries, ..Settings::default() };
    let outcome =
        simulate(&Factory::simple(RicartAgrawala::new), &settings).expect("these settings are right");
    assert!(outcome.as_expected, "{outcome:?}");
    let measures = outcome.measures;
    Done { entries: measures.entries, messages: measures.traffic.messages, time: measures.time }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [name, entries] = &arguments[..] {
        let (_, run) =
            CONTESTANTS.into_iter().find(|(known, _)| known == name).expect("ours, by-hand or simcore");
        println!("{:?}", run(entries.parse().expect("a number of entries")));
        return;
    }
    let mut best = [f64::INFINITY; CONTESTANTS.len()];
    for _ in 0..ROUNDS {
        let mut results = Vec::new();
        for ((_, run), best) in CONTESTANTS.iter().zip(&mut best) {
            let start = Instant::now();
            results.push(run(ENTRIES));
            *best = best.min(start.elapsed().as_secs_f64());
        }
        assert!(results.iter().all(|done| *done == results[0]), "they did different work: {results:?}");
    }
    let messages = ours(ENTRIES).messages;
    println!(
        "Ricart–Agrawala, {NODES} nodes, saturated, {ENTRIES} entries, {messages} messages; best of {ROUNDS}:"
    );
    for ((name, _), seconds) in CONTESTANTS.iter().zip(best) {
        println!("  {name:8} {:7.1} million messages a second", messages as f64 / seconds / 1e6);
    }
    println!("  ours / by-hand  {:5.2}   (must 0.25, aim 0.5)", best[1] / best[0]);
    println!("  ours / simcore  {:5.2}   (must 2, aim 4)", best[2] / best[0]);
}
