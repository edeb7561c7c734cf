//! The space-time diagram of a run: time to the right, a lane for each node, an arrow for each message.
//!
//! L. Lamport: "Time, clocks, and the ordering of events in a distributed system", Communications of the ACM 21(7), 1978, drew
//! them first. A thin lane is outside, a hatched one waiting, a black one inside; an entry has its fence in it. The kind of
//! a message is the hue, the dash and the head of its arrow. A cross is where a message got lost, a crossed circle where a
//! node crashed, a red triangle what must never happen. What is shaded at the end of a run repeats itself for ever.
//!
//! In a run over shared memory a node's steps are accesses to registers: a hollow circle reads, a full one writes, two half
//! ones are the beginning and the end of a slow write, and a diamond is a buffered store that reaches memory. Every
//! access has its label and every step its column.

mod accesses;
mod columns;
mod history;
mod key;
mod labels;
mod lanes;
mod layout;
mod messages;
mod plan;
mod repetition;
mod ribbons;
mod routes;
mod scale;

use std::str::FromStr;

use doorway_core::{Channels, Refusal};
use doorway_trace::{ClockKind, Event, Header};

use super::Drawing;
use super::font::{Weight, width};
use super::geometry::Point;
use super::palette::Theme;
use super::room::Room;
use super::svg::Canvas;
use super::text::{Anchor, Text, shortened, wrapped};
use columns::{Columns, Side};
use history::History;
use labels::Label;
use layout::Layout;
use scale::Scale;

pub use labels::{StepTimes, step_times};
pub use plan::{ArrowPlan, DiagramPlan, LanePlan, Mark, MessagePlan, StayPlan, plan};
pub use ribbons::{RibbonHolder, RibbonPlan};

/// A longer run is not drawn: the picture would be unreadable.
pub const MOST_EVENTS: usize = 20_000;
/// More nodes are not drawn.
pub const MOST_NODES: usize = 512;

/// How moments follow each other from left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// As far apart as they were in time, so that lengths can be compared.
    #[default]
    Time,
    /// All at the same distance, so that nothing is too close to be read.
    Even,
}

impl FromStr for Spacing {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        match word {
            "even" => Ok(Spacing::Even),
            "time" => Ok(Spacing::Time),
            _ => Err(Refusal::new(format!("{word:?} is not a spacing: it is even or time"))),
        }
    }
}

/// What one can choose about the diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagramOptions {
    /// How moments follow each other. A run over shared memory has a column for each step in any case.
    pub spacing: Spacing,
    /// Which colours it has.
    pub theme: Theme,
    /// Which logical times are written beside the steps; every step then has a column that is wide enough for them, whatever the spacing.
    pub clocks: Option<ClockKind>,
}

const MARGIN: f64 = 24.0;
const TITLE_SIZE: f64 = 20.0;
const SUBTITLE_SIZE: f64 = 13.0;

/// Draws a run.
///
/// # Errors
/// If it has more events or nodes than one could look at, or if the events are not those of such a run.
pub fn space_time(header: &Header, events: &[Event], options: &DiagramOptions) -> Result<Drawing, Refusal> {
    diagram(header, events, options).map(|diagram| diagram.drawing)
}

/// A drawn run, and where in it everything is.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagram {
    /// The picture.
    pub drawing: Drawing,
    /// Where each event is: its moment in the lane of its node.
    pub places: Vec<Point>,
    /// Where title and subtitle end.
    pub heading: f64,
    /// The upper and the lower edge of the lanes.
    pub lanes: (f64, f64),
}

/// Draws a run and tells where its events are, for a page that points at them.
///
/// # Errors
/// As [`space_time`].
pub fn diagram(header: &Header, events: &[Event], options: &DiagramOptions) -> Result<Diagram, Refusal> {
    refuse_the_endless(header, events)?;
    let history = History::new(header, events)?;
    let subtitle = subtitle(header, &history);
    let description = description(header, &subtitle, &history);
    let mut canvas = Canvas::new(&format!("{}, a run", header.algorithm), &description);
    lanes::define_patterns(&mut canvas);

    let numbers = width(&header.nodes.to_string(), lanes::NODE_SIZE, Weight::SemiBold);
    let left = MARGIN + numbers.max(width("node", 12.0, Weight::Regular)) + 12.0;
    let labels = labels::all(header, events, &history, options.clocks)?;
    let (scale, sides) = scale(&history, &labels, left, options.spacing);
    let (right, edge) = (scale.right, scale.right + MARGIN);
    let heading = write_heading(&mut canvas, header, &subtitle, right);
    let top = key::draw(&mut canvas, &history, options.clocks, [MARGIN, right], heading + 8.0)
        + 14.0
        + repetition::head(&history);
    let caption = Point::new(scale.left - 12.0, top + 10.0);
    canvas.write(&Text::new("node", caption, 12.0).anchor(Anchor::End).class("soft"));
    let layout = match labels.is_empty() {
        true => Layout::new(scale, top + 8.0, header.nodes),
        false => Layout::with_labels(scale, top + 8.0, header.nodes),
    };

    let mut room = Room::new();
    repetition::draw(&mut canvas, &history, &layout, &mut room);
    layout.scale.draw(&mut canvas, layout.top, layout.bottom);
    let bottom = draw_run(&mut canvas, &history, &layout, (&labels, &sides), &mut room);
    let drawing = canvas.finish(edge, bottom + MARGIN - 6.0, options.theme);
    let place = |(event, moment): (&Event, &usize)| {
        Point::new(layout.scale.place(*moment), layout.height_of(event.node))
    };
    let places = events.iter().zip(&history.moment_of_event).map(place).collect();
    Ok(Diagram { drawing, places, heading, lanes: (layout.top, layout.bottom) })
}

/// Where the moments are, and on which side of their lanes the labels are.
fn scale(history: &History<'_>, labels: &[Label], left: f64, spacing: Spacing) -> (Scale, Vec<Side>) {
    let least = layout::least_width(history.lanes.len());
    if labels.is_empty() {
        return (Scale::new(&history.moments, least, left, spacing), Vec::new());
    }
    let columns = Columns::new(history, labels, least, left);
    (Scale::with_columns(&history.moments, left, &columns), columns.sides)
}

/// Draws what happened between the axis and the heading, and the notes below; answers where these end.
fn draw_run(
    canvas: &mut Canvas,
    history: &History<'_>,
    layout: &Layout,
    labels: (&[Label], &[Side]),
    room: &mut Room,
) -> f64 {
    lanes::draw(canvas, history, layout, room);
    let bottom = lanes::draw_violations(canvas, history, layout, room, layout.bottom + 46.0);
    let arrows = messages::arrows(history, layout);
    messages::draw(canvas, history, &arrows, room);
    lanes::draw_steps(canvas, history, layout);
    labels::draw(canvas, history, layout, labels, room);
    lanes::draw_crashes(canvas, history, layout, room);
    lanes::write_fences(canvas, history, layout, room);
    messages::write_kinds(canvas, history, layout, &arrows, room);
    bottom
}

fn description(header: &Header, subtitle: &str, history: &History<'_>) -> String {
    let endless = history.repetition.map_or(String::new(), |repetition| {
        format!(" What happens after time {} {}.", repetition.time, repetition::NAME)
    });
    format!("Space-time diagram of a run of {}, {subtitle}.{endless}", header.algorithm)
}

fn refuse_the_endless(header: &Header, events: &[Event]) -> Result<(), Refusal> {
    let (count, nodes) = (events.len(), header.nodes);
    if count > MOST_EVENTS {
        return Err(Refusal::new(format!(
            "a run of {count} events is too long to draw, {MOST_EVENTS} are the most: let it have fewer entries, as with --entries 20"
        )));
    }
    if nodes > MOST_NODES {
        return Err(Refusal::new(format!(
            "{nodes} nodes are too many to draw: at most {MOST_NODES} are drawn"
        )));
    }
    Ok(())
}

fn subtitle(header: &Header, history: &History<'_>) -> String {
    let nodes = if header.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", header.nodes) };
    let mut parts = vec![nodes];
    // Where nodes share memory and send nothing, there is no channel to speak of.
    if history.accesses.is_empty() || !history.messages.is_empty() {
        parts.push(channels(header.channels).to_owned());
    }
    parts.push(format!("seed {}", header.seed));
    parts.extend(header.start_inside.map(|node| format!("node {node} inside at the start")));
    parts.extend(header.options.iter().map(|(name, word)| shortened(&format!("{name} {word}"), 60)));
    parts.join(" · ")
}

fn channels(channels: Channels) -> &'static str {
    match channels {
        Channels::Any => "channels in any order",
        Channels::Fifo => "fifo channels",
        Channels::Causal => "causal channels",
    }
}

/// Writes title and subtitle and answers where they end.
fn write_heading(canvas: &mut Canvas, header: &Header, subtitle: &str, right: f64) -> f64 {
    let title = shortened(&header.algorithm, 40);
    canvas.write(&Text::new(&title, Point::new(MARGIN, MARGIN + 17.0), TITLE_SIZE).bold());
    let mut y = MARGIN + 40.0;
    for line in wrapped(subtitle, SUBTITLE_SIZE, right - MARGIN) {
        canvas.write(&Text::new(&line, Point::new(MARGIN, y), SUBTITLE_SIZE).class("soft"));
        y += 18.0;
    }
    y - 6.0
}
