//! The verb that explores every interleaving.

mod terminal;

use terminal::{doorway, folder, json, keys, prints, refused, text};

#[test]
fn what_holds_is_said_with_how_far_it_was_seen() {
    let page = prints("check ricart-agrawala --requests 2,2,1");
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines[0], "ricart-agrawala, 3 nodes, requests 2,2,1, channels of any order");
    assert!(
        lines[1].starts_with("53822 states, all of them; 183847 steps between them; 30 deep;"),
        "{}",
        lines[1]
    );
    for property in ["mutual-exclusion", "deadlock-freedom", "invariants", "fence"] {
        assert!(
            lines.iter().any(|line| line.starts_with(&format!("  {property}")) && line.ends_with("holds")),
            "{page}"
        );
    }
}

#[test]
fn the_answer_is_json_too() {
    let answer = json("check central --requests 2 --property mutual-exclusion,deadlock-freedom --json");
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
        "messages",
    ];
    assert_eq!(keys(&answer), expected);
    assert_eq!((answer["states"].as_u64(), answer["complete"].as_bool()), (Some(869), Some(true)));
    assert_eq!(answer["properties"][1]["name"], "deadlock-freedom");
    assert_eq!(answer["properties"][1]["verdict"], "holds");
}

#[test]
fn a_violation_fails_with_a_shortest_run_that_simulate_replays() {
    for (line, steps) in [
        ("check maekawa/basic", "deadlock-freedom  violated after 6 steps"),
        ("check lamport --nodes 2 --channels any", "mutual-exclusion  violated after 4 steps"),
        ("check singhal/no-chase --requests 2 --channels fifo", "deadlock-freedom  violated after 15 steps"),
        (
            "check ricart-agrawala/deferred-not-cleared --nodes 2 --requests 3",
            "mutual-exclusion  violated after 17 steps",
        ),
    ] {
        let script = folder("counterexamples").join("shortest.script");
        let output = doorway(&format!("{line} --script {}", script.display()));
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(text(&output.stdout).contains(steps), "{line}: {}", text(&output.stdout));
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
        ("check central --nodes 0", "1 to 64 nodes"),
        ("check central --nodes 65", "1 to 64 nodes"),
        ("check central --requests x", "not a whole number"),
        ("check central --property speed", "\"speed\" cannot be decided: all, mutual-exclusion"),
        ("check central --channels causal", "causal channels are not explored yet"),
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
