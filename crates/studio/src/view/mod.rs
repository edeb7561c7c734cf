//! A run as a page shows it: what happened, what every node knew at each step, what came of it, and what could be done next.
//!
//! [`crate::spec::RunRequest::view`] makes the run that a page asks for and answers with a [`RunView`], which is written as JSON. The page that can be mailed ([`crate::page`]) is made from the same pieces.

mod catalog;
mod clocks;
mod end;
mod export;
mod nodes;
mod schema;

use std::io;

use doorway_catalog::states::{NodeState, States};
use doorway_core::{Channels, NodeId, Permission, Stop};
use doorway_picture::{DiagramPlan, RibbonHolder, Waits, plan, wait_graph};
use doorway_simulator::{NextAction, Report};
use doorway_trace::{Event, Recording, What};
use serde::Serialize;
use serde_json::{Value, json};

pub use catalog::{catalog, pages};
pub use clocks::ClocksView;
pub use end::{End, EndState, sentence};
pub use export::{ExportForm, looks};
pub use nodes::NodesView;
pub use schema::schema;

/// A run, all of it.
#[derive(Clone, Debug)]
pub struct RunView {
    /// What was run, as it was understood.
    pub spec: Value,
    /// What to type to make the same run.
    pub command: Option<String>,
    /// What the literature calls the algorithm.
    pub title: String,
    /// What happened.
    pub recording: Recording,
    /// What every node knew.
    pub states: States,
    /// Whether nodes share memory instead of sending messages.
    pub is_memory: bool,
    /// The numbers.
    pub report: Option<Report>,
    /// What the literature promises.
    pub formula: Option<PromisedCost>,
    /// What could be done next, in a script.
    pub choices: Vec<NextAction>,
    /// How it ended.
    pub end: End,
    /// Nodes that wait for each other in a ring.
    pub wait_cycle: Vec<NodeId>,
    /// The text of its script.
    pub script: Option<String>,
    /// A warning, as a sentence, such as that its channels are too weak.
    pub warning: Option<String>,
    /// Why it is not shown to its end, as a sentence.
    pub trouble: Option<String>,
}

/// What the literature promises of an entry at the size of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromisedCost {
    /// Messages per entry, as a formula.
    pub messages: &'static str,
    /// The least at this size.
    pub least: Option<f64>,
    /// The most at this size, where it is bounded.
    pub most: Option<f64>,
    /// The synchronisation delay, as a formula.
    pub delay: &'static str,
}

impl RunView {
    /// All of it as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        self.json_unless(&Stop::default()).unwrap_or_default()
    }

    /// The same, or nothing if somebody says meanwhile that nobody wants it any more.
    #[must_use]
    pub fn json_unless(&self, cancelled: &Stop) -> Option<String> {
        let mut writer = Unless { cancelled, bytes: Vec::new() };
        serde_json::to_writer(&mut writer, &Form::new(self)).ok()?;
        String::from_utf8(writer.bytes).ok()
    }
}

/// Bytes that are written unless somebody says that nobody wants them any more.
struct Unless<'a> {
    cancelled: &'a Stop,
    bytes: Vec<u8>,
}

impl io::Write for Unless<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancelled.is_said() {
            return Err(io::Error::other("nobody wants it any more"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The form in which it is written.
#[derive(Serialize)]
struct Form<'a> {
    version: u32,
    spec: &'a Value,
    command: Option<&'a str>,
    algorithm: &'a str,
    title: &'a str,
    nodes: usize,
    channels: Channels,
    seed: String,
    start_inside: Option<NodeId>,
    options: &'a std::collections::BTreeMap<String, String>,
    memory: bool,
    events: Vec<DescribedEvent<'a>>,
    kinds: Vec<&'a str>,
    diagram: DiagramPlan,
    clocks: ClocksView,
    #[serde(flatten)]
    states: NodesView<'a>,
    warning: Option<&'a str>,
    trouble: Option<String>,
    choices: Vec<Next<'a>>,
    report: Option<&'a Report>,
    formula: Option<&'a PromisedCost>,
    cut: bool,
    end: &'a End,
    wait_cycle: &'a [NodeId],
    script: Option<&'a str>,
}

impl<'a> Form<'a> {
    fn new(view: &'a RunView) -> Self {
        let Recording { header, events } = &view.recording;
        // A recorded run whose events contradict its header has states as far as they are known, but no diagram.
        let (diagram, unplanned) = match plan(header, events) {
            Ok(diagram) => (with_ribbons(diagram, &view.states), None),
            Err(refusal) => (DiagramPlan::default(), Some(sentence(&refusal.to_string()))),
        };
        Self {
            version: 1,
            spec: &view.spec,
            command: view.command.as_deref(),
            algorithm: &header.algorithm,
            title: &view.title,
            nodes: header.nodes,
            channels: header.channels,
            seed: header.seed.to_string(),
            start_inside: header.start_inside,
            options: &header.options,
            memory: view.is_memory,
            events: events.iter().map(DescribedEvent::new).collect(),
            kinds: kinds(events),
            diagram,
            clocks: ClocksView::new(header, events),
            states: NodesView::new(header, &view.states),
            warning: view.warning.as_deref(),
            trouble: view.trouble.clone().or(unplanned),
            choices: view.choices.iter().map(Next::new).collect(),
            report: view.report.as_ref(),
            formula: view.formula.as_ref(),
            cut: view.end.state == EndState::Cut,
            end: &view.end,
            wait_cycle: &view.wait_cycle,
            script: view.script.as_deref(),
        }
    }
}

/// The diagram with the ribbons of votes and tokens, as far as the states of the nodes are known.
fn with_ribbons(mut diagram: DiagramPlan, states: &States) -> DiagramPlan {
    let holder = |state: &NodeState| match state.permission {
        Permission::GivenTo(node) => Some(RibbonHolder::Vote(node)),
        Permission::Token => Some(RibbonHolder::Token),
        Permission::None | Permission::Free => None,
    };
    for node in NodeId::first(diagram.lanes.len()) {
        let changes = states.changes(node).iter().map(|(count, state)| (*count, holder(state)));
        diagram.set_ribbon(node, &changes.collect::<Vec<_>>());
    }
    diagram
}

/// The wait-for graph of one moment, laid out.
#[must_use]
pub fn waits(waits: &Waits) -> Value {
    json!({"version": 1, "layout": wait_graph(waits)})
}

/// An event with its sentence.
#[derive(Serialize)]
pub(crate) struct DescribedEvent<'a> {
    #[serde(flatten)]
    event: &'a Event,
    says: String,
}

impl<'a> DescribedEvent<'a> {
    pub(crate) fn new(event: &'a Event) -> Self {
        Self { event, says: event.sentence() }
    }
}

/// A choice as it is written.
#[derive(Serialize)]
struct Next<'a> {
    line: &'a str,
    says: &'a str,
    node: NodeId,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The event in which the message was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<u64>,
}

impl<'a> Next<'a> {
    fn new(choice: &'a NextAction) -> Self {
        let message = choice.message.as_ref();
        Self {
            line: &choice.line,
            says: &choice.says,
            node: choice.node,
            from: message.map(|message| message.from),
            kind: message.map(|message| message.kind),
            sent: message.and_then(|message| message.sent),
        }
    }
}

/// The kinds of messages, in the order in which they come up.
fn kinds(events: &[Event]) -> Vec<&str> {
    let mut kinds: Vec<&str> = Vec::new();
    for event in events {
        if let What::Send { kind, .. } | What::Deliver { kind, .. } | What::Lost { kind, .. } = &event.what
            && !kinds.contains(&kind.as_ref())
        {
            kinds.push(kind);
        }
    }
    kinds
}
