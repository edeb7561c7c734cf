//! `doorway bank --simulated`: what people and programs see of right and of broken locks.

use serde_json::Value;

use crate::terminal::{doorway, json, keys, prints, refused, text};

/// What it prints when something was wrong.
fn fails(line: &str) -> String {
    let output = doorway(line);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()), "{line}");
    text(&output.stdout)
}

#[test]
fn a_right_lock_loses_no_money_and_costs_what_the_textbook_says() {
    let page = prints("bank --simulated");
    for part in [
        "ricart-agrawala, one section, 3 accounts of 100, 3 clients with 50 transfers each",
        "channels of any order, 100 runs with seeds 1 to 100",
        "audits      5000, each of which came to 300\n",
        "accounts    never overdrawn\n",
        "fenced      0 orders rejected",
        "120000 about sections, 6 per entry (textbook: 2(N−1) with N = 4)\n",
        "60000 REQUEST, 60000 REPLY\n",
        "nothing was wrong in 100 runs: all money is there",
    ] {
        assert!(page.replace("\n  seeds", " seeds").contains(part), "{part:?} is missing in\n{page}");
    }
    assert!(!page.contains("replay"), "{page}");
}

#[test]
fn the_keys_of_the_json_are_those_that_are_documented() {
    let report = json("bank --simulated --locks per-account --accounts 4 --clients 2 --runs 1 --json");
    let expected = [
        "version",
        "algorithm",
        "broken",
        "locks",
        "update",
        "fencing",
        "accounts",
        "clients",
        "participants",
        "total",
        "seed",
        "runs",
        "transfers",
        "refused",
        "abandoned",
        "audits",
        "wrong_audits",
        "void_audits",
        "negative_balances",
        "fenced",
        "entries",
        "messages",
        "messages_by_kind",
        "messages_per_entry",
        "mean_waiting_time",
        "time",
        "balances",
        "failed_runs",
        "found",
        "example_seed",
        "violations",
        "replay",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!((&report["version"], &report["locks"]), (&1.into(), &"per-account".into()));
    assert_eq!((&report["total"], &report["participants"]), (&400.into(), &3.into()));
    // 100 transfers take two sections each and 50 audits four.
    assert_eq!((&report["entries"], &report["messages_per_entry"]), (&400.into(), &4.0.into()));
    let balances: Vec<i64> = serde_json::from_value(report["balances"].clone()).expect("numbers");
    assert_eq!((balances.len(), balances.iter().sum::<i64>()), (4, 400));
    assert_eq!((&report["failed_runs"], &report["replay"]), (&0.into(), &Value::Null));
}

#[test]
fn a_broken_lock_is_reported_with_a_command_that_replays_it() {
    for broken in ["E1", "E14", "no-lock"] {
        let page = fails(&format!("bank --simulated --broken {broken} --threads 2 --seed 1"));
        for part in
            ["audit with a wrong sum", "negative balance", "two inside one section", "violation: time "]
        {
            assert!(page.contains(part), "{part:?} is missing in\n{page}");
        }
        let replay = page.lines().find_map(|line| line.strip_prefix("replay: doorway ")).expect("a replay");
        let again = fails(replay);
        let told = |page: &str| -> Vec<String> {
            page.lines().filter(|line| line.starts_with("violation: ")).map(str::to_owned).collect()
        };
        assert_eq!(told(&again), told(&page), "{replay}");
        assert!(
            told(&page).iter().any(|line| line.contains("counts") || line.contains("overdrawn")),
            "{page}"
        );
    }
}

#[test]
fn a_failure_as_json_has_numbers_sentences_and_the_replay() {
    let report: Value = serde_json::from_str(&fails("bank --simulated --broken E14 --json")).expect("JSON");
    let found = report["found"].as_array().expect("a list");
    assert!(found.iter().all(|found| keys(found) == ["kind", "times", "runs", "first_seed"]));
    let kinds: Vec<&str> = found.iter().filter_map(|found| found["kind"].as_str()).collect();
    assert!(["audit", "negative-balance", "exclusion"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    assert_eq!(found[0]["times"], report["wrong_audits"]);
    assert_eq!(keys(&report["violations"][0]), ["time", "kind", "what"]);
    let seed = &report["example_seed"];
    assert_eq!(report["replay"], format!("doorway bank --simulated --broken E14 --seed {seed} --runs 1"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let line = "bank --simulated --broken E14 --runs 20 --json --threads";
    assert_eq!(fails(&format!("{line} 1")), fails(&format!("{line} 3")));
}

#[test]
fn an_algorithm_on_weaker_channels_than_it_needs_is_noted() {
    let output = doorway("bank --simulated --algorithm lamport --channels any --runs 3");
    let note = "doorway: lamport needs fifo channels and runs on channels of any order: it may fail\n";
    assert_eq!(text(&output.stderr), note);
    assert!(prints("bank --simulated --algorithm lamport --runs 3").contains("fifo channels"));
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    for (words, part) in [
        ("bank --simulated --kill 1", "--kill is for real processes: it does not go with --simulated"),
        ("bank --simulated --node a", "--node is for real processes"),
        ("bank --simulated --accounts 0", "at least 2, not 0"),
        ("bank --simulated --accounts 1", "at least 2, not 1"),
        ("bank --simulated --accounts -3", "not a whole number"),
        ("bank --simulated --accounts 99999999999", "at most 1000 accounts"),
        ("bank --simulated --clients 0", "a bank without clients has nothing to do"),
        ("bank --simulated --clients 99999", "at most 1000 clients"),
        ("bank --simulated --balance 0", "nothing to transfer"),
        ("bank --simulated --balance 99999999999", "at most 1000000000"),
        ("bank --simulated --transfers 99999999999", "at most 10000000 transfers"),
        ("bank --simulated --locks two", "one or per-account"),
        ("bank --simulated --update twice", "transfer or rewrite"),
        ("bank --simulated --fencing maybe", "on or off"),
        ("bank --simulated --latency slow", "as in uniform:5:15"),
        ("bank --simulated --channels wide", "fifo, any or causal"),
        ("bank --simulated --runs 0", "must be at least 1"),
        ("bank --simulated --threads 0", "must be at least 1"),
        ("bank --simulated --algorithm ricart", "did you mean ricart-agrawala"),
        ("bank --simulated --broken E99", "ricart-agrawala is not kept broken as \"E99\", only as E1, E14"),
        ("bank --simulated --algorithm central --broken E1", "only as no-lock or none"),
        ("bank --simulated --quorum grid", "no quorum to choose"),
        ("bank --simulated --algorithm token-ring --latency 0", "time would stand still"),
        ("bank --simulated --algorithm maekawa --quorum plane", "no projective plane has 4 nodes"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
}

#[test]
fn a_trace_tells_each_step_with_holder_queue_and_fence_of_its_sections() {
    let page = prints("bank --trace --locks per-account --events 400 --seed 2");
    for part in [
        "wants to move ",
        "asks for acct-",
        "sends REQUEST for acct-",
        " enters acct-",
        "| acct-1: free, last fence ",
        "; waiting: ",
        "gives the order to DEBIT ",
        "has moved the money; leaves acct-",
        "deferred",
        "400 events shown; the run goes on: --events N shows more",
    ] {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
}

#[test]
fn a_trace_as_json_has_one_holder_at_most_and_rising_fences() {
    let story = json("bank --trace --transfers 5 --audits 5 --events 10000 --json");
    assert_eq!(story["is_cut"], Value::Bool(false));
    let events = story["events"].as_array().expect("a list");
    let sections = || events.iter().flat_map(|event| event["sections"].as_array().expect("a list"));
    assert!(sections().all(|section| section["inside"].as_array().is_some_and(|inside| inside.len() <= 1)));
    let fences: Vec<u64> = sections().filter_map(|section| section["fence"].as_str()?.parse().ok()).collect();
    assert!(fences.is_sorted() && fences.last() == Some(&20), "15 transfers and 5 audits: {fences:?}");
}

#[test]
fn a_trace_of_a_broken_lock_shows_two_inside() {
    let page = fails("bank --trace --broken E1 --seed 10 --from 1980 --to 2000");
    assert!(
        page.contains("client 3 and the auditor inside") || page.contains("the auditor and client 3 inside"),
        "{page}"
    );
    assert!(
        page.contains("violation: time 1991: client 3 and the auditor are inside bank together"),
        "{page}"
    );
}

#[test]
fn a_trace_is_laid_out_and_says_how_to_go_on() {
    let page = prints("bank --trace --events 6");
    assert!(page.contains("\n44  the auditor wants"), "{page}");
    assert!(page.contains("\n      | bank: never entered; waiting: the auditor\n"), "{page}");
    assert!(page.contains("\n      |   the auditor: clock 1"), "{page}");
    assert!(
        page.ends_with("6 events shown; the run goes on: --events N shows more, --from 56 continues there\n")
    );
    let stuck = prints("bank --trace --events 1 --from 49");
    assert!(stuck.ends_with("1 event shown; the run goes on: --events N shows more\n"), "{stuck}");
    assert!(prints("bank --trace --from 99999999").ends_with("the run ended before time 99999999\n"));
}

#[test]
fn the_window_of_a_trace_is_checked() {
    for (line, reason) in [
        ("bank --trace --from 5 --to 4", "--from 5 is later than --to 4"),
        ("bank --trace --events 0", "give 1 or more"),
        ("bank --trace --events 10001", "at most 10000, and --from shows later ones"),
        ("bank --trace --runs 3", "--trace tells one run: leave out --runs"),
        ("bank --trace --kill 1", "--kill is for real processes"),
    ] {
        assert!(refused(line).contains(reason), "{line}: {}", refused(line));
    }
}
