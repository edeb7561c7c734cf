//! An election in the simulator that builds a spanning tree.
//!
//! Echo with extinction (E. J. H. Chang, "Echo algorithms: depth parallel operations on general graphs", IEEE
//! Transactions on Software Engineering 8(4), 1982): every node starts a wave with its own number; a wave
//! that meets a larger one dies. The largest number's wave reaches all nodes, and each node's parent is the
//! neighbour from which it came first. So the tree depends on the message latencies.

use doorway_core::{Choice, Effects, Machine, Members, Never, NodeId, NodeSet, Options, Refusal, Ticks};
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
    let members = Members::new(nodes)?;
    if nodes > MOST_NODES {
        return Err(Refusal::new(format!(
            "an election is held among at most {MOST_NODES} nodes, not {nodes}"
        )));
    }
    let settings = Settings { nodes, seed, latency: latency.clone(), ..Settings::default() };
    settings.check()?;
    let machines =
        graph(nodes, seed).into_iter().zip(members.iter()).map(|(n, me)| Elector::new(me, n)).collect();
    let mut engine = Engine::new(machines, &settings);
    members.iter().for_each(|node| engine.start(node));
    while engine.next_time().is_some() {
        engine.advance();
    }
    let edge = |elector: &Elector| elector.parent.map(|parent| format!("{parent} {}\n", elector.me));
    Ok(engine.machines().iter().filter_map(edge).collect())
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

/// A wave, or its echo, with its leader's number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Wave(NodeId);

impl Elector {
    fn new(me: NodeId, neighbours: NodeSet) -> Self {
        Self { me, leader: me, parent: None, missing: neighbours.clone(), neighbours }
    }
}

impl Machine for Elector {
    type Header = ();
    type Msg = Wave;
    type Command = Never;
    type Notice = Never;
    type Timer = Never;
    type Write = Never;

    fn on_start(&mut self, _: Ticks, effects: &mut Effects<Self>) {
        effects.out.multicast(&self.neighbours, Wave(self.me));
    }

    fn on_message(
        &mut self,
        _: Ticks,
        from: NodeId,
        (): (),
        Wave(leader): Wave,
        effects: &mut Effects<Self>,
    ) {
        if leader > self.leader {
            (self.leader, self.parent) = (leader, Some(from));
            self.missing = self.neighbours.clone();
            let on = self.neighbours.clone().without(from);
            effects.out.multicast(&on, Wave(leader));
        }
        if leader == self.leader && self.missing.remove(from) && self.missing.is_empty() {
            self.parent.into_iter().for_each(|parent| effects.out.send(parent, Wave(leader)));
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
    fn different_delays_elect_different_trees() {
        let tree = |seed| elect_tree(13, seed, &Latency::Span(Span::Uniform(1, 50))).expect("few enough");
        assert_ne!(tree(1), tree(2));
        assert_eq!(tree(1), tree(1));
    }
}
