//! Charts of measurements: formulas as lines, measurements as marks, names beside the lines.
//!
//! A series is told from the others by the hue, by the shape of its marks and by the dash of its line, so that a chart can be read in
//! print and by colour-blind readers. There is no legend: the name stands at the right end of its line, moved up or down where names would be
//! in each other's way, with a leader to where it belongs. Letters and lines are large enough for a lecture hall if the
//! picture is as wide as the screen.
//!
//! ```
//! use doorway_picture::chart::{Axis, Chart, Formula, Series};
//! use doorway_picture::Theme;
//!
//! let chart = Chart {
//!     title: "Messages per entry".to_owned(),
//!     x: Axis::binary("nodes"),
//!     y: Axis::decimal("messages per entry"),
//!     series: vec![Series {
//!         name: "lamport".to_owned(),
//!         note: "3(N−1)".to_owned(),
//!         points: vec![(2.0, 3.0), (16.0, 45.0), (64.0, 189.0)],
//!         formula: Some(Formula::line(2.0..=64.0, |n| 3.0 * (n - 1.0))),
//!     }],
//!     ..Chart::default()
//! };
//! assert!(chart.draw(Theme::Auto).overlaps().is_empty());
//! ```

mod axis;
mod marks;
mod names;
mod page;
mod plot;

use std::ops::RangeInclusive;

use crate::{Area, Canvas, Drawing, Point, Text, Theme, shortened};

pub use axis::{Axis, Growth};
pub use page::{ChartLayout, LegendEntry, layouts, legend};
use plot::Format;

/// Several series over the same axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What goes to the right.
    pub x: Axis,
    /// What goes up.
    pub y: Axis,
    /// What is compared; up to sixteen can be told apart.
    pub series: Vec<Series>,
    /// A number across that is marked by an upright line.
    pub line_at: Option<f64>,
}

impl Default for Chart {
    /// A chart of nothing, over linear axes.
    fn default() -> Self {
        let axis = Axis::linear("");
        Self { title: String::new(), x: axis.clone(), y: axis, series: Vec::new(), line_at: None }
    }
}

/// One thing that is measured, expected, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name; series with the same name look the same in all charts of a picture.
    pub name: String,
    /// What stands beside its name, such as its formula; may be empty.
    pub note: String,
    /// What was measured: x and y, in the order of x. Where a logarithmic axis has no place for a number, it is drawn at its edge.
    pub points: Vec<(f64, f64)>,
    /// What should come out.
    pub formula: Option<Formula>,
}

/// What the literature says should come out.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// One number for each x.
    Line(Vec<(f64, f64)>),
    /// For each x the least and the most.
    Band(Vec<(f64, f64, f64)>),
}

/// How finely formulas are drawn.
const SAMPLES: u32 = 96;

impl Formula {
    /// A function, drawn between two numbers that are greater than 0.
    pub fn line(between: RangeInclusive<f64>, value: impl Fn(f64) -> f64) -> Self {
        Formula::Line(samples(between).map(|x| (x, value(x))).collect())
    }

    /// Two functions, the least and the most, drawn between two numbers that are greater than 0.
    pub fn band(between: RangeInclusive<f64>, least: impl Fn(f64) -> f64, most: impl Fn(f64) -> f64) -> Self {
        Formula::Band(samples(between).map(|x| (x, least(x), most(x))).collect())
    }
}

/// Numbers between two others, as dense on the left as on the right of a logarithmic axis.
fn samples(between: RangeInclusive<f64>) -> impl Iterator<Item = f64> {
    let (first, last) = between.into_inner();
    (0..=SAMPLES).map(move |sample| first * (last / first).powf(f64::from(sample) / f64::from(SAMPLES)))
}

/// How wide every picture is.
const WIDTH: f64 = 1280.0;
const MARGIN: f64 = 32.0;

impl Chart {
    /// The chart as a picture of its own.
    #[must_use]
    pub fn draw(&self, theme: Theme) -> Drawing {
        let looks = Looks::of(std::slice::from_ref(self));
        let mut canvas = Canvas::new(&self.title, &self.description());
        plot::draw(&mut canvas, self, Area::new(0.0, 0.0, WIDTH, 720.0), &looks, Format::PICTURE);
        canvas.finish(WIDTH, 720.0, theme)
    }

    /// The alternative text, for readers who cannot see it.
    fn description(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        format!("{}: {} over {}, for {}.", self.title, self.y.title, self.x.title, names.join(", "))
    }
}

/// Several charts in one picture: the same series looks the same in all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    /// What they show together; may be empty.
    pub title: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// How many stand side by side: 1 or 2.
    pub columns: usize,
}

impl Panels {
    /// All of them as one picture.
    #[must_use]
    pub fn draw(&self, theme: Theme) -> Drawing {
        let columns = self.columns.clamp(1, 2);
        let (width, height) = (WIDTH / columns as f64, if columns == 1 { 600.0 } else { 540.0 });
        let looks = Looks::of(&self.charts);
        let descriptions: Vec<String> = self.charts.iter().map(Chart::description).collect();
        let mut canvas = Canvas::new(&self.title, &descriptions.join(" "));
        let top = if self.title.is_empty() { 0.0 } else { MARGIN + 28.0 };
        let title = Text::new(&shortened(&self.title, 80), Point::new(MARGIN, MARGIN + 22.0), 28.0);
        canvas.write(&title.bold());
        for (index, chart) in self.charts.iter().enumerate() {
            let left = (index % columns) as f64 * width;
            let above = top + (index / columns) as f64 * height;
            let area = Area::new(left, above, left + width, above + height);
            plot::draw(&mut canvas, chart, area, &looks, Format::PICTURE);
        }
        let rows = self.charts.len().div_ceil(columns).max(1);
        canvas.finish(WIDTH, top + rows as f64 * height, theme)
    }
}

/// Which number each series has, by its name: it decides hue, marks and dash.
struct Looks(Vec<String>);

impl Looks {
    fn of(charts: &[Chart]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for series in charts.iter().flat_map(|chart| &chart.series) {
            if !names.contains(&series.name) {
                names.push(series.name.clone());
            }
        }
        Self(names)
    }

    fn number(&self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or(0)
    }
}
