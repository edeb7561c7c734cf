//! Where the moments of a run are, from left to right, and the axis that tells their times.

use doorway_core::Ticks;

use crate::element::Element;
use crate::geometry::Point;
use crate::svg::Canvas;
use crate::text::{Anchor, Text};

use super::Spacing;
use super::columns::Columns;

/// How far moments are apart if they are evenly spaced.
const STEP: f64 = 30.0;
/// The size of the numbers on the axis.
const SIZE: f64 = 12.0;

/// From moments to places.
#[derive(Debug)]
pub(super) struct Scale {
    axis: Axis,
    /// Where each moment is.
    places: Vec<f64>,
    times: Vec<Ticks>,
    pub(super) left: f64,
    pub(super) right: f64,
}

/// What the axis tells.
#[derive(Clone, Copy, Debug)]
enum Axis {
    /// Round times, because moments are as far apart as in time.
    Time,
    /// The time of every moment, and how they are spaced.
    Moments(&'static str),
}

impl Scale {
    pub(super) fn new(times: &[Ticks], least: f64, left: f64, spacing: Spacing) -> Self {
        let begin = left + STEP / 2.0;
        let count = times.len().max(1) as f64;
        let distinct = 1 + times.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let width = match spacing {
            Spacing::Even => count * STEP,
            Spacing::Time => distinct as f64 * STEP,
        };
        let width = width.max(least);
        let (first, last) = (times.first().map_or(0, |time| time.0), times.last().map_or(0, |time| time.0));
        let place = |(index, time): (usize, &Ticks)| match spacing {
            Spacing::Even => begin + index as f64 * width / count,
            Spacing::Time if first == last => begin,
            Spacing::Time => begin + (time.0 - first) as f64 / (last - first) as f64 * (width - STEP),
        };
        let places = times.iter().enumerate().map(place).collect();
        let axis = match spacing {
            Spacing::Time => Axis::Time,
            Spacing::Even => Axis::Moments("time in ticks, moments evenly spaced"),
        };
        Self { axis, places, times: times.to_vec(), left, right: left + width + STEP / 2.0 }
    }

    /// The scale of a run over shared memory.
    pub(super) fn with_columns(times: &[Ticks], left: f64, columns: &Columns) -> Self {
        let axis = Axis::Moments("time in ticks, a column for each step");
        let (places, times) = (columns.places.clone(), times.to_vec());
        Self { axis, places, times, left, right: columns.right }
    }

    /// Where a moment is; after the last one is the right edge.
    pub(super) fn place(&self, moment: usize) -> f64 {
        self.places.get(moment).copied().unwrap_or(self.right)
    }

    /// Half-way from the moment before this one to it.
    pub(super) fn between(&self, moment: usize) -> f64 {
        let before = moment.checked_sub(1).map_or(self.left, |before| self.place(before));
        f64::midpoint(before, self.place(moment))
    }

    /// How far apart two moments usually are.
    pub(super) fn step(&self) -> f64 {
        (self.right - self.left) / self.places.len().max(1) as f64
    }

    /// Draws the axis at this height, with faint lines up to `top`.
    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        let mut free_from = f64::NEG_INFINITY;
        for (x, time) in self.marks() {
            let text =
                Text::new(&time.to_string(), Point::new(x, bottom + 20.0), SIZE).anchor(Anchor::Middle);
            let area = text.area();
            if area.left < free_from {
                continue;
            }
            free_from = area.right + 14.0;
            canvas.draw(
                Element::line(Point::new(x, top), Point::new(x, bottom + 5.0)).class("faint-line").thick(1.0),
            );
            canvas.write(&text.class("soft"));
        }
        let what = match self.axis {
            Axis::Time => "time in ticks",
            Axis::Moments(what) => what,
        };
        let end = Point::new(self.right, bottom + 40.0);
        canvas.write(&Text::new(what, end, SIZE).anchor(Anchor::End).class("soft"));
    }

    /// The times that may be told, with their places: round ones in true time, else every moment with a new time.
    fn marks(&self) -> Vec<(f64, u64)> {
        match self.axis {
            Axis::Time => self.round_times(),
            Axis::Moments(_) => {
                let is_new = |index: &usize| *index == 0 || self.times[*index] != self.times[*index - 1];
                (0..self.times.len())
                    .filter(is_new)
                    .map(|index| (self.places[index], self.times[index].0))
                    .collect()
            }
        }
    }

    fn round_times(&self) -> Vec<(f64, u64)> {
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else { return Vec::new() };
        let (begin, end) = (self.place(0), self.place(self.times.len() - 1));
        let span = last.0 - first.0;
        if span == 0 {
            return vec![(begin, first.0)];
        }
        let wanted = ((end - begin) / 70.0).max(1.0);
        let step = round_step(span as f64 / wanted);
        let place = |time: u64| begin + (time - first.0) as f64 / span as f64 * (end - begin);
        let marks = (first.0.div_ceil(step)..=last.0 / step).map(|count| count * step);
        marks.map(|time| (place(time), time)).collect()
    }
}

/// The least of 1, 2, 5, 10, 20, 50, … that is not smaller.
fn round_step(least: f64) -> u64 {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    steps.into_iter().find(|&step| step as f64 >= least).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(spacing: Spacing) -> Vec<f64> {
        let times = [0, 10, 10, 30].map(Ticks);
        let scale = Scale::new(&times, 720.0, 0.0, spacing);
        (0..5).map(|moment| scale.place(moment)).collect()
    }

    #[test]
    fn moments_are_spaced_evenly_or_by_their_times() {
        assert_eq!(places(Spacing::Even), [15.0, 195.0, 375.0, 555.0, 735.0]);
        assert_eq!(places(Spacing::Time), [15.0, 245.0, 245.0, 705.0, 735.0]);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0.1, 1.0, 1.1, 3.0, 7.0, 1e30].map(round_step), [1, 1, 2, 5, 10, u64::MAX]);
    }
}
