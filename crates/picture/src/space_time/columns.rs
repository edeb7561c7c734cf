//! Columns for the steps of a run over shared memory, as wide as their labels need.
//!
//! From left to right each access gets its label above its lane, or below it where that is too early above. If both are, its
//! column moves to the right until there is room. So every label is written, and none is in the way of another. Steps that a
//! node makes in a row are moved apart together, so that they keep their rhythm.

use doorway_core::NodeId;

use super::accesses::label_width;
use super::history::{Access, History};

/// How far steps are apart at least.
const STEP: f64 = 34.0;
/// How far labels are apart at least.
const GAP: f64 = 10.0;
/// How much of the lanes is to be seen after the last step: an entry may be the last one.
const REST: f64 = 50.0;

/// On which side of its lane a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// Where moments are, and their labels.
#[derive(Debug)]
pub(super) struct Columns {
    /// Where each moment is.
    pub(super) places: Vec<f64>,
    /// The sides of the labels, one for each access.
    pub(super) sides: Vec<Side>,
    pub(super) right: f64,
}

impl Columns {
    /// Columns from `left` on that fill at least this width.
    pub(super) fn new(history: &History<'_>, least: f64, left: f64) -> Self {
        let step = (least / history.moments.len().max(1) as f64).max(STEP);
        let mut packer = Packer {
            step,
            last: left,
            last_label: None,
            least: left,
            edge: left,
            free: vec![[left; 2]; history.lanes.len()],
            columns: Self { places: Vec::new(), sides: Vec::new(), right: left + least },
        };
        let mut accesses = history.accesses.iter().peekable();
        for moment in 0..history.moments.len() {
            let access = accesses.next_if(|access| access.moment == moment);
            let label = access.map(Label::new);
            if history.repetition.is_some_and(|repetition| repetition.moment == moment) {
                packer.begin_band(label);
            }
            packer.add(label);
        }
        packer.finish()
    }
}

/// Whose label it is, and half its width.
#[derive(Clone, Copy)]
struct Label {
    node: NodeId,
    half: f64,
}

impl Label {
    fn new(access: &Access<'_>) -> Self {
        Self { node: access.event.node, half: label_width(access) / 2.0 }
    }
}

/// Puts one moment after the other.
struct Packer {
    step: f64,
    /// Where the last moment is, and the label that it has.
    last: f64,
    last_label: Option<Label>,
    /// The next moment is not before this.
    least: f64,
    /// Labels stay on the right of this.
    edge: f64,
    /// From where on there is room above and below each lane.
    free: Vec<[f64; 2]>,
    columns: Columns,
}

impl Packer {
    /// Adds a moment.
    fn add(&mut self, label: Option<Label>) {
        let mut place = (self.last + self.step_to(label)).max(self.least);
        if let Some(Label { node, half }) = label {
            place = place.max(self.edge + half);
            let free = &mut self.free[node.index()];
            let is_early = place - half < free[0];
            let side = if is_early && free[1] < free[0] { Side::Below } else { Side::Above };
            let free = &mut free[usize::from(side == Side::Below)];
            place = place.max(*free + half);
            *free = place + half + GAP;
            self.columns.sides.push(side);
        }
        self.columns.places.push(place);
        (self.last, self.last_label) = (place, label);
    }

    /// What repeats itself begins with the next moment. Its band begins half-way, after all labels that are there and before the
    /// next one.
    fn begin_band(&mut self, next: Option<Label>) {
        let after_all = 2.0 * self.all_free() - self.last;
        let before_next = self.last + next.map_or(0.0, |label| 2.0 * label.half) + GAP;
        self.least = (self.last + self.step_to(next)).max(after_all).max(before_next);
        self.edge = f64::midpoint(self.last, self.least) + GAP / 2.0;
    }

    /// How far the next moment is away at least. With labels above and below in turn, a lane has room for each of them if they
    /// are half as far apart as they would be in one line.
    fn step_to(&self, next: Option<Label>) -> f64 {
        let in_a_row = match (self.last_label, next) {
            (Some(last), Some(next)) if last.node == next.node => (last.half + next.half + GAP) / 2.0,
            _ => 0.0,
        };
        let step = if self.columns.places.is_empty() { STEP / 2.0 } else { self.step };
        step.max(in_a_row)
    }

    /// From where on there is no label.
    fn all_free(&self) -> f64 {
        self.free.iter().flatten().fold(self.edge, |most, &free| most.max(free))
    }

    fn finish(mut self) -> Columns {
        let labels_end = self.all_free() - GAP / 2.0;
        self.columns.right = self.columns.right.max(self.last + REST).max(labels_end);
        self.columns
    }
}
