//! The verb that explores every interleaving.

use crate::book;
use crate::terminal::{doorway, folder, json, keys, prints, refused, text};

#[test]
fn what_holds_is_said_with_how_far_it_was_seen() {
    let page = prints("check ricart-agrawala --requests 2,2,1");
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines[0], "ricart-agrawala, 3 nodes, requests 2,2,1, channels of any order");
    assert!(
        lines[1].starts_with("39381 states, 137206 steps between them, all of them; 30 deep;"),
        "{}",
        lines[1]
    );
    assert_eq!(lines[3], "a whole run takes 20 messages");
    for (property, told) in [
        ("mutual-exclusion", "holds"),
        ("deadlock-freedom", "holds, whatever the scheduler does"),
        ("starvation-freedom", "holds, whatever the scheduler does"),
        ("invariants", "holds"),
        ("fence", "holds"),
    ] {
        let is_told = |line: &&str| line.starts_with(&format!("  {property} ")) && line.ends_with(told);
        assert!(lines.iter().any(is_told), "{property}: {page}");
    }
}

#[test]
fn the_answer_is_json_too() {
    let answer = json(
        "check central --requests 2 --property mutual-exclusion,deadlock-freedom --reduction off --json",
    );
    let expected = [
        "version",
        "algorithm",
        "nodes",
        "states",
        "transitions",
        "depth",
        "complete",
        "seconds",
        "properties",
        "counterexample",
        "counterexamples",
        "messages",
        "most_overtaken",
        "reduced",
        "walks",
        "odds_of_omission",
    ];
    assert_eq!(keys(&answer), expected);
    assert_eq!((answer["states"].as_u64(), answer["complete"].as_bool()), (Some(869), Some(true)));
    assert_eq!(answer["properties"][1]["name"], "deadlock-freedom");
    assert_eq!(answer["properties"][1]["verdict"], "holds");
    assert_eq!(answer["properties"][1]["fairness"], "none");
    assert_eq!(
        (answer["messages"]["min"].as_u64(), answer["messages"]["max"].as_u64()),
        (Some(12), Some(12))
    );
}

#[test]
fn an_endless_run_shows_where_it_repeats() {
    let folder = folder("lasso");
    let (svg, trace) = (folder.join("lasso.svg"), folder.join("lasso.jsonl"));
    let line = "check maekawa/node-first --quorum cyclic --requests unbounded --channels fifo --json";
    let output = doorway(&format!("{line} --svg {} --trace {}", svg.display(), trace.display()));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let starvation = &answer["properties"][2];
    assert_eq!(starvation["name"], "starvation-freedom");
    assert_eq!((&starvation["verdict"], &starvation["fairness"]), (&"violated".into(), &"strong".into()));
    let run = &answer["counterexample"];
    let steps = run["steps"].as_array().expect("a list").len() as u64;
    assert!(run["loop_start"].as_u64().expect("a number") < steps);
    assert!(std::fs::read_to_string(svg).expect("it was drawn").contains("repeats for ever"));
    assert!(std::fs::read_to_string(trace).expect("it was traced").contains("\"event\":\"loop\""));
}

#[test]
fn orders_and_waiting_are_decided_when_asked_for() {
    let output = doorway(
        "check token-ring --requests unbounded --property fifo,bounded-waiting,happened-before-order",
    );
    assert_eq!(output.status.code(), Some(1));
    let page = text(&output.stdout);
    for told in ["fifo                   violated after 3 steps", "bounded-waiting        holds, r = 1"] {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[test]
fn walks_and_fingerprints_and_threads_can_be_asked_for() {
    let walked = "check maekawa/inquire-before-locked --nodes 7 --quorum plane --property mutual-exclusion --walks 3000";
    let output = doorway(walked);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("3000 walks at random"), "{}", text(&output.stdout));
    let run = |page: &str| page.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        run(&text(&doorway(walked).stdout)),
        run(&text(&output.stdout)),
        "from a seed walks are the same"
    );
    let page = prints("check central --requests 2 --threads 2 --visited fingerprints --reduction off");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("869 states") && page.contains("the odds that a state was missed"), "{page}");
}

#[test]
fn faults_are_counted_and_reported() {
    let page = doorway("check central --lose 1 --crash 1 --property mutual-exclusion,deadlock-freedom");
    assert_eq!(page.status.code(), Some(1));
    let page = text(&page.stdout);
    assert!(page.contains("1 message may be lost, 1 node may stop"), "{page}");
}

#[test]
fn all_algorithms_are_checked_in_one_table() {
    let page = prints("check all");
    let output: Vec<String> = page.lines().map(str::to_owned).collect();
    let printed = book::printed_below("docs/checking.md", "doorway check all");
    assert_eq!(book::compare(&printed, &output), Ok(()), "docs/checking.md prints the same table\n{page}");
    for name in ["central", "token-ring", "lamport", "ricart-agrawala", "cao-singhal"] {
        assert_eq!(
            page.lines().filter(|line| line.starts_with(&format!("{name} "))).count(),
            2,
            "{name}: {page}"
        );
    }
    let row = page.lines().find(|line| line.starts_with("central ")).expect("it is there");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["central", "2,2,2", "869", "yes", "yes", "yes", "–", "yes", "yes", "12"]);
    let row = page.lines().find(|line| line.starts_with("peterson ")).expect("programs are there too");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..6], ["peterson", "2", "32", "yes", "if", "weak"]);
}

#[test]
fn a_violation_fails_with_a_shortest_run_that_simulate_replays() {
    for (line, steps) in [
        ("check maekawa/basic", "deadlock-freedom violated after 6 steps"),
        ("check lamport --nodes 2 --channels any", "mutual-exclusion violated after 4 steps"),
        ("check singhal/no-chase --requests 2 --channels fifo", "deadlock-freedom violated after 15 steps"),
        (
            "check ricart-agrawala/deferred-not-cleared --nodes 2 --requests 3",
            "mutual-exclusion violated after 17 steps",
        ),
    ] {
        let script = folder("counterexamples").join("shortest.script");
        let output = doorway(&format!("{line} --script {}", script.display()));
        assert_eq!(output.status.code(), Some(1), "{line}");
        let page = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(steps), "{line}: {page}");
        let replayed = doorway(&format!("simulate --script {}", script.display()));
        assert_eq!(replayed.status.code(), Some(0), "{line}: {}", text(&replayed.stderr));
    }
}

#[test]
fn a_limit_that_is_reached_is_no_verdict() {
    let output = doorway("check ricart-agrawala --nodes 4 --max-memory 1MiB");
    assert_eq!(output.status.code(), Some(3));
    let page = text(&output.stdout);
    assert!(
        page.contains("a limit was reached: not all of them") && page.contains("not exhausted"),
        "{page}"
    );
    assert!(!page.contains("holds"), "{page}");
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    for (line, part) in [
        ("check lamprot", "did you mean lamport"),
        ("check central --nodes 4 --requests 1,2", "2 numbers for 4 nodes"),
        ("check central --nodes 0", "1 to 32 nodes"),
        ("check central --nodes 33", "1 to 32 nodes"),
        ("check central --requests x", "a number from 0 to 1000, or unbounded"),
        ("check central --property speed", "\"speed\" cannot be decided: lock, all, mutual-exclusion"),
        ("check central --channels causal --lose 1", "faults are explored with channels fifo or any"),
        ("check central --fairness some", "none, weak or strong"),
        ("check central --threads 0", "from 1 to 64"),
        ("check central --property one-token", "central has no token"),
        ("check central --reduction maybe", "neither on nor off"),
        ("check central --visited some", "neither exact nor fingerprints"),
        ("check all --requests 2", "check all chooses what it explores by itself"),
        ("check central --start-inside 9", "there is no node 9"),
        ("check central --max-memory lots", "such as 4GiB"),
        ("check central --max-time soon", "such as 60s"),
        ("check central --set tree=star", "has no tree to choose"),
        ("check maekawa --nodes 10 --quorum plane", "no projective plane has 10 nodes"),
    ] {
        let sentence = refused(line);
        assert!(sentence.contains(part), "{line}: {sentence}");
    }
}
