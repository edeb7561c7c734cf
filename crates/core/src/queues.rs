//! The two queues that algorithms keep: nodes in order of arrival, and requests by age.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use serde::ser::{Serialize, Serializer};

use crate::{NodeId, Stamp};

/// Nodes in order of arrival. Up to three fit in 16 bytes without an allocation, so that a million nodes can
/// each have a queue.
#[derive(Clone, Debug)]
pub struct NodeQueue(Places);

#[derive(Clone, Debug)]
#[allow(clippy::box_collection)] // A second allocation for the long queues keeps the short ones at 16 bytes.
enum Places {
    Few([Option<NodeId>; 3]),
    Many(Box<VecDeque<NodeId>>),
}

impl NodeQueue {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self(Places::Few([None; 3]))
    }

    /// Appends a node.
    pub fn push(&mut self, node: NodeId) {
        match &mut self.0 {
            Places::Few(places) => match places.iter_mut().find(|place| place.is_none()) {
                Some(free) => *free = Some(node),
                None => {
                    let all = places.iter().flatten().copied().chain([node]).collect();
                    self.0 = Places::Many(Box::new(all));
                }
            },
            Places::Many(all) => all.push_back(node),
        }
    }

    /// Removes and returns the first node.
    pub fn pop(&mut self) -> Option<NodeId> {
        match &mut self.0 {
            Places::Few(places) => {
                let first = places[0].take();
                places.rotate_left(1);
                first
            }
            Places::Many(all) => {
                let first = all.pop_front();
                if all.is_empty() {
                    *self = Self::new();
                }
                first
            }
        }
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Its length.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether `node` is in it.
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        self.iter().any(|queued| queued == node)
    }

    /// The nodes, first to last.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let (few, many) = match &self.0 {
            Places::Few(places) => (Some(places.iter().flatten()), None),
            Places::Many(all) => (None, Some(all.iter())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten()).copied()
    }
}

impl Default for NodeQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal when the same nodes are queued in the same order, however they are stored.
impl PartialEq for NodeQueue {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for NodeQueue {}

impl PartialOrd for NodeQueue {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NodeQueue {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.iter().cmp(other.iter())
    }
}

impl Hash for NodeQueue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|node| node.hash(state));
    }
}

impl FromIterator<NodeId> for NodeQueue {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        let mut queue = Self::new();
        nodes.into_iter().for_each(|node| queue.push(node));
        queue
    }
}

impl Serialize for NodeQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::set::serialize_nodes(self.len(), self.iter(), serializer)
    }
}

impl<'de> serde::Deserialize<'de> for NodeQueue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<NodeId>::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Requests by age, oldest first, whatever their order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct RequestQueue(VecDeque<Stamp>);

impl RequestQueue {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Inserts a request by age.
    #[inline]
    pub fn insert(&mut self, request: Stamp) {
        match self.0.back() {
            Some(youngest) if request < *youngest => {
                let place = self.0.partition_point(|queued| *queued < request);
                self.0.insert(place, request);
            }
            _ => self.0.push_back(request),
        }
    }

    /// Inserts a request by age, unless a younger one of the same node is queued; removes an older one.
    pub fn insert_newest(&mut self, request: Stamp) {
        if self.0.iter().any(|queued| queued.node == request.node && *queued > request) {
            return;
        }
        self.0.retain(|queued| queued.node != request.node);
        self.insert(request);
    }

    /// The oldest request.
    #[must_use]
    pub fn oldest(&self) -> Option<Stamp> {
        self.0.front().copied()
    }

    /// Removes and returns the oldest request.
    pub fn pop_oldest(&mut self) -> Option<Stamp> {
        self.0.pop_front()
    }

    /// Removes a request; returns whether it was queued.
    pub fn remove(&mut self, request: Stamp) -> bool {
        match self.0.binary_search(&request) {
            Ok(place) => self.0.remove(place).is_some(),
            Err(_) => false,
        }
    }

    /// Removes all requests, oldest first, and keeps the capacity.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Stamp> + '_ {
        self.0.drain(..)
    }

    /// Whether `request` is in it.
    #[must_use]
    pub fn contains(&self, request: Stamp) -> bool {
        self.0.binary_search(&request).is_ok()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its length.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The count of each request, to shift all by the same amount: the caller must keep their order.
    pub fn counters(&mut self) -> impl Iterator<Item = &mut u64> {
        self.0.iter_mut().map(|request| &mut request.counter)
    }

    /// The requests, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Stamp> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_queue_is_first_in_first_out_at_every_length() {
        assert_eq!(size_of::<NodeQueue>(), 16);
        for length in 0..8 {
            let mut queue = NodeQueue::new();
            NodeId::first(length).for_each(|node| queue.push(node));
            assert_eq!(queue.len(), length);
            for node in NodeId::first(length) {
                assert!(queue.contains(node));
                assert_eq!(queue.pop(), Some(node));
            }
            assert_eq!((queue.pop(), queue.is_empty()), (None, true));
        }
    }

    #[test]
    fn node_queues_compare_by_content() {
        let mut long: NodeQueue = NodeId::first(4).collect();
        long.pop();
        assert_eq!(long, NodeId::first(4).skip(1).collect());
    }

    #[test]
    fn a_request_queue_stays_sorted_when_all_counts_are_shifted() {
        let stamp = |counter, index| Stamp { counter, node: NodeId::new(index) };
        let mut queue = RequestQueue::new();
        [stamp(4, 1), stamp(3, 2), stamp(3, 0)].into_iter().for_each(|request| queue.insert(request));
        queue.counters().for_each(|counter| *counter -= 3);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [stamp(0, 0), stamp(0, 2), stamp(1, 1)]);
    }

    #[test]
    fn a_request_queue_is_sorted_by_age() {
        let stamp = |counter, index| Stamp { counter, node: NodeId::new(index) };
        let mut queue = RequestQueue::new();
        for request in [stamp(3, 0), stamp(1, 2), stamp(1, 1), stamp(9, 0)] {
            queue.insert(request);
        }
        assert_eq!(queue.oldest(), Some(stamp(1, 1)));
        assert!(queue.remove(stamp(3, 0)) && !queue.remove(stamp(3, 0)));
        assert_eq!(queue.drain().collect::<Vec<_>>(), [stamp(1, 1), stamp(1, 2), stamp(9, 0)]);
    }
}
