//! Columns for the steps of a run whose steps have labels, as wide as the labels need: accesses to shared memory, and logical times.
//!
//! From left to right each label is placed above its lane, or below it where that is too early above (or the other way round, if it prefers to be
//! below). If both are, its column moves to the right until there is room. So every label is written, and none is in the way of another. Steps
//! that a node makes in a row are moved apart together, so that they keep their rhythm.

use super::history::History;
use super::labels::Label;

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

impl Side {
    fn opposite(self) -> Self {
        match self {
            Side::Above => Side::Below,
            Side::Below => Side::Above,
        }
    }
}

/// The place of a side among the two of a lane.
fn index(side: Side) -> usize {
    usize::from(side == Side::Below)
}

/// Where moments are, and their labels.
#[derive(Debug)]
pub(super) struct Columns {
    /// Where each moment is.
    pub(super) places: Vec<f64>,
    /// The sides of the labels, in their order.
    pub(super) sides: Vec<Side>,
    pub(super) right: f64,
}

impl Columns {
    /// Columns from `left` on that fill at least this width.
    pub(super) fn new(history: &History<'_>, labels: &[Label], least: f64, left: f64) -> Self {
        let step = (least / history.moments.len().max(1) as f64).max(STEP);
        let mut packer = Packer {
            step,
            last: left,
            last_labels: &[],
            least: left,
            edge: left,
            free: vec![[left; 2]; history.lanes.len()],
            columns: Self { places: Vec::new(), sides: Vec::new(), right: left + least },
        };
        let mut rest = labels;
        for moment in 0..history.moments.len() {
            let (now, later) = rest.split_at(rest.partition_point(|label| label.moment == moment));
            rest = later;
            if history.repetition.is_some_and(|repetition| repetition.moment == moment) {
                packer.begin_band(now);
            }
            packer.add(now);
        }
        packer.finish()
    }
}

/// Puts one moment after the other.
struct Packer<'l> {
    step: f64,
    /// Where the last moment is, and the labels that it has.
    last: f64,
    last_labels: &'l [Label],
    /// The next moment is not before this.
    least: f64,
    /// Labels stay on the right of this.
    edge: f64,
    /// From where on there is room above and below each lane.
    free: Vec<[f64; 2]>,
    columns: Columns,
}

impl<'l> Packer<'l> {
    /// Adds a moment with its labels, each of which is on another lane.
    fn add(&mut self, labels: &'l [Label]) {
        let mut place = (self.last + self.step_to(labels)).max(self.least);
        for label in labels {
            place = place.max(self.edge + label.reach().0);
        }
        let mut sides = Vec::with_capacity(labels.len());
        for label in labels {
            let (left, _) = label.reach();
            let free = &self.free[label.node.index()];
            let [wished, other] = [free[index(label.prefers)], free[index(label.prefers.opposite())]];
            let is_early = place - left < wished;
            let side = if is_early && other < wished { label.prefers.opposite() } else { label.prefers };
            place = place.max(free[index(side)] + left);
            sides.push(side);
        }
        for (label, &side) in labels.iter().zip(&sides) {
            self.free[label.node.index()][index(side)] = place + label.reach().1 + GAP;
        }
        self.columns.sides.append(&mut sides);
        self.columns.places.push(place);
        (self.last, self.last_labels) = (place, labels);
    }

    /// What repeats itself begins with the next moment. Its band begins half-way, after all labels that are there and before the
    /// next ones.
    fn begin_band(&mut self, next: &[Label]) {
        let after_all = 2.0 * self.all_free() - self.last;
        let widest = next.iter().map(|label| 2.0 * label.reach().0).fold(0.0, f64::max);
        let before_next = self.last + widest + GAP;
        self.least = (self.last + self.step_to(next)).max(after_all).max(before_next);
        self.edge = f64::midpoint(self.last, self.least) + GAP / 2.0;
    }

    /// How far the next moment is away at least. With labels above and below in turn, a lane has room for each of them if they
    /// are half as far apart as they would be in one line.
    fn step_to(&self, next: &[Label]) -> f64 {
        let pairs = self.last_labels.iter().flat_map(|last| next.iter().map(move |next| (last, next)));
        let in_a_row = pairs
            .filter(|(last, next)| last.node == next.node)
            .map(|(last, next)| (last.reach().1 + next.reach().0 + GAP) / 2.0)
            .fold(0.0, f64::max);
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
