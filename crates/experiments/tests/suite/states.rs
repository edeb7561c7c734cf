//! The states that are found in a trace are those that the nodes had.

use doorway_catalog::states::States;
use doorway_catalog::{Catalog, examples};
use doorway_core::{NodeId, Options, Phase};
use doorway_experiments::memory::Replay;
use doorway_experiments::record_script;
use doorway_trace::{Recording, What};
use serde_json::json;

use crate::compared::trials;

/// Where each node stands after each event, by the events alone.
fn assert_phases_are_told(recording: &Recording, states: &States) {
    let first =
        |node| if recording.header.start_inside == Some(node) { Phase::Inside } else { Phase::Outside };
    let mut phases: Vec<Phase> = NodeId::first(recording.header.nodes).map(first).collect();
    for (count, event) in (1..).zip(&recording.events) {
        match event.what {
            What::Request => phases[event.node.index()] = Phase::Waiting,
            What::Enter { .. } => phases[event.node.index()] = Phase::Inside,
            What::Release => phases[event.node.index()] = Phase::Outside,
            _ => {}
        }
        for (node, phase) in NodeId::first(recording.header.nodes).zip(&phases) {
            let found = states.node(node, count).map(|state| state.phase);
            let name = &recording.header.algorithm;
            assert_eq!(found, Some(*phase), "{name}: node {node} after event {}", event.id);
        }
    }
}

#[test]
fn a_node_is_inside_from_its_entry_and_not_from_the_delivery_that_lets_it_in() {
    let catalog = Catalog::textbook();
    for about in catalog.list() {
        for trial in trials(about.name) {
            let outcome = trial.run(&catalog).expect("it runs");
            let recording = trial.recording(outcome.events());
            assert_phases_are_told(&recording, &catalog.states(&recording));
        }
    }
}

#[test]
fn what_is_lost_doubled_or_crashed_is_followed_as_well() {
    let catalog = Catalog::textbook();
    for mut trial in trials("ricart-agrawala").into_iter().chain(trials("suzuki-kasami")) {
        trial.settings.faults.loss = "0.1".parse().expect("a share");
        trial.settings.faults.duplicate = "0.3".parse().expect("a share");
        trial.settings.faults.crashes.push("4@60".parse().expect("a crash"));
        let outcome = trial.run(&catalog).expect("it runs");
        let recording = trial.recording(outcome.events());
        let states = catalog.states(&recording);
        assert_eq!(states.trouble(), None, "{} seed {}", trial.algorithm, trial.settings.seed);
        let fourth = states.node(NodeId::new(3), states.known()).expect("it is known");
        assert_eq!(fourth.is_crashed, recording.events.iter().any(|event| event.what == What::Crash));
    }
}

#[test]
fn a_tree_that_was_elected_and_a_quorum_from_a_file_come_with_the_trace() {
    let catalog = Catalog::textbook();
    let mut elected = trials("raymond").remove(0).with("tree", "elected");
    elected.settings.nodes = 9;
    let outcome = elected.run(&catalog).expect("it runs");
    let mut recording = elected.recording(outcome.events());
    assert_eq!(recording.header.files.len(), 1);
    assert_eq!(catalog.states(&recording).trouble(), None);
    recording.header.files.clear();
    assert!(catalog.states(&recording).trouble().is_some());
}

#[test]
fn every_script_that_ships_has_its_states_to_the_end() {
    let catalog = Catalog::textbook();
    for example in examples::SCRIPTS {
        let recording = record_script(example.text, &Options::none(), &catalog).expect("it can be played");
        let states = catalog.states(&recording);
        assert_eq!((states.trouble(), states.known()), (None, recording.events.len()), "{}", example.name);
    }
}

#[test]
fn registers_and_lines_are_found_as_the_replay_had_them() {
    let catalog = Catalog::textbook();
    let slow = "algorithm bakery\nnodes 2\nregisters safe\ntickets 3\nstep 1 x4\nstep 2 x2\nstep 2 reads 2\nstep 2\n";
    let buffered =
        "algorithm peterson\nnodes 2\nmemory tso\nbarrier off\nrun 1 until inside\nstep 2 x2\nreach 1\n";
    let scripts = examples::SCRIPTS.iter().filter(|example| example.name.starts_with("memory/"));
    for text in scripts.map(|example| example.text).chain([slow, buffered]) {
        let replay = Replay::of_script(text, &Options::none(), &catalog).expect(text);
        let recording = replay.recording();
        let states = catalog.states(&recording);
        assert_eq!((states.trouble(), states.registers()), (None, replay.registers.as_slice()), "{text}");
        for (count, event) in (1..).zip(&recording.events) {
            let Some(step) = event.time.0.checked_sub(1) else { continue };
            let view = &replay.steps[step as usize].view;
            assert_eq!(states.registers_at(count), Some(view.registers.as_slice()), "{text} {event:?}");
            let process = &view.processes[event.node.index()];
            let found = states.node(event.node, count).expect("it is known");
            assert_eq!(found.fields[0].value, process.line.to_string(), "{text} {event:?}");
            assert_eq!(found.fields[2..2 + process.fields.len()], process.fields);
        }
    }
}

fn recorded() -> Recording {
    let trial = trials("ricart-agrawala").remove(1);
    let outcome = trial.run(&Catalog::textbook()).expect("it runs");
    trial.recording(outcome.events())
}

/// What is found wrong with a recording after one change.
fn trouble(change: impl FnOnce(&mut Recording)) -> (String, usize) {
    let mut recording = recorded();
    change(&mut recording);
    let states = Catalog::textbook().states(&recording);
    (states.trouble().unwrap_or_default().to_owned(), states.known())
}

#[test]
fn a_trace_of_something_else_is_found_out_at_the_first_event_that_does_not_fit() {
    assert_eq!(trouble(|_| ()).0, "");
    let unknown = trouble(|recording| recording.header.algorithm = "martin".to_owned());
    assert_eq!(unknown, ("\"martin\" is no algorithm that is known here".to_owned(), 0));
    let other = trouble(|recording| recording.header.algorithm = "lamport".to_owned());
    assert!(other.0.starts_with("event ") && other.1 > 0, "{other:?}");
    let find = |recording: &Recording, wanted: fn(&What) -> bool| {
        recording.events.iter().position(|event| wanted(&event.what)).expect("there is one")
    };
    let sent = |what: &What| matches!(what, What::Send { .. });
    let delivered = |what: &What| matches!(what, What::Deliver { .. });
    let forged = trouble(|recording| {
        let place = find(recording, delivered);
        if let What::Deliver { message, .. } = &mut recording.events[place].what {
            *message = json!({"REQUEST": "</script>"});
        }
    });
    assert!(forged.0.ends_with("does not fit: what is delivered is not what was sent"), "{forged:?}");
    let unsent = trouble(|recording| {
        let place = find(recording, delivered);
        recording.events[place].cause = Some(1);
    });
    assert!(unsent.0.ends_with("does not fit: it delivers what nobody has sent"), "{unsent:?}");
    let missing = trouble(|recording| {
        let place = find(recording, sent);
        recording.events.remove(place);
    });
    assert!(missing.0.contains("does not fit: the algorithm lets node"), "{missing:?}");
    let late = trouble(|recording| drop(recording.events.drain(..3)));
    assert!(late.0.contains("has not come to life yet") || late.0.contains("does not fit"), "{late:?}");
    let twice = trouble(|recording| {
        let place = find(recording, |what| *what == What::Request);
        recording.events.insert(place, recording.events[place].clone());
    });
    assert!(twice.0.contains("does not fit"), "{twice:?}");
}

#[test]
fn absurd_headers_are_answered_with_a_sentence() {
    let stranger = NodeId::new(10_000_000);
    for change in [
        (|recording: &mut Recording| recording.header.nodes = usize::MAX) as fn(&mut Recording),
        |recording| recording.header.nodes = 0,
        |recording| recording.header.nodes = 2,
        |recording| recording.header.start_inside = Some(NodeId::new(77)),
        |recording| recording.header.options.extend([("quorum".to_owned(), "grid".to_owned())]),
    ] {
        let (sentence, _) = trouble(change);
        assert!(!sentence.is_empty() && sentence.lines().count() == 1, "{sentence:?}");
    }
    let (sentence, _) = trouble(|recording| recording.events[0].node = stranger);
    assert_eq!(sentence, "event 1 does not fit: there is no node 10000001");
}
