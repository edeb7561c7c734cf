//! Reports of many held locks: when members change, real daemons send them in parts, and no lock is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use doorway_client::{Client, Guard};
use rustix::process::Signal;

use crate::fleet::{Cluster, LONG, command, until};

/// How many locks one node holds, with names of 200 bytes: ten parts of 8 KiB.
const LOCKS: usize = 400;

/// Times that suit a busy machine.
const PATIENT: &str = "lease = \"4s\"\ndetection = \"5s\"\nbarrier = \"4s\"\n";

fn name(number: usize) -> String {
    format!("many-{number:0195}")
}

/// Starts nodes that log every message.
fn start_traced(cluster: &mut Cluster, nodes: &[&str]) {
    for node in nodes {
        let config = cluster.config(node);
        let text = fs::read_to_string(&config).expect("it was written");
        let with_times = text.replace("[timing]\n", &format!("[timing]\n{PATIENT}"));
        assert_ne!(text, with_times, "node.toml has a table of times");
        fs::write(&config, with_times).expect("it can be changed");
        let words = ["node", "--config", &config, "--log-level", "trace"];
        cluster.start_by(node, command(&cluster.folder.0, &words));
    }
    nodes.iter().for_each(|node| cluster.await_ready(node));
}

fn hold_many(cluster: &Cluster, node: &str) -> Vec<Guard> {
    let socket = cluster.folder.0.join("doorway").join(format!("{node}.sock"));
    let client = Client::connect(socket).expect("it listens");
    let names: Vec<String> = (0..LOCKS).map(name).collect();
    let lock = |names: &[String]| client.lock(names).wait(LONG).enter_blocking();
    names.chunks(64).map(|names| lock(names).expect("no other client wants them")).collect()
}

/// The number behind a field of a logged message.
fn field(line: &str, name: &str) -> Option<u64> {
    line.split_once(&format!(" {name}: "))?.1.split([',', ' ']).next()?.parse().ok()
}

/// The parts of reports that a node logged with these words, by the view and the number of parts of the report.
fn parts(log: &str, words: [&str; 2]) -> BTreeMap<(u64, u64), BTreeSet<u64>> {
    let mut parts: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    let of_reports = log.lines().filter(|line| line.contains("Report(ReportPart {"));
    for line in of_reports.filter(|line| words.iter().all(|word| line.contains(word))) {
        let (view, count) = (field(line, "{ view"), field(line, "count"));
        let report = view.zip(count).unwrap_or_else(|| panic!("a part of a report: {line:.200}"));
        parts.entry(report).or_default().extend(field(line, "number"));
    }
    parts
}

#[test]
fn a_long_report_goes_in_parts_and_no_lock_is_lost() {
    let mut cluster = Cluster::found("report-parts", &["a", "b", "c"]);
    start_traced(&mut cluster, &["a", "b", "c"]);
    let guards = hold_many(&cluster, "a");
    cluster.process("c").signal(Signal::TERM);
    until("c is no member any more", || cluster.members("b") == ["a", "b"]);
    // A free lock can be acquired when the reports of all members have arrived.
    cluster.fence("b");
    let sent = parts(&cluster.log("a"), ["sent", "to=\"b\""]);
    let received = parts(&cluster.log("b"), ["received", "from=\"a\""]);
    let ((view, count), numbers) = sent.last_key_value().expect("a has reported to b");
    let bytes = (LOCKS * name(0).len()) as u64;
    assert!(*count >= bytes.div_ceil(8 << 10), "{bytes} bytes in {count} parts");
    assert_eq!(*numbers, (0..*count).collect(), "every part was sent");
    assert_eq!(received.get(&(*view, *count)), Some(numbers), "and every part arrived");
    assert!(guards.iter().all(Guard::is_valid), "no lock is lost");
    let tried = cluster.run(&["lock", &name(7), "--wait", "100ms", "--node", "b", "--", "true"]);
    assert_eq!(tried.0, 124, "b knows from the report that the lock is held: {}", tried.2);
    drop(guards);
    let tried = cluster.run(&["lock", &name(7), "--wait", "60s", "--node", "b", "--", "true"]);
    assert_eq!(tried.0, 0, "{}", tried.2);
}
