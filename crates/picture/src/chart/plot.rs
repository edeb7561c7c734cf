//! One chart within its part of a picture.

use crate::element::number;
use crate::{Anchor, Area, Canvas, Element, HUES, Point, Text, dash, shortened};

use super::axis::{Axis, Ruler, written};
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

/// How a chart is set: for a picture that is shown in a lecture hall, or for a page. All lengths above are multiplied by `scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Format {
    /// The size of letters and marks.
    pub(super) scale: f64,
    /// What stays empty on all sides.
    pub(super) margin: f64,
    /// The height above the plot, without the margin.
    pub(super) head: f64,
    /// The height below the plot, without the margin.
    pub(super) foot: f64,
    /// Whether the title and a caption that explains the signs are part of the picture.
    pub(super) has_words: bool,
    /// What is written at the right ends of the lines.
    pub(super) names: Names,
}

/// What is written at the right end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Its name and its note.
    WithNotes,
    /// Its name.
    Alone,
    /// Nothing, because there is no room.
    Missing,
}

impl Format {
    /// A picture of its own, or one part of a larger picture.
    pub(super) const PICTURE: Self =
        Self { scale: 1.0, margin: MARGIN, head: 66.0, foot: 70.0, has_words: true, names: Names::WithNotes };

    /// The height that this many names need.
    pub(super) fn least_height(&self, names: usize) -> f64 {
        let rows = if self.names == Names::Missing { 0 } else { names };
        2.0 * self.margin + self.head + self.foot + rows as f64 * NAMES_APART * self.scale
    }
}

/// The parts of a chart: where it is drawn, and its axes.
struct Plot<'a> {
    chart: &'a Chart,
    looks: &'a Looks,
    format: Format,
    /// Between the axes.
    inside: Area,
    x: Ruler,
    y: Ruler,
}

/// Draws a chart within an area.
pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, area: Area, looks: &Looks, format: Format) {
    if format.has_words {
        write_title(canvas, chart, area);
    }
    let plot = Plot::new(chart, area, looks, format);
    plot.draw_axes(canvas);
    for series in &chart.series {
        plot.draw_formula(canvas, series);
    }
    plot.draw_line_at(canvas);
    for series in &chart.series {
        plot.draw_points(canvas, series);
    }
    if format.names != Names::Missing {
        plot.write_names(canvas, area.right - format.margin);
    }
    if format.has_words {
        plot.write_caption(canvas);
    }
}

fn write_title(canvas: &mut Canvas, chart: &Chart, area: Area) {
    let size = if area.width() > 800.0 { TITLE_SIZES[0] } else { TITLE_SIZES[1] };
    let at = Point::new(area.left + MARGIN, area.top + MARGIN + 16.0);
    let title = Text::new(&shortened(&chart.title, (area.width() / 16.0) as usize), at, size);
    canvas.write(&title.bold());
}

impl<'a> Plot<'a> {
    fn new(chart: &'a Chart, area: Area, looks: &'a Looks, format: Format) -> Self {
        let Format { scale, margin, .. } = format;
        let names = chart.series.iter().map(|series| name_width(series, format)).fold(0.0, f64::max);
        let right = match format.names {
            Names::Missing => area.right - margin - 10.0 * scale,
            Names::WithNotes | Names::Alone => area.right - margin - names - (LEADER + 12.0) * scale,
        };
        let right = right.max(area.left + area.width() * 0.45);
        let heights = || chart.series.iter().flat_map(heights);
        let left = area.left + margin + widest_number(chart, heights(), area.height(), scale) + 12.0 * scale;
        let top = area.top + margin + format.head;
        let inside = Area::new(left, top, right, area.bottom - margin - format.foot);
        let x = Ruler::new(&chart.x, chart.series.iter().flat_map(across), left, right);
        let y = Ruler::new(&chart.y, heights(), inside.bottom, inside.top);
        Self { chart, looks, format, inside, x, y }
    }

    /// A length that follows the size of the letters.
    fn scaled(&self, length: f64) -> f64 {
        length * self.format.scale
    }

    fn mark(&self, look: usize, at: Point) -> Element {
        marks::mark(look, at, self.scaled(marks::REACH))
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
        for number in self.up_numbers() {
            let y = self.y.place(number);
            canvas.draw(faint(Point::new(left, y), Point::new(right, y)).thick(1.4));
            let place = Point::new(left - self.scaled(10.0), y);
            let text = Text::beside(&written(number), place, self.scaled(NUMBER_SIZE));
            canvas.write(&text.anchor(Anchor::End).class("soft"));
        }
        for number in self.across_numbers() {
            let x = self.x.place(number);
            canvas.draw(faint(Point::new(x, top), Point::new(x, bottom)).thick(1.4));
            let place = Point::new(x, bottom + self.scaled(22.0));
            let text = Text::new(&written(number), place, self.scaled(NUMBER_SIZE));
            canvas.write(&text.anchor(Anchor::Middle).class("soft"));
        }
        canvas.draw(
            Element::line(Point::new(left, bottom), Point::new(right, bottom)).class("soft-line").thick(2.0),
        );
        self.write_axis_titles(canvas);
    }

    fn write_axis_titles(&self, canvas: &mut Canvas) {
        let Area { left, top, right, bottom } = self.inside;
        let (across, up) =
            (Point::new(right, bottom + self.scaled(46.0)), Point::new(left, top - self.scaled(18.0)));
        let title = |axis: &Axis, at| Text::new(&shortened(&axis.title, 60), at, self.scaled(AXIS_SIZE));
        canvas.write(&title(&self.chart.x, across).anchor(Anchor::End));
        canvas.write(&title(&self.chart.y, up));
    }

    fn up_numbers(&self) -> Vec<f64> {
        self.y.major(wanted_up(self.inside.height(), self.format.scale))
    }

    /// The numbers of the axis below: those that it asks for, or round ones.
    fn across_numbers(&self) -> Vec<f64> {
        let wanted = (self.inside.width() / self.scaled(38.0)) as usize;
        if self.chart.x.ticks.is_empty() {
            self.x.major(wanted)
        } else {
            self.x.roomy(&self.chart.x.ticks, wanted)
        }
    }

    fn draw_formula(&self, canvas: &mut Canvas, series: &Series) {
        let look = self.looks.number(&series.name);
        let line = |points: &[(f64, f64)]| {
            let points: Vec<Point> = drawable(points).map(|point| self.place(point)).collect();
            let line = Element::polyline(&points).class(&format!("formula hue{}-line", look % HUES));
            line.dashed(dash(look)).data("name", &series.name)
        };
        match &series.formula {
            None => {}
            Some(Formula::Line(points)) => {
                canvas
                    .draw(line(points).thick(2.4).attribute("stroke-linejoin", "round").title(&series.name));
            }
            Some(Formula::Band(points)) => {
                let edge = |value: fn(&(f64, f64, f64)) -> f64| -> Vec<(f64, f64)> {
                    points.iter().map(|point| (point.0, value(point))).collect()
                };
                let mut edges = vec![edge(|point| point.1), edge(|point| point.2)];
                if edges[0] != edges[1] && edges.iter().all(|edge| drawable(edge).next().is_some()) {
                    canvas.draw(self.band(&edges[0], &edges[1], series));
                }
                edges.dedup();
                for edge in edges.iter().filter(|edge| drawable(edge).any(|(_, y)| y > 0.0)) {
                    canvas.draw(line(edge).thick(2.0));
                }
            }
        }
    }

    /// The area between the least and the most of a formula.
    fn band(&self, least: &[(f64, f64)], most: &[(f64, f64)], series: &Series) -> Element {
        let back = drawable(most).collect::<Vec<_>>().into_iter().rev();
        let around: Vec<Point> = drawable(least).chain(back).map(|point| self.place(point)).collect();
        let look = self.looks.number(&series.name);
        let band = Element::polygon(&around).class(&format!("band hue{}", look % HUES));
        band.attribute("fill-opacity", "0.1").data("name", &series.name).title(&series.name)
    }

    /// The marks of the measurements; without a line by formula they are joined, so that the eye can follow them, by lines
    /// that look unlike formulas.
    fn draw_points(&self, canvas: &mut Canvas, series: &Series) {
        let look = self.looks.number(&series.name);
        let points: Vec<(f64, f64)> = drawable(&series.points).collect();
        let places: Vec<Point> = points.iter().map(|&point| self.place(point)).collect();
        let group = Element::group().class("series").data("name", &series.name).title(&series.name);
        canvas.group(group, |canvas| {
            if is_joined(series) {
                let line = Element::polyline(&places).class(&format!("join hue{}-line", look % HUES));
                canvas.draw(line.thick(1.5).attribute("stroke-opacity", "0.5"));
            }
            for (&place, (x, _)) in places.iter().zip(points) {
                let mark = self.mark(look, place).data("at", number(x));
                canvas.draw(match self.also_at(place, series) {
                    others if others.is_empty() => mark,
                    others => mark.data("also", others.join(", ")),
                });
            }
        });
    }

    /// The other series that have a mark at this place, so near that the marks cover each other.
    fn also_at(&self, place: Point, series: &Series) -> Vec<&str> {
        let near = self.scaled(marks::REACH) / 2.0;
        let is_here = |point| self.place(point).distance(place) <= near;
        let others = self.chart.series.iter().filter(|other| other.name != series.name);
        others.filter(|other| drawable(&other.points).any(is_here)).map(|other| other.name.as_str()).collect()
    }

    /// The number across that the reader has chosen, as an upright line.
    fn draw_line_at(&self, canvas: &mut Canvas) {
        let Some(x) = self.chart.line_at.map(|number| self.x.place(number)) else { return };
        let Area { top, bottom, .. } = self.inside;
        let line = Element::line(Point::new(x, top), Point::new(x, bottom)).class("line-at soft-line");
        canvas.draw(line.thick(1.2).dashed("3 3"));
    }

    /// The names at the right ends, each with a leader to its line.
    fn write_names(&self, canvas: &mut Canvas, edge: f64) {
        let named: Vec<(&Series, Point)> =
            self.chart.series.iter().filter_map(|series| Some((series, self.place(last(series)?)))).collect();
        let wanted: Vec<f64> = named.iter().map(|(_, end)| end.y).collect();
        let heights = names::spread(&wanted, self.scaled(NAMES_APART), self.inside.top, self.inside.bottom);
        for ((series, end), y) in named.into_iter().zip(heights) {
            let group = Element::group().class("label").data("name", &series.name);
            canvas.group(group, |canvas| self.write_name(canvas, series, end, y, edge));
        }
    }

    /// A leader from the end of a line to its name, the name, and what stands beside it as far as that has room.
    fn write_name(&self, canvas: &mut Canvas, series: &Series, end: Point, y: f64, edge: f64) {
        let look = self.looks.number(&series.name);
        let (right, left) = (self.inside.right, self.inside.right + self.scaled(LEADER));
        let bend = Point::new(right + self.scaled(8.0), end.y);
        let start = Point::new(end.x + self.scaled(9.0), end.y);
        let leader = [start, bend, Point::new(left - self.scaled(22.0), y)];
        canvas.draw(Element::polyline(&leader).class(&format!("leader hue{}-line", look % HUES)).thick(1.6));
        canvas.draw(self.mark(look, Point::new(left - self.scaled(12.0), y)));
        let (start, size) = (Point::new(left + self.scaled(2.0), y), self.scaled(NAME_SIZE));
        let name = Text::beside(&fitted(&series.name, edge - start.x, size), start, size).bold();
        let name = name.class(&format!("name hue{}", look % HUES));
        let note = Point::new(name.area().right + self.scaled(NOTE_GAP), y);
        let note = Text::beside(&series.note, note, size).class("soft");
        canvas.write(&name);
        if self.format.names == Names::WithNotes && note.area().right <= edge + 0.5 {
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

/// How wide the name of a series is, with its note if that is written.
fn name_width(series: &Series, format: Format) -> f64 {
    let (start, size) = (Point::new(0.0, 0.0), NAME_SIZE * format.scale);
    let name = Text::new(&series.name, start, size).bold().width();
    if series.note.is_empty() || format.names != Names::WithNotes {
        return name + 4.0;
    }
    name + NOTE_GAP * format.scale + Text::new(&series.note, start, size).width() + 4.0
}

/// As much of a name as has room.
fn fitted(name: &str, room: f64, size: f64) -> String {
    let letters = name.chars().count();
    let fits = |name: &String| Text::new(name, Point::new(0.0, 0.0), size).bold().width() <= room;
    (1..=letters).rev().map(|most| shortened(name, most)).find(fits).unwrap_or_default()
}

fn wanted_up(height: f64, scale: f64) -> usize {
    (height / (40.0 * scale)) as usize
}

fn widest_number(chart: &Chart, heights: impl Iterator<Item = f64>, height: f64, scale: f64) -> f64 {
    let numbers = Ruler::new(&chart.y, heights, 0.0, 1.0).major(wanted_up(height, scale));
    let width = |number: f64| Text::new(&written(number), Point::new(0.0, 0.0), NUMBER_SIZE * scale).width();
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

/// Where the name of a series belongs: at its last measurement, or at the end of its formula if that goes farther.
fn last(series: &Series) -> Option<(f64, f64)> {
    let measured = drawable(&series.points).last();
    let formula = match series.formula.as_ref() {
        None => None,
        Some(Formula::Line(points)) => drawable(points).last(),
        Some(Formula::Band(points)) => points
            .last()
            .map(|&(x, least, most)| (x, f64::midpoint(least, most)))
            .filter(|end| end.1.is_finite()),
    };
    match (measured, formula) {
        (Some(measured), Some(formula)) if formula.0 > measured.0 => Some(formula),
        (measured, formula) => measured.or(formula),
    }
}
