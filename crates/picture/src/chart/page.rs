//! Charts as elements for a page, which is as wide as its window and adds interaction.
//!
//! The layout is that of pictures, with smaller letters and without the words that the page has itself: the heading and the caption.
//! Everything that belongs to a series has its name in `data-name`: `formula`, `band`, the group `series` with its marks, and the group
//! `label` with leader and name. A mark of a measurement has its number across in `data-at`, and in `data-also` the
//! other series that have a mark at the same place.

use serde::Serialize;

use super::plot::{self, Format, Names};
use super::{Chart, Looks, marks};
use crate::{Area, Canvas, Element, HUES, Point, Theme, dash};

/// Below this width names have no room beside the lines; the page writes the legend below instead.
const NARROW: f64 = 440.0;

/// A chart on a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChartLayout {
    /// What it shows.
    pub title: String,
    /// The alternative text, for readers who cannot see it.
    pub description: String,
    /// Its width in pixels.
    pub width: f64,
    /// Its height in pixels.
    pub height: f64,
    /// Whether the names of the series are part of it.
    pub named: bool,
    /// What it is made of, in the order of painting.
    pub elements: Vec<Element>,
}

/// What a series looks like, for a legend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LegendEntry {
    /// The name of the series.
    pub name: String,
    /// A line with a mark on it, around the point (0, 0): 11 pixels to both sides.
    pub elements: Vec<Element>,
}

/// Charts on one page, each in this width and at least this height. The same series looks the same in all of them.
#[must_use]
pub fn layouts(charts: &[Chart], width: f64, height: f64) -> Vec<ChartLayout> {
    let looks = Looks::of(charts);
    charts.iter().map(|chart| layout(chart, &looks, width, height)).collect()
}

/// The looks of all series of these charts.
#[must_use]
pub fn legend(charts: &[Chart]) -> Vec<LegendEntry> {
    let names = Looks::of(charts).0;
    let entry = |(look, name)| LegendEntry { name, elements: sample(look) };
    names.into_iter().enumerate().map(entry).collect()
}

fn layout(chart: &Chart, looks: &Looks, width: f64, height: f64) -> ChartLayout {
    let named = width >= NARROW;
    let format = Format {
        scale: 0.8,
        margin: 4.0,
        head: 32.0,
        foot: 44.0,
        has_words: false,
        names: if named { Names::Alone } else { Names::Missing },
    };
    let height = height.max(format.least_height(chart.series.len()));
    let mut canvas = Canvas::new(&chart.title, &chart.description());
    plot::draw(&mut canvas, chart, Area::new(0.0, 0.0, width, height), looks, format);
    let drawing = canvas.finish(width, height, Theme::Auto);
    ChartLayout {
        title: chart.title.clone(),
        description: chart.description(),
        width: drawing.width,
        height: drawing.height,
        named,
        elements: drawing.elements,
    }
}

fn sample(look: usize) -> Vec<Element> {
    let line = Element::line(Point::new(-11.0, 0.0), Point::new(11.0, 0.0));
    let line = line.class(&format!("sample-line hue{}-line", look % HUES)).thick(1.8).dashed(dash(look));
    vec![line, marks::mark(look, Point::new(0.0, 0.0), 4.4)]
}
