//! Runs as pages show them.

use std::collections::BTreeSet;

use doorway_catalog::{Catalog, examples};
use doorway_core::{NodeId, Permission, Phase, Stop};
use doorway_simulator::RunLimits;
use doorway_studio::spec::{Bounds, RunRequest, Trouble};
use doorway_studio::view::{EndState, RunView, catalog};
use doorway_trace::{Recording, What};
use serde_json::{Value, json};

const WIDE: Bounds = Bounds {
    nodes: 128,
    entries: 5_000,
    limits: RunLimits { events: Some(60_000), stop: None },
    cancelled: None,
};

fn viewed(spec: Value) -> Result<RunView, Trouble> {
    let spec: RunRequest = serde_json::from_value(spec).expect("words that are known");
    spec.view(&Catalog::textbook(), &WIDE)
}

fn view(spec: Value) -> RunView {
    viewed(spec.clone()).unwrap_or_else(|trouble| panic!("{spec}: {}", trouble.refusal()))
}

/// Runs in which every kind of message comes up that an algorithm ever sends: several sizes, latencies and seeds, and the scripts
/// that are about it.
fn runs(name: &str) -> Vec<RunView> {
    let mut runs = Vec::new();
    for nodes in [4, 7] {
        for latency in ["10", "uniform:1:40"] {
            for seed in 1..=4 {
                let spec = json!({"algorithm": name, "nodes": nodes, "entries": 30, "latency": latency, "seed": seed});
                runs.push(view(spec));
            }
        }
    }
    let scripts = examples::SCRIPTS.iter().filter(|script| {
        script
            .text
            .lines()
            .any(|line| line.strip_prefix("algorithm ").is_some_and(|word| word.trim() == name))
    });
    runs.extend(scripts.map(|script| view(json!({"script": format!("example:{}", script.name)}))));
    runs
}

/// What is never sent in these runs, because the fault keeps it from being sent.
const NEVER_SENT: [(&str, &[&str]); 6] = [
    ("maekawa/basic", &["FAILED", "INQUIRE", "RELINQUISH", "RELEASE"]),
    ("ricart-agrawala/deferred-not-cleared", &["ENTER"]),
    ("sanders/no-remedy", &["LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"]),
    ("sanders/clocks-not-merged", &["INQUIRE", "RELINQUISH", "RELEASE"]),
    ("sanders/unchecked-structure", &["INQUIRE", "RELINQUISH", "RELEASE"]),
    ("suzuki-kasami/own-entry", &["TOKEN"]),
];

#[test]
fn every_message_kind_has_a_rule_text() {
    let catalog = catalog(&Catalog::textbook());
    for about in catalog["algorithms"].as_array().expect("a list") {
        let name = about["name"].as_str().expect("a name");
        let texts = |rule: &str| {
            about["rules"].as_array().is_some_and(|rules| {
                rules.iter().any(|known| {
                    known[0] == rule && known[1].as_str().is_some_and(|text| text.ends_with('.'))
                })
            })
        };
        let mut sent: BTreeSet<String> = BTreeSet::new();
        for run in runs(name) {
            for event in &run.recording.events {
                let What::Send { kind, .. } = &event.what else { continue };
                let rule = event.rule.as_deref().unwrap_or_default();
                assert!(texts(rule), "{name} sends {kind} by the rule {rule:?}, which has no text");
                sent.insert(kind.to_string());
            }
        }
        let never = NEVER_SENT.iter().find(|(other, _)| *other == name).map_or(&[][..], |(_, kinds)| kinds);
        let kinds = about["kinds"].as_array().expect("kinds").iter().filter_map(Value::as_str);
        let unsent: Vec<&str> = kinds.filter(|kind| !sent.contains(*kind)).collect();
        assert_eq!(unsent, never, "{name}");
    }
}

/// Whether a node has been let in by its last step of so many events, and the trace tells of it after what the step sends and breaks.
fn is_about_to_enter(recording: &Recording, node: NodeId, count: usize) -> bool {
    let next = recording.events[count..].iter().find(|event| {
        event.node == node
            && !matches!(event.what, What::Send { .. } | What::Lost { .. } | What::Violation { .. })
    });
    next.is_some_and(|event| matches!(event.what, What::Enter { .. }))
}

#[test]
fn every_waiting_node_has_a_non_empty_waits_for() {
    for about in Catalog::textbook().list() {
        for run in runs(about.name) {
            let RunView { recording, states, .. } = &run;
            assert_eq!(states.trouble(), None, "{}", about.name);
            for node in NodeId::first(recording.header.nodes) {
                for (count, state) in states.changes(node) {
                    let waits = state.phase == Phase::Waiting && !is_about_to_enter(recording, node, *count);
                    assert!(
                        !waits || !state.waits_for.is_empty(),
                        "{}: node {node} waits for nobody after {count} events of {}",
                        about.name,
                        run.command.as_deref().unwrap_or_default()
                    );
                }
            }
        }
    }
}

#[test]
fn there_is_a_ribbon_wherever_there_are_votes_or_a_token() {
    let told = catalog(&Catalog::textbook());
    for about in Catalog::textbook().list() {
        let correct = about.specimen.map_or(about.name, |specimen| specimen.of);
        let expected = match correct {
            "central" | "replicated" | "maekawa" | "sanders" | "cao-singhal" => "votes",
            "token-ring" | "suzuki-kasami" | "singhal" | "raymond" | "naimi-trehel" => "token",
            "lamport" | "ricart-agrawala" | "carvalho-roucairol" => "none",
            other => panic!("{other} is new: does it have votes or a token?"),
        };
        let has =
            told["algorithms"].as_array().and_then(|all| all.iter().find(|one| one["name"] == about.name));
        assert_eq!(has.map(|one| &one["has"]), Some(&json!(expected)), "{}", about.name);
        for run in runs(about.name) {
            let nodes = || NodeId::first(run.recording.header.nodes);
            let permissions =
                || nodes().flat_map(|node| run.states.changes(node)).map(|(_, state)| state.permission);
            match expected {
                "votes" => assert!(permissions().any(|has| matches!(has, Permission::GivenTo(_)))),
                "token" => assert!(permissions().any(|has| has == Permission::Token)),
                _ => assert!(permissions().all(|has| has == Permission::None)),
            }
        }
    }
}

#[test]
fn whatever_is_offered_next_can_be_done() {
    let mut offered = 0;
    for script in examples::SCRIPTS {
        let run = view(json!({"script": format!("example:{}", script.name)}));
        assert_eq!(run.trouble, None, "{}", script.name);
        for choice in &run.choices {
            let text =
                script.text.lines().filter(|line| !line.starts_with("expect") && line.trim() != "loop");
            let text = format!("{}\n{}\n", text.collect::<Vec<_>>().join("\n"), choice.line);
            let more = view(json!({"script": text}));
            assert_eq!(more.trouble, None, "{}: {}", script.name, choice.line);
            assert!(more.recording.events.len() >= run.recording.events.len(), "{}", script.name);
            offered += 1;
        }
    }
    assert_eq!(offered, 162);
}

#[test]
fn of_two_messages_that_are_alike_each_is_offered_where_the_channels_allow_it() {
    let script = |channels: &str| {
        format!("algorithm central\nnodes 2\nchannels {channels}\nrequest 2\nduplicate 2->1 REQUEST\n")
    };
    let lines = |channels: &str| {
        let run = view(json!({"script": script(channels)}));
        run.choices.into_iter().map(|choice| choice.line).collect::<Vec<_>>()
    };
    assert_eq!(lines("fifo"), ["deliver 2->1 REQUEST", "request 1"]);
    assert_eq!(lines("any"), ["deliver 2->1 REQUEST", "deliver 2->1 REQUEST #2", "request 1"]);
}

#[test]
fn a_script_is_shown_up_to_the_line_that_cannot_be_played() {
    let text = "algorithm central\nnodes 2\nrequest 2\nexpect inside 2\nrequest 1\n";
    let run = view(json!({"script": text}));
    let sentence = "line 4 of the script: who is inside is expected to be {2} and is {}";
    assert_eq!((run.trouble.as_deref(), run.end.state), (Some(sentence), EndState::Refused));
    assert_eq!(run.recording.events.len(), 4, "two nodes come to life, one asks and sends");
}

#[test]
fn a_run_is_cut_at_its_limit_or_when_somebody_says_so() {
    let spec = || -> RunRequest {
        serde_json::from_value(json!({"algorithm": "lamport", "nodes": 8, "entries": 100})).expect("words")
    };
    let catalog = Catalog::textbook();
    let limits = RunLimits { events: Some(100), stop: None };
    let run = spec().view(&catalog, &Bounds { limits, ..WIDE }).expect("it can be run");
    let sentence = "The run goes on: it is shown up to its event 100, the most that a page shows.";
    assert_eq!((run.end.state, run.end.sentence.as_str()), (EndState::Cut, sentence));
    assert_eq!(run.states.known(), run.recording.events.len());
    let stop = Stop::default();
    stop.say();
    let limits = RunLimits { events: None, stop: Some(stop) };
    let run = spec().view(&catalog, &Bounds { limits, ..WIDE }).expect("it can be run");
    assert_eq!(run.end.state, EndState::Cut);
}

#[test]
fn a_token_that_travels_for_ever_does_not_keep_a_script_from_ending() {
    let run = view(json!({"script": "algorithm token-ring\nnodes 3\ndeliver all\n"}));
    assert_eq!(run.end.state, EndState::Refused);
    assert_eq!(run.recording.events.len(), 60_000);
}

#[test]
fn a_request_that_went_down_with_its_node_is_told() {
    let run = view(json!({
        "algorithm": "maekawa", "nodes": 7, "entries": 5, "load": "active:3", "latency": "uniform:5:15", "seed": 7,
        "options": {"quorum": "plane"}, "message": ["4@49"], "crash": ["3@126"],
    }));
    let sentence = "4 entries in 131 ticks; 1 request was not served: node 3 crashed while it waited.";
    assert_eq!((run.end.state, run.end.sentence.as_str()), (EndState::Unserved, sentence));
}

#[test]
fn channels_that_are_too_weak_are_told() {
    let warning = |channels: &str| view(json!({"algorithm": "lamport", "channels": channels})).warning;
    let sentence = "Lamport needs fifo channels and runs on channels of any order: it may fail.";
    assert_eq!(warning("any").as_deref(), Some(sentence));
    assert_eq!(warning("fifo"), None);
}

#[test]
fn nothing_is_written_for_whoever_has_gone() {
    let run = view(json!({"algorithm": "central", "entries": 1}));
    let cancelled = Stop::default();
    assert_eq!(run.json_unless(&cancelled), Some(run.json()));
    cancelled.say();
    assert_eq!(run.json_unless(&cancelled), None);
    let bounds = Bounds { cancelled: Some(cancelled), ..WIDE };
    let spec: RunRequest =
        serde_json::from_value(json!({"algorithm": "central", "entries": 1})).expect("words");
    let run = spec.view(&Catalog::textbook(), &bounds).expect("it can be run");
    assert_eq!(run.states.known(), 0);
}

#[test]
fn a_run_is_given_by_one_thing() {
    for spec in
        [json!({}), json!({"algorithm": "central", "script": "x"}), json!({"script": "x", "trace": "y"})]
    {
        assert!(matches!(viewed(spec), Err(Trouble::Unreadable(_))));
    }
}
