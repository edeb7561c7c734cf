//! What every algorithm of the catalog tells about itself is complete and true.

use std::collections::BTreeSet;

use doorway_catalog::states::{Recorded, States};
use doorway_core::{NodeId, Start};
use doorway_simulator::{Latency, Load, Settings};
use doorway_trace::{Event, Header, What};

use crate::laboratory::{subject, textbook, typed};

struct Told {
    rules: Vec<&'static str>,
    events: Vec<Event>,
    fields: usize,
}

fn told(name: &str) -> Told {
    let mut events = Vec::new();
    let subject = subject(name, "");
    for (seed, nodes) in (1..=60_u64).zip((1..=8).cycle()) {
        let start = if seed % 2 == 0 { Start::Empty } else { Start::Inside(NodeId::new(nodes - 1)) };
        let latency = Latency::Span(typed("uniform:1:40"));
        let load = [Load::Saturated, Load::Light(200), Load::Isolated][seed as usize % 3].clone();
        let trace = true;
        let mut settings =
            Settings { nodes, entries: 30, load, seed, start, latency, trace, ..Settings::default() };
        if seed > 30 {
            settings.faults.crashes = vec![typed(&format!("1@{}", 7 * seed))];
        }
        events.extend(subject.simulate(&settings).expect("it runs").events());
    }
    let rules = subject.rules().iter().map(|rule| rule.name).collect();
    Told { rules, events, fields: fields(name) }
}

/// How many fields the first of five nodes shows before anything has happened.
fn fields(name: &str) -> usize {
    let header = Header::new(name, 5, 1);
    let states = States::of(&Recorded::new(&header, &[]), textbook());
    states.node(NodeId::new(0), 0).expect("its state at the start is known").fields.len()
}

fn all() -> Vec<&'static str> {
    textbook().list().into_iter().map(|about| about.name).collect()
}

#[test]
fn no_correct_algorithm_sends_a_message_to_itself() {
    for name in all().into_iter().filter(|name| !name.contains('/')) {
        let to_itself = told(name).events.into_iter().find(|event| match event.what {
            What::Send { to, .. } => to == event.node,
            _ => false,
        });
        assert_eq!(to_itself, None, "{name}");
    }
}

#[test]
fn every_message_was_sent_by_a_rule_that_is_explained_and_every_rule_sends() {
    for name in all() {
        let Told { rules, events, .. } = told(name);
        let sends = events.iter().filter(|event| matches!(event.what, What::Send { .. }));
        let used: BTreeSet<&str> = sends.map(|event| event.rule.as_deref().unwrap_or("(no rule)")).collect();
        let explained: BTreeSet<&str> = rules.iter().copied().collect();
        assert_eq!(explained.len(), rules.len(), "{name} explains a rule twice");
        let unexplained: Vec<_> = used.difference(&explained).collect();
        assert!(unexplained.is_empty(), "{name} does not explain {unexplained:?}");
        if !name.contains('/') {
            let idle: Vec<_> = explained.difference(&used).collect();
            assert!(idle.is_empty(), "{name} explains {idle:?}, which never sent anything");
        }
    }
}

#[test]
fn every_entry_and_every_sending_names_the_step_that_caused_it() {
    for name in all() {
        for event in told(name).events {
            match event.what {
                What::Send { .. } | What::Deliver { .. } | What::Enter { .. } => {
                    assert!(event.cause.is_some_and(|cause| cause < event.id), "{name}: {event:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn every_page_has_its_citation_its_costs_and_its_needs() {
    let catalog = textbook();
    for about in catalog.list() {
        let page = about.page();
        assert!(page.len() > 300, "{} has no page", about.name);
        assert!(told(about.name).fields > 0, "{} has no fields", about.name);
        if about.specimen.is_none() {
            let told = ["Messages:", "Delay:", "Needs:"].map(|word| page.contains(word));
            assert_eq!(told, [true; 3], "{}", about.name);
        }
    }
}
