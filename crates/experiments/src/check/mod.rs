//! An algorithm held against every interleaving, and the run that breaks it as something that one can replay.
//!
//! What is asked is decided in passes, each over as few states as it needs. Exclusion, progress, waiting and the number of messages
//! are the same on the states that are left when an algorithm's promises are used; invariants need every state; fences and
//! happened-before order need more than that, because what they compare becomes part of the states.

pub mod all;
mod command;
mod counterexample;
mod passes;
pub mod table;
mod told;
mod verdict;

use doorway_catalog::Catalog;
use doorway_checker::counts::Messages as Counts;
use doorway_checker::{
    Exploration, FaultBudget, Property, SchedulerFairness, SearchLimits, Setting, Visited, Walked, Walks,
};
use doorway_core::{Channels, NodeId, Options, Refusal, Start, Stop};

pub use counterexample::Counterexample;
pub(crate) use passes::PATIENCE;
pub use told::CheckReport;
pub(crate) use verdict::VerdictContext;
pub use verdict::{Decision, Verdict};

/// A small system to explore, and what to decide about it.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The algorithm's name.
    pub algorithm: String,
    /// What is chosen for it.
    pub options: Options,
    /// How often each node asks, [`Setting::UNBOUNDED`] for again and again; there are as many nodes as numbers.
    pub requests: Vec<u32>,
    /// In what order channels deliver.
    pub channels: Channels,
    /// Whether a node is inside at the start.
    pub start: Start,
    /// The faults that may happen.
    pub faults: FaultBudget,
    /// What to decide.
    pub properties: Vec<Property>,
    /// What a scheduler is taken to owe; if not given, the least that is needed is found.
    pub fairness: Option<SchedulerFairness>,
    /// Whether to use the algorithm's promises.
    pub reduction: bool,
    /// How to search, and how far.
    pub effort: Effort,
}

/// How to search, and how far.
#[derive(Clone, Debug)]
pub struct Effort {
    /// On how many threads.
    pub threads: usize,
    /// What to keep of each state.
    pub visited: Visited,
    /// How far to go.
    pub limits: SearchLimits,
    /// Walks at random instead of visiting every state.
    pub walks: Option<Walks>,
    /// Set by the caller when the search is to end.
    pub stop: Stop,
}

impl Default for Effort {
    /// Every state, on one thread.
    fn default() -> Self {
        let (visited, limits) = (Visited::Exact, SearchLimits::default());
        Self { threads: 1, visited, limits, walks: None, stop: Stop::default() }
    }
}

impl Effort {
    /// The most states.
    #[must_use]
    pub fn of_states(states: u64) -> Self {
        Self { limits: SearchLimits { states, ..SearchLimits::default() }, ..Self::default() }
    }

    /// As many walks at random.
    #[must_use]
    pub fn of_walks(walks: Walks) -> Self {
        Self { walks: Some(walks), ..Self::default() }
    }
}

impl Instance {
    /// What a lock must be: all but the orders that only some algorithms keep.
    pub const OF_A_LOCK: [Property; 6] = [
        Property::MutualExclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::OneToken,
        Property::Invariants,
        Property::Fence,
    ];

    /// This many requests of each node of an algorithm, in channels of this order, and all properties of a lock.
    #[must_use]
    pub fn new(algorithm: &str, requests: &[u32], channels: Channels) -> Self {
        Self {
            algorithm: algorithm.to_owned(),
            options: Options::none(),
            requests: requests.to_vec(),
            channels,
            start: Start::Empty,
            faults: FaultBudget::default(),
            properties: Self::OF_A_LOCK.to_vec(),
            fairness: None,
            reduction: true,
            effort: Effort::default(),
        }
    }

    /// The same with other properties to decide.
    #[must_use]
    pub fn deciding(mut self, properties: &[Property]) -> Self {
        self.properties = properties.to_vec();
        self
    }

    /// The same with something chosen for the algorithm.
    #[must_use]
    pub fn with(mut self, name: &str, word: &str) -> Self {
        self.options = self.options.with(name, word);
        self
    }

    /// Explores it; `watch` is told how many states were found so far.
    ///
    /// # Errors
    /// If there is no such algorithm, or it cannot run so.
    pub fn check(&self, catalog: &Catalog, watch: &mut dyn FnMut(u64)) -> Result<Checked, Refusal> {
        let n = self.requests.len();
        if !(1..=Setting::MOST_NODES).contains(&n) {
            let most = Setting::MOST_NODES;
            return Err(Refusal::new(format!("a system of 1 to {most} nodes can be explored, not of {n}")));
        }
        if let Some(stranger) = self.start.holder().filter(|node| node.index() >= n) {
            return Err(Refusal::new(format!("there is no node {stranger}: nodes are 1 to {n}")));
        }
        passes::check(self, catalog, watch)
    }
}

/// How many states a pass visited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// How many states were reached.
    pub states: u64,
    /// How many steps lead from them.
    pub transitions: u64,
    /// How many steps the longest of all shortest runs has.
    pub depth: u64,
    /// Whether every state was reached.
    pub is_complete: bool,
    /// Whether it ended because all that was looked for was found.
    pub is_satisfied: bool,
    /// The bytes that they took.
    pub bytes: u64,
    /// The odds that a state was missed, if only fingerprints were kept.
    pub odds_of_omission: Option<f64>,
}

impl Numbers {
    pub(crate) fn of(explored: &Exploration) -> Self {
        let &Exploration { states, transitions, depth, is_complete, is_satisfied, bytes, .. } = explored;
        let odds_of_omission = explored.odds_of_omission;
        Self { states, transitions, depth, is_complete, is_satisfied, bytes, odds_of_omission }
    }
}

/// The result of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The pass over every state, or over those that were left by the promises if no other was needed.
    pub numbers: Numbers,
    /// The pass over the states that were left by the promises, if there was one.
    pub reduced: Option<Numbers>,
    /// How many walks there were, and how many steps they took, if it was walks.
    pub walked: Option<(u64, u64)>,
    /// One for each property that was asked for and can be decided.
    pub verdicts: Vec<Verdict>,
    /// A counterexample for each property that does not hold.
    pub counterexamples: Vec<Counterexample>,
    /// A run in which a node is overtaken most often, if that was asked.
    pub most_overtaken: Option<Counterexample>,
    /// The smallest and the largest number of messages of a run that ends.
    pub messages: Option<Counts>,
    /// The largest ticket that was allowed, if a run took a larger one and was followed only so far.
    pub beyond: Option<u32>,
}

impl Checked {
    /// The result of walks. They prove nothing: a violation that they miss may exist.
    pub(crate) fn of_walks(
        properties: &[Property],
        walked: Walked,
        found: Vec<(Counterexample, u64)>,
    ) -> Self {
        let mut checked = Self { walked: Some((walked.walks, walked.steps)), ..Self::default() };
        for &property in properties {
            let found = found.iter().find(|(run, _)| run.property == property);
            let (decision, remark) = match found {
                Some((_, times)) => {
                    (Decision::Violated, Some(format!("{times} of {} walks found it", walked.walks)))
                }
                None => (Decision::NotExhausted, None),
            };
            checked.verdicts.push(Verdict { remark, ..Verdict::new(property, decision) });
            checked.counterexamples.extend(found.map(|(run, _)| run.clone()));
        }
        checked
    }

    /// The verdict on a property.
    #[must_use]
    pub fn verdict(&self, property: Property) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.property == property)
    }

    /// The run against a property.
    #[must_use]
    pub fn counterexample(&self, property: Property) -> Option<&Counterexample> {
        self.counterexamples.iter().find(|found| found.property == property)
    }

    /// The run that is worth showing: the first against a property, or else the one with the most overtaking.
    #[must_use]
    pub fn shown(&self) -> Option<&Counterexample> {
        self.counterexamples.first().or(self.most_overtaken.as_ref())
    }

    /// Whether something is violated, or else whether all was decided.
    #[must_use]
    pub fn decision(&self) -> Decision {
        let any = |decision| self.verdicts.iter().any(|verdict| verdict.decision == decision);
        match () {
            () if any(Decision::Violated) => Decision::Violated,
            () if any(Decision::NotExhausted) => Decision::NotExhausted,
            () => Decision::Holds,
        }
    }
}

/// The requests of each of `nodes` nodes, as typed: one number for all, or one for each.
///
/// # Errors
/// If there are more or fewer numbers than nodes.
pub fn requests(nodes: Option<usize>, typed: &[u32]) -> Result<Vec<u32>, Refusal> {
    match (nodes, typed) {
        (None, &[each]) => Ok(vec![each; 3]),
        (Some(n), &[each]) if n <= Setting::MOST_NODES => Ok(vec![each; n]),
        (Some(n), &[_]) => {
            let most = Setting::MOST_NODES;
            Err(Refusal::new(format!("a system of 1 to {most} nodes can be explored, not of {n}")))
        }
        (Some(n), list) if n != list.len() => {
            let given = list.len();
            Err(Refusal::new(format!(
                "--requests has {given} numbers for {n} nodes: give one for all, or one for each"
            )))
        }
        (_, list) => Ok(list.to_vec()),
    }
}

/// The initial state: which node is inside.
#[must_use]
pub fn start(inside: Option<NodeId>) -> Start {
    inside.map_or(Start::Empty, Start::Inside)
}
