//! A run that cannot go on: who waits for whom, and the ring in which they wait if there is one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use doorway_core::{Cut, Explain, NodeId, NodeSet, Permission, Phase};
use serde::Serialize;

/// A run in which somebody waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// Everybody who waits.
    pub waiting: Vec<Waiting>,
    /// Nodes that wait for each other, each for the next and the last for the first.
    pub cycle: Vec<NodeId>,
    /// Messages that might have helped and never arrived, as sentences.
    pub lost: Vec<String>,
    /// Who has crashed.
    pub crashed: Vec<NodeId>,
    /// Whether messages still move although nobody enters any more.
    pub livelock: bool,
}

/// A node that waits, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Who waits.
    pub node: NodeId,
    /// From whom something is missing.
    #[serde(rename = "for")]
    pub missing: NodeSet,
}

impl Stall {
    /// Finds out who waits for whom in a state in which nothing moves.
    pub fn diagnose<A: Explain>(cut: &Cut<'_, A>, crashed: &NodeSet) -> Self {
        let waiting: Vec<Waiting> = cut
            .states()
            .filter(|(node, _)| cut.phase(*node) == Phase::Waiting && !crashed.contains(*node))
            .map(|(node, state)| Waiting { node, missing: state.waits_for() })
            .collect();
        let cycle = if A::WAITS_FOR_ALL { find_cycle(&blockers(cut, &waiting)) } else { Vec::new() };
        Self { waiting, cycle, lost: Vec::new(), crashed: crashed.iter().collect(), livelock: false }
    }
}

/// Who keeps each waiting node from entering: whoever has the vote that is missing, or else the node that should give
/// it.
fn blockers<A: Explain>(cut: &Cut<'_, A>, waiting: &[Waiting]) -> BTreeMap<NodeId, NodeSet> {
    let blocker = |node: NodeId, member: NodeId| match cut.state(member).permission() {
        Permission::GivenTo(other) if other != node => other,
        Permission::GivenTo(_) | Permission::Free | Permission::Token | Permission::None => member,
    };
    let edges = |Waiting { node, missing }: &Waiting| {
        let to = missing.iter().map(|member| blocker(*node, member)).filter(|other| other != node);
        (*node, to.collect())
    };
    waiting.iter().map(edges).collect()
}

/// The nodes of a short ring of the graph, smallest first; empty if there is none. It takes a time that grows with the edges alone, so
/// that a system of a million nodes can be diagnosed.
fn find_cycle(edges: &BTreeMap<NodeId, NodeSet>) -> Vec<NodeId> {
    let mut cycle =
        node_on_a_cycle(edges).and_then(|start| shortest_way_back(edges, start)).unwrap_or_default();
    let first = cycle.iter().min().and_then(|least| cycle.iter().position(|node| node == least));
    cycle.rotate_left(first.unwrap_or(0));
    cycle
}

/// Goes along the edges, depth first, until it comes to a node that is still on the way.
fn node_on_a_cycle(edges: &BTreeMap<NodeId, NodeSet>) -> Option<NodeId> {
    let successors = |node: NodeId| edges.get(&node).into_iter().flatten();
    let (mut on_the_way, mut done) = (NodeSet::new(), NodeSet::new());
    for &start in edges.keys() {
        let mut way = vec![(start, successors(start))];
        while let Some((node, rest)) = way.last_mut() {
            let node = *node;
            on_the_way.insert(node);
            match rest.next() {
                Some(next) if on_the_way.contains(next) => return Some(next),
                Some(next) if done.contains(next) => {}
                Some(next) => way.push((next, successors(next))),
                None => {
                    on_the_way.remove(node);
                    done.insert(node);
                    way.pop();
                }
            }
        }
    }
    None
}

/// The shortest ring through `start`, by breadth-first search.
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
            .map(|Waiting { node, missing }| format!("node {node} waits for {missing}"))
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
            parts.push("messages still move, but nobody has entered for a long time".to_owned());
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
    fn a_ring_is_found_and_told_from_a_chain() {
        assert_eq!(numbers(&find_cycle(&graph(&[(7, &[8]), (8, &[11]), (11, &[7])]))), [7, 8, 11]);
        assert_eq!(numbers(&find_cycle(&graph(&[(1, &[2]), (2, &[3]), (3, &[2])]))), [2, 3]);
        assert!(find_cycle(&graph(&[(1, &[2]), (2, &[3])])).is_empty());
        assert!(find_cycle(&graph(&[])).is_empty());
    }

    #[test]
    fn of_several_rings_through_a_node_the_shortest_is_told() {
        let edges = graph(&[(1, &[2, 4]), (2, &[3]), (3, &[4]), (4, &[1])]);
        assert_eq!(numbers(&find_cycle(&edges)), [1, 4]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_searched_at_once() {
        let node = |index| NodeId::new(index);
        let chain: BTreeMap<NodeId, NodeSet> = (0..100_000)
            .map(|index| (node(index), [node(index + 1)].into_iter().collect::<NodeSet>()))
            .collect();
        assert!(find_cycle(&chain).is_empty());
    }
}
