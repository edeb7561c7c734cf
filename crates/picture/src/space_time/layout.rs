//! Where the lanes of a space-time diagram are.

use doorway_core::NodeId;

use super::scale::Scale;

/// From one lane to the next if there are labels above and below each.
const LABELLED_GAP: f64 = 72.0;

/// From moments and nodes to places.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) scale: Scale,
    /// Above the first lane.
    pub(super) top: f64,
    /// Below the last lane.
    pub(super) bottom: f64,
    /// From one lane to the next.
    pub(super) gap: f64,
}

impl Layout {
    pub(super) fn new(scale: Scale, top: f64, nodes: usize) -> Self {
        Self::with_gap(scale, top, nodes, gap(nodes))
    }

    /// The layout of a run over shared memory: between two lanes there is room for the labels of both.
    pub(super) fn with_labels(scale: Scale, top: f64, nodes: usize) -> Self {
        Self::with_gap(scale, top, nodes, LABELLED_GAP)
    }

    fn with_gap(scale: Scale, top: f64, nodes: usize, gap: f64) -> Self {
        Self { scale, top, bottom: top + gap * nodes as f64, gap }
    }

    /// The height at which the lane of a node is.
    pub(super) fn height_of(&self, node: NodeId) -> f64 {
        self.top + self.gap * (node.index() as f64 + 0.5)
    }
}

fn gap(nodes: usize) -> f64 {
    match nodes {
        0..=8 => 60.0,
        9..=16 => 52.0,
        17..=64 => 34.0,
        _ => 24.0,
    }
}

/// How wide a picture is at least between its margins, so that arrows across many lanes are not too steep.
pub(super) fn least_width(nodes: usize) -> f64 {
    (gap(nodes) * nodes as f64 * 1.5).clamp(720.0, 2400.0)
}
