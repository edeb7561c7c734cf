//! The watch: checks mutual exclusion and fences at every step, independently of the algorithm.

use std::collections::VecDeque;
use std::fmt;

use doorway_core::{Fence, NodeId, PerNode, VectorClock};

/// The nodes inside, and the last fence.
#[derive(Debug, Default)]
pub struct SafetyMonitor {
    inside: Vec<NodeId>,
    last_fence: Fence,
}

impl SafetyMonitor {
    /// A node starts inside.
    pub fn begin_inside(&mut self, node: NodeId, fence: Fence) {
        self.inside.push(node);
        self.last_fence = fence;
    }

    /// A node enters; returns what is wrong with the entry, if anything.
    pub fn enter(&mut self, node: NodeId, fence: Fence) -> Option<WrongEntry> {
        let already = self.inside.first().copied();
        self.inside.push(node);
        let before = std::mem::replace(&mut self.last_fence, fence);
        match already {
            Some(other) => Some(WrongEntry::Together { other, node }),
            None if fence <= before => Some(WrongEntry::Fence { node, fence, before }),
            None => None,
        }
    }

    /// A node leaves.
    pub fn leave(&mut self, node: NodeId) {
        self.inside.retain(|&other| other != node);
    }
}

/// What can be wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongEntry {
    /// Another node was inside.
    Together {
        /// The node that was inside.
        other: NodeId,
        /// The node that entered.
        node: NodeId,
    },
    /// Its fence is not larger than the previous one.
    Fence {
        /// The node that entered.
        node: NodeId,
        /// Its fence.
        fence: Fence,
        /// The previous fence.
        before: Fence,
    },
}

impl fmt::Display for WrongEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongEntry::Together { other, node } => write!(f, "nodes {other} and {node} are inside together"),
            WrongEntry::Fence { node, fence, before } => {
                write!(f, "node {node} entered with fence {fence} after fence {before} was handed out")
            }
        }
    }
}

/// The requests in order, to count how often each was bypassed.
///
/// A request that is the r-th of all (from 0) and enters after E others was bypassed by those of the E that
/// were made after it. Of the r before it, all have entered but those that still wait; so it was bypassed E −
/// (r − still waiting) times, and one bit per request is enough.
#[derive(Debug, Default)]
pub struct Line {
    /// The number of the request of the first bit.
    base: u64,
    /// One bit per request from there on, set while it waits.
    waiting: VecDeque<u64>,
    made: u64,
    entered: u64,
    /// Requests withdrawn by crashes, sorted.
    withdrawn: Vec<u64>,
}

impl Line {
    /// Adds a request; returns its number.
    pub fn join(&mut self) -> u64 {
        let number = self.made;
        self.made += 1;
        let place = number - self.base;
        if place / 64 >= self.waiting.len() as u64 {
            self.waiting.push_back(0);
        }
        if let Some(word) = self.waiting.back_mut() {
            *word |= 1 << (place % 64);
        }
        number
    }

    /// The number of earlier requests that still wait.
    fn ahead(&self, number: u64) -> u64 {
        let place = number - self.base;
        let (whole, rest) = ((place / 64) as usize, place % 64);
        let in_front: u64 = self.waiting.iter().take(whole).map(|word| u64::from(word.count_ones())).sum();
        let last = self.waiting.get(whole).map_or(0, |word| word & ((1 << rest) - 1));
        in_front + u64::from(last.count_ones())
    }

    /// The number of times that this request was bypassed so far.
    #[must_use]
    pub fn bypasses(&self, number: u64) -> u64 {
        let withdrawn = self.withdrawn.partition_point(|&other| other < number) as u64;
        self.entered + self.ahead(number) + withdrawn - number
    }

    /// This request enters; returns the number of times that it was bypassed.
    pub fn enter(&mut self, number: u64) -> u64 {
        let bypasses = self.bypasses(number);
        self.entered += 1;
        self.leave(number);
        bypasses
    }

    /// Withdraws a request whose node has crashed.
    pub fn withdraw(&mut self, number: u64) {
        let place = self.withdrawn.partition_point(|&other| other < number);
        self.withdrawn.insert(place, number);
        self.leave(number);
    }

    /// The full number of a request from its low 32 bits.
    #[must_use]
    pub fn number(&self, low: u32) -> u64 {
        self.base + u64::from(low.wrapping_sub(self.base as u32))
    }

    fn leave(&mut self, number: u64) {
        let place = number - self.base;
        if let Some(word) = self.waiting.get_mut((place / 64) as usize) {
            *word &= !(1 << (place % 64));
        }
        while self.waiting.len() > 1 && self.waiting.front() == Some(&0) {
            self.waiting.pop_front();
            self.base += 64;
        }
    }
}

/// Counts entries ahead of a waiting request that had happened before theirs.
#[derive(Debug)]
pub struct OrderMonitor {
    requests: PerNode<Option<VectorClock>>,
    violated: u64,
}

impl OrderMonitor {
    /// Starts without requests.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { requests: PerNode::same(n, None), violated: 0 }
    }

    /// A node makes a request at this vector time.
    pub fn ask(&mut self, node: NodeId, clock: &VectorClock) {
        self.requests[node] = Some(clock.clone());
    }

    /// A node enters.
    pub fn enter(&mut self, node: NodeId) {
        let Some(mine) = self.requests[node].take() else { return };
        let passed_over =
            |theirs: &Option<VectorClock>| theirs.as_ref().is_some_and(|t| t.happened_before(&mine));
        self.violated += u64::from(self.requests.values().iter().any(passed_over));
    }

    /// Resets the count.
    pub fn restart(&mut self) {
        self.violated = 0;
    }

    /// The number of entries out of order.
    pub fn violated(&self) -> u64 {
        self.violated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn two_nodes_inside_and_a_stale_fence_are_detected() {
        let (one, two) = (NodeId::new(0), NodeId::new(1));
        let mut watch = SafetyMonitor::default();
        assert_eq!(watch.enter(one, Fence(1)), None);
        let told = |wrong: Option<WrongEntry>| wrong.map(|wrong| wrong.to_string());
        assert_eq!(told(watch.enter(two, Fence(2))).as_deref(), Some("nodes 1 and 2 are inside together"));
        watch.leave(one);
        watch.leave(two);
        assert_eq!(
            told(watch.enter(one, Fence(2))).as_deref(),
            Some("node 1 entered with fence 2 after fence 2 was handed out")
        );
    }

    #[test]
    fn bypasses_agree_with_their_definition() {
        let mut random = Random::new(5, 0);
        let (mut line, mut waiting) = (Line::default(), Vec::new());
        for _ in 0..5_000 {
            if random.below(2) == 0 || waiting.is_empty() {
                waiting.push((line.join(), 0_u64));
            } else if random.below(50) == 0 {
                let (number, _) = waiting.remove(random.below(waiting.len() as u64) as usize);
                line.withdraw(number);
            } else {
                let place = random.below(waiting.len().min(100) as u64) as usize;
                let (number, bypasses) = waiting.remove(place);
                assert_eq!(line.number(number as u32), number);
                assert_eq!(line.enter(number), bypasses);
                waiting.iter_mut().filter(|(other, _)| *other < number).for_each(|(_, count)| *count += 1);
            }
        }
    }
}
