//! Strongly connected components: parts of a graph in which every node can be reached from every other.
//!
//! R. E. Tarjan: "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972; without recursion.

/// What the search for components remembers. One can be used again and again without clearing the whole of it.
pub(crate) struct Components {
    /// For each node in which order it was met, from 1 ([`UNMET`] if it was not), and the first that it leads back to ([`DONE`]
    /// if its component is known, or it is not looked at).
    nodes: Vec<(u32, u32)>,
    met: u32,
}

const UNMET: u32 = 0;
const DONE: u32 = u32::MAX;
/// Of a node that is not looked at.
const APART: (u32, u32) = (DONE, DONE);

impl Components {
    /// For nodes below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self { nodes: vec![APART; bound], met: 0 }
    }

    /// Calls `visit` with every component that these nodes have among themselves, each after all those that can be reached
    /// from it.
    pub(crate) fn among<I: Iterator<Item = u32>>(
        &mut self,
        nodes: &[u32],
        successors: impl Fn(u32) -> I,
        visit: impl FnMut(&[u32]),
    ) {
        nodes.iter().for_each(|node| self.nodes[*node as usize] = (UNMET, UNMET));
        self.search(nodes.iter().copied(), successors, visit);
        nodes.iter().for_each(|node| self.nodes[*node as usize] = APART);
    }

    /// The same for all nodes that can be reached from some.
    pub(crate) fn from<I: Iterator<Item = u32>>(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        successors: impl Fn(u32) -> I,
        visit: impl FnMut(&[u32]),
    ) {
        self.nodes.fill((UNMET, UNMET));
        self.search(roots, successors, visit);
        self.nodes.fill(APART);
    }

    fn search<I: Iterator<Item = u32>>(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        successors: impl Fn(u32) -> I,
        mut visit: impl FnMut(&[u32]),
    ) {
        // The nodes whose component is not known yet, and those whose successors are being followed.
        let (mut stack, mut path) = (Vec::new(), Vec::new());
        self.met = 0;
        for root in roots {
            if self.nodes[root as usize].0 == UNMET {
                self.meet(root, &mut stack);
                path.push((root, successors(root)));
            }
            while let Some((node, rest)) = path.last_mut() {
                let node = *node;
                if let Some(other) = rest.next() {
                    match self.nodes[other as usize] {
                        (_, DONE) => {}
                        (UNMET, _) => {
                            self.meet(other, &mut stack);
                            path.push((other, successors(other)));
                        }
                        (order, _) => self.reach(node, order),
                    }
                    continue;
                }
                path.pop();
                let (order, low) = self.nodes[node as usize];
                if let Some((below, _)) = path.last() {
                    self.reach(*below, low);
                }
                if low == order {
                    let begin = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                    visit(&stack[begin..]);
                    stack.drain(begin..).for_each(|node| self.nodes[node as usize].1 = DONE);
                }
            }
        }
    }

    #[inline]
    fn reach(&mut self, node: u32, order: u32) {
        let low = &mut self.nodes[node as usize].1;
        *low = (*low).min(order);
    }

    #[inline]
    fn meet(&mut self, node: u32, stack: &mut Vec<u32>) {
        self.met += 1;
        self.nodes[node as usize] = (self.met, self.met);
        stack.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_in_the_order_of_what_they_lead_to() {
        let edges: [&[u32]; 7] = [&[1], &[2, 4], &[0, 3], &[3], &[5], &[4], &[0]];
        let mut components = Components::new(7);
        for _ in 0..2 {
            let mut seen = Vec::new();
            let next = |node: u32| edges[node as usize].iter().copied();
            components.from(0..7, next, |component| {
                let mut sorted = component.to_vec();
                sorted.sort_unstable();
                seen.push(sorted);
            });
            assert_eq!(seen, [vec![3], vec![4, 5], vec![0, 1, 2], vec![6]]);
        }
    }
}
