//! An algorithm held against every interleaving, and the run that breaks it as something that one can replay.

use doorway_checker::{Act, Exploration, Limits, Messages, Property, System, Violation, Watches, explore};
use doorway_core::{
    About, Catalog, Channels, Explain, Factory, Hints, NodeId, Options, Refusal, Start, Visitor,
};

/// A small system to explore.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The algorithm's name.
    pub algorithm: String,
    /// What is chosen for it.
    pub options: Options,
    /// How often each node asks; there are as many nodes as numbers.
    pub requests: Vec<u32>,
    /// In what order channels deliver.
    pub channels: Channels,
    /// Whether somebody is inside at the start.
    pub start: Start,
    /// What is watched besides exclusion and deadlock.
    pub watches: Watches,
    /// How far to go.
    pub limits: Limits,
}

/// What came of an exploration.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the search came to.
    pub exploration: Exploration,
    /// For each property that does not hold a shortest run.
    pub counterexamples: Vec<Counterexample>,
}

/// A shortest run to where a property does not hold.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Which property.
    pub property: Property,
    /// What is wrong at its end.
    pub what: String,
    /// Its steps as sentences.
    pub steps: Vec<String>,
    /// The same as a script.
    pub script: String,
}

impl Instance {
    /// The largest number of nodes: states of more would never end.
    pub const MOST_NODES: usize = 64;

    /// Explores it; `watch` is told how many states were found so far.
    ///
    /// # Errors
    /// If there is no such algorithm, or it cannot run so.
    pub fn check(&self, catalog: &impl Catalog, watch: &mut dyn FnMut(u64)) -> Result<Checked, Refusal> {
        match self.requests.len() {
            1..=Self::MOST_NODES => {}
            n => {
                let most = Self::MOST_NODES;
                return Err(Refusal::new(format!(
                    "a system of 1 to {most} nodes can be explored, not of {n}"
                )));
            }
        }
        if let Some(stranger) = self.start.holder().filter(|node| node.index() >= self.requests.len()) {
            let n = self.requests.len();
            return Err(Refusal::new(format!("there is no node {stranger}: nodes are 1 to {n}")));
        }
        let explored = catalog.visit(&self.algorithm, &self.options, Explore { instance: self, watch });
        explored.ok_or_else(|| Refusal::new(format!("there is no algorithm {:?}", self.algorithm)))??
    }

    /// A run as a script: the system, its steps, and what is to be seen at their end.
    fn script(&self, violation: &Violation, acts: &[Act]) -> String {
        let mut lines = vec![
            format!("# {}: {}", violation.property, violation.what),
            format!("algorithm {}", self.algorithm),
            format!("nodes {}", self.requests.len()),
            format!("channels {}", self.channels.name()),
        ];
        lines.extend(self.start.holder().map(|node| format!("start-inside {node}")));
        lines.extend(self.options.iter().map(|(name, choice)| format!("set {name} {}", choice.word)));
        lines.push(String::new());
        lines.extend(acts.iter().map(|act| match act {
            Act::Request(node) => format!("request {node}"),
            Act::Release(node) => format!("release {node}"),
            Act::Deliver { from, to, kind } => format!("deliver {from}->{to} {kind}"),
        }));
        lines.push(String::new());
        lines.push(match violation.property {
            Property::DeadlockFreedom => format!("expect deadlock {}", numbers(&violation.processes)),
            Property::MutualExclusion | Property::Invariants | Property::Fence => {
                "expect violation".to_owned()
            }
        });
        lines.join("\n") + "\n"
    }
}

/// Processes by their numbers, which count from 1.
fn numbers(processes: &[usize]) -> String {
    processes.iter().map(|process| (process + 1).to_string()).collect::<Vec<_>>().join(" ")
}

struct Explore<'a, 'w> {
    instance: &'a Instance,
    watch: &'w mut dyn FnMut(u64),
}

impl Visitor for Explore<'_, '_> {
    type Output = Result<Checked, Refusal>;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Self::Output {
        let Instance { requests, channels, start, watches, limits, .. } = self.instance;
        let system = Messages::new(&factory, requests.clone(), *channels, *start, *watches)?;
        let exploration = explore(&system, *limits, self.watch);
        let counterexamples = exploration.violations.iter().map(|violation| {
            let acts: Vec<Act> = violation.steps.iter().map(|step| system.act(step)).collect();
            let mut memory = Default::default();
            Counterexample {
                property: violation.property,
                what: violation.what.clone(),
                steps: violation.steps.iter().map(|step| system.describe(&mut memory, step)).collect(),
                script: self.instance.script(violation, &acts),
            }
        });
        let counterexamples = counterexamples.collect();
        Ok(Checked { exploration, counterexamples })
    }
}

/// So many requests of each of so many nodes, from what was typed: one number for all, or one for each.
///
/// # Errors
/// If there are more or fewer numbers than nodes.
pub fn requests(nodes: Option<usize>, typed: &[u32]) -> Result<Vec<u32>, Refusal> {
    match (nodes, typed) {
        (None, &[each]) => Ok(vec![each; 3]),
        (Some(n), &[each]) => Ok(vec![each; n]),
        (Some(n), list) if n != list.len() => {
            let given = list.len();
            Err(Refusal::new(format!(
                "--requests has {given} numbers for {n} nodes: give one for all, or one for each"
            )))
        }
        (_, list) => Ok(list.to_vec()),
    }
}

/// Who starts inside, as an initial state.
#[must_use]
pub fn start(inside: Option<NodeId>) -> Start {
    inside.map_or(Start::Empty, Start::Inside)
}
