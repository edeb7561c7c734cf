//! One chart within its part of a picture.

use crate::{Anchor, Area, Canvas, Element, HUES, Point, Text, dash, shortened};

use super::axis::{Ruler, written};
use super::{Chart, Formula, Looks, MARGIN, Series, marks, names};

/// The size of the title, of a chart that is a picture of its own and of one among others.
const TITLE_SIZES: [f64; 2] = [24.0, 20.0];
const AXIS_SIZE: f64 = 16.0;
const NUMBER_SIZE: f64 = 15.0;
const NAME_SIZE: f64 = 16.0;
const CAPTION_SIZE: f64 = 14.0;
/// From one name to the next.
const NAMES_APART: f64 = 21.0;
/// From a name to what stands beside it.
const NOTE_GAP: f64 = 7.0;
/// From the plot to the names: room for the leaders.
const LEADER: f64 = 44.0;

/// The parts of a chart: where it is drawn, and its axes.
struct Plot<'a> {
    chart: &'a Chart,
    looks: &'a Looks,
    /// Between the axes.
    inside: Area,
    x: Ruler,
    y: Ruler,
}

/// Draws a chart within an area.
pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, area: Area, looks: &Looks) {
    let size = if area.width() > 800.0 { TITLE_SIZES[0] } else { TITLE_SIZES[1] };
    let at = Point::new(area.left + MARGIN, area.top + MARGIN + 16.0);
    let title = Text::new(&shortened(&chart.title, (area.width() / 16.0) as usize), at, size);
    canvas.write(&title.bold());
    let plot = Plot::new(chart, area, looks);
    plot.draw_axes(canvas);
    for series in &chart.series {
        plot.draw_formula(canvas, series);
    }
    for series in &chart.series {
        plot.draw_points(canvas, series);
    }
    plot.write_names(canvas, area.right - MARGIN);
    plot.write_caption(canvas);
}

impl<'a> Plot<'a> {
    fn new(chart: &'a Chart, area: Area, looks: &'a Looks) -> Self {
        let names = chart.series.iter().map(name_width).fold(0.0, f64::max);
        let right = area.right - MARGIN - names - LEADER - 12.0;
        let right = right.max(area.left + area.width() * 0.45);
        let heights = || chart.series.iter().flat_map(heights);
        let left = area.left + MARGIN + widest_number(chart, heights(), area.height()) + 12.0;
        let inside = Area::new(left, area.top + MARGIN + 66.0, right, area.bottom - MARGIN - 70.0);
        let x = Ruler::new(&chart.x, chart.series.iter().flat_map(across), left, right);
        let y = Ruler::new(&chart.y, heights(), inside.bottom, inside.top);
        Self { chart, looks, inside, x, y }
    }

    fn place(&self, (x, y): (f64, f64)) -> Point {
        Point::new(self.x.place(x), self.y.place(y))
    }

    fn draw_axes(&self, canvas: &mut Canvas) {
        let Area { left, top, right, bottom } = self.inside;
        let faint = |from, to| Element::line(from, to).class("faint-line");
        for number in self.y.minor() {
            let y = self.y.place(number);
            canvas.draw(faint(Point::new(left, y), Point::new(right, y)).thick(0.6));
        }
        for number in self.y.major(wanted_up(self.inside.height())) {
            let y = self.y.place(number);
            canvas.draw(faint(Point::new(left, y), Point::new(right, y)).thick(1.4));
            let text = Text::beside(&written(number), Point::new(left - 10.0, y), NUMBER_SIZE);
            canvas.write(&text.anchor(Anchor::End).class("soft"));
        }
        for number in self.x.major((self.inside.width() / 38.0) as usize) {
            let x = self.x.place(number);
            canvas.draw(faint(Point::new(x, top), Point::new(x, bottom)).thick(1.4));
            let text = Text::new(&written(number), Point::new(x, bottom + 22.0), NUMBER_SIZE);
            canvas.write(&text.anchor(Anchor::Middle).class("soft"));
        }
        canvas.draw(
            Element::line(Point::new(left, bottom), Point::new(right, bottom)).class("soft-line").thick(2.0),
        );
        let (across, up) = (Point::new(right, bottom + 46.0), Point::new(left, top - 18.0));
        canvas.write(&Text::new(&shortened(&self.chart.x.title, 60), across, AXIS_SIZE).anchor(Anchor::End));
        canvas.write(&Text::new(&shortened(&self.chart.y.title, 60), up, AXIS_SIZE));
    }

    fn draw_formula(&self, canvas: &mut Canvas, series: &Series) {
        let look = self.looks.number(&series.name);
        let line = |points: &[(f64, f64)]| {
            let points: Vec<Point> = drawable(points).map(|point| self.place(point)).collect();
            Element::polyline(&points).class(&format!("formula hue{}-line", look % HUES)).dashed(dash(look))
        };
        match &series.formula {
            None => {}
            Some(Formula::Line(points)) => {
                canvas
                    .draw(line(points).thick(2.4).attribute("stroke-linejoin", "round").title(&series.name));
            }
            Some(Formula::Band(points)) => {
                let least: Vec<(f64, f64)> = points.iter().map(|&(x, least, _)| (x, least)).collect();
                let most: Vec<(f64, f64)> = points.iter().map(|&(x, _, most)| (x, most)).collect();
                let edge = drawable(&least).collect::<Vec<_>>().into_iter();
                let back = drawable(&most).collect::<Vec<_>>().into_iter().rev();
                let around: Vec<Point> = edge.chain(back).map(|point| self.place(point)).collect();
                let band = Element::polygon(&around).class(&format!("band hue{}", look % HUES));
                canvas.draw(band.attribute("fill-opacity", "0.1").title(&series.name));
                for edge in [least, most] {
                    if edge.iter().any(|&(_, y)| y > 0.0) {
                        canvas.draw(line(&edge).thick(2.0));
                    }
                }
            }
        }
    }

    /// The marks of the measurements; without a line by formula they are joined, so that the eye can follow them, by lines
    /// that look unlike formulas.
    fn draw_points(&self, canvas: &mut Canvas, series: &Series) {
        let look = self.looks.number(&series.name);
        let places: Vec<Point> = drawable(&series.points).map(|point| self.place(point)).collect();
        let group = Element::group().class("series").data("name", &series.name).title(&series.name);
        canvas.group(group, |canvas| {
            if is_joined(series) {
                let line = Element::polyline(&places).class(&format!("join hue{}-line", look % HUES));
                canvas.draw(line.thick(1.5).attribute("stroke-opacity", "0.5"));
            }
            for &place in &places {
                marks::draw(canvas, look, place);
            }
        });
    }

    /// The names at the right ends, each with a leader to its line.
    fn write_names(&self, canvas: &mut Canvas, edge: f64) {
        let named: Vec<(&Series, Point)> =
            self.chart.series.iter().filter_map(|series| Some((series, self.place(last(series)?)))).collect();
        let wanted: Vec<f64> = named.iter().map(|(_, end)| end.y).collect();
        let heights = names::spread(&wanted, NAMES_APART, self.inside.top, self.inside.bottom);
        for ((series, end), y) in named.into_iter().zip(heights) {
            self.write_name(canvas, series, end, y, edge);
        }
    }

    /// A leader from the end of a line to its name, the name, and what stands beside it as far as that has room.
    fn write_name(&self, canvas: &mut Canvas, series: &Series, end: Point, y: f64, edge: f64) {
        let (look, left) = (self.looks.number(&series.name), self.inside.right + LEADER);
        let bend = Point::new(self.inside.right + 8.0, end.y);
        let leader = [Point::new(end.x + 9.0, end.y), bend, Point::new(left - 22.0, y)];
        canvas.draw(Element::polyline(&leader).class(&format!("leader hue{}-line", look % HUES)).thick(1.6));
        marks::draw(canvas, look, Point::new(left - 12.0, y));
        let start = Point::new(left + 2.0, y);
        let name = Text::beside(&fitted(&series.name, edge - start.x), start, NAME_SIZE).bold();
        let name = name.class(&format!("name hue{}", look % HUES));
        let note = Point::new(name.area().right + NOTE_GAP, y);
        let note = Text::beside(&series.note, note, NAME_SIZE).class("soft");
        canvas.write(&name);
        if note.area().right <= edge + 0.5 {
            canvas.write(&note);
        }
    }

    fn write_caption(&self, canvas: &mut Canvas) {
        let has = |wanted: fn(&Series) -> bool| self.chart.series.iter().any(wanted);
        let is_line = |series: &Series| matches!(series.formula, Some(Formula::Line(_)));
        let is_band = |series: &Series| matches!(series.formula, Some(Formula::Band(_)));
        let (has_joins, has_lines) = (has(is_joined), has(is_line));
        let parts = [
            (has(|series| !series.points.is_empty()) && (has_lines || !has_joins), "marks: measured"),
            (has_joins && !has_lines, "marks: measured, joined by lines"),
            (has_lines && !has_joins, "lines: by formula"),
            (has_lines && has_joins, "thick lines: formula · thin: joined marks"),
            (has(is_band) && !(has_lines && has_joins), "bands: from least to most by formula"),
            (has(is_band) && has_lines && has_joins, "bands: formula"),
        ];
        let told: Vec<&str> = parts.iter().filter(|(is_there, _)| *is_there).map(|&(_, part)| part).collect();
        let at = Point::new(self.inside.left, self.inside.bottom + 72.0);
        canvas.write(&Text::new(&told.join(" · "), at, CAPTION_SIZE).class("soft"));
    }
}

fn name_width(series: &Series) -> f64 {
    let start = Point::new(0.0, 0.0);
    let name = Text::new(&series.name, start, NAME_SIZE).bold().width();
    let note = Text::new(&series.note, start, NAME_SIZE).width();
    if series.note.is_empty() { name + 4.0 } else { name + NOTE_GAP + note + 4.0 }
}

/// As much of a name as has room.
fn fitted(name: &str, room: f64) -> String {
    let letters = name.chars().count();
    let fits = |name: &String| Text::new(name, Point::new(0.0, 0.0), NAME_SIZE).bold().width() <= room;
    (1..=letters).rev().map(|most| shortened(name, most)).find(fits).unwrap_or_default()
}

fn wanted_up(height: f64) -> usize {
    (height / 40.0) as usize
}

fn widest_number(chart: &Chart, heights: impl Iterator<Item = f64>, height: f64) -> f64 {
    let numbers = Ruler::new(&chart.y, heights, 0.0, 1.0).major(wanted_up(height));
    let width = |number: f64| Text::new(&written(number), Point::new(0.0, 0.0), NUMBER_SIZE).width();
    numbers.into_iter().map(width).fold(0.0, f64::max)
}

/// Whether lines go from mark to mark.
fn is_joined(series: &Series) -> bool {
    !matches!(series.formula, Some(Formula::Line(_))) && drawable(&series.points).nth(1).is_some()
}

fn drawable(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

fn across(series: &Series) -> Vec<f64> {
    let formula = match &series.formula {
        None => Vec::new(),
        Some(Formula::Line(points)) => points.iter().map(|point| point.0).collect(),
        Some(Formula::Band(points)) => points.iter().map(|point| point.0).collect(),
    };
    series.points.iter().map(|point| point.0).chain(formula).collect()
}

fn heights(series: &Series) -> Vec<f64> {
    let formula = match &series.formula {
        None => Vec::new(),
        Some(Formula::Line(points)) => points.iter().map(|point| point.1).collect(),
        Some(Formula::Band(points)) => points.iter().flat_map(|point| [point.1, point.2]).collect(),
    };
    series.points.iter().map(|point| point.1).chain(formula).collect()
}

/// Where the name of a series belongs: at its last measurement, or at the end of its formula.
fn last(series: &Series) -> Option<(f64, f64)> {
    let measured = drawable(&series.points).last();
    measured.or_else(|| match series.formula.as_ref()? {
        Formula::Line(points) => drawable(points).last(),
        Formula::Band(points) => points
            .last()
            .map(|&(x, least, most)| (x, f64::midpoint(least, most)))
            .filter(|end| end.1.is_finite()),
    })
}
