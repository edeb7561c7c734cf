//! The labels on the lanes: what was read or written, and the logical time of events.
//!
//! The events of one step of a node are at one place, so that its label tells the time of the first and of the last of them.

use std::collections::BTreeMap;

use doorway_core::{NodeId, Refusal};
use doorway_trace::clocks::times;
use doorway_trace::{ClockKind, Event, Header, LogicalTime, What};
use serde::Serialize;

use crate::element::Element;
use crate::font::{Weight, width};
use crate::geometry::Point;
use crate::room::Room;
use crate::svg::Canvas;
use crate::text::Text;

use super::accesses;
use super::columns::Side;
use super::history::{Access, History};
use super::layout::Layout;
use super::repetition;

/// How large a label is.
const SIZE: f64 = 11.0;
/// How far the middle of the label of an access is from its lane: beyond the circle around a violation.
const ACCESS_AWAY: f64 = 22.0;
/// The same for a time, which is beside its step.
const TIME_AWAY: f64 = 17.0;
/// How far a time is to the right of its step: what arrives comes from the left and is not covered.
const BESIDE: f64 = 5.0;

/// A label, in the order of moments and, in one moment, of nodes.
#[derive(Debug)]
pub(super) struct Label {
    pub(super) moment: usize,
    pub(super) node: NodeId,
    /// The side on which it is, where there is room on both.
    pub(super) prefers: Side,
    /// The place of the access that it is about, among all accesses.
    access: Option<usize>,
    /// The first event that it is about.
    event: u64,
    text: String,
}

/// All labels of a run: of its accesses and, if clocks are shown, of its events.
///
/// # Errors
/// If more messages are in flight than logical times can be kept for.
pub(super) fn all(
    header: &Header,
    events: &[Event],
    history: &History<'_>,
    clocks: Option<ClockKind>,
) -> Result<Vec<Label>, Refusal> {
    let mut labels: BTreeMap<(usize, NodeId), Label> = BTreeMap::new();
    for (place, access) in history.accesses.iter().enumerate() {
        let (moment, node, event) = (access.moment, access.event.node, access.event.id);
        let text = accesses::label(access);
        let label = Label { moment, node, prefers: Side::Above, access: Some(place), event, text };
        labels.insert((moment, node), label);
    }
    let Some(kind) = clocks else { return Ok(labels.into_values().collect()) };
    for ((moment, node), step) in steps(header, events, history, kind)? {
        let time = kind.span(node, [&step.first, &step.last], header.nodes);
        labels
            .entry((moment, node))
            .and_modify(|label| label.text = format!("{} · {time}", label.text))
            .or_insert_with(|| step.label(moment, node, time));
    }
    Ok(labels.into_values().collect())
}

/// The events of one step of a node.
struct Step {
    /// The places of the first and the last event in the list, and the number of the first.
    places: [usize; 2],
    event: u64,
    first: LogicalTime,
    last: LogicalTime,
    sends_upwards: bool,
}

impl Step {
    fn label(&self, moment: usize, node: NodeId, text: String) -> Label {
        let prefers = if self.sends_upwards { Side::Below } else { Side::Above };
        Label { moment, node, prefers, access: None, event: self.event, text }
    }
}

/// The steps of a run, by moment and node.
fn steps(
    header: &Header,
    events: &[Event],
    history: &History<'_>,
    kind: ClockKind,
) -> Result<BTreeMap<(usize, NodeId), Step>, Refusal> {
    let mut steps: BTreeMap<(usize, NodeId), Step> = BTreeMap::new();
    let timed = events.iter().zip(times(header, events, kind)?).zip(&history.moment_of_event);
    for (place, ((event, time), &moment)) in timed.enumerate() {
        let Some(time) = time else { continue };
        let sends_upwards = matches!(event.what, What::Send { to, .. } if to < event.node);
        let step = steps.entry((moment, event.node)).or_insert_with(|| Step {
            places: [place, place],
            event: event.id,
            first: time.clone(),
            last: time.clone(),
            sends_upwards,
        });
        (step.places[1], step.last) = (place, time);
        step.sends_upwards |= sends_upwards;
    }
    Ok(steps)
}

/// The logical times of one step, for a page that draws itself. Events are counted by their place in the list, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepTimes {
    /// Its first event.
    pub first: usize,
    /// Its last event.
    pub last: usize,
    /// The times of its first and its last event.
    pub text: String,
}

/// The logical times of all steps of a run, in the order of their first events.
///
/// # Errors
/// If the events are not those of one run of these nodes, or more messages are in flight than times can be kept for.
pub fn step_times(header: &Header, events: &[Event], kind: ClockKind) -> Result<Vec<StepTimes>, Refusal> {
    let history = History::new(header, events)?;
    let told = steps(header, events, &history, kind)?.into_iter().map(|((_, node), step)| {
        let text = kind.span(node, [&step.first, &step.last], header.nodes);
        StepTimes { first: step.places[0], last: step.places[1], text }
    });
    let mut times: Vec<StepTimes> = told.collect();
    times.sort_by_key(|times| times.first);
    Ok(times)
}

impl Label {
    /// How far it reaches to the left and to the right of its moment.
    pub(super) fn reach(&self) -> (f64, f64) {
        let wide = width(&self.text, SIZE, Weight::Regular);
        if self.access.is_some() { (wide / 2.0, wide / 2.0) } else { (0.0, BESIDE + wide) }
    }

    fn written(&self, at: Point, side: Side) -> Text {
        let away = if self.access.is_some() { ACCESS_AWAY } else { TIME_AWAY };
        let y = match side {
            Side::Above => at.y - away,
            Side::Below => at.y + away,
        };
        match self.access {
            Some(_) => Text::around(&self.text, Point::new(at.x, y), SIZE).class("label ink"),
            None => Text::beside(&self.text, Point::new(at.x + BESIDE, y), SIZE).class("time ink"),
        }
    }
}

/// Draws every label on the side that was chosen for it, with the sign of its access, and takes its room.
pub(super) fn draw(
    canvas: &mut Canvas,
    history: &History<'_>,
    layout: &Layout,
    (labels, sides): (&[Label], &[Side]),
    room: &mut Room,
) {
    for (label, side) in labels.iter().zip(sides) {
        let at = Point::new(layout.scale.place(label.moment), layout.height_of(label.node));
        let text = label.written(at, *side);
        room.take(text.area().grown(2.0));
        let access: Option<&Access<'_>> = label.access.map(|place| &history.accesses[place]);
        let group = match access {
            Some(access) => accesses::described(access),
            None => Element::group().class("time").data("event", label.event),
        };
        canvas.group(group, |canvas| {
            if let Some(access) = access {
                accesses::draw_sign(canvas, access.kind, at);
            }
            canvas.write_on(&text, repetition::ground(history, layout, &text.area()));
        });
    }
}
