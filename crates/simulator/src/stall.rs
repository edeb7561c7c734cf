//! The diagnosis of a stalled run: the wait-for graph, and a cycle in it if there is one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use doorway_core::{Cut, Explain, NodeId, NodeSet, Permission, Phase};
use serde::Serialize;

/// A run in which nodes wait for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// The waiting nodes.
    pub waiting: Vec<WaitingNode>,
    /// Nodes that wait for each other, each for the next and the last for the first.
    pub cycle: Vec<NodeId>,
    /// Lost messages, as sentences.
    pub lost: Vec<String>,
    /// The crashed nodes.
    pub crashed: Vec<NodeId>,
    /// Whether messages still move although no node enters any more.
    pub livelock: bool,
}

/// A waiting node and the nodes it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingNode {
    /// The waiting node.
    pub node: NodeId,
    /// The nodes that it waits for.
    #[serde(rename = "for")]
    pub missing: NodeSet,
}

impl Stall {
    /// Builds the wait-for graph of a stalled state.
    pub fn diagnose<A: Explain>(cut: &Cut<'_, A>, crashed: &NodeSet) -> Self {
        let waiting: Vec<WaitingNode> = cut
            .states()
            .filter(|(node, _)| cut.phase(*node) == Phase::Waiting && !crashed.contains(*node))
            .map(|(node, state)| WaitingNode { node, missing: state.waits_for() })
            .collect();
        let cycle = if A::WAITS_FOR_ALL { find_cycle(&blockers(cut, &waiting)) } else { Vec::new() };
        Self { waiting, cycle, lost: Vec::new(), crashed: crashed.iter().collect(), livelock: false }
    }
}

/// The nodes that block each waiting node: the holder of the missing vote, or else the node that should grant
/// it.
fn blockers<A: Explain>(cut: &Cut<'_, A>, waiting: &[WaitingNode]) -> BTreeMap<NodeId, NodeSet> {
    let blocker = |node: NodeId, member: NodeId| match cut.state(member).permission() {
        Permission::GivenTo(other) if other != node => other,
        Permission::GivenTo(_) | Permission::Free | Permission::Token | Permission::None => member,
    };
    let edges = |WaitingNode { node, missing }: &WaitingNode| {
        let to = missing.iter().map(|member| blocker(*node, member)).filter(|other| other != node);
        (*node, to.collect())
    };
    waiting.iter().map(edges).collect()
}

/// The nodes of a short cycle, smallest first; empty if there is none. Linear in the number of edges, so that
/// a system of a million nodes can be diagnosed.
fn find_cycle(edges: &BTreeMap<NodeId, NodeSet>) -> Vec<NodeId> {
    let mut cycle =
        node_on_a_cycle(edges).and_then(|start| shortest_way_back(edges, start)).unwrap_or_default();
    let first = cycle.iter().min().and_then(|least| cycle.iter().position(|node| node == least));
    cycle.rotate_left(first.unwrap_or(0));
    cycle
}

/// Depth-first search for a back edge.
fn node_on_a_cycle(edges: &BTreeMap<NodeId, NodeSet>) -> Option<NodeId> {
    let successors = |node: NodeId| edges.get(&node).into_iter().flatten();
    let (mut on_path, mut done) = (NodeSet::new(), NodeSet::new());
    for &start in edges.keys() {
        let mut path = vec![(start, successors(start))];
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            on_path.insert(node);
            match rest.next() {
                Some(next) if on_path.contains(next) => return Some(next),
                Some(next) if done.contains(next) => {}
                Some(next) => path.push((next, successors(next))),
                None => {
                    on_path.remove(node);
                    done.insert(node);
                    path.pop();
                }
            }
        }
    }
    None
}

/// The shortest cycle through `start`, by breadth-first search.
fn shortest_way_back(edges: &BTreeMap<NodeId, NodeSet>, start: NodeId) -> Option<Vec<NodeId>> {
    let mut came_from = BTreeMap::new();
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(&node) = reached.get(next) {
        next += 1;
        for to in edges.get(&node).into_iter().flatten() {
            if to == start {
                let way = std::iter::successors(Some(node), |node| came_from.get(node).copied());
                let mut ring: Vec<NodeId> = way.collect();
                ring.reverse();
                return Some(ring);
            }
            if let Entry::Vacant(place) = came_from.entry(to) {
                place.insert(node);
                reached.push(to);
            }
        }
    }
    None
}

/// `node 7 waits for {10}; node 8 waits for {1}; wait-for cycle: 7 → 8 → 11 → 7`.
impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut parts: Vec<String> = self
            .waiting
            .iter()
            .take(SHOWN)
            .map(|WaitingNode { node, missing }| format!("node {node} waits for {missing}"))
            .collect();
        if self.waiting.len() > SHOWN {
            parts.push(format!("{} more wait", self.waiting.len() - SHOWN));
        }
        if !self.crashed.is_empty() {
            let crashed: Vec<String> = self.crashed.iter().map(NodeId::to_string).collect();
            parts.push(format!("crashed: {}", crashed.join(", ")));
        }
        parts.extend(self.lost.iter().map(|message| format!("lost: {message}")));
        if !self.cycle.is_empty() {
            let ring: Vec<String> =
                self.cycle.iter().chain(self.cycle.first()).map(NodeId::to_string).collect();
            parts.push(format!("wait-for cycle: {}", ring.join(" → ")));
        }
        if self.livelock {
            parts.push("messages still move, but no node has entered for a long time".to_owned());
        }
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, &[u32])]) -> BTreeMap<NodeId, NodeSet> {
        let node = |&number: &u32| NodeId::from_number(number).expect("numbers count from 1");
        edges.iter().map(|(from, to)| (node(from), to.iter().map(node).collect())).collect()
    }

    fn numbers(cycle: &[NodeId]) -> Vec<u32> {
        cycle.iter().map(|node| node.number()).collect()
    }

    #[test]
    fn a_cycle_is_found_and_a_chain_is_none() {
        assert_eq!(numbers(&find_cycle(&graph(&[(7, &[8]), (8, &[11]), (11, &[7])]))), [7, 8, 11]);
        assert_eq!(numbers(&find_cycle(&graph(&[(1, &[2]), (2, &[3]), (3, &[2])]))), [2, 3]);
        assert!(find_cycle(&graph(&[(1, &[2]), (2, &[3])])).is_empty());
        assert!(find_cycle(&graph(&[])).is_empty());
    }

    #[test]
    fn the_shortest_cycle_through_a_node_is_found() {
        let edges = graph(&[(1, &[2, 4]), (2, &[3]), (3, &[4]), (4, &[1])]);
        assert_eq!(numbers(&find_cycle(&edges)), [1, 4]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_searched_quickly() {
        let node = |index| NodeId::new(index);
        let chain: BTreeMap<NodeId, NodeSet> = (0..100_000)
            .map(|index| (node(index), [node(index + 1)].into_iter().collect::<NodeSet>()))
            .collect();
        assert!(find_cycle(&chain).is_empty());
    }
}
