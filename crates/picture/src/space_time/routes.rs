//! Keeps messages apart that go the same way: from one node to another, beginning and ending at the same places.

use std::collections::BTreeMap;

use doorway_core::NodeId;

/// The ways that messages have gone so far.
#[derive(Debug, Default)]
pub(super) struct Routes(BTreeMap<(NodeId, NodeId, [i64; 2]), u32>);

impl Routes {
    /// How many messages went this way before this one.
    pub(super) fn earlier(&mut self, from: NodeId, to: NodeId, ends: [i64; 2]) -> u32 {
        let count = self.0.entry((from, to, ends)).or_default();
        *count += 1;
        *count - 1
    }
}
