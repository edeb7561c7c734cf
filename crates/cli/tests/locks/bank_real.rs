//! `doorway bank` with real processes: right and broken locks, clients that are killed, and what is refused.

use serde_json::{Value, json};

use crate::fleet;
use crate::fleet::Dev;
use crate::terminal::{doorway, keys, refused, text};

/// The exit status of a bank, and its report.
fn bank(words: &str) -> (i32, Value) {
    let output = doorway(&format!("bank --json {words}"));
    let (code, err) = (output.status.code().unwrap_or(-1), text(&output.stderr));
    let report = serde_json::from_str(&text(&output.stdout));
    (code, report.unwrap_or_else(|error| panic!("{words}: {error}, exit {code}, {err}")))
}

fn number(report: &Value, key: &str) -> u64 {
    report[key].as_u64().unwrap_or_else(|| panic!("{key} is no number in {report}"))
}

fn sum(report: &Value) -> i64 {
    let balances: Vec<i64> = serde_json::from_value(report["balances"].clone()).expect("numbers");
    balances.iter().sum()
}

fn kinds(report: &Value) -> Vec<&str> {
    let found = report["found"].as_array().expect("a list");
    found.iter().filter_map(|found| found["kind"].as_str()).collect()
}

fn assert_all_is_there(words: &str, entries: u64) {
    let (code, report) = bank(words);
    assert_eq!((code, kinds(&report)), (0, vec![]), "{words}: {report}");
    assert_eq!((sum(&report), number(&report, "entries")), (300, entries), "{report}");
    assert_eq!(number(&report, "transfers") + number(&report, "refused"), 60, "{report}");
    // Twenty, and one when all others are done.
    assert_eq!((number(&report, "audits"), number(&report, "fenced")), (21, 0), "{report}");
}

#[test]
fn right_locks_keep_the_sum_with_one_section_for_all_accounts() {
    for algorithm in ["ricart-agrawala", "maekawa"] {
        assert_all_is_there(&format!("--algorithm {algorithm} --transfers 20 --audits 20"), 60 + 21);
    }
}

#[test]
fn right_locks_keep_the_sum_with_one_section_for_each_account() {
    for algorithm in ["ricart-agrawala", "suzuki-kasami"] {
        let words = format!("--algorithm {algorithm} --locks per-account --transfers 20 --audits 20");
        assert_all_is_there(&words, 60 * 2 + 21 * 3);
    }
}

#[test]
fn the_right_lock_keeps_the_sum_where_the_broken_ones_lose_it() {
    let words = "--channels any --update rewrite --think exponential:2000 --transfers 20 --audits 20";
    assert_all_is_there(words, 60 + 21);
}

/// Real time cannot be repeated: a broken lock may be right by luck for a while, and hardly ever for this long.
fn assert_money_is_lost(broken: &str) {
    for attempt in 1..=8 {
        let (code, report) = bank(&format!("--broken {broken} --seconds 5 --seed {attempt}"));
        let kinds = kinds(&report);
        println!("{broken}, attempt {attempt}: exit {code}, {kinds:?}, sum {}", sum(&report));
        assert_eq!(code == 1, !kinds.is_empty(), "{report}");
        if kinds.contains(&"audit") || kinds.contains(&"final-sum") {
            assert!(kinds.contains(&"exclusion") || kinds.contains(&"fence"), "{report}");
            let first = &report["violations"][0];
            assert_eq!(keys(first), ["microseconds", "kind", "what"]);
            return;
        }
    }
    panic!("{broken} was right eight times");
}

#[test]
fn money_appears_or_vanishes_when_deferred_peers_are_never_forgotten() {
    assert_money_is_lost("E1");
}

#[test]
fn money_appears_or_vanishes_when_requests_are_stamped_too_early() {
    assert_money_is_lost("E14");
}

#[test]
fn a_client_killed_inside_leaves_no_lock_and_no_late_order() {
    for locks in ["one", "per-account"] {
        let (code, report) = bank(&format!("--locks {locks} --kill 2 --transfers 30 --audits 10"));
        assert_eq!((code, kinds(&report), sum(&report)), (0, vec![], 300), "{report}");
        let killed = report["killed"].as_array().expect("a list");
        assert_eq!((killed.len(), number(&report, "fenced")), (2, 2), "{report}");
        for casualty in killed {
            assert_eq!(casualty["answer"], "FENCED", "{report}");
            assert!(casualty["next_entry_microseconds"].is_u64(), "{report}");
            assert!(casualty["late_order"]["DEBIT"].is_i64(), "{report}");
        }
    }
}

#[test]
fn without_fencing_a_late_order_of_a_killed_client_counts() {
    let (code, report) = bank("--fencing off --kill 1 --transfers 30 --audits 10");
    let killed = &report["killed"][0];
    assert_eq!((code, &killed["answer"]), (1, &json!("DONE")), "{report}");
    let debit = killed["late_order"]["DEBIT"].as_i64().expect("an amount");
    assert_eq!(sum(&report), 300 - debit, "{report}");
    assert!(["final-sum", "final-log"].iter().all(|kind| kinds(&report).contains(kind)), "{report}");
    assert!(!kinds(&report).contains(&"exclusion"), "the lock itself is right: {report}");
}

#[test]
fn a_bank_over_an_existing_cluster_leaves_nothing_behind_there() {
    let dev = Dev::new("bank");
    let words = [
        "bank",
        "--json",
        "--node",
        "a,b",
        "--node",
        "c",
        "--kill",
        "1",
        "--transfers",
        "30",
        "--audits",
        "5",
    ];
    let (code, out, err) = dev.run(&words);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&report["algorithm"], &report["nodes"]), (&json!("naimi-trehel"), &json!(3)));
    assert_eq!((sum(&report), report["killed"][0]["answer"].as_str()), (300, Some("FENCED")), "{report}");
    fleet::until("nobody is inside", || dev.status()["sections"] == json!([]));
}

#[test]
fn the_page_says_what_ran_and_how_killed_clients_ended() {
    let output = doorway("bank --kill 1 --transfers 30 --audits 5 --accounts 4 --balance 50");
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}{}", text(&output.stderr));
    let joined = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "ricart-agrawala, 3 nodes of its own, one section, 4 accounts of 50, 3 clients with 30 transfers each",
        "an auditor with 5 audits, a process each, for at most 60 seconds, fifo channels",
        "audits 6, each of which came to 200",
        "fenced 1 order rejected for a fence that was too small",
        "killed client 1 inside bank, fence",
        "was rejected: its fence was too small",
        "nothing was wrong: all money is there",
    ] {
        assert!(joined.contains(part), "{part:?} is missing in\n{page}");
    }
}

#[test]
fn options_that_need_a_simulation_are_refused() {
    for (words, part) in [
        ("bank --latency 5", "--latency is for --simulated"),
        ("bank --runs 3", "--runs is for --simulated: real time cannot be repeated"),
        ("bank --threads 2", "--threads is for --simulated"),
        ("bank --channels causal", "causal channels are for --simulated"),
        ("bank --broken no-lock", "no-lock is for --simulated"),
        ("bank --broken E99", "is not kept broken as \"E99\""),
        ("bank --broken E1 --socket x.sock", "broken locks run only on nodes that the bank starts itself"),
        ("bank --broken E14 --node a", "broken locks run only on nodes that the bank starts itself"),
        ("bank --node a --algorithm raymond", "--algorithm is for nodes that the bank starts itself"),
        ("bank --socket nowhere.sock", "no daemon listens at nowhere.sock"),
        ("bank --accounts 1", "at least 2, not 1"),
        ("bank --accounts 65", "at most 64 of each are possible, not 65"),
        ("bank --clients 65", "at most 64 of each are possible, not 65"),
        ("bank --kill 4", "--kill 4 needs as many clients, not 3"),
        ("bank --kill -1", "not a whole number"),
        ("bank --seconds 0", "--seconds must be 1 to 3600, not 0"),
        ("bank --algorithm maekawa --quorum plane", "no projective plane has 3 nodes"),
        ("bank --algorithm raymond --tree elected", "an elected tree is for --simulated"),
        ("bank-process 1", "the bank that this process belongs to has ended"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
}
