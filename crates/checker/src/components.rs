//! Strongly connected components: parts of a graph in which every node can be reached from every other.
//!
//! R. E. Tarjan: "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972; without recursion.

/// What the search for components remembers. One can be used again and again without clearing the whole of it.
pub(crate) struct Components {
    /// In which order nodes were met, from 1; 0 is not met.
    order: Vec<u32>,
    low: Vec<u32>,
    met: Vec<u32>,
}

/// The component of a node is known.
const DONE: u32 = u32::MAX;

/// A node whose steps are being followed.
struct Frame {
    node: u32,
    cursor: u32,
}

impl Components {
    /// For nodes below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self { order: vec![0; bound], low: vec![0; bound], met: Vec::new() }
    }

    /// Calls `visit` with every component that can be reached from the roots, each after all those that can be reached from
    /// it. `next` gives a node's next successor from the cursor on, and moves the cursor behind it.
    pub(crate) fn visit(
        &mut self,
        roots: impl IntoIterator<Item = u32>,
        next: impl Fn(u32, &mut u32) -> Option<u32>,
        mut visit: impl FnMut(&[u32]),
    ) {
        let (mut stack, mut frames) = (Vec::new(), Vec::new());
        for root in roots {
            if self.order[root as usize] == 0 {
                self.meet(root, &mut stack, &mut frames);
            }
            while let Some(Frame { node, cursor }) = frames.last_mut() {
                let node = *node;
                if let Some(other) = next(node, cursor) {
                    match self.order[other as usize] {
                        0 => self.meet(other, &mut stack, &mut frames),
                        order if self.low[other as usize] != DONE => {
                            self.low[node as usize] = self.low[node as usize].min(order);
                        }
                        _ => {}
                    }
                    continue;
                }
                frames.pop();
                let low = self.low[node as usize];
                if let Some(Frame { node: below, .. }) = frames.last() {
                    self.low[*below as usize] = self.low[*below as usize].min(low);
                }
                if low == self.order[node as usize] {
                    let begin = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                    visit(&stack[begin..]);
                    stack.drain(begin..).for_each(|node| self.low[node as usize] = DONE);
                }
            }
        }
        for node in self.met.drain(..) {
            self.order[node as usize] = 0;
            self.low[node as usize] = 0;
        }
    }

    fn meet(&mut self, node: u32, stack: &mut Vec<u32>, frames: &mut Vec<Frame>) {
        self.met.push(node);
        let order = self.met.len() as u32;
        self.order[node as usize] = order;
        self.low[node as usize] = order;
        stack.push(node);
        frames.push(Frame { node, cursor: 0 });
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
            let next = |node: u32, cursor: &mut u32| {
                let found = edges[node as usize].get(*cursor as usize).copied();
                *cursor += 1;
                found
            };
            components.visit(0..7, next, |component| {
                let mut sorted = component.to_vec();
                sorted.sort_unstable();
                seen.push(sorted);
            });
            assert_eq!(seen, [vec![3], vec![4, 5], vec![0, 1, 2], vec![6]]);
        }
    }
}
