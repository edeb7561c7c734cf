//! `doorway simulate` when there is something to run: numbers, summaries, traces and scripts.

use std::fs;

use serde_json::Value;

use crate::terminal::{SCRIPT, doorway, file, folder, json, keys, prints, text};

/// The keys of the issue, in its order; more may stand between them.
const REPORT: [&str; 18] = [
    "version",
    "algorithm",
    "nodes",
    "seed",
    "entries",
    "messages",
    "messages_per_entry",
    "messages_by_kind",
    "bytes",
    "response_time",
    "waiting_time",
    "sync_delay",
    "throughput",
    "fairness",
    "out_of_order",
    "stalled",
    "wait_cycle",
    "violations",
];

fn assert_report(report: &Value) {
    let in_issue: Vec<&str> = keys(report).into_iter().filter(|key| REPORT.contains(key)).collect();
    assert_eq!(in_issue, REPORT);
    assert_eq!(keys(&report["response_time"]), ["mean", "p50", "p99", "max"]);
    assert_eq!(keys(&report["waiting_time"]), ["mean", "p50", "p99", "max"]);
    assert_eq!(keys(&report["sync_delay"]), ["mean", "p50", "p99", "max", "count"]);
    assert_eq!(keys(&report["fairness"]), ["jain", "max_bypass"]);
}

#[test]
fn a_run_as_json_has_the_numbers_of_the_textbook() {
    let report = json("simulate ricart-agrawala --nodes 7 --entries 100 --json");
    assert_report(&report);
    assert_eq!(
        (&report["nodes"], &report["entries"], &report["messages"]),
        (&7.into(), &100.into(), &1200.into())
    );
    assert_eq!((&report["messages_per_entry"], &report["sync_delay"]["max"]), (&12.0.into(), &10.into()));
    assert_eq!(report["messages_by_kind"], serde_json::json!({"REQUEST": 600, "REPLY": 600}));
    assert_eq!((&report["out_of_order"], &report["stalled"]), (&Value::Null, &false.into()));
    assert!(report.get("runs").is_none());
    assert_eq!(json("simulate lamport --entries 10 --order --json")["out_of_order"], 0);
}

#[test]
fn no_entries_are_allowed_and_counted() {
    let report = json("simulate lamport --entries 0 --json");
    assert_eq!((&report["entries"], &report["messages_per_entry"]), (&0.into(), &Value::Null));
    assert!(prints("simulate lamport --entries 0").contains("entries     0 in 0 ticks"));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let line = "simulate maekawa --nodes 7 --entries 300 --latency exponential:10 --load light:50 --json";
    assert_eq!(prints(line), prints(line));
    assert_ne!(prints(line), prints(&format!("{line} --seed 2")));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for options in ["--json", ""] {
        let line =
            format!("simulate singhal --entries 200 --latency uniform:1:30 --runs 12 --seed 5 {options}");
        let one = prints(&format!("{line} --threads 1"));
        assert_eq!(one, prints(&format!("{line} --threads 2")));
        assert_eq!(one, prints(&format!("{line} --threads 5")));
    }
}

#[test]
fn many_runs_are_pooled_and_listed_one_by_one() {
    let pooled =
        json("simulate raymond --entries 50 --tree elected --latency uniform:1:30 --runs 3 --seed 4 --json");
    assert_report(&pooled);
    let runs = pooled["runs"].as_array().expect("each run");
    assert_eq!((runs.len(), &pooled["entries"], &pooled["seed"]), (3, &150.into(), &4.into()));
    let messages = |report: &Value| report["messages"].as_u64().expect("a number");
    assert_eq!(messages(&pooled), runs.iter().map(messages).sum::<u64>());
    let alone = json("simulate raymond --entries 50 --tree elected --latency uniform:1:30 --seed 6 --json");
    assert_eq!(runs[2], alone);
}

#[test]
fn a_summary_says_what_was_run_and_what_the_textbook_claims() {
    let page = prints("simulate ricart-agrawala --entries 100");
    assert!(
        page.starts_with("ricart-agrawala, 5 nodes, saturated, hold 5, latency 10, fifo channels, seed 1\n")
    );
    for part in
        ["800 in total, 8 per entry (textbook: 2(N−1))", "400 REQUEST, 400 REPLY", "sync delay", "Jain's"]
    {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
    assert!(!page.contains("lost") && !page.contains("resent") && !page.contains("replay"));
    let faulty = prints("simulate ricart-agrawala --entries 100 --loss 0.1 --duplicate 0.1 --retransmit");
    assert!(faulty.contains("resent"), "{faulty}");
}

#[test]
fn a_summary_says_all_that_differs_from_the_default() {
    let line = "simulate raymond --entries 20 --local-latency 2 --channels any --loss 0.05 --duplicate 0.1 \
                --retransmit --crash 5@900000 --partition 1,2|3,4@100..200 --set tree=star --start-inside 2 \
                --warmup 3 --invariants";
    let page = text(&doorway(line).stdout);
    let (heading, _) = page.split_once("\n\n").expect("a heading");
    assert_eq!(
        heading.replace("\n  ", " "),
        "raymond, 5 nodes, saturated, hold 5, latency 10, local latency 2, channels of any order, loss 0.05, \
         duplicate 0.1, retransmit, crash 5@900000, partition 1,2|3,4@100..200, tree star, node 2 inside at the \
         start, warm-up 3, invariants tested, seed 1"
    );
    assert!(heading.lines().all(|line| line.chars().count() <= 100), "{heading}");
}

#[test]
fn a_summary_lists_interventions_and_messages_never_sent() {
    let decided = "simulate ricart-agrawala --nodes 3 --entries 3 --message 5:lost --message 2@45";
    let output = doorway(decided);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{page}");
    let heading = page.replace("\n  ", " ");
    assert!(heading.contains("fifo channels, message 5:lost, message 2@45,"), "{page}");
    assert!(
        page.contains("\nstalled: node 3 waits for {1}; lost: REQUEST 3->1 (lost by intervention)\n"),
        "{page}"
    );
    assert!(
        page.contains("\nreplay: doorway simulate ricart-agrawala --nodes 3 --entries 3 --message 5:lost"),
        "{page}"
    );
    assert!(!page.contains("unsent"), "{page}");
    let unsent = "simulate ricart-agrawala --nodes 3 --entries 3 --message";
    let page = prints(&format!("{unsent} 99:lost"));
    assert!(page.contains("\n  unsent      message 99 was never sent\n"), "{page}");
    let page = prints(&format!("{unsent} 99:lost --message 100@5 --message 12@99"));
    assert!(page.contains("\n  unsent      messages 99 and 100 were never sent\n"), "{page}");
}

#[test]
fn a_run_that_ends_early_says_so() {
    let line = "simulate lamport --channels any --latency uniform:1:50 --invariants --entries 3000";
    let stopped = |line: &str| {
        let page = text(&doorway(line).stdout);
        let sentence = page.lines().find_map(|line| line.strip_prefix("stopped after "));
        sentence.map(|sentence| sentence.split_once(" violations, ").expect("how many").1.to_owned())
    };
    let output = doorway(line);
    let page = text(&output.stdout);
    assert_eq!((output.status.code(), page.matches("violation: ").count()), (Some(1), 10), "{page}");
    let entries = page.lines().find_map(|line| line.trim().strip_prefix("entries ")).expect("a count");
    let entries = entries.split_whitespace().next().expect("a number");
    assert_eq!(stopped(line), Some(format!("{entries} of 3000 entries")), "{page}");
    let warm = stopped(&format!("{line} --warmup 2000"));
    assert_eq!(warm.as_deref(), Some("0 of 1000 entries after the warm-up"));
    assert_eq!(stopped("simulate central --crash 1@50"), None, "a stall is another matter");
}

#[test]
fn a_summary_prints_bypasses_and_short_numbers() {
    for (line, part) in [
        ("simulate ricart-agrawala", "no request was bypassed\n"),
        ("simulate token-ring --load light:300", "a request was bypassed up to "),
        ("simulate central --load active:1 --hold 10", "  0.1 entries per tick, one every 10 ticks\n"),
    ] {
        assert!(prints(line).contains(part), "{part:?} is missing in\n{}", prints(line));
    }
    let bypassed = |line: &str| json(&format!("{line} --json"))["fairness"]["max_bypass"].as_u64();
    let once = (1..100)
        .map(|seed| {
            format!("simulate lamport --nodes 2 --load light:20 --latency uniform:1:50 --seed {seed}")
        })
        .find(|line| bypassed(line) == Some(1))
        .expect("a run in which a request is bypassed once");
    assert!(prints(&once).contains("a request was bypassed at most once\n"));
}

#[test]
fn a_stall_exits_1_and_says_how_to_replay_it() {
    let output = doorway("simulate maekawa/basic --nodes 13 --quorum plane --runs 3 --seed 8");
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{page}");
    assert!(page.contains("3 of 3 runs failed, the first with seed 8"), "{page}");
    assert!(page.contains("wait-for cycle: "), "{page}");
    let (_, command) = page.trim_end().rsplit_once("replay: doorway ").expect("a command");
    assert_eq!(command, "simulate maekawa/basic --nodes 13 --quorum plane --seed 8");
    let again = doorway(command);
    assert_eq!(again.status.code(), Some(1));
    let report = doorway(&format!("{command} --json"));
    let report: Value = serde_json::from_slice(&report.stdout).expect("it prints JSON");
    assert_eq!(report["stalled"], true);
    assert!(report["wait_cycle"].as_array().is_some_and(|cycle| cycle.len() > 1));
}

#[test]
fn channels_that_are_too_weak_are_noted_and_no_error() {
    let output = doorway("simulate lamport --entries 5 --channels any");
    assert_eq!(
        text(&output.stderr),
        "doorway: lamport needs fifo channels and runs on channels of any order: it may fail\n"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_trace_is_written_whole_with_its_header() {
    let folder = folder("trace");
    let path = folder.join("run.jsonl");
    prints(&format!("simulate raymond --entries 3 --seed 9 --tree star --trace {}", path.display()));
    let (header, events) = doorway_trace::read(fs::read(&path).expect("the trace").as_slice())
        .map(|(header, events)| (header, events.collect::<Result<Vec<_>, _>>().expect("events")))
        .expect("a header");
    assert_eq!((header.algorithm.as_str(), header.nodes, header.seed), ("raymond", 5, 9));
    assert_eq!(header.options.get("tree").map(String::as_str), Some("star"));
    assert!(events.len() > 9);
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "nothing else is left behind");
}

#[test]
fn a_script_names_its_algorithm_and_may_be_overridden() {
    let folder = folder("script");
    let script = file(&folder, "good.script", SCRIPT);
    let page = prints(&format!("simulate --script {script}"));
    assert!(page.starts_with("central, 3 nodes, script "), "{page}");
    assert_eq!(json(&format!("simulate --script {script} --nodes 4 --json"))["nodes"], 4);
}

#[test]
fn a_script_whose_expectation_does_not_come_true_exits_1() {
    let folder = folder("unmet");
    let script = file(&folder, "unmet.script", &SCRIPT.replace("inside 2", "inside 3"));
    let output = doorway(&format!("simulate --script {script}"));
    let sentence = text(&output.stderr);
    assert_eq!((output.status.code(), sentence.lines().count()), (Some(1), 1), "{sentence}");
    assert!(sentence.contains("line 6"), "{sentence}");
    assert!(output.stdout.is_empty());
    let told = doorway(&format!("simulate --script {script} --json"));
    assert_eq!((told.status.code(), text(&told.stderr)), (Some(1), sentence));
    let answer: Value = serde_json::from_slice(&told.stdout).expect("it prints JSON");
    assert_eq!(
        answer,
        serde_json::json!({
            "version": 1,
            "script": script,
            "line": 6,
            "unmet": "who is inside is expected to be {3} and is {2}",
        })
    );
}

#[test]
fn files_named_in_a_script_are_beside_it() {
    let folder = folder("beside");
    file(&folder, "two.quorums", "1: 1 2\n2: 1 2\n");
    let script =
        file(&folder, "two.script", "algorithm maekawa\nnodes 2\nquorum file:two.quorums\nrequest 1\n");
    assert!(!text(&doorway(&format!("simulate --script {script}")).stderr).contains("cannot be read"));
}

#[test]
fn requests_that_no_node_can_make_fail_the_run() {
    let ended = doorway("simulate ricart-agrawala --nodes 3 --entries 100 --load active:1 --crash 1@100");
    assert_eq!(ended.status.code(), Some(1));
    let told = text(&ended.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("96 of 100 requests were never made: the nodes that would have made them crashed"),
        "{told}"
    );
}
