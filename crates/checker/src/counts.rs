//! The number of messages of a run, over all runs that end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::components::Components;
use crate::graph::Graph;

/// The smallest and the largest number of messages of a run that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// The smallest.
    pub min: u64,
    /// The largest; `None` if there is no bound.
    pub max: Option<u64>,
}

/// Counts; `None` if no run ends.
pub(crate) fn messages(graph: &Graph) -> Option<Messages> {
    Some(Messages { min: fewest(graph)?, max: most(graph) })
}

/// The fewest messages on a path to a terminal state: Dijkstra's algorithm.
fn fewest(graph: &Graph) -> Option<u64> {
    let mut known = vec![u64::MAX; graph.bound()];
    let mut queue = BinaryHeap::new();
    for &state in &graph.initial {
        known[state as usize] = 0;
        queue.push(Reverse((0, state)));
    }
    let mut times = 0;
    while let Some(Reverse((sent, state))) = queue.pop() {
        if graph.cancellation.poll(&mut times) {
            return None;
        }
        if graph.edges(state).is_empty() {
            return Some(sent);
        }
        if sent > known[state as usize] {
            continue;
        }
        for edge in graph.edges(state) {
            let sent = sent + u64::from(graph.label(*edge).sends);
            if sent < known[edge.to as usize] {
                known[edge.to as usize] = sent;
                queue.push(Reverse((sent, edge.to)));
            }
        }
    }
    None
}

/// The most messages that can follow a state: no run from it ends, a bound, or no bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ahead {
    Endless,
    AtMost(u64),
    Any,
}

fn most(graph: &Graph) -> Option<u64> {
    let mut ahead = vec![Ahead::Endless; graph.bound()];
    let next = |state, cursor: &mut u32| graph.next(state, cursor, |edge| Some(edge.to));
    Components::new(graph.bound(), &graph.cancellation).from(
        graph.initial.iter().copied(),
        next,
        |component| {
            let mut members = component.to_vec();
            members.sort_unstable();
            let is_end = component.iter().any(|state| graph.edges(*state).is_empty());
            let mut most = if is_end { Ahead::AtMost(0) } else { Ahead::Endless };
            let mut sends_inside = false;
            for edge in component.iter().flat_map(|state| graph.edges(*state)) {
                let sent = u64::from(graph.label(*edge).sends);
                if members.binary_search(&edge.to).is_ok() {
                    sends_inside |= sent > 0;
                    continue;
                }
                most = most.max(match ahead[edge.to as usize] {
                    Ahead::AtMost(more) => Ahead::AtMost(more + sent),
                    other => other,
                });
            }
            if sends_inside && most != Ahead::Endless {
                most = Ahead::Any;
            }
            component.iter().for_each(|state| ahead[*state as usize] = most);
        },
    );
    match graph.initial.iter().map(|state| ahead[*state as usize]).max()? {
        Ahead::AtMost(most) => Some(most),
        Ahead::Endless | Ahead::Any => None,
    }
}
