//! Checks states and steps.

use doorway_core::Phase;

use super::batch::in_phase;
use crate::store::StateId;
use crate::{Property, Step, System};

/// A violated property: in a state, or in a step from it.
#[derive(Clone, Debug)]
pub(crate) struct FoundViolation {
    pub(crate) property: Property,
    pub(crate) what: String,
    pub(crate) processes: Vec<usize>,
    pub(super) state: StateId,
    pub(super) step: Option<Step>,
}

impl FoundViolation {
    /// A step violated a property.
    #[cold]
    pub(crate) fn step(property: Property, what: &str, state: StateId, step: Step) -> Self {
        Self { property, what: what.to_owned(), processes: Vec::new(), state, step: Some(step) }
    }
}

/// The violations in a single state.
pub(crate) fn state<S: System>(system: &S, state: StateId, word: &[u32]) -> Vec<FoundViolation> {
    let mut found = Vec::new();
    let is_inside = |process: &usize| system.phase(word, *process) == Phase::Inside;
    if (0..system.processes()).filter(is_inside).count() > 1 {
        let inside = in_phase(system, word, Phase::Inside);
        let what = format!("{} are inside together", named(system.nouns(), &inside));
        let property = Property::MutualExclusion;
        found.push(FoundViolation { property, what, processes: inside, state, step: None });
    }
    for (property, what) in system.flaws(word) {
        found.push(FoundViolation { property, what, processes: Vec::new(), state, step: None });
    }
    found
}

/// The violations in a state without owed steps: all waiting processes wait for ever.
pub(crate) fn stillness<S: System>(system: &S, state: StateId, word: &[u32]) -> Vec<FoundViolation> {
    let waiting = in_phase(system, word, Phase::Waiting);
    if waiting.is_empty() {
        return Vec::new();
    }
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    let what = format!("{} {verb} for ever", named(system.nouns(), &waiting));
    let found = |property| {
        let (what, processes) = (what.clone(), waiting.clone());
        FoundViolation { property, what, processes, state, step: None }
    };
    vec![found(Property::DeadlockFreedom), found(Property::StarvationFreedom)]
}

/// Names processes by their numbers from 1.
pub(crate) fn named([one, several]: [&str; 2], processes: &[usize]) -> String {
    let numbers: Vec<String> = processes.iter().map(|process| (process + 1).to_string()).collect();
    match numbers.split_last() {
        None => format!("no {one}"),
        Some((number, [])) => format!("{one} {number}"),
        Some((last, others)) => format!("{several} {} and {last}", others.join(", ")),
    }
}
