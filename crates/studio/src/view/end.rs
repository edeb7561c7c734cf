//! How a run ended, in one sentence.

use doorway_core::{NodeId, NodeSet, Phase};
use doorway_experiments::memory::Replay;
use doorway_simulator::{Outcome, Repetition};
use doorway_trace::{Event, What};
use serde::Serialize;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// In short.
    pub state: EndState,
    /// As a sentence.
    pub sentence: String,
}

/// How a run ended, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndState {
    /// All that was to happen has happened.
    Done,
    /// Nobody waits any more, but requests went down with nodes that crashed.
    Unserved,
    /// Somebody waits for ever.
    Stalled,
    /// Something happened that must never happen.
    Violated,
    /// It is longer than what is shown.
    Cut,
    /// A line of its script cannot be played.
    Refused,
}

impl End {
    /// A script could not be played to its end.
    pub(crate) fn refused(why: &str) -> Self {
        Self { state: EndState::Refused, sentence: sentence(why) }
    }

    /// The run of an algorithm.
    pub(crate) fn of(outcome: &Outcome, is_script: bool) -> Self {
        let entries = outcome.measures.entries;
        if let Some(what) = outcome.violations.first() {
            return Self { state: EndState::Violated, sentence: sentence(what) };
        }
        if let Some(stall) = &outcome.stall {
            return Self { state: EndState::Stalled, sentence: format!("Nobody can go on: {stall}.") };
        }
        if outcome.is_cut {
            return Self::cut(outcome.log.len());
        }
        let entries = counted(entries, "entry", "entries");
        let sentence = match (&outcome.repetition, is_script) {
            (Some(repetition), _) => repeats(repetition),
            (None, true) => format!("The script was played to its end: {entries}."),
            (None, false) => return Self::of_load(outcome, &entries),
        };
        Self { state: EndState::Done, sentence }
    }

    /// A run whose requests come from a load: all were served, or some went down with their nodes.
    fn of_load(outcome: &Outcome, entries: &str) -> Self {
        let time = outcome.measures.time;
        let lost: Vec<String> = unserved(outcome).into_iter().chain(unmade(outcome)).collect();
        if lost.is_empty() {
            let sentence = format!("Every request was served: {entries} in {time} ticks.");
            return Self { state: EndState::Done, sentence };
        }
        let sentence = format!("{entries} in {time} ticks; {}.", lost.join("; "));
        Self { state: EndState::Unserved, sentence }
    }

    /// A script of steps over shared memory.
    pub(crate) fn of_replay(replay: &Replay) -> Self {
        if let Some((_, what)) = &replay.violation {
            return Self { state: EndState::Violated, sentence: sentence(what) };
        }
        let waiting = replay.in_phase(Phase::Waiting);
        let sentence = match replay.loop_start {
            Some(steps) => {
                format!("The run repeats itself for ever after {steps} steps: {}.", starving(&waiting))
            }
            None => format!(
                "The script was followed to its end: {}.",
                counted(replay.entries.len() as u64, "entry", "entries")
            ),
        };
        Self { state: EndState::Done, sentence }
    }

    /// A recorded run.
    pub(crate) fn of_trace(events: &[Event], is_cut: bool) -> Self {
        let violation = events.iter().find_map(|event| match &event.what {
            What::Violation { what } => Some(what),
            _ => None,
        });
        match violation {
            Some(what) => Self { state: EndState::Violated, sentence: sentence(what) },
            None if is_cut => Self::cut(events.len()),
            None => Self {
                state: EndState::Done,
                sentence: format!("A recorded run of {}.", counted(events.len() as u64, "event", "events")),
            },
        }
    }

    /// It goes on after so many events.
    pub(crate) fn cut(events: usize) -> Self {
        let sentence =
            format!("The run goes on: it is shown up to its event {events}, the most that a page shows.");
        Self { state: EndState::Cut, sentence }
    }
}

/// The requests that went down with their nodes, in words.
fn unserved(outcome: &Outcome) -> Option<String> {
    let (mut waiting, mut gone) = (NodeSet::new(), NodeSet::new());
    for event in outcome.log.iter() {
        match event.what {
            What::Request => {
                waiting.insert(event.node);
            }
            What::Enter { .. } => {
                waiting.remove(event.node);
            }
            What::Crash if waiting.contains(event.node) => {
                gone.insert(event.node);
            }
            _ => {}
        }
    }
    let names: Vec<String> = gone.iter().map(|node| node.to_string()).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("1 request was not served: node {one} crashed while it waited")),
        [first @ .., last] => Some(format!(
            "{} requests were not served: nodes {} and {last} crashed while they waited",
            names.len(),
            first.join(", ")
        )),
    }
}

/// The requests that nobody was left to make, in words.
fn unmade(outcome: &Outcome) -> Option<String> {
    let requests = counted(outcome.unissued, "request was", "requests were");
    let reason = "never made: the nodes that would have made them crashed";
    (outcome.unissued > 0).then(|| format!("{requests} {reason}"))
}

fn repeats(repetition: &Repetition) -> String {
    let waiting: Vec<NodeId> = repetition.starving.iter().collect();
    format!("The run repeats itself for ever after time {}: {}.", repetition.from, starving(&waiting))
}

fn starving(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [] => "nobody waits all the while".to_owned(),
        [one] => format!("node {one} waits all the while"),
        [first @ .., last] => format!("nodes {} and {last} wait all the while", first.join(", ")),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// What was said in the middle of something else, as a sentence that stands alone.
#[must_use]
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().map_or_else(String::new, |first| first.to_uppercase().collect());
    let point = if words.ends_with('.') { "" } else { "." };
    format!("{first}{}{point}", letters.as_str())
}
