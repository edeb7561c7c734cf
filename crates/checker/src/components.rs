//! Strongly connected components: parts of a graph in which every node can be reached from every other.
//!
//! R. E. Tarjan: "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972; without recursion.

use crate::brake::Brake;

/// Tells the next successor of a node and moves the cursor, which begins at 0, past it.
pub(crate) trait Successors: Fn(u32, &mut u32) -> Option<u32> {}

impl<F: Fn(u32, &mut u32) -> Option<u32>> Successors for F {}

/// What the search for components remembers. One can be used again and again without clearing the whole of it.
pub(crate) struct Components {
    /// For each node in which order it was met, from 1; [`UNMET`] if it was not, [`DONE`] if its component is known or it is not
    /// looked at. As `DONE` is the largest, a node that is done is never the first that another one leads back to.
    orders: Vec<u32>,
    brake: Brake,
}

const UNMET: u32 = 0;
const DONE: u32 = u32::MAX;

/// A node whose successors are being followed.
struct Frame {
    node: u32,
    /// The first of all met nodes that it leads back to.
    low: u32,
    /// How far its successors were followed.
    cursor: u32,
}

impl Components {
    /// For nodes below `bound`.
    pub(crate) fn new(bound: usize, brake: &Brake) -> Self {
        Self { orders: vec![DONE; bound], brake: brake.clone() }
    }

    /// Calls `visit` with every component that these nodes have among themselves, each after all those that can be reached
    /// from it.
    pub(crate) fn among(&mut self, nodes: &[u32], successors: impl Successors, visit: impl FnMut(&[u32])) {
        nodes.iter().for_each(|node| self.orders[*node as usize] = UNMET);
        self.search(nodes.iter().copied(), successors, visit);
    }

    /// The same for all nodes that can be reached from some.
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

    /// Visits what can be reached from the roots; all of it is done then, unless the brake was pulled.
    fn search(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        successors: impl Successors,
        mut visit: impl FnMut(&[u32]),
    ) {
        let (orders, brake) = (&mut self.orders[..], &self.brake);
        if brake.is_pulled() {
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
                if brake.is_pulled_after(&mut times) {
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
    fn components_come_in_the_order_of_what_they_lead_to() {
        let edges: [&[u32]; 7] = [&[1], &[2, 4], &[0, 3], &[3], &[5], &[4], &[0]];
        let mut components = Components::new(7, &Brake::default());
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
    fn a_search_that_is_told_to_stop_visits_nothing_more() {
        let stop = doorway_core::Stop::default();
        let brake = Brake::new(&stop, None);
        let mut components = Components::new(100_000, &brake);
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
        assert!(brake.has_ended());
    }
}
