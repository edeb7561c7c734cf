//! How much memory the simulator takes at its largest.
//!
//! Each measurement runs in a process of its own, so that its peak is its own; what an empty run takes is taken off.

use std::process::Command;

use doorway_catalog::Catalog;
use doorway_core::Options;
use doorway_simulator::{Load, Settings};

/// The work of each measurement, by name.
fn work(name: &str) -> (&'static str, Settings) {
    let defaults = Settings::default();
    match name {
        "nothing" => ("raymond", Settings { nodes: 1, entries: 1, ..defaults }),
        "raymond" => {
            let load = Load::Light(100_000_000);
            ("raymond", Settings { nodes: 1_000_000, entries: 100_000, load, ..defaults })
        }
        "ricart-agrawala" => ("ricart-agrawala", Settings { nodes: 1_000, entries: 1_000, ..defaults }),
        _ => panic!("no such measurement: {name}"),
    }
}

/// The largest amount of memory this process has had so far, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells the peak of a process");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line for the peak");
    let kilobytes = line.split_whitespace().nth(1).and_then(|digits| digits.parse::<u64>().ok());
    kilobytes.expect("a number of kilobytes") * 1_024
}

fn measure(name: &str) -> u64 {
    let this = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(this).arg(name).output().expect("it can run itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("it prints its peak")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [name] = &arguments[..] {
        let (algorithm, settings) = work(name);
        let subject = Catalog::textbook().subject(algorithm, &Options::none()).expect("it is in the catalog");
        let outcome = subject.simulate(&settings).expect("these settings are right");
        assert!(outcome.as_expected, "{:?} {:?}", outcome.stall, outcome.violations);
        println!("{}", peak());
        return;
    }
    let base = measure("nothing");
    println!("an empty run: {:.1} MB, taken off below", base as f64 / 1e6);
    let raymond = measure("raymond") - base;
    println!(
        "Raymond, 1,000,000 nodes, light load: {:.1} bytes a node at the peak (must 96)",
        raymond as f64 / 1e6
    );
    let saturated = measure("ricart-agrawala");
    println!(
        "Ricart–Agrawala, 1,000 nodes saturated: {:.1} MB at the peak, nothing taken off (must 120)",
        saturated as f64 / 1e6
    );
}
