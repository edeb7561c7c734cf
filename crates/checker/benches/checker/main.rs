//! The speed of the checker, compared with two others on the same systems.
//!
//! States: the full state space of Ricart and Agrawala's algorithm with four nodes and one request each, on
//! unordered channels and one thread; by our search, by the crate `stateright` through the adapter of the
//! tests, and by SPIN on our own Promela model. All must reach the same number of states. Runs: starvation in
//! Peterson's tournament of four under weak fairness; ours decides it for all processes, SPIN for one.
//!
//! Every run is a separate process, to measure its peak memory and processor time; processor time counts,
//! because the machine may be shared. `cargo bench --bench checker -- ours` runs one contestant.

#[path = "../../tests/stateright/adapter.rs"]
mod adapter;
mod child;
#[path = "../../tests/reference/registers.rs"]
mod registers;
mod spin;
#[path = "../../tests/reference/tournament.rs"]
mod tournament;

use std::process::Command;
use std::time::Duration;

use adapter::{EXCLUSION, NO_DEADLOCK, Peer};
use child::Cost;
use doorway_algorithms::message::ricart_agrawala::RicartAgrawala;
use doorway_checker::{Messages, Runs, SchedulerFairness, Search, Setting, explore};
use doorway_core::{Channels, Factory};
use registers::Registers;
use spin::Spin;
use stateright::{Checker, Model};
use tournament::Tournament;

/// The time limit of a run.
const LIMIT: Duration = Duration::from_secs(600);
/// The number of short runs, of which the fastest counts.
const ROUNDS: usize = 9;
/// The row that may have fewer states.
const REDUCED: &str = "ours, with reduction";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first() {
        Some(name) => println!("{}", work(name)),
        None => {
            let spin = Spin::find();
            compare_states(spin.as_ref());
            compare_runs(spin.as_ref());
        }
    }
}

/// Runs one of our own contestants and returns the number of states.
fn work(name: &str) -> u64 {
    match name {
        "nothing" => 0,
        "ours" => searched(false),
        "reduced" => searched(true),
        "stateright" => searched_by_stateright(&[EXCLUSION]),
        "stateright-deadlock" => searched_by_stateright(&[EXCLUSION, NO_DEADLOCK]),
        "tournament" => starvation(),
        _ => panic!("no such contestant: {name}"),
    }
}

fn four_nodes(reduction: bool) -> Messages {
    let setting = Setting { reduction, ..Setting::new(vec![1; 4], Channels::Any) };
    Messages::new(&Factory::simple(RicartAgrawala::new), setting).expect("it fits")
}

fn searched(reduction: bool) -> u64 {
    let found = explore(&mut four_nodes(reduction), &Search::default(), &mut |_| ());
    assert!(found.is_complete && found.violations.is_empty(), "{:?}", found.violations);
    found.states
}

fn searched_by_stateright(promises: &[&'static str]) -> u64 {
    let search = Peer::new(four_nodes(false), promises).checker().threads(1).spawn_bfs().join();
    assert!(search.discoveries().is_empty(), "it is a correct algorithm");
    search.unique_state_count() as u64
}

/// Decides starvation under weak fairness in a tournament of four.
fn starvation() -> u64 {
    let runs = Runs { progress: Some(Some(SchedulerFairness::Weak)), ..Runs::default() };
    let search = Search { runs, ..Search::default() };
    let found = explore(&mut Registers(Tournament { levels: 2 }), &search, &mut |_| ());
    let progress = found.progress.expect("it was asked for");
    assert_eq!(progress.all(), Some(SchedulerFairness::Weak), "no process starves");
    found.states
}

/// Runs one of our own contestants in a separate process.
fn contestant(name: &str) -> Option<(u64, Cost)> {
    let this = std::env::current_exe().expect("a running program has a path");
    let (output, cost) = child::run(Command::new(this).arg(name), LIMIT)?;
    let states = output.trim().parse().expect("it prints its number of states");
    Some((states, cost))
}

fn compare_states(spin: Option<&Spin>) {
    println!("\nRicart–Agrawala, 4 nodes, one request each, any order, one thread:\n");
    let rows = [
        ("ours", contestant("ours")),
        (REDUCED, contestant("reduced")),
        ("stateright", contestant("stateright")),
        ("stateright, deadlock as well", contestant("stateright-deadlock")),
        ("spin", spin.and_then(|spin| spin.all_states("ricart_agrawala", LIMIT))),
    ];
    let (Some((all, ours)), Some((_, reduced))) = (rows[0].1, rows[1].1) else {
        return println!("  ours did not come to its end");
    };
    println!(
        "  {:30} {:>11} {:>9} {:>8} {:>11} {:>14}",
        "", "states", "seconds", "to ours", "to reduced", "bytes a state"
    );
    for (name, row) in rows {
        let Some((states, Cost { seconds, peak, .. })) = row else {
            println!("  {name:30} was not run, or not to its end");
            continue;
        };
        assert!(states == all || name == REDUCED, "{name} reached {states} of {all} states");
        let (to_ours, to_reduced) = (seconds / ours.seconds, seconds / reduced.seconds);
        let bytes = peak as f64 / states as f64;
        println!("  {name:30} {states:>11} {seconds:>9.2} {to_ours:>8.2} {to_reduced:>11.2} {bytes:>14.1}");
    }
    println!("\n  must: to ours stateright 2 and spin 1, to reduced both 5; 96 bytes a state of ours");
    println!("  aim:  to ours stateright 6 and spin 5, to reduced both 40; 30 bytes a state of ours");
}

fn compare_runs(spin: Option<&Spin>) {
    println!(
        "\nStarvation in a tournament of 4 under weak fairness, best of {ROUNDS}, start of a process taken off:\n"
    );
    let rest = fastest(|| contestant("nothing")).map_or(0.0, |(_, seconds)| seconds);
    let Some((states, ours)) = fastest(|| contestant("tournament")) else { return };
    let ours = ours - rest;
    println!("  {:30} {:>11} {:>9} {:>8}", "", "states", "ms", "ratio");
    println!("  {:30} {states:>11} {:>9.2} {:>8.2}", "ours, all four", ours * 1e3, 1.0);
    let Some(pans) = spin.and_then(|spin| spin.fair_cycles("tournament")) else {
        println!("  {:30} was not run", "spin, one");
        return;
    };
    for (name, pan) in ["spin -a -f, one", "the same, small table"].into_iter().zip(pans) {
        let rest = fastest(|| pan.nothing(LIMIT)).map_or(0.0, |(_, seconds)| seconds);
        if let Some((states, theirs)) = fastest(|| pan.run(LIMIT)) {
            let theirs = theirs - rest;
            println!("  {name:30} {states:>11} {:>9.2} {:>8.2}", theirs * 1e3, theirs / ours);
        }
    }
    println!("\n  must: spin 10");
}

/// The number of states, and the shortest wall time of all rounds.
fn fastest(run: impl Fn() -> Option<(u64, Cost)>) -> Option<(u64, f64)> {
    let rounds = (0..ROUNDS).filter_map(|_| run()).map(|(states, cost)| (states, cost.wall));
    rounds.min_by(|one, other| one.1.total_cmp(&other.1))
}
