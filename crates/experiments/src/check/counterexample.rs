//! A run that breaks a property, as sentences and as a script.

use doorway_checker::{Act, Delivery, Messages, Property, Step, System, Violation};

use super::Instance;

/// A run in which a property does not hold.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Which property.
    pub property: Property,
    /// What is wrong at its end, or for ever.
    pub what: String,
    /// Its steps as sentences.
    pub steps: Vec<String>,
    /// The place of the first step that repeats for ever, if the run does not end.
    pub loop_start: Option<usize>,
    /// The same as a script; empty if the run was found with the algorithm's promises alone, which do not tell every message
    /// apart.
    pub script: String,
}

impl Counterexample {
    /// The run of a violation of this instance's system.
    pub(super) fn new(instance: &Instance, system: &mut Messages, violation: Violation) -> Self {
        let begin = system.initial().into_iter().next().unwrap_or_default();
        let acts = system.acts(&begin, &violation.steps);
        let script = script(instance, &violation, &acts);
        let steps = acts.iter().map(ToString::to_string).collect();
        let Violation { property, what, loop_start, .. } = violation;
        Self { property, what, steps, loop_start, script }
    }
}

/// A run as a script: the system, its steps, and what is to be seen at their end.
fn script(instance: &Instance, violation: &Violation, acts: &[Act]) -> String {
    let mut lines = vec![
        format!("# {}: {}", violation.property, violation.what),
        format!("algorithm {}", instance.algorithm),
        format!("nodes {}", instance.requests.len()),
        format!("channels {}", instance.channels.name()),
    ];
    lines.extend(instance.start.holder().map(|node| format!("start-inside {node}")));
    lines.extend(instance.options.iter().map(|(name, choice)| format!("set {name} {}", choice.word)));
    lines.push(String::new());
    for (number, act) in acts.iter().enumerate() {
        if Some(number) == violation.loop_start {
            lines.push("loop".to_owned());
        }
        lines.extend(lines_of(act));
    }
    lines.push(String::new());
    let is_breach = |step: &Step| matches!(step.broken, Some((Property::Invariants | Property::Fence, _)));
    let is_broken = violation.steps.iter().any(is_breach);
    let expected = expectation(violation);
    if is_broken && expected.as_deref() != Some(VIOLATION) {
        lines.push(VIOLATION.to_owned());
    }
    lines.extend(expected);
    lines.join("\n") + "\n"
}

/// The line that expects that something was broken.
const VIOLATION: &str = "expect violation";

fn lines_of(act: &Act) -> Vec<String> {
    match act {
        Act::Request(node) => vec![format!("request {node}")],
        Act::Release(node) => vec![format!("release {node}")],
        Act::Crash(node) => vec![format!("crash {node}")],
        Act::Report { crashed, to } => vec![format!("report {crashed} to {to}")],
        Act::Deliver(delivery) => vec![format!("deliver {}", named(delivery))],
        Act::Lose(delivery) => vec![format!("lose {}", named(delivery))],
        Act::Duplicate(delivery) => {
            vec![format!("duplicate {}", named(delivery)), format!("deliver {}", named(delivery))]
        }
        Act::Tell { from, to } => vec![format!("tell {from}->{to}")],
    }
}

fn named(delivery: &Delivery) -> String {
    let Delivery { from, to, kind, which } = delivery;
    match which {
        0 | 1 => format!("{from}->{to} {kind}"),
        _ => format!("{from}->{to} {kind} #{which}"),
    }
}

/// What is to be seen at the end.
fn expectation(violation: &Violation) -> Option<String> {
    let waiting = || numbers(&violation.waiting);
    match (violation.property, violation.loop_start) {
        (Property::MutualExclusion | Property::Fence, _) => Some(VIOLATION.to_owned()),
        (Property::HappenedBeforeOrder, _) => Some("expect out-of-order 1".to_owned()),
        (Property::DeadlockFreedom | Property::StarvationFreedom, None) => {
            Some(format!("expect deadlock {}", waiting()))
        }
        (_, Some(_)) => Some(format!("expect waiting {}", waiting())),
        (Property::Invariants | Property::OneToken | Property::Fifo | Property::BoundedWaiting, None) => None,
    }
}

/// Processes by their numbers, which count from 1.
fn numbers(processes: &[usize]) -> String {
    processes.iter().map(|process| (process + 1).to_string()).collect::<Vec<_>>().join(" ")
}
