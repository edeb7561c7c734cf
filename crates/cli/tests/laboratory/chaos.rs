//! `chaos` as people and programs meet it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use doorway_catalog::Catalog;
use serde_json::Value;

use crate::terminal::{doorway, folder, json, keys, prints, refused, text};

/// A run of three nodes that is over soon.
const SHORT: &str = "chaos --nodes 3 --virtual 20s";

#[test]
fn runs_in_which_all_is_well_end_in_a_table_and_exit_0() {
    let page = prints(&format!("{SHORT} --seeds 3"));
    let mut lines = page.lines();
    assert_eq!(lines.next(), Some("naimi-trehel, 3 nodes, 20s of virtual time each, seeds 1 to 3"), "{page}");
    let headings = page.lines().nth(2).expect("a table").split_whitespace().collect::<Vec<_>>();
    assert_eq!(headings, ["algorithm", "runs", "entries", "views", "faults", "slowest", "violations"]);
    let row: Vec<&str> = page.lines().nth(4).expect("a row").split_whitespace().collect();
    let answer = json(&format!("{SHORT} --seeds 3 --json"));
    let number = |key: &str| answer[key].to_string();
    let faults: u64 =
        answer["faults"].as_object().expect("an object").values().filter_map(Value::as_u64).sum();
    let slowest = format!("{:.3}", answer["slowest_recovery"].as_f64().expect("a number") / 1e6);
    let expected = ["naimi-trehel", "3", &number("entries"), &number("views"), &faults.to_string()];
    assert_eq!((&row[..5], &row[5..]), (&expected[..], &[slowest.as_str(), "s", "0"][..]), "{page}");
    assert!(page.ends_with(": no violation\n"), "{page}");
}

#[test]
fn as_json_it_has_exactly_the_keys_of_the_issue() {
    let answer = json(&format!("{SHORT} --seeds 2 --json"));
    let expected = [
        "version",
        "runs",
        "entries",
        "views",
        "faults",
        "coverage",
        "violations",
        "slowest_recovery",
        "replay",
    ];
    assert_eq!(keys(&answer), expected);
    let expected = ["microseconds", "aimed", "pairs", "never_met", "rules", "never_fired"];
    assert_eq!(keys(&answer["coverage"]), expected);
    assert_eq!((&answer["version"], &answer["runs"]), (&1.into(), &2.into()));
    assert_eq!((&answer["violations"], &answer["replay"]), (&0.into(), &Value::Array(Vec::new())));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let one = prints(&format!("{SHORT} --seeds 4 --threads 1 --json"));
    assert_eq!(prints(&format!("{SHORT} --seeds 4 --threads 3 --json")), one);
}

#[test]
fn a_campaign_is_the_sum_of_its_runs() {
    // Among these seeds are one whose founders are few and one that founds its cluster in the run.
    let told = |seeds: u64, seed: u64| {
        let answer = json(&format!("chaos --nodes 5 --virtual 20s --seeds {seeds} --seed {seed} --json"));
        let numbers = ["entries", "views"].map(|key| answer[key].as_u64().expect("a number"));
        let seen = ["microseconds", "aimed", "pairs", "rules"].map(|key| answer["coverage"][key].clone());
        let seen = seen.iter().flat_map(|map| map.as_object().into_iter().flatten());
        let seen = seen.map(|(name, count)| (name.clone(), count.as_u64().expect("a number")));
        (numbers, seen.collect::<BTreeMap<String, u64>>())
    };
    let each = [9, 10, 11, 12, 13, 14].map(|seed| told(1, seed));
    let mut sum = ([0; 2], BTreeMap::new());
    for (numbers, seen) in &each {
        sum.0 = [sum.0[0] + numbers[0], sum.0[1] + numbers[1]];
        seen.iter().for_each(|(name, count)| *sum.1.entry(name.clone()).or_default() += count);
    }
    assert_eq!(told(6, 9), sum, "{each:?}");
}

#[test]
fn what_was_missed_is_named() {
    let (short, long) =
        (prints(&format!("{SHORT} --seeds 2")), prints(&format!("{SHORT} --seeds 2 --coverage")));
    for page in [&short, &long] {
        assert!(page.contains(" fired; never: "), "{page}");
        assert!(page.contains(" of the virtual time under faults, "), "{page}");
    }
    // Three nodes are all voters for ever.
    let flat = long.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("22 a view with a new voter set is decided"), "{long}");
    assert!(flat.contains(", voters + voters, "), "{long}");
    assert!(long.lines().any(|line| line.starts_with("machine crash       b ")), "{long}");
    assert!(short.lines().count() < 40, "{short}");
}

#[test]
fn all_stands_for_every_algorithm_that_is_right() {
    let page = prints(&format!("{SHORT} --seeds 1 --algorithm all"));
    let catalog = Catalog::textbook();
    for about in catalog.list() {
        let has_row = page.lines().any(|line| line.split_whitespace().next() == Some(about.name));
        assert_eq!(has_row, about.specimen.is_none(), "{}\n{page}", about.name);
    }
    assert!(page.contains("\nall "), "{page}");
    assert!(page.starts_with("13 algorithms, 3 nodes, 20s of virtual time each, seed 1\n"), "{page}");
}

#[test]
fn one_node_and_two_are_clusters_too() {
    for (nodes, least) in [("1", 100), ("2", 100)] {
        let answer = json(&format!("chaos --nodes {nodes} --virtual 30s --seeds 4 --json"));
        assert!(answer["entries"].as_u64() > Some(least), "{nodes}: {answer}");
        assert_eq!(answer["violations"], 0, "{nodes}: {answer}");
    }
    let alone = json("chaos --nodes 1 --virtual 30s --seeds 4 --json");
    let network = ["partition", "one-way cut", "partial cut", "leader cut off", "loss", "slow network"];
    assert!(
        network.iter().all(|fault| alone["faults"][*fault].is_null()),
        "one alone has no network: {alone}"
    );
}

/// A flaw that these runs find.
const FLAWED: &str = "chaos --nodes 3 --virtual 30s --flaw no-wait --seeds 12";

#[test]
fn a_flaw_that_is_found_exits_1_and_its_replay_shows_it_again() {
    let output = doorway(FLAWED);
    let page = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()), "{page}");
    assert!(
        page.contains("\nflaw no-wait: nodes do not wait for the leases of members left out\n"),
        "{page}"
    );
    assert!(page.lines().last().is_some_and(|line| line.starts_with("the flaw was found in ")), "{page}");
    let (before, after) = page.split_once("\n  replay: doorway ").expect("a replay");
    let replay = after.lines().next().expect("a line");
    let sentence = before.lines().find(|line| line.starts_with("  at ")).expect("a sentence");
    let again = doorway(replay);
    assert_eq!(again.status.code(), Some(1), "{replay}");
    assert!(text(&again.stdout).contains(sentence), "{replay}\n{sentence}\n{}", text(&again.stdout));
    let answer: Value = serde_json::from_slice(&doorway(&format!("{FLAWED} --json")).stdout).expect("JSON");
    assert_eq!(answer["replay"][0], format!("doorway {replay}"));
    assert!(answer["violations"].as_u64() >= Some(1));
}

#[test]
fn choices_for_the_algorithm_are_part_of_the_replay() {
    let line = format!("{FLAWED} --algorithm raymond --tree star --json");
    let answer: Value = serde_json::from_slice(&doorway(&line).stdout).expect("JSON");
    let replay = answer["replay"][0].as_str().expect("a replay");
    assert!(replay.contains(" --algorithm raymond --virtual 30s --tree star --flaw no-wait "), "{replay}");
    let other = doorway(&line.replace("star", "chain"));
    assert_ne!(
        serde_json::from_slice::<Value>(&other.stdout).expect("JSON"),
        answer,
        "another tree, another run"
    );
}

#[test]
fn a_trace_is_the_run_with_its_violation_and_all_tools_read_it() {
    let folder = folder("chaos-trace");
    let path = folder.join("run.jsonl").to_string_lossy().into_owned();
    let answer: Value = serde_json::from_slice(&doorway(&format!("{FLAWED} --json")).stdout).expect("JSON");
    let replay =
        answer["replay"][0].as_str().and_then(|line| line.strip_prefix("doorway ")).expect("a command");
    let page = text(&doorway(replay).stdout);
    let (_, look) = page.split_once("\nto look at it: doorway ").expect("how to look at it");
    let look = look.lines().next().expect("a line").replace("run.jsonl", &path);
    let output = doorway(&look);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()), "{look}");
    let bytes = fs::read(&path).expect("the trace");
    let (header, events) = doorway_trace::read(bytes.as_slice()).expect("a header");
    assert_eq!((header.algorithm.as_str(), header.nodes), ("chaos naimi-trehel", 3));
    assert_eq!(header.options["flaw"], "no-wait");
    let events: Vec<doorway_trace::Event> = events.collect::<Result<_, _>>().expect("events");
    let ids: Vec<u64> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, (1..=events.len() as u64).collect::<Vec<_>>(), "numbered without gaps");
    let what = page.lines().find_map(|line| line.strip_prefix("  at ")).expect("a violation");
    let (_, what) = what.split_once(" s: ").expect("its time");
    let first = what.split(' ').take(4).collect::<Vec<_>>().join(" ");
    let told: Vec<String> = events.iter().map(doorway_trace::Event::sentence).collect();
    assert!(told.iter().any(|line| line.starts_with(&format!("violation: {first}"))), "{first}");
    for part in [" asks to enter", " enters with fence ", " leaves", " sends REQUEST to node "] {
        assert!(told.iter().any(|line| line.contains(part)), "{part}");
    }
    let picture = folder.join("run.svg").to_string_lossy().into_owned();
    for line in [format!("trace show {path}"), format!("trace svg {path} -o {picture}")] {
        assert_eq!(doorway(&line).status.code(), Some(0), "{line}");
    }
}

#[test]
fn a_trace_does_not_change_the_run() {
    let folder = folder("chaos-whole");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let plain = prints(&format!("{SHORT} --seed 5 --seeds 1 --json"));
    assert_eq!(prints(&format!("{SHORT} --seed 5 --trace {} --json", path("some.jsonl"))), plain);
    let whole = doorway(&format!("{SHORT} --seed 5 --trace {} --everything --json", path("all.jsonl")));
    assert_eq!(text(&whole.stdout), plain);
    let lines = |name: &str| fs::read_to_string(path(name)).expect("a trace");
    let (some, all) = (lines("some.jsonl"), lines("all.jsonl"));
    assert!(some.lines().count() * 3 < all.lines().count(), "{}", some.lines().count());
    let entries = |trace: &str| trace.matches("\"event\":\"enter\"").count();
    assert_eq!(entries(&some), entries(&all));
    assert!(entries(&some) >= 10 && all.contains("\"kind\":\"HEARTBEAT\""));
}

#[test]
fn what_makes_no_sense_is_refused_in_one_sentence() {
    for (words, part) in [
        ("chaos --nodes 0", "--nodes 0: a cluster here has 1 to 16 nodes"),
        ("chaos --nodes 17", "1 to 16 nodes"),
        ("chaos --nodes -1", "not a whole number"),
        ("chaos --seeds 0", "--seeds must be at least 1"),
        ("chaos --algorithm raymond --tree circle", "no tree"),
        ("chaos --tree star", "tree"),
        ("chaos --nodes 7 --algorithm maekawa --quorum plane", "a view can have"),
        (
            "chaos --seed 18446744073709551615 --seeds 2",
            "--seed 18446744073709551615 is too large for 2 runs",
        ),
        ("chaos --algorithm all --seeds 9999999999999999999", "make fewer runs"),
        ("chaos --threads 0", "must be at least 1"),
        ("chaos --virtual 19s", "--virtual 19s: a run lasts from 20s to 1h"),
        ("chaos --virtual 2h", "a run lasts from 20s to 1h"),
        ("chaos --virtual 60", "--virtual: \"60\" is not a time, such as 60s, 1500ms, 5m or 1h"),
        ("chaos --virtual -5s", "is not a time"),
        ("chaos --flaw lazy", "--flaw: there is no flaw \"lazy\": there are no-wait, "),
        ("chaos --algorithm lamprt", "did you mean lamport"),
        ("chaos --algorithm bakery", "sends no messages"),
        ("chaos --trace t.jsonl --seeds 2", "--trace records one run: give --seeds 1 and one --algorithm"),
        ("chaos --trace t.jsonl --algorithm all", "--trace records one run"),
        ("chaos --trace nowhere/t.jsonl", "cannot be written: there is no such folder"),
        ("chaos --trace t.jsonl --virtual 11m", "at most 10m of virtual time"),
        ("chaos --trace t.jsonl --from 9s --until 9s", "--until 9s: give a time after --from, which is 9s"),
        ("chaos --trace t.jsonl --from 60s", "--from 60s: the run is over by then"),
        ("chaos --from 9s", "--trace"),
        ("chaos --everything", "--trace"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
}

#[test]
fn help_names_every_flaw_and_its_short_examples_run() {
    let help = prints("chaos --help");
    let flaws = help.split_once("Flaws, each of which breaks one rule:\n").expect("a list").1;
    assert_eq!(flaws.lines().count(), 27, "{help}");
    let folder = folder("chaos-examples");
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    for line in examples.lines().take_while(|line| !line.is_empty()).filter(|line| line.contains("--seed ")) {
        let line = line.trim().strip_prefix("doorway ").expect("a command");
        let words = line.split("  ").next().unwrap_or_default().split(' ');
        let output = Command::new(env!("CARGO_BIN_EXE_doorway")).args(words).current_dir(&folder).output();
        assert_eq!(output.expect("the command starts").status.code(), Some(0), "{line}");
    }
}

#[test]
fn completions_know_what_can_be_typed() {
    let script = prints("completions bash");
    assert!(script.contains("voters-beside-views"), "flaws can be completed");
}
