//! The states that are found in a trace are those that the nodes had.

use std::any::Any;
use std::cell::RefCell;

use doorway_core::{
    About, Algorithm, Catalog, Explain, Factory, Field, Hints, LamportClock, NodeId, NodeSet, Options, Out,
    Permission, Phase, Plan, Rule, Start, Visitor,
};
use doorway_lab::memory::Replay;
use doorway_lab::states::States;
use doorway_lab::{Recording, Trial, examples};
use doorway_simulator::{Latency, Load, Settings, simulate};
use doorway_trace::{Event, What};
use serde::Serialize;
use serde_json::json;

thread_local! {
    /// What each step of a simulation left its node's algorithm as, in order.
    static SEEN: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// An algorithm that is watched while the simulator runs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Watched<A> {
    inner: A,
}

impl<A: Algorithm> Watched<A> {
    fn look(&self) {
        SEEN.with_borrow_mut(|seen| seen.push(Box::new(self.inner.clone())));
    }
}

impl<A: Algorithm> Algorithm for Watched<A> {
    type Msg = A::Msg;
    const PERPETUAL: bool = A::PERPETUAL;

    fn on_start(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_start(out);
        self.look();
    }

    fn on_request(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_request(out);
        self.look();
    }

    fn on_message(&mut self, from: NodeId, msg: A::Msg, out: &mut Out<A::Msg>) {
        self.inner.on_message(from, msg, out);
        self.look();
    }

    fn on_release(&mut self, out: &mut Out<A::Msg>) {
        self.inner.on_release(out);
        self.look();
    }

    fn clock(&mut self) -> Option<&mut LamportClock> {
        self.inner.clock()
    }
}

impl<A: Explain> Explain for Watched<A> {
    const WAITS_FOR_ALL: bool = A::WAITS_FOR_ALL;

    fn fields(&self) -> Vec<Field> {
        self.inner.fields()
    }

    fn waits_for(&self) -> NodeSet {
        self.inner.waits_for()
    }

    fn permission(&self) -> Permission {
        self.inner.permission()
    }

    fn rules() -> &'static [Rule] {
        A::rules()
    }
}

/// Runs a trial under watch and compares every state with what was seen; answers how many steps there were.
struct Compare<'a>(&'a Trial);

impl Visitor for Compare<'_> {
    type Output = usize;

    fn visit<A: Explain + Hints>(self, about: &About, factory: Factory<A>) -> usize {
        let watched = Factory::new(move |members| {
            let plan = factory.plan(members)?;
            Ok(Plan::new(move |me, start| Watched { inner: plan.make(me, start) }))
        });
        SEEN.take();
        let outcome = simulate(&watched, &self.0.settings).expect("it runs");
        let recording = Recording::new(self.0, outcome.events());
        let states = States::of(&recording, &doorway_algorithms::catalog());
        assert_eq!((states.trouble(), states.known()), (None, recording.events.len()), "{}", about.name);
        let mut seen = SEEN.take().into_iter();
        let mut steps = 0;
        for (count, event) in (1..).zip(&recording.events).filter(|(_, event)| is_step(event)) {
            let was = seen.next().and_then(|state| state.downcast::<A>().ok()).expect("one for each step");
            let is = states.node(event.node, count).expect("it is known");
            let place = format!("{} seed {} event {}", about.name, self.0.settings.seed, event.id);
            assert_eq!((&is.fields, is.permission), (&was.fields(), was.permission()), "{place}");
            // Whoever has just been let in waits for nobody, and is inside with the event that tells so.
            if is.phase == Phase::Waiting && !is.waits_for.is_empty() {
                assert_eq!(is.waits_for, was.waits_for().iter().collect::<Vec<_>>(), "{place}");
            }
            steps += 1;
        }
        assert!(seen.next().is_none(), "every step is in the trace");
        steps
    }
}

fn is_step(event: &Event) -> bool {
    matches!(event.what, What::Start | What::Request | What::Release | What::Deliver { .. })
}

fn trials(name: &str) -> Vec<Trial> {
    let trial = |seed: u64| {
        let settings = Settings {
            nodes: 5,
            entries: 12,
            load: [Load::Saturated, Load::Light(100)][seed as usize % 2].clone(),
            latency: Latency::Span("uniform:1:30".parse().expect("a span")),
            start: [Start::Empty, Start::Inside(NodeId::new(2))][seed as usize / 2 % 2],
            trace: true,
            ..Settings::default()
        };
        Trial::new(name).under(settings).seeded(seed)
    };
    (1..=6).map(trial).collect()
}

#[test]
fn after_every_event_of_every_algorithm_each_node_is_found_as_it_was() {
    let catalog = doorway_algorithms::catalog();
    for about in catalog.list() {
        for trial in trials(about.name) {
            let steps = catalog.visit(about.name, &Options::none(), Compare(&trial));
            let steps = steps.expect("it is in the catalog").expect("the defaults are right");
            assert!(steps >= 5 + 2, "{}: {steps}", about.name);
        }
    }
}

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
    let catalog = doorway_algorithms::catalog();
    for about in catalog.list() {
        for trial in trials(about.name) {
            let outcome = trial.run(&catalog).expect("it runs");
            let recording = Recording::new(&trial, outcome.events());
            assert_phases_are_told(&recording, &States::of(&recording, &catalog));
        }
    }
}

#[test]
fn what_is_lost_doubled_or_crashed_is_followed_as_well() {
    let catalog = doorway_algorithms::catalog();
    for mut trial in trials("ricart-agrawala").into_iter().chain(trials("suzuki-kasami")) {
        trial.settings.faults.loss = "0.1".parse().expect("a share");
        trial.settings.faults.duplicate = "0.3".parse().expect("a share");
        trial.settings.faults.crashes.push("4@60".parse().expect("a crash"));
        let outcome = trial.run(&catalog).expect("it runs");
        let recording = Recording::new(&trial, outcome.events());
        let states = States::of(&recording, &catalog);
        assert_eq!(states.trouble(), None, "{} seed {}", trial.algorithm, trial.settings.seed);
        let fourth = states.node(NodeId::new(3), states.known()).expect("it is known");
        assert_eq!(fourth.is_crashed, recording.events.iter().any(|event| event.what == What::Crash));
    }
}

#[test]
fn a_tree_that_was_elected_and_a_quorum_from_a_file_come_with_the_trace() {
    let catalog = doorway_algorithms::catalog();
    let mut elected = trials("raymond").remove(0).with("tree", "elected");
    elected.settings.nodes = 9;
    let outcome = elected.run(&catalog).expect("it runs");
    let mut recording = Recording::new(&elected, outcome.events());
    assert_eq!(recording.header.files.len(), 1);
    assert_eq!(States::of(&recording, &catalog).trouble(), None);
    recording.header.files.clear();
    assert!(States::of(&recording, &catalog).trouble().is_some());
}

#[test]
fn every_script_that_ships_has_its_states_to_the_end() {
    let catalog = doorway_algorithms::catalog();
    for example in examples::SCRIPTS {
        let recording =
            Recording::of_script(example.text, &Options::none(), &catalog).expect("it can be played");
        let states = States::of(&recording, &catalog);
        assert_eq!((states.trouble(), states.known()), (None, recording.events.len()), "{}", example.name);
    }
}

#[test]
fn registers_and_lines_are_found_as_the_replay_had_them() {
    let catalog = doorway_algorithms::catalog();
    let slow = "algorithm bakery\nnodes 2\nregisters safe\ntickets 3\nstep 1 x4\nstep 2 x2\nstep 2 reads 2\nstep 2\n";
    let buffered =
        "algorithm peterson\nnodes 2\nmemory tso\nbarrier off\nrun 1 until inside\nstep 2 x2\nreach 1\n";
    let scripts = examples::SCRIPTS.iter().filter(|example| example.name.starts_with("memory/"));
    for text in scripts.map(|example| example.text).chain([slow, buffered]) {
        let replay = Replay::of_script(text, &Options::none(), &catalog).expect(text);
        let recording = replay.recording();
        let states = States::of(&recording, &catalog);
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
    let outcome = trial.run(&doorway_algorithms::catalog()).expect("it runs");
    Recording::new(&trial, outcome.events())
}

/// What is found wrong with a recording after one change.
fn trouble(change: impl FnOnce(&mut Recording)) -> (String, usize) {
    let mut recording = recorded();
    change(&mut recording);
    let states = States::of(&recording, &doorway_algorithms::catalog());
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
