//! The states of a recorded run: what every node knew after every event.
//!
//! A trace keeps no states. It keeps what happened, and an algorithm is a pure function of that; so the states are found by
//! making every step again. Nothing is believed on the way: a message is delivered only if the algorithm sent it, and what
//! a trace says was sent must be what the algorithm sends. A trace of something else than it claims is therefore found out at the
//! first event that does not fit, and no state is shown from there on.

pub(crate) mod algorithm;
mod program;

use doorway_core::{Choice, Field, NodeId, Options, Permission, Phase, Refusal, Rule, Stop};
use doorway_trace::{Event, Header};

use crate::{Catalog, examples};

pub use program::access_of;

/// The most events of a run whose states are kept.
pub const MOST_EVENTS: usize = 65_536;

/// The most nodes of a run whose states are kept.
pub const MOST_NODES: usize = 512;

/// A recorded run whose states are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// What run it was.
    pub header: &'a Header,
    /// What happened.
    pub events: &'a [Event],
    /// Cancels the work.
    pub cancelled: Option<&'a Stop>,
}

impl<'a> Recorded<'a> {
    /// A run to be followed to its end.
    #[must_use]
    pub fn new(header: &'a Header, events: &'a [Event]) -> Self {
        Self { header, events, cancelled: None }
    }
}

/// What every node of a run knew, at every time.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// Of each node what it became, and after how many events.
    nodes: Vec<Vec<(usize, NodeState)>>,
    /// The names of the registers, where nodes share memory.
    registers: Vec<String>,
    /// What they came to hold, and after how many events.
    values: Vec<(usize, Vec<u64>)>,
    rules: Vec<(&'static str, &'static str)>,
    lines: &'static [&'static str],
    /// After how many events the states are still known.
    known: usize,
    trouble: Option<String>,
}

/// What one node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Where it stands.
    pub phase: Phase,
    /// Its state in the textbook's words.
    pub fields: Vec<Field>,
    /// The nodes that it waits for.
    pub waits_for: Vec<NodeId>,
    /// The node that has its vote, or whether it has the token.
    pub permission: Permission,
    /// Whether it has stopped for good.
    pub is_crashed: bool,
}

impl States {
    /// Makes every step of a recorded run again. What cannot be followed has no states, and [`States::trouble`] says why.
    #[must_use]
    pub fn of(recorded: &Recorded<'_>, catalog: &Catalog) -> Self {
        let mut states = Self::default();
        if let Err(refusal) = states.follow(recorded, catalog) {
            states.trouble = Some(refusal.to_string());
        }
        states
    }

    /// The state of a node after this many events, if it is known.
    #[must_use]
    pub fn node(&self, node: NodeId, events: usize) -> Option<&NodeState> {
        latest(self.nodes.get(node.index())?, events.min(self.known + 1)).filter(|_| events <= self.known)
    }

    /// What a node became, and after how many events.
    #[must_use]
    pub fn changes(&self, node: NodeId) -> &[(usize, NodeState)] {
        self.nodes.get(node.index()).map_or(&[], Vec::as_slice)
    }

    /// The names of the registers, where nodes share memory.
    #[must_use]
    pub fn registers(&self) -> &[String] {
        &self.registers
    }

    /// What the registers came to hold, and after how many events.
    #[must_use]
    pub fn values(&self) -> &[(usize, Vec<u64>)] {
        &self.values
    }

    /// The values of the registers after this many events, if they are known.
    #[must_use]
    pub fn registers_at(&self, events: usize) -> Option<&[u64]> {
        latest(&self.values, events).filter(|_| events <= self.known).map(Vec::as_slice)
    }

    /// The rules of the algorithm, each with its sentence.
    #[must_use]
    pub fn rules(&self) -> &[(&'static str, &'static str)] {
        &self.rules
    }

    /// The lines of the program, from 1, where nodes share memory.
    #[must_use]
    pub fn lines(&self) -> &'static [&'static str] {
        self.lines
    }

    /// After how many events the states are still known.
    #[must_use]
    pub fn known(&self) -> usize {
        self.known
    }

    /// Why they are not known to the end, as a sentence.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    fn follow(&mut self, recorded: &Recorded<'_>, catalog: &Catalog) -> Result<(), Refusal> {
        let Recorded { header, events, .. } = *recorded;
        let (count, nodes, name) = (events.len(), header.nodes, &header.algorithm);
        if count > MOST_EVENTS || nodes > MOST_NODES {
            return Err(Refusal::new(format!(
                "the states of {count} events of {nodes} nodes are too many to keep: at most {MOST_EVENTS} of {MOST_NODES}"
            )));
        }
        if header.is_of_lock_nodes() {
            return Err(Refusal::new("these are whole lock nodes, and a trace does not tell their states"));
        }
        if catalog.about_program(name).is_some() {
            return program::follow(self, header, events, catalog);
        }
        let Some(listed) = catalog.get(name) else {
            return Err(Refusal::new(format!("{name:?} is no algorithm that is known here")));
        };
        listed.choose(&options(header))?.follow(recorded, self)
    }

    fn begin(&mut self, nodes: impl Iterator<Item = NodeState>) {
        self.nodes = nodes.map(|state| vec![(0, state)]).collect();
    }

    /// A node has become this with the last of so many events.
    fn note(&mut self, node: NodeId, events: usize, state: NodeState) {
        let Some(changes) = self.nodes.get_mut(node.index()) else { return };
        if changes.last().is_none_or(|(_, last)| *last != state) {
            changes.push((events, state));
        }
    }
}

fn latest<T>(changes: &[(usize, T)], events: usize) -> Option<&T> {
    let after = changes.partition_point(|(count, _)| *count <= events);
    changes[..after].last().map(|(_, found)| found)
}

/// What was chosen, with the texts of files that the trace brings along or that ship.
fn options(header: &Header) -> Options {
    let mut options = Options::none();
    for (name, word) in &header.options {
        let shipped = || {
            let file = word.strip_prefix(examples::PREFIX).or_else(|| word.strip_prefix("file:"))?;
            examples::file(file).ok().map(str::to_owned)
        };
        let file = header.files.get(name).cloned().or_else(shipped);
        options.set(name, Choice { word: word.clone(), file });
    }
    options
}

fn rules(rules: &'static [Rule]) -> Vec<(&'static str, &'static str)> {
    rules.iter().map(|rule| (rule.name, rule.text)).collect()
}

/// That an event cannot have happened in a run of this algorithm.
fn unfit(event: &Event, what: impl std::fmt::Display) -> Refusal {
    Refusal::new(format!("event {} does not fit: {what}", event.id))
}
