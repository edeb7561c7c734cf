//! `doorway lock`, `status` and `break` with real nodes.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::fleet;
use crate::fleet::{Cluster, Dev, Folder, until};

/// The commands of the README's first minute: the first runs on in its own terminal, the others each in another.
const MINUTE: [&str; 4] = [
    "doorway node --dev",
    "doorway lock demo -- sh -c 'echo inside with fence $DOORWAY_FENCE; sleep 5'",
    "doorway lock demo --node b -- echo 'now me, through another node'",
    "doorway status",
];

#[test]
fn a_newcomer_has_a_lock_across_three_nodes_in_one_minute() {
    let begin = std::time::Instant::now();
    let dev = Dev::new("minute");
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_doorway")).parent().expect("a folder");
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let type_in = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).env("PATH", &path).env("XDG_RUNTIME_DIR", &dev.runtime.0);
        shell.env_remove("DOORWAY_SOCKET").stdin(Stdio::null()).stdout(Stdio::piped());
        fleet::start(shell)
    };
    let mut first = type_in(MINUTE[1]);
    assert!(first.line().starts_with("inside with fence "));
    let second = type_in(MINUTE[2]);
    until("the second waits", || type_in(MINUTE[3]).end().1.contains("waits"));
    assert_eq!(first.end().0, 0);
    assert_eq!(second.end().1, "now me, through another node\n");
    assert!(begin.elapsed().as_secs() < 60);
    for (line, told) in MINUTE[1..].iter().zip(&dev.greeting[2..]) {
        assert_eq!(told.trim(), *line, "the node itself says the same");
    }
}

/// What the README shows cannot differ from what was tried.
#[test]
fn the_readme_shows_the_minute_that_was_tried() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).expect("the README is there");
    let at = readme.find(MINUTE[0]).expect("the README shows the first command");
    for command in MINUTE {
        assert!(readme[at..].contains(command), "{command}");
    }
}

#[test]
fn three_nodes_exclude_each_other_and_fences_increase() {
    let (dev, folder) = (Dev::new("exclude"), Folder::new("exclude-files"));
    let script = "mkdir inside || touch broken; echo $DOORWAY_FENCE >> fences; rmdir inside";
    let workers: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .flat_map(|node| [node; 5])
        .map(|node| {
            let mut command =
                dev.command(&["lock", "demo", "--node", node, "--wait", "50s", "--", "sh", "-c", script]);
            command.current_dir(&folder.0);
            fleet::start(command)
        })
        .collect();
    for worker in workers {
        assert_eq!(worker.end(), (0, String::new(), String::new()));
    }
    assert!(!folder.0.join("broken").exists(), "two were inside at once");
    let fences = fs::read_to_string(folder.0.join("fences")).expect("all have written");
    let fences: Vec<u64> = fences.lines().map(|fence| fence.parse().expect("a fence")).collect();
    assert_eq!(fences.len(), 15);
    assert!(fences.is_sorted_by(|one, other| one < other), "{fences:?}");
}

#[test]
fn a_try_fails_while_the_lock_is_held_and_then_succeeds() {
    let dev = Dev::new("try");
    let mut holder = dev.holder(&["x,y", "--node", "a"]);
    for name in ["x", "y"] {
        let (code, _, said) = dev.run(&["lock", name, "--try", "--node", "b", "--", "true"]);
        assert_eq!((code, said), (124, format!("doorway: {name} is not free\n")));
    }
    let (code, _, said) = dev.run(&["lock", "x", "--wait", "100ms", "--node", "c", "--", "true"]);
    assert_eq!((code, said.as_str()), (124, "doorway: x was not free within 100ms\n"));
    assert_eq!(dev.run(&["lock", "z", "--try", "--node", "b", "--", "true"]).0, 0, "another one is free");
    holder.type_line("leave");
    assert_eq!(holder.end().0, 0);
    for node in ["a", "a", "b", "c", "a"] {
        let (code, _, said) = dev.run(&["lock", "x,y", "--try", "--node", node, "--", "true"]);
        assert_eq!(code, 0, "whoever has ended has left: {said}");
    }
}

#[test]
fn a_node_without_a_majority_says_so_to_its_clients() {
    let mut cluster = Cluster::new("minority", &["a", "b"]);
    cluster.kill("b");
    until("a has no lease", || !cluster.is_ready("a"));
    let (code, out, said) = cluster.run(&["lock", "x", "--try", "--node", "a", "--", "true"]);
    let sentence = "x cannot be acquired: node a has no lease, as it does not reach a majority of the voters";
    assert_eq!((code, out.as_str(), said), (124, "", format!("doorway: {sentence}\n")));
}

#[test]
fn status_tells_who_is_inside_and_who_waits() {
    let dev = Dev::new("status");
    assert_eq!(dev.run(&["status", "--ready"]), (0, "Node a is ready.\n".to_owned(), String::new()));
    assert!(dev.run(&["status"]).1.contains("No lock is held or waited for.\n"));
    let mut holder = dev.holder(&["demo", "--node", "b", "--label", "the nightly job"]);
    let waiter = dev.start(&["lock", "demo", "--node", "c", "--", "true"]);
    let mut status = dev.status();
    until("somebody waits", || {
        status = dev.status();
        status["sections"][0]["waiting"][0]["node"] == "c"
    });
    assert_eq!((&status["version"], &status["cluster"]), (&1.into(), &"dev".into()));
    let inside = &status["sections"][0]["inside"];
    assert_eq!((&inside["label"], &inside["node"]), (&"the nightly job".into(), &"b".into()));
    assert!(inside["fence"].as_str().is_some_and(|fence| fence.parse::<u64>().is_ok()), "{inside}");
    let nodes = status["nodes"].as_array().expect("a list");
    assert!(nodes.len() == 3 && nodes.iter().all(|node| node["own"]["standing"] == "active"), "{status:#}");
    assert_eq!(nodes.iter().filter(|node| node["is_leader"] == true).count(), 1);
    let (_, page, _) = dev.run(&["status", "demo"]);
    assert!(page.contains("the nightly job") && page.contains("waits") && page.contains("inside"), "{page}");
    assert!(!dev.run(&["status", "other"]).1.contains("nightly"));
    holder.type_line("leave");
    assert_eq!((holder.end().0, waiter.end().0), (0, 0));
}

#[test]
fn a_holder_that_exceeds_max_hold_is_stopped() {
    let dev = Dev::new("max-hold");
    let holder = dev.start(&["lock", "x", "--max-hold", "600ms", "--", "sleep", "1000"]);
    let (code, _, said) = holder.end();
    assert_eq!(code, 122, "{said}");
    assert_eq!(dev.run(&["lock", "x", "--wait", "30s", "--node", "b", "--", "true"]).0, 0);
}

#[test]
fn a_section_is_broken_open_and_its_holder_stopped() {
    let dev = Dev::new("break");
    let (code, _, said) = dev.run(&["break", "x", "--yes"]);
    assert_eq!((code, said.as_str()), (1, "doorway: x has no holder\n"));
    let holder = dev.holder(&["x", "--node", "b"]);
    let (code, out, said) = dev.run(&["break", "x", "--yes", "--node", "c"]);
    assert_eq!(code, 0, "{out}{said}");
    assert_eq!(holder.end().0, 122);
    assert_eq!(dev.run(&["lock", "x", "--wait", "30s", "--node", "c", "--", "true"]).0, 0);
}

#[test]
fn a_killed_holder_leaves_nothing_behind() {
    let dev = Dev::new("killed");
    let script = "trap '' TERM INT HUP; echo in; while :; do sleep 0.01; done";
    let mut holder = dev.start(&["lock", "x", "--node", "a", "--", "sh", "-c", script]);
    assert_eq!(holder.line(), "in");
    holder.signal(Signal::KILL);
    assert_eq!(dev.run(&["lock", "x", "--wait", "30s", "--node", "b", "--", "true"]).0, 0);
}

#[test]
fn a_grandchild_keeps_the_section_until_it_ends() {
    let dev = Dev::new("grandchild");
    let script = "sleep 1000 >&- 2>&- & echo $!; wait";
    let mut holder = dev.start(&["lock", "x", "--node", "a", "--", "sh", "-c", script]);
    let grandchild = holder.line().parse().ok().and_then(Pid::from_raw).expect("a process");
    holder.signal(Signal::KILL);
    until("the shell has died", || dev.run(&["lock", "x", "--try", "--", "true"]).0 == 124);
    for _ in 0..3 {
        assert_eq!(dev.run(&["lock", "x", "--try", "--node", "b", "--", "true"]).0, 124, "it lives on");
    }
    kill_process(grandchild, Signal::KILL).expect("it lives");
    assert_eq!(dev.run(&["lock", "x", "--wait", "30s", "--node", "b", "--", "true"]).0, 0);
}

#[test]
fn a_command_is_stopped_when_its_daemon_dies() {
    let dev = Dev::new("dies");
    let holder = dev.holder(&["x"]);
    dev.process.signal(Signal::KILL);
    let (code, _, said) = holder.end();
    assert!(code == 122 && said.contains("the daemon has ended"), "{code} {said}");
}

#[test]
fn a_command_is_stopped_when_its_daemon_hangs() {
    let dev = Dev::new("hangs");
    let holder = dev.holder(&["x"]);
    dev.process.signal(Signal::STOP);
    let (code, _, said) = holder.end();
    assert!(code == 122 && said.contains("the daemon does not renew it"), "{code} {said}");
    let (code, _, said) = dev.run(&["status", "--ready"]);
    assert!(code == 1 && said.is_empty(), "{code} {said}");
    dev.process.signal(Signal::CONT);
    assert_eq!(dev.run(&["lock", "x", "--wait", "50s", "--", "true"]).0, 0, "it goes on");
}
