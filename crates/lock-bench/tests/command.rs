//! The command `lock-bench`: every contestant and every must is there, and bad input is refused. No speed is asserted.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn run(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lock-bench"));
    command.args(words.split_whitespace()).output().expect("the command starts")
}

fn prints(words: &str) -> String {
    let output = run(words);
    assert!(output.status.success(), "{words}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// What each row of a list has under these keys.
fn told(list: &Value, names: &[&str]) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let row = |row: &Value| names.iter().map(|name| word(&row[*name])).collect::<Vec<_>>().join(" ");
    list.as_array().expect("a list").iter().map(row).collect()
}

fn each<'a>(locks: &[&'a str], words: &'a [&str]) -> Vec<String> {
    locks.iter().flat_map(|lock| words.iter().map(move |word| format!("{lock} {word}"))).collect()
}

const OURS: [&str; 4] = ["tournament", "lamport-fast", "bakery", "black-white"];
const PEERS: [&str; 5] = ["std", "parking_lot", "spin", "spin-ticket", "mcslock"];

#[test]
fn the_json_has_every_lock_and_each_must_with_its_limit() {
    let answer = serde_json::from_str::<Value>(&prints("--seconds 1 --json")).expect("JSON");
    let expected = ["version", "seconds", "processors", "has_assertions", "alone", "pairs", "crowd", "musts"];
    assert_eq!(keys(&answer), expected);
    assert_eq!((&answer["version"], &answer["seconds"]), (&1.into(), &1.into()));

    let alone = [
        vec!["floor null".to_owned(), "peterson 2".to_owned()],
        each(&OURS, &["2", "8", "64"]),
        each(&PEERS, &["null"]),
    ];
    assert_eq!(told(&answer["alone"]["rows"], &["lock", "n"]), alone.concat());
    assert_eq!(keys(&answer["alone"]["rows"][0]), ["lock", "n", "ns", "to_floor", "to_std"]);
    assert_eq!(keys(&answer["alone"]["control"]), ["rounds", "disturbed", "slow", "median", "fast"]);

    assert_eq!(told(&answer["pairs"], &["inside_ns"]), ["0", "100"]);
    for pair in answer["pairs"].as_array().expect("a list") {
        let expected = [&["peterson"][..], &OURS, &PEERS].concat();
        assert_eq!(told(&pair["rows"], &["lock"]), expected);
        assert_eq!(keys(&pair["rows"][0]), ["lock", "entries_per_second", "to_mcslock"]);
    }

    let peers =
        ["std park", "parking_lot park", "spin spin", "spin-ticket spin", "mcslock spin", "mcslock yield"];
    let crowd = [each(&OURS, &["spin", "yield", "park"]), peers.map(str::to_owned).to_vec()];
    assert_eq!(told(&answer["crowd"]["rows"], &["lock", "wait"]), crowd.concat());
    assert_eq!((&answer["crowd"]["threads"], &answer["crowd"]["inside_ns"]), (&8.into(), &100.into()));

    assert_eq!(keys(&answer["musts"][0]), ["what", "bound", "must", "aim", "seen", "is_reached"]);
    assert_eq!(told(&answer["musts"], &["what", "bound", "must", "aim"]), MUSTS);
}

const MUSTS: [&str; 19] = [
    "peterson / floor, alone most 1.1 1.0",
    "peterson / std, alone most 0.5 0.39",
    "lamport-fast / std, alone, any n most 0.9 0.78",
    "lamport-fast, slowest n / fastest n, alone most 1.15 1.0",
    "bakery / std, alone, n = 8 most 1.3 1.05",
    "peterson / mcslock, 2 threads, empty inside least 0.9 1.0",
    "bakery / mcslock, 2 threads, empty inside least 0.8 1.0",
    "black-white / mcslock, 2 threads, empty inside least 0.55 1.0",
    "peterson / mcslock, 2 threads, 100 ns inside least 0.9 1.0",
    "bakery / mcslock, 2 threads, 100 ns inside least 0.8 1.0",
    "black-white / mcslock, 2 threads, 100 ns inside least 0.55 1.0",
    "tournament, 8 threads, longest wait, yield / spin most 0.1 null",
    "lamport-fast, 8 threads, longest wait, yield / spin most 0.1 null",
    "bakery, 8 threads, longest wait, yield / spin most 0.1 null",
    "black-white, 8 threads, longest wait, yield / spin most 0.1 null",
    "tournament, 8 threads, fairness, yield least 0.9 null",
    "lamport-fast, 8 threads, fairness, yield least 0.9 null",
    "bakery, 8 threads, fairness, yield least 0.9 null",
    "black-white, 8 threads, fairness, yield least 0.9 null",
];

#[test]
fn the_page_shows_all_parts_and_the_picture_is_written() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("locks.svg");
    let page = prints(&format!("--seconds 1 --svg {}", file.display()));
    for part in [
        "One thread alone\n",
        "Two threads that always want in\n",
        "8 threads on ",
        "What must be reached\n",
        "control, 100 ns: ",
        "! not reached\n",
    ] {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
    let svg = fs::read_to_string(file).expect("a picture");
    for lock in [&["floor", "peterson"][..], &OURS, &PEERS].concat() {
        assert!(page.contains(&format!("\n{lock} ")) && svg.contains(lock), "{lock} in\n{page}");
    }
}

#[test]
fn bad_arguments_are_refused_in_one_sentence() {
    for (words, part) in [
        ("--seconds 0", "--seconds: 0 seconds cannot be measured: give 1 to 600"),
        ("--seconds 601", "give 1 to 600"),
        ("--seconds -1", "not a whole number"),
        ("--seconds soon", "not a whole number"),
        ("--quick --seconds 2", "cannot be used with"),
        ("--theme dark", "--svg"),
        ("--svg locks.pdf", "a picture ends in .svg or .png"),
        ("dances", "unexpected argument"),
    ] {
        let output = run(words);
        let sentence = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{words}: {sentence}");
        assert!(sentence.starts_with("lock-bench: ") && sentence.contains(part), "{words}: {sentence}");
        assert_eq!(sentence.lines().count(), 1, "{words}: {sentence}");
    }
}
