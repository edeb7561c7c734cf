//! The queue of the node's thread: heartbeats, ballots and finished writes before everything else.
//!
//! A node that hears a heartbeat too late loses its lease, and with it all its holders. So no number of requests of clients stands
//! before one; but a flood of urgent events does not keep clients waiting for ever either.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::driver::NodeEvent;
use crate::shared::lock;

/// The queues before the node's thread.
#[derive(Default)]
pub(crate) struct Inbox {
    queues: Mutex<Queues<NodeEvent>>,
    bell: Condvar,
}

struct Queues<T> {
    urgent: VecDeque<T>,
    ordinary: VecDeque<T>,
    /// How many urgent ones were taken while an ordinary one waited.
    in_a_row: usize,
}

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self { urgent: VecDeque::new(), ordinary: VecDeque::new(), in_a_row: 0 }
    }
}

impl<T> Queues<T> {
    /// After this many urgent events an ordinary one has its turn.
    const MOST_IN_A_ROW: usize = 64;

    fn take(&mut self) -> Option<T> {
        let is_turn = self.in_a_row >= Self::MOST_IN_A_ROW;
        if (!is_turn || self.ordinary.is_empty())
            && let Some(urgent) = self.urgent.pop_front()
        {
            self.in_a_row = if self.ordinary.is_empty() { 0 } else { self.in_a_row + 1 };
            return Some(urgent);
        }
        self.in_a_row = 0;
        self.ordinary.pop_front()
    }
}

impl Inbox {
    pub(crate) fn push(&self, event: NodeEvent) {
        let mut queues = lock(&self.queues);
        if event.is_urgent() {
            queues.urgent.push_back(event);
        } else {
            queues.ordinary.push_back(event);
        }
        drop(queues);
        self.bell.notify_one();
    }

    /// The next event, if there is one within this time.
    pub(crate) fn take(&self, patience: Duration) -> Option<NodeEvent> {
        let end = Instant::now() + patience;
        let mut queues = lock(&self.queues);
        loop {
            if let Some(event) = queues.take() {
                return Some(event);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            queues = self.bell.wait_timeout(queues, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgent_events_come_first_without_starving_others() {
        let mut queues = Queues::default();
        queues.ordinary.extend([1_000, 1_001]);
        queues.urgent.extend(0..100);
        let order: Vec<u32> = std::iter::from_fn(|| queues.take()).collect();
        let expected: Vec<u32> = (0..64).chain([1_000]).chain(64..100).chain([1_001]).collect();
        assert_eq!(order, expected);
    }
}
