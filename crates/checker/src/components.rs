//! Strongly connected components: parts of a graph in which every node can be reached from every other.
//!
//! R. E. Tarjan: "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972; without recursion.

use crate::cancellation::Cancellation;

/// Returns the next successor of a node and moves the cursor, which starts at 0, past it.
pub(crate) trait Successors: Fn(u32, &mut u32) -> Option<u32> {}

impl<F: Fn(u32, &mut u32) -> Option<u32>> Successors for F {}

/// The memory of the search for components. It can be reused without clearing all of it.
pub(crate) struct Components {
    /// For each node its visiting order, from 1; [`UNMET`] before its visit, [`DONE`] once its component is
    /// known or if it is not part of the search. `DONE` is the maximum, so that a finished node never lowers
    /// a low link.
    orders: Vec<u32>,
    cancellation: Cancellation,
}

const UNMET: u32 = 0;
const DONE: u32 = u32::MAX;

/// A node whose successors are being followed.
struct Frame {
    node: u32,
    /// Its low link: the earliest open node that it leads back to.
    low: u32,
    /// Its next successor.
    cursor: u32,
}

impl Components {
    /// For nodes below `bound`.
    pub(crate) fn new(bound: usize, cancellation: &Cancellation) -> Self {
        Self { orders: vec![DONE; bound], cancellation: cancellation.clone() }
    }

    /// Calls `visit` with every component of the subgraph of these nodes, in reverse topological order.
    pub(crate) fn among(&mut self, nodes: &[u32], successors: impl Successors, visit: impl FnMut(&[u32])) {
        nodes.iter().for_each(|node| self.orders[*node as usize] = UNMET);
        self.search(nodes.iter().copied(), successors, visit);
    }

    /// The same for all nodes reachable from the roots.
    pub(crate) fn from(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        successors: impl Successors,
        visit: impl FnMut(&[u32]),
    ) {
        self.orders.fill(UNMET);
        self.search(roots, successors, visit);
        self.orders.fill(DONE);
    }

    /// Visits the nodes reachable from the roots; afterwards all of them are [`DONE`], unless the search was
    /// cancelled.
    fn search(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        successors: impl Successors,
        mut visit: impl FnMut(&[u32]),
    ) {
        let (orders, cancellation) = (&mut self.orders[..], &self.cancellation);
        if cancellation.is_cancelled() {
            return;
        }
        // The nodes whose component is not known yet, and those whose successors are being followed.
        let (mut stack, mut path) = (Vec::new(), Vec::new());
        let (mut met, mut times) = (0, 0);
        let mut meet = |node: u32, orders: &mut [u32], stack: &mut Vec<u32>| {
            met += 1;
            orders[node as usize] = met;
            stack.push(node);
            Frame { node, low: met, cursor: 0 }
        };
        for root in roots {
            if orders[root as usize] == UNMET {
                path.push(meet(root, orders, &mut stack));
            }
            while let Some(frame) = path.last_mut() {
                if cancellation.poll(&mut times) {
                    return;
                }
                let Frame { node, mut low, mut cursor } = *frame;
                let unmet = loop {
                    let Some(other) = successors(node, &mut cursor) else { break None };
                    match orders[other as usize] {
                        UNMET => break Some(other),
                        order => low = low.min(order),
                    }
                };
                if let Some(other) = unmet {
                    (frame.low, frame.cursor) = (low, cursor);
                    path.push(meet(other, orders, &mut stack));
                    continue;
                }
                path.pop();
                if let Some(below) = path.last_mut() {
                    below.low = below.low.min(low);
                }
                if low == orders[node as usize] {
                    let begin = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                    visit(&stack[begin..]);
                    stack.drain(begin..).for_each(|node| orders[node as usize] = DONE);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_in_reverse_topological_order() {
        let edges: [&[u32]; 7] = [&[1], &[2, 4], &[0, 3], &[3], &[5], &[4], &[0]];
        let mut components = Components::new(7, &Cancellation::default());
        for _ in 0..2 {
            let mut seen = Vec::new();
            let next = |node: u32, cursor: &mut u32| {
                *cursor += 1;
                edges[node as usize].get(*cursor as usize - 1).copied()
            };
            components.from(0..7, next, |component| {
                let mut sorted = component.to_vec();
                sorted.sort_unstable();
                seen.push(sorted);
            });
            assert_eq!(seen, [vec![3], vec![4, 5], vec![0, 1, 2], vec![6]]);
        }
    }

    #[test]
    fn a_cancelled_search_visits_nothing_more() {
        let stop = doorway_core::Stop::default();
        let cancellation = Cancellation::new(&stop, None);
        let mut components = Components::new(100_000, &cancellation);
        let next = |node: u32, cursor: &mut u32| {
            *cursor += 1;
            (*cursor == 1 && node < 99_999).then_some(node + 1)
        };
        let mut visited = 0;
        components.from(0..100_000, next, |_| {
            visited += 1;
            if visited == 10 {
                stop.say();
            }
        });
        assert!(visited < 5_000, "{visited}");
        assert!(cancellation.was_cancelled());
    }
}
