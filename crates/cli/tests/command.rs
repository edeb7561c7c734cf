//! The real command, as a person or a program meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use doorway_core::Catalog;
use serde_json::Value;

/// Runs the command with the words of a line.
fn doorway(line: &str) -> Output {
    doorway_with(&line.split(' ').collect::<Vec<_>>())
}

fn doorway_with(words: &[&str]) -> Output {
    let words = words.iter().filter(|word| !word.is_empty());
    Command::new(env!("CARGO_BIN_EXE_doorway")).args(words).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the command prints UTF-8")
}

/// What it prints when all is well.
fn prints(line: &str) -> String {
    let output = doorway(line);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{line}");
    text(&output.stdout)
}

fn json(line: &str) -> Value {
    serde_json::from_str(&prints(line)).expect("it prints JSON")
}

/// The one sentence with which it refuses.
fn refusal(words: &[&str]) -> String {
    let output = doorway_with(words);
    let sentence = text(&output.stderr);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(2), String::new()),
        "{words:?}: {sentence}"
    );
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence.strip_prefix("doorway: ").expect("the sentence says who speaks").trim_end().to_owned()
}

fn refused(line: &str) -> String {
    refusal(&line.split(' ').collect::<Vec<_>>())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("a file for the test");
    path.to_string_lossy().into_owned()
}

/// The names in the catalog: of the algorithms that are right, and of the specimens.
fn names() -> (Vec<&'static str>, Vec<&'static str>) {
    let catalog = doorway_algorithms::catalog();
    let (specimens, right): (Vec<_>, Vec<_>) =
        catalog.list().into_iter().partition(|about| about.specimen.is_some());
    let names = |list: Vec<&doorway_core::About>| list.iter().map(|about| about.name).collect();
    (names(right), names(specimens))
}

#[test]
fn algorithms_lists_all_twelve_and_the_three_specimens_apart() {
    let (algorithms, specimens) = names();
    assert_eq!((algorithms.len(), specimens.len()), (12, 3), "none is lost, and a new one is counted here");
    let page = prints("algorithms");
    let (right, wrong) = page.split_once("Specimens").expect("specimens stand apart");
    for name in algorithms {
        let is_listed = right.lines().any(|line| line.starts_with(&format!("{name} ")));
        assert!(is_listed, "{name} is missing in\n{page}");
    }
    for name in specimens {
        assert!(wrong.contains(name) && !right.contains(name), "{page}");
    }
    assert!(prints("algorithms --all").contains("B0 of maekawa: there is no remedy"));
}

#[test]
fn algorithms_as_json_tells_what_the_table_tells() {
    let answer = json("algorithms --json");
    assert_eq!((keys(&answer), &answer["version"]), (vec!["version", "algorithms"], &Value::from(1)));
    let list = answer["algorithms"].as_array().expect("a list");
    for entry in list {
        let expected = ["name", "title", "family", "messages", "delay", "needs", "parameters", "specimen"];
        assert_eq!(keys(entry), expected);
    }
    let right: Vec<&Value> = list.iter().filter(|entry| entry["specimen"].is_null()).collect();
    assert_eq!(right.iter().map(|entry| &entry["name"]).collect::<Vec<_>>(), names().0);
    let raymond = right.iter().find(|entry| entry["name"] == "raymond").expect("it is listed");
    assert_eq!(keys(&raymond["parameters"][0]), ["name", "default", "help"]);
    let specimen = list.iter().find(|entry| entry["name"] == "maekawa/basic").expect("it is listed");
    assert_eq!(keys(&specimen["specimen"]), ["id", "of", "wrong", "verdict"]);
}

#[test]
fn explain_has_a_page_for_everything_in_the_catalog() {
    for about in doorway_algorithms::catalog().list() {
        let page = prints(&format!("explain {}", about.name));
        let first = about.page().split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let rules = match about.specimen {
            Some(specimen) => format!("\nRules of {}, which this variant spoils\n", specimen.of),
            None => "\nRules\n".to_owned(),
        };
        for part in [about.title, first.trim_end_matches('.'), &rules, "\nTry\n  doorway simulate "] {
            assert!(page.contains(part), "{part:?} is missing in\n{page}");
        }
        assert!(!page.contains(&format!("\n{}.\n", about.title)), "the title stands there twice\n{page}");
        assert_eq!(page.contains("wrong on purpose"), about.specimen.is_some());
        let answer = json(&format!("explain {} --json", about.name));
        assert_eq!((&answer["version"], &answer["name"]), (&Value::from(1), &Value::from(about.name)));
        assert!(answer["rules"].as_array().is_some_and(|rules| !rules.is_empty()));
    }
}

#[test]
fn the_command_that_explain_says_to_try_works() {
    for name in names().0 {
        let answer = json(&format!("explain {name} --json"));
        let command =
            answer["try"].as_str().and_then(|command| command.strip_prefix("doorway ")).expect("a command");
        prints(command);
    }
}

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
fn many_runs_are_pooled_and_told_one_by_one() {
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
fn a_run_that_ends_early_says_so() {
    let line = "simulate lamport --channels any --latency uniform:1:50 --invariants --entries 3000";
    let output = doorway(line);
    let page = text(&output.stdout);
    assert_eq!((output.status.code(), page.matches("violation: ").count()), (Some(1), 10), "{page}");
    let entries = page.lines().find_map(|line| line.trim().strip_prefix("entries ")).expect("a count");
    let entries = entries.split_whitespace().next().expect("a number");
    assert!(page.contains(&format!("\nstopped after 10 violations, {entries} of 3000 entries\n")), "{page}");
    let warm = text(&doorway(&format!("{line} --warmup 2000")).stdout);
    assert!(warm.contains("\nstopped after 10 violations, 0 of 1000 entries after the warm-up\n"), "{warm}");
    let to_the_end =
        text(&doorway("simulate lamport --channels any --latency uniform:1:50 --entries 9").stdout);
    assert!(!to_the_end.contains("stopped"), "{to_the_end}");
}

#[test]
fn a_summary_tells_how_often_a_request_was_bypassed_and_numbers_without_needless_zeros() {
    for (line, part) in [
        ("simulate ricart-agrawala", "no request was bypassed\n"),
        ("simulate token-ring --load light:300", "a request was bypassed up to "),
        ("simulate central --load active:1 --hold 10", "  0.1 entries per tick, one every 10 ticks\n"),
    ] {
        assert!(prints(line).contains(part), "{part:?} is missing in\n{}", prints(line));
    }
    let bypassed = |line: &str| json(&format!("{line} --json"))["fairness"]["max_bypass"].as_u64();
    let once = (1..100)
        .map(|seed| format!("simulate lamport --nodes 3 --entries 20 --latency uniform:1:20 --seed {seed}"))
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
fn a_refused_run_leaves_no_trace_and_keeps_an_old_one() {
    let elsewhere = folder;
    let folder = folder("refused");
    let path = folder.join("run.jsonl");
    let trace = path.to_string_lossy();
    let apart = format!("file:{}", file(&elsewhere("refused-input"), "apart.quorums", "1: 1\n2: 2\n"));
    let impossible = SCRIPT.replace("2->1 REQUEST", "3->1 REQUEST");
    let impossible = file(&elsewhere("refused-script"), "wrong.script", &impossible);
    for words in [
        &["maekawa", "--nodes", "10", "--quorum", "plane"][..],
        &["lamport", "--nodes", "5", "--crash", "9@1"],
        &["lamport", "--nodes", "5", "--partition", "1|9@1..2"],
        &["lamport", "--nodes", "5", "--start-inside", "9"],
        &["lamport", "--nodes", "0"],
        &["lamport", "--runs", "2"],
        &["maekawa", "--nodes", "2", "--quorum", &apart],
        &["--script", &impossible],
        &["--script", &impossible, "--json"],
    ] {
        refusal(&[&["simulate"], words, &["--trace", &trace]].concat());
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0, "{words:?}");
    }
    fs::write(&path, "old").expect("an old trace");
    refusal(&["simulate", "maekawa", "--nodes", "10", "--quorum", "plane", "--trace", &trace]);
    assert_eq!(fs::read_to_string(&path).expect("it is still there"), "old");
    assert!(
        refused("simulate lamport --trace no/such/folder/run.jsonl").ends_with("there is no such folder")
    );
}

const SCRIPT: &str =
    "algorithm central\nnodes 3\nrequest 2\ndeliver 2->1 REQUEST\ndeliver 1->2 GRANT\nexpect inside 2\n";

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
fn what_a_script_decides_itself_does_not_go_with_it() {
    let folder = folder("decided");
    let script = file(&folder, "good.script", SCRIPT);
    for (given, reason) in [
        ("--load saturated", "a script says itself who asks and when"),
        ("--entries 1000", "a script says itself who asks and when"),
        ("--hold 5", "a script says itself who asks and when"),
        ("--warmup 0", "a script says itself who asks and when"),
        ("--latency 10", "a script delivers each message itself"),
        ("--local-latency 3", "a script delivers each message itself"),
        ("--loss 0.1", "a script says itself what goes wrong"),
        ("--duplicate 0.1", "a script says itself what goes wrong"),
        ("--retransmit", "a script says itself what goes wrong"),
        ("--crash 1@5", "a script says itself what goes wrong"),
        ("--partition 1|2@1..2", "a script says itself what goes wrong"),
        ("--runs 1", "a script is one run"),
        ("--threads 1", "a script is one run"),
    ] {
        let flag = given.split(' ').next().expect("a flag");
        let sentence = format!("{flag} does not go with --script: {reason}");
        assert_eq!(refused(&format!("simulate --script {script} {given}")), sentence);
        assert_eq!(refused(&format!("simulate {given} --script {script}")), sentence);
    }
    prints(&format!("simulate --script {script} --channels any --seed 7 --invariants --order --nodes 4"));
}

#[test]
fn an_impossible_delivery_is_refused_with_its_line_and_what_is_in_flight() {
    let folder = folder("impossible");
    let script = file(&folder, "wrong.script", &SCRIPT.replace("2->1 REQUEST", "3->1 REQUEST"));
    let sentence = refusal(&["simulate", "--script", &script]);
    assert!(sentence.contains("line 4") && sentence.contains("2->1 REQUEST"), "{sentence}");
    let nonsense = file(&folder, "nonsense.script", "algorithm central\nfly 2\n");
    assert!(refusal(&["simulate", "--script", &nonsense]).contains("line 2"));
    let nameless = file(&folder, "nameless.script", "nodes 3\nrequest 2\n");
    assert!(refusal(&["simulate", "--script", &nameless]).starts_with("which algorithm?"));
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
fn bad_input_is_refused_in_one_sentence() {
    let folder = folder("bad");
    let apart = file(&folder, "apart.quorums", "1: 1\n2: 2\n");
    let apart = format!("file:{apart}");
    for (words, part) in [
        ("simulate lamport --nodes 0", "at least one node"),
        ("simulate lamport --nodes 99999999999", "more than can be numbered"),
        ("simulate lamport --nodes 99999999999999999999999", "too large"),
        ("simulate lamport --nodes -1", "not a whole number"),
        ("simulate lamport --nodes five", "not a whole number"),
        ("simulate lamport --start-inside 9", "there is no node 9"),
        ("simulate lamport --start-inside 0", "nodes count from 1"),
        ("simulate lamport --crash 9@5", "there is no node 9"),
        ("simulate lamport --partition 1,2|9@1..2", "there is no node 9"),
        ("simulate maekawa --nodes 10 --quorum plane", "7 and 13"),
        ("simulate maekawa --quorum circle", "not a quorum system"),
        ("simulate sanders --structure circle", "no structure"),
        ("simulate raymond --tree circle", "no tree"),
        ("simulate raymond --set tree", "NAME=VALUE"),
        ("simulate lamport --quorum grid", "no quorum to choose"),
        ("simulate lamport --runs 0", "give 1 or more"),
        ("simulate lamport --threads 0", "give 1 or more"),
        ("simulate lamport --warmup 1000", "leaves none"),
        ("simulate lamport --load heavy", "as in light:500"),
        ("simulate lamport --latency slow", "as in uniform:5:15"),
        ("simulate lamport --latency matrix:no-such-file", "cannot be read"),
        ("simulate lamport --loss 2", "from 0 to 1"),
        ("simulate lamport --channels wide", "fifo, any or causal"),
        ("simulate lamport --nods 3", "--nodes"),
        ("simulate ricart", "did you mean ricart-agrawala?"),
        ("simulate", "which algorithm?"),
        ("explain mekawa", "did you mean maekawa"),
        ("explain nothing", "\"nothing\": `doorway algorithms` lists them"),
        ("explain", "ALGORITHM"),
        ("quorum plane --nodes 10", "7 and 13"),
        ("quorum grid", "--nodes N"),
        ("quorum grid --nodes 0", "at least one node"),
        ("quorum grid --nodes 99999999999", "at most"),
        ("quorum circle --nodes 3", "not a quorum system"),
        ("quorum grid --nodes 3 --weights 1", "only for weighted"),
        ("quorum wall:1,2 --widths 1,2", "leave --widths out"),
        ("quorum file:no-such-file", "cannot be read"),
        ("quorum file", "file:mine.quorums"),
        ("completions cmd", "powershell"),
        ("dance", "--help"),
    ] {
        let sentence = refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
    for words in
        [["quorum", &apart, "", ""], ["simulate", "maekawa", "--nodes=2", &format!("--quorum={apart}")]]
    {
        let sentence = refusal(&words);
        assert!(sentence.contains("nodes 1 and 2 do not meet"), "{sentence}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_name() {
    let folder = folder("blamed");
    let wrong = file(&folder, "wrong.txt", "1: 1\n2: 2\n");
    let small = file(&folder, "small.txt", "1 1\n2 2\n");
    for (words, part) in [
        (format!("simulate maekawa --nodes 2 --quorum file:{wrong}"), "nodes 1 and 2 do not meet"),
        (format!("simulate maekawa --nodes 3 --quorum file:{wrong}"), "3"),
        (format!("simulate sanders --nodes 2 --structure file:{wrong}"), "line 1 of the structure"),
        (format!("simulate raymond --nodes 2 --tree file:{wrong}"), "line 1 of the tree"),
        (format!("simulate raymond --nodes 2 --set tree=file:{wrong}"), "line 1 of the tree"),
        (format!("simulate lamport --nodes 2 --latency matrix:{wrong}"), "line 1 of the latency matrix"),
    ] {
        let sentence = refused(&words);
        assert!(sentence.starts_with(&format!("{wrong}: ")) && sentence.contains(part), "{sentence}");
    }
    assert_eq!(
        refused(&format!("simulate lamport --latency matrix:{small}")),
        format!("{small}: the latency matrix has 2 rows for 5 nodes")
    );
    let script = "algorithm maekawa\nnodes 2\nquorum file:wrong.txt\nrequest 1\n";
    let script = file(&folder, "two.script", script);
    assert!(refused(&format!("simulate --script {script}")).starts_with(&format!("{wrong}: ")));
    let sentence = refused(&format!("simulate lamport --quorum file:{wrong}"));
    assert_eq!(sentence, "lamport has no quorum to choose", "the file is not to blame");
}

#[test]
fn a_quorum_system_as_json_has_the_keys_of_the_issue() {
    let answer = json("quorum plane --nodes 7 --json");
    let expected = ["version", "kind", "nodes", "assignment", "intersecting", "size", "responsibility"];
    assert_eq!(keys(&answer), expected);
    assert_eq!(
        (&answer["kind"], &answer["nodes"], &answer["intersecting"]),
        (&"plane".into(), &7.into(), &true.into())
    );
    assert_eq!(answer["size"], serde_json::json!({"min": 3, "mean": 3.0, "max": 3}));
    assert_eq!(answer["responsibility"], serde_json::json!({"min": 3, "max": 3}));
    let sets: Vec<Vec<u32>> = serde_json::from_value(answer["assignment"].clone()).expect("lists of numbers");
    assert!(sets.len() == 7 && sets.iter().flatten().all(|node| (1..=7).contains(node)));
}

#[test]
fn weights_widths_and_files_imply_the_number_of_nodes() {
    let folder = folder("implied");
    let own = file(&folder, "own.quorums", "1: 1 2\n2: 2 3\n3: 1 3\n");
    assert_eq!(json("quorum weighted --weights 3,1,1 --json")["nodes"], 3);
    assert_eq!(json("quorum wall --widths 1,2,3 --json")["nodes"], 6);
    assert_eq!(json(&format!("quorum file:{own} --json"))["assignment"][2], serde_json::json!([1, 3]));
    let page = prints(&format!("quorum file:{own}"));
    assert!(page.starts_with(&format!("file:{own}, 3 nodes: every two quorums meet\n")), "{page}");
    assert!(prints("quorum majority --nodes 40").contains("… 8 more"));
}

#[test]
fn every_verb_has_help_that_teaches() {
    let main = prints("--help");
    assert_eq!(prints(""), main);
    for verb in ["algorithms", "explain", "simulate", "quorum", "completions", "man"] {
        assert!(main.contains(&format!("\n  {verb} ")), "{verb} is missing in\n{main}");
        let long = prints(&format!("{verb} --help"));
        assert!(long.contains("Examples:\n  doorway "), "{long}");
        assert!(prints(&format!("{verb} -h")).len() <= long.len());
    }
    for kind in doorway_quorums::Construction::LIST {
        assert!(prints("quorum --help").contains(kind.name));
    }
}

/// The examples of a verb's help, each as words, without what follows for the shell or the reader.
fn examples(verb: &str) -> Vec<Vec<String>> {
    let help = prints(&format!("{verb} --help"));
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let command = |line: &str| {
        let line = line.trim().strip_prefix("doorway ").expect("a command");
        let end = ["  ", " > ", " && "].iter().filter_map(|mark| line.find(mark)).min();
        line[..end.unwrap_or(line.len())].replace('"', "").split(' ').map(str::to_owned).collect()
    };
    examples.lines().map(command).collect()
}

#[test]
fn every_example_of_the_help_runs() {
    let folder = folder("examples");
    file(&folder, "scenario.script", SCRIPT);
    file(&folder, "mine.quorums", "1: 1 2\n2: 2 3\n3: 1 3\n");
    for verb in ["algorithms", "explain", "simulate", "quorum", "completions", "man"] {
        for words in examples(verb) {
            let output = Command::new(env!("CARGO_BIN_EXE_doorway"))
                .args(&words)
                .current_dir(&folder)
                .output()
                .expect("the command starts");
            // A coordinator that crashes stalls everybody, and that is what the example shows.
            let expected = if words.contains(&"--crash".to_owned()) { 1 } else { 0 };
            assert_eq!(output.status.code(), Some(expected), "{words:?}: {}", text(&output.stderr));
            assert!(!output.stdout.is_empty(), "{words:?}");
        }
    }
}

#[test]
fn help_fits_eighty_columns() {
    for verb in ["", "algorithms", "explain", "simulate", "quorum", "man"] {
        let output = Command::new(env!("CARGO_BIN_EXE_doorway"))
            .args(verb.split_whitespace().chain(["--help"]))
            .env("COLUMNS", "80")
            .output()
            .expect("the command starts");
        let help = text(&output.stdout);
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{verb}: {long:#?}");
    }
}

#[test]
fn completions_know_verbs_options_and_algorithms() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = prints(&format!("completions {shell}"));
        for word in ["simulate", "start-inside"] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
        let completes_values = matches!(shell, "bash" | "zsh");
        assert!(script.contains("ricart-agrawala") || !completes_values, "{shell}");
    }
}

#[test]
fn manual_pages_are_made_for_every_verb() {
    let folder = folder("man");
    prints(&format!("man {}", folder.display()));
    for page in
        ["doorway.1", "doorway-simulate.1", "doorway-quorum.1", "doorway-explain.1", "doorway-algorithms.1"]
    {
        let roff = fs::read_to_string(folder.join(page)).expect(page);
        assert!(roff.contains(".SH NAME") && roff.contains("Examples"), "{page}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
        .args(["quorum", "all", "--nodes", "1000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_catalog_from_outside_is_run_as_it_is() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["doorway", "algorithms", "--json"].map(std::ffi::OsString::from);
    let exit = doorway_cli::run_from(doorway_core::Empty, words, &mut out, &mut err);
    assert_eq!(
        (exit, text(&out)),
        (doorway_cli::Exit::Holds, "{\"version\":1,\"algorithms\":[]}\n".to_owned())
    );
    let words = ["doorway", "explain", "lamport"].map(std::ffi::OsString::from);
    let exit = doorway_cli::run_from(doorway_core::Empty, words, &mut out, &mut err);
    assert_eq!(exit.code(), 2);
    assert_eq!(text(&err), "doorway: there is no algorithm \"lamport\": `doorway algorithms` lists them\n");
}

#[test]
fn a_program_that_extends_the_catalog_speaks_under_its_own_name() {
    let folder = folder("own-name");
    let ask = |line: &str| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = std::iter::once("target/release/laboratory").chain(line.split(' '));
        let catalog = doorway_algorithms::catalog();
        let exit = doorway_cli::run_from(catalog, words.map(Into::into), &mut out, &mut err);
        (exit.code(), text(&out), text(&err))
    };
    let man = format!("man {}", folder.display());
    for (line, code, part) in [
        ("--help", 0, "Usage: laboratory"),
        ("simulate --help", 0, "\n  laboratory simulate ricart-agrawala --nodes 16\n"),
        ("--version", 0, "laboratory with doorway "),
        ("algorithms", 0, "`laboratory explain NAME` tells more"),
        ("explain raymond", 0, "Try\n  laboratory simulate raymond"),
        ("explain raymund", 2, "laboratory: there is no algorithm \"raymund\""),
        ("simulate", 2, "`laboratory algorithms` lists them"),
        ("simulate central --crash 1@50", 1, "replay: laboratory simulate central --crash 1@50 --seed 1"),
        ("completions bash", 0, "_laboratory()"),
        (&man, 0, "/laboratory.1`"),
    ] {
        let (exit, out, err) = ask(line);
        assert!(exit == code && format!("{out}{err}").contains(part), "{line}: {exit}\n{out}{err}");
        assert!(
            !format!("{out}{err}").replace("with doorway", "").contains("doorway "),
            "{line}: {out}{err}"
        );
    }
    assert!(folder.join("laboratory-simulate.1").is_file());
}
