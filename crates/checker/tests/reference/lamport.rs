//! Lamport's algorithm with an acknowledgement that carries no stamp.
//!
//! L. Lamport, "Time, clocks, and the ordering of events in a distributed system", CACM 21(7), 1978.
//!
//! Clocks start at 1. A request is stamped with the current clock, which advances only past the stamps of
//! requests that arrive. A node with an ACK of every other node and the oldest request that it knows may
//! enter; entering is a step of its own. There is a FIFO channel between every two nodes in each direction.

use doorway_checker::{Step, StepsKnown, System};
use doorway_core::Phase;

pub struct Lamport {
    pub nodes: usize,
    /// The number of requests of each node.
    pub requests: u32,
}

const ACK: u32 = 1;
const RELEASE: u32 = 2;
/// A REQUEST is this plus its stamp.
const REQUEST: u32 = 2;
/// A channel is a number whose digits in this base are messages; the lowest arrives next.
const BASE: u32 = 64;

/// The offsets of a node's numbers in its part of the word; from [`STAMPS`] on the stamps of all requests
/// that it knows, 0 for none.
const CLOCK: usize = 0;
const ACKED: usize = 1;
const IS_INSIDE: usize = 2;
const LEFT: usize = 3;
const STAMPS: usize = 4;

impl Lamport {
    fn local(&self, node: usize) -> usize {
        node * (STAMPS + self.nodes)
    }

    fn stamp(&self, at: usize, of: usize) -> usize {
        self.local(at) + STAMPS + of
    }

    fn channel(&self, from: usize, to: usize) -> usize {
        self.local(self.nodes) + from * self.nodes + to
    }

    fn send(&self, word: &mut [u32], from: usize, to: usize, message: u32) {
        let channel = &mut word[self.channel(from, to)];
        let mut digit = 1;
        while *channel / digit > 0 {
            digit *= BASE;
        }
        *channel += digit * message;
    }

    fn send_to_others(&self, word: &mut [u32], from: usize, message: u32) {
        for to in (0..self.nodes).filter(|to| *to != from) {
            self.send(word, from, to, message);
        }
    }

    fn may_enter(&self, word: &[u32], me: usize) -> bool {
        let stamp = |of: usize| (word[self.stamp(me, of)], of);
        let is_oldest = (0..self.nodes).all(|other| stamp(other).0 == 0 || stamp(me) <= stamp(other));
        word[self.local(me) + ACKED] == (1 << self.nodes) - 1 && is_oldest
    }

    /// Takes the node's own step, if it has one; returns whether fairness applies to it.
    fn act(&self, word: &mut [u32], me: usize) -> Option<bool> {
        let (local, mine) = (self.local(me), self.stamp(me, me));
        if word[local + IS_INSIDE] == 1 {
            (word[local + IS_INSIDE], word[local + ACKED], word[mine]) = (0, 0, 0);
            self.send_to_others(word, me, RELEASE);
            Some(true)
        } else if word[mine] == 0 && word[local + LEFT] > 0 {
            word[local + LEFT] -= 1;
            (word[mine], word[local + ACKED]) = (word[local + CLOCK], 1 << me);
            self.send_to_others(word, me, REQUEST + word[mine]);
            Some(false)
        } else if self.may_enter(word, me) {
            word[local + IS_INSIDE] = 1;
            Some(true)
        } else {
            None
        }
    }

    /// Delivers the next message of a channel, if there is one.
    fn arrive(&self, word: &mut [u32], from: usize, me: usize) -> Option<u32> {
        let channel = self.channel(from, me);
        let message = word[channel] % BASE;
        word[channel] /= BASE;
        let local = self.local(me);
        match message {
            0 => return None,
            ACK => word[local + ACKED] |= 1 << from,
            RELEASE => word[self.stamp(me, from)] = 0,
            request => {
                let stamp = request - REQUEST;
                word[self.stamp(me, from)] = stamp;
                word[local + CLOCK] = word[local + CLOCK].max(stamp) + 1;
                self.send(word, me, from, ACK);
            }
        }
        Some(message)
    }
}

impl System for Lamport {
    fn processes(&self) -> usize {
        self.nodes
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let mut word = vec![0; self.channel(self.nodes, 0)];
        for node in 0..self.nodes {
            let local = self.local(node);
            (word[local + CLOCK], word[local + LEFT]) = (1, self.requests);
        }
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let step = |me: usize, class: usize, is_owed: bool| {
            let (process, action) = (me as u32, class as u32);
            Step { process, action, owed: is_owed.then_some(action), lane: action, sends: 0, broken: None }
        };
        for me in 0..self.nodes {
            let mut after = state.to_vec();
            if let Some(is_owed) = self.act(&mut after, me) {
                visit(step(me, me, is_owed), &after);
            }
            for from in 0..self.nodes {
                let mut after = state.to_vec();
                if self.arrive(&mut after, from, me).is_some() {
                    visit(step(me, self.nodes * (1 + from) + me, true), &after);
                }
            }
        }
        StepsKnown::All
    }

    fn phase(&self, word: &[u32], process: usize) -> Phase {
        match (word[self.local(process) + IS_INSIDE], word[self.stamp(process, process)]) {
            (1, _) => Phase::Inside,
            (_, 0) => Phase::Outside,
            _ => Phase::Waiting,
        }
    }

    fn describe(&self, step: &Step) -> String {
        match step.action as usize / self.nodes {
            0 => format!("node {} asks, enters or leaves", step.process + 1),
            from => format!("the next message from {from} arrives at {}", step.process + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_checker::{Property, SchedulerFairness};

    use super::*;
    use crate::{broken, explored, progress, size};

    #[test]
    fn three_nodes_with_one_entry_each_have_20_000_states() {
        let found = explored(&mut Lamport { nodes: 3, requests: 1 }, SchedulerFairness::None);
        assert_eq!(size(&found), (20_000, 55_331));
        assert_eq!(broken(&found), [Property::Fifo]);
        assert_eq!(progress(&found), (Some(SchedulerFairness::None), vec![Some(SchedulerFairness::None); 3]));
    }
}
