//! An election in the simulator that builds a spanning tree.
//!
//! Echo with extinction (E. J. H. Chang, "Echo algorithms: depth parallel operations on general graphs", IEEE
//! Transactions on Software Engineering 8(4), 1982): every node starts a wave with its own number; a wave
//! that meets a larger one dies. The largest number's wave reaches all nodes, and each node's parent is the
//! neighbour from which it came first. So the tree depends on the message latencies.

use doorway_core::{Choice, Effects, Machine, Members, Never, NodeId, NodeSet, Options, Refusal, Ticks};
use doorway_trace::{Event, Log, What};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::random::Random;
use crate::settings::{Latency, Settings};

/// The most nodes of an election: each sends to its neighbours once per larger wave it meets.
const MOST_NODES: usize = 10_000;

/// Resolves the option `tree = elected`: runs the election and adds the elected tree as the file's content.
///
/// # Errors
/// If there are too many nodes for an election, or none.
pub fn elected(options: &Options, settings: &Settings) -> Result<Options, Refusal> {
    let mut resolved = options.clone();
    let is_elected = |(name, choice): &(&str, &Choice)| *name == "tree" && choice.word == "elected";
    if let Some((name, choice)) = options.iter().find(is_elected) {
        let tree = elect_tree(settings.nodes, settings.seed, &settings.latency)?;
        resolved.set(name, Choice { word: choice.word.clone(), file: Some(tree) });
    }
    Ok(resolved)
}

/// Runs an election among `nodes` nodes on a connected graph drawn from the seed. Returns the edges of the
/// winner's tree, one per line.
///
/// # Errors
/// If there are too many nodes, or none.
pub fn elect_tree(nodes: usize, seed: u64, latency: &Latency) -> Result<String, Refusal> {
    let settings = Settings { nodes, seed, latency: latency.clone(), ..Settings::default() };
    elect(&settings).map(|election| election.tree)
}

/// A finished election.
#[derive(Clone, Debug)]
pub struct Election {
    /// The edges of the winner's tree, one per line, the parent first.
    pub tree: String,
    /// The node whose wave won.
    pub winner: NodeId,
    /// The neighbours of each node in the graph on which the waves ran.
    pub graph: Vec<NodeSet>,
    /// How many messages were sent.
    pub messages: u64,
    /// When the last of them arrived.
    pub time: Ticks,
    /// What happened, if the settings say that it is recorded.
    pub events: Vec<Event>,
}

/// Runs an election under the nodes, the seed and the latency of these settings.
///
/// # Errors
/// If there are too many nodes, or none.
pub fn elect(settings: &Settings) -> Result<Election, Refusal> {
    let members = Members::new(settings.nodes)?;
    if settings.nodes > MOST_NODES {
        let nodes = settings.nodes;
        return Err(Refusal::new(format!(
            "an election is held among at most {MOST_NODES} nodes, not {nodes}"
        )));
    }
    let &Settings { nodes, seed, trace, .. } = settings;
    let settings = Settings { nodes, seed, latency: settings.latency.clone(), ..Settings::default() };
    settings.check()?;
    let graph = graph(nodes, seed);
    let machines = graph.iter().cloned().zip(members.iter()).map(|(n, me)| Elector::new(me, n)).collect();
    let mut engine = Engine::new(machines, &settings);
    if trace {
        engine.record();
    }
    for node in members.iter() {
        let now = engine.now();
        if let Some(log) = engine.log() {
            log.push(now, node, What::Start, "", None);
        }
        engine.start(node);
    }
    while engine.next_time().is_some() {
        engine.advance();
    }
    let edge = |elector: &Elector| elector.parent.map(|parent| format!("{parent} {}\n", elector.me));
    let tree = engine.machines().iter().filter_map(edge).collect();
    let (winner, time) = (engine.machines()[0].leader, engine.now());
    let (log, traffic) = engine.into_records();
    let events = log.iter().flat_map(Log::iter).collect();
    Ok(Election { tree, winner, graph, messages: traffic.messages, time, events })
}

/// A ring with chords: each node's neighbours.
fn graph(n: usize, seed: u64) -> Vec<NodeSet> {
    let mut random = Random::new(seed, 3);
    let mut neighbours = vec![NodeSet::new(); n];
    let mut join = |a: usize, b: usize| {
        if a != b {
            neighbours[a].insert(NodeId::new(b));
            neighbours[b].insert(NodeId::new(a));
        }
    };
    for a in 0..n {
        join(a, (a + 1) % n);
        join(a, random.below(n as u64) as usize);
    }
    neighbours
}

/// One node of the election.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Elector {
    me: NodeId,
    neighbours: NodeSet,
    /// The largest number received so far, whose wave this node belongs to.
    leader: NodeId,
    /// The neighbour from which that wave came first.
    parent: Option<NodeId>,
    /// The neighbours that have not echoed the wave.
    missing: NodeSet,
}

/// The messages, each with the number of the node whose wave it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Msg {
    /// The wave goes on to a neighbour.
    Wave(NodeId),
    /// All that the sender passed the wave on to have it.
    Echo(NodeId),
}

impl Elector {
    fn new(me: NodeId, neighbours: NodeSet) -> Self {
        Self { me, leader: me, parent: None, missing: neighbours.clone(), neighbours }
    }
}

impl Machine for Elector {
    type Header = ();
    type Msg = Msg;
    type Command = Never;
    type Notice = Never;
    type Timer = Never;
    type Write = Never;

    fn on_start(&mut self, _: Ticks, effects: &mut Effects<Self>) {
        effects.out.rule("begin");
        effects.out.multicast(&self.neighbours, Msg::Wave(self.me));
    }

    fn on_message(&mut self, _: Ticks, from: NodeId, (): (), msg: Msg, effects: &mut Effects<Self>) {
        // A wave that comes back says as much as an echo: its sender has it.
        let (Msg::Wave(leader) | Msg::Echo(leader)) = msg;
        if leader > self.leader {
            (self.leader, self.parent) = (leader, Some(from));
            self.missing = self.neighbours.clone();
            let on = self.neighbours.clone().without(from);
            effects.out.rule("adopt");
            effects.out.multicast(&on, Msg::Wave(leader));
        }
        if leader == self.leader && self.missing.remove(from) && self.missing.is_empty() {
            effects.out.rule("echo");
            self.parent.into_iter().for_each(|parent| effects.out.send(parent, Msg::Echo(leader)));
        }
    }

    fn on_command(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }

    fn on_timer(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }

    fn on_written(&mut self, _: Ticks, never: Never, _: &mut Effects<Self>) {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Span;

    #[test]
    fn the_winners_wave_leaves_a_spanning_tree() {
        for (n, seed) in [1, 2, 3, 13, 200].into_iter().flat_map(|n| [1, 2, 3].map(|seed| (n, seed))) {
            let text = elect_tree(n, seed, &Latency::Span(Span::Uniform(1, 50))).expect("few enough");
            assert_eq!(text.lines().count(), n - 1, "a tree of {n} nodes");
            let options = doorway_core::Options::none().with_file("tree", &text);
            let kind = doorway_algorithms::trees::TreeKind::chosen(&options).expect("a tree from a file");
            kind.build(&Members::new(n).expect("at least one")).expect("its edges are a tree");
        }
    }

    #[test]
    fn the_log_of_an_election_has_its_messages() {
        let settings = Settings { nodes: 5, trace: true, ..Settings::default() };
        let election = elect(&settings).expect("few enough");
        assert_eq!((election.winner, election.time), (NodeId::new(4), Ticks(40)));
        assert_eq!(election.tree, elect_tree(5, 1, &settings.latency).expect("few enough"));
        let sent = election.events.iter().filter(|event| matches!(event.what, What::Send { .. })).count();
        let arrived =
            election.events.iter().filter(|event| matches!(event.what, What::Deliver { .. })).count();
        assert_eq!((election.messages, sent as u64, arrived), (election.messages, election.messages, sent));
        let unrecorded = elect(&Settings { trace: false, ..settings }).expect("few enough");
        assert_eq!((unrecorded.messages, unrecorded.events.len()), (election.messages, 0));
    }

    #[test]
    fn different_delays_elect_different_trees() {
        let tree = |seed| elect_tree(13, seed, &Latency::Span(Span::Uniform(1, 50))).expect("few enough");
        assert_ne!(tree(1), tree(2));
        assert_eq!(tree(1), tree(1));
    }
}
