//! Message counts.

use doorway_core::{Kind, NodeId};

/// Counts of messages. A message counts when its algorithm sends it, once for each recipient.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// All messages.
    pub messages: u64,
    /// Their size in bytes: the message and its fence, as `postcard` encodes them.
    pub bytes: u64,
    /// Counts by kind, in the order of the algorithm's messages.
    by_kind: Vec<(&'static str, u64)>,
    /// The messages that each node has sent or received.
    by_node: Vec<u32>,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that arrived twice.
    pub duplicated: u64,
    /// Copies that the retransmission layer sent again.
    pub resent: u64,
    /// Acknowledgements of the retransmission layer.
    pub acknowledgements: u64,
}

impl Traffic {
    /// Zero counts for `n` nodes.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { by_node: vec![0; n], ..Self::default() }
    }

    #[inline]
    pub(crate) fn count_sent(&mut self, from: NodeId, kind: Kind, bytes: u64, copies: u64) {
        self.messages += copies;
        self.bytes += bytes * copies;
        match self.by_kind.get_mut(kind.index as usize) {
            Some((_, count)) if *count > 0 => *count += copies,
            _ => self.count_first(kind, copies),
        }
        let handled = &mut self.by_node[from.index()];
        *handled = handled.saturating_add(u32::try_from(copies).unwrap_or(u32::MAX));
    }

    /// The first message of a kind.
    #[inline(never)]
    fn count_first(&mut self, kind: Kind, copies: u64) {
        let place = kind.index as usize;
        if place >= self.by_kind.len() {
            self.by_kind.resize(place + 1, ("", 0));
        }
        self.by_kind[place] = (kind.name, copies);
    }

    #[inline]
    pub(crate) fn count_received(&mut self, to: NodeId) {
        let handled = &mut self.by_node[to.index()];
        *handled = handled.saturating_add(1);
    }

    /// Resets all counts.
    pub(crate) fn restart(&mut self) {
        self.by_node.fill(0);
        *self = Self { by_node: std::mem::take(&mut self.by_node), ..Self::default() };
    }

    /// The kinds of sent messages with their counts.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.by_kind.iter().copied().filter(|(_, count)| *count > 0)
    }

    /// The number of messages that each node has sent or received.
    pub fn load(&self) -> impl Iterator<Item = u64> + '_ {
        self.by_node.iter().map(|&handled| u64::from(handled))
    }

    /// Adds the counts of another run of the same algorithm; its nodes are appended.
    pub(crate) fn merge(&mut self, other: &Traffic) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.resent += other.resent;
        self.acknowledgements += other.acknowledgements;
        self.by_node.extend(&other.by_node);
        for (place, &(name, count)) in other.by_kind.iter().enumerate() {
            match self.by_kind.get_mut(place) {
                Some(mine) => {
                    mine.1 += count;
                    if count > 0 {
                        mine.0 = name;
                    }
                }
                None => self.by_kind.push((name, count)),
            }
        }
    }
}
