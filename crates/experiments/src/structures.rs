//! What a structure of Sanders' algorithm or a tree of Raymond's costs: messages per entry, and the delay from each node to each other.
//!
//! The bounds and the rules are the lectures'; the delays are measured in runs in which one node is inside and another one waits.

use doorway_catalog::Trial;
use doorway_catalog::structures::{Structure, Tree};
use doorway_core::{NodeId, NodeSet, Refusal, Start};
use doorway_simulator::{Latency, Load, Outcome, Settings, Span};

/// The usual delay of a message, in ticks.
pub const T: u64 = 10;

/// What an entry of a node costs at least, and at most as the lecture counts and without the FAILED to oneself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBounds {
    /// |I−{i}| + 2|R−{i}|.
    pub least: u64,
    /// The same plus r_j for every j in R.
    pub of_lecture: u64,
    /// The same plus r_j for every j in R but the node itself.
    pub tight: u64,
}

impl MessageBounds {
    /// The bounds for node `i`.
    #[must_use]
    pub fn of(structure: &Structure, i: NodeId) -> Self {
        let (asks, others) = (&structure.asks[i], structure.asks[i].clone().without(i));
        let least = (structure.informs[i].clone().without(i).len() + 2 * others.len()) as u64;
        let extra = |nodes: &NodeSet| nodes.iter().map(|j| conflict_cost(structure, i, j)).sum::<u64>();
        Self { least, of_lecture: least + extra(asks), tight: least + extra(&others) }
    }

    /// The bounds of two entries.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            least: self.least + other.least,
            of_lecture: self.of_lecture + other.of_lecture,
            tight: self.tight + other.tight,
        }
    }
}

/// r_j: what a conflict at node j can cost node i. If j reserves its permission for no other node, just a FAILED.
fn conflict_cost(structure: &Structure, i: NodeId, j: NodeId) -> u64 {
    if structure.informed_by(j).iter().all(|k| k == i || k == j) { 1 } else { 4 }
}

/// The delay from each node to each other one, in T, a row for each node; 0 on the diagonal, where there is nothing to measure.
pub type Delays = Vec<Vec<u64>>;

/// The delays among `n` nodes by a rule.
#[must_use]
pub fn delays(n: usize, rule: impl Fn(NodeId, NodeId) -> u64) -> Delays {
    let row = |i| NodeId::first(n).map(|j| if i == j { 0 } else { rule(i, j) }).collect();
    NodeId::first(n).map(row).collect()
}

/// The printed rule: two nodes that inform a common one are 2 apart.
#[must_use]
pub fn printed_delay(structure: &Structure, i: NodeId, j: NodeId) -> u64 {
    if structure.informs[i].intersects(&structure.informs[j]) { 2 } else { 1 }
}

/// The correct rule: a third node must learn of the release and pass it on.
#[must_use]
pub fn correct_delay(structure: &Structure, i: NodeId, j: NodeId) -> u64 {
    let passes_it_on = |k: NodeId| k != i && k != j && structure.asks[j].contains(k);
    if structure.informs[i].iter().any(passes_it_on) { 2 } else { 1 }
}

/// The delay in a tree: the token goes from neighbour to neighbour.
#[must_use]
pub fn tree_delay(tree: &Tree, i: NodeId, j: NodeId) -> u64 {
    tree.distance(i, j) as u64
}

/// The trial in which node `from` is inside and node `to` alone waits: how long does it take from the release to the entry?
#[must_use]
pub fn handover(trial: &Trial, from: NodeId, to: NodeId) -> Trial {
    let mut trial = trial.clone();
    trial.settings = Settings {
        load: Load::Only([to].into_iter().collect()),
        entries: 1,
        hold: Span::Constant(10 * T * trial.settings.nodes.max(4) as u64 / 4),
        latency: Latency::Span(Span::Constant(T)),
        start: Start::Inside(from),
        ..trial.settings
    };
    trial
}

/// The delays that runs of a trial's algorithm show.
///
/// # Errors
/// If the trial cannot be run.
pub fn measured_delays(
    trial: &Trial,
    mut run: impl FnMut(&Trial) -> Result<Outcome, Refusal>,
) -> Result<Delays, Refusal> {
    let n = trial.settings.nodes;
    let mut measured = delays(n, |_, _| 0);
    for (i, j) in NodeId::first(n).flat_map(|i| NodeId::first(n).map(move |j| (i, j))) {
        if i != j {
            let outcome = run(&handover(trial, i, j))?;
            measured[i.index()][j.index()] = outcome.measures.sync_delay.max().unwrap_or(0) / T;
        }
    }
    Ok(measured)
}

/// The pairs of nodes in whose delay two tables differ.
#[must_use]
pub fn differing(one: &Delays, other: &Delays) -> Vec<(NodeId, NodeId)> {
    let pairs = NodeId::first(one.len()).flat_map(|i| NodeId::first(one.len()).map(move |j| (i, j)));
    pairs.filter(|(i, j)| one[i.index()][j.index()] != other[i.index()][j.index()]).collect()
}
