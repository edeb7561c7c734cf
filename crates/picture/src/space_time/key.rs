//! The key of a space-time diagram: what bands, arrows and signs mean, in as many lines as it takes.

use doorway_core::Phase;
use doorway_trace::{AccessKind, ClockKind};

use crate::arrow::{Arrow, Path};
use crate::element::Element;
use crate::geometry::{Area, Point};
use crate::palette::Look;
use crate::svg::Canvas;
use crate::text::{Text, shortened};

use super::history::{End, History};
use super::{accesses, lanes, messages, repetition};

const SIZE: f64 = 12.0;
const LINE: f64 = 24.0;
/// How wide the sample of a line is.
const SAMPLE: f64 = 34.0;
/// More kinds than these are not told apart in the key.
const MOST_KINDS: usize = 24;

/// What a line of the key is about.
enum Item {
    Phase(Phase),
    Kind(Look),
    Access(AccessKind),
    Lost,
    UnderWay,
    Pause,
    Crash,
    Violation,
    Repetition,
    Rest,
}

impl Item {
    /// How wide its sample is.
    fn width(&self) -> f64 {
        match self {
            Item::Phase(_) | Item::Kind(_) | Item::Pause | Item::Repetition => SAMPLE,
            Item::Lost | Item::UnderWay => SAMPLE / 2.0 + 5.0,
            Item::Access(_) => 12.0,
            Item::Crash | Item::Violation => 18.0,
            Item::Rest => 0.0,
        }
    }
}

/// Draws the key below `top` and tells where it ends.
pub(super) fn draw(
    canvas: &mut Canvas,
    history: &History<'_>,
    clocks: Option<ClockKind>,
    [left, right]: [f64; 2],
    top: f64,
) -> f64 {
    let mut place = Point::new(left, top + LINE / 2.0);
    let times = clocks.map(|kind| (Item::Rest, times(kind).to_owned()));
    for (item, name) in items(history).into_iter().chain(times) {
        let text = |at: Point| Text::beside(&name, Point::new(at.x + item.width() + 8.0, at.y), SIZE);
        if text(place).area().right > right && place.x > left {
            place = Point::new(left, place.y + LINE);
        }
        sample(canvas, &item, place);
        canvas.write(&text(place));
        place.x = text(place).area().right + 26.0;
    }
    place.y + LINE / 2.0
}

/// What the numbers beside steps are.
fn times(kind: ClockKind) -> &'static str {
    match kind {
        ClockKind::Lamport => "42–44: Lamport time of the first and the last event of a step",
        ClockKind::Vector => "[3–5 0 1]: vector time of the first and the last event of a step",
        ClockKind::Both => {
            "42–44 [3–5 0 1]: Lamport and vector time of the first and the last event of a step"
        }
    }
}

fn items(history: &History<'_>) -> Vec<(Item, String)> {
    let ends = || history.messages.iter().flat_map(|message| &message.ends);
    let mut items: Vec<(Item, String)> = [Phase::Outside, Phase::Waiting, Phase::Inside]
        .map(|phase| (Item::Phase(phase), lanes::name(phase).to_owned()))
        .into();
    let kinds = history.kinds.iter().take(MOST_KINDS).enumerate();
    items.extend(
        kinds.map(|(kind, name)| (Item::Kind(history.look(kind)), shortened(name, messages::MOST_LETTERS))),
    );
    let rest = history.kinds.len().saturating_sub(MOST_KINDS);
    let mut add = |item, name: &str, is_there: bool| {
        if is_there {
            items.push((item, name.to_owned()));
        }
    };
    add(Item::Rest, &format!("{rest} more kinds of message"), rest > 0);
    for kind in accesses::KINDS {
        let is_there = history.accesses.iter().any(|access| access.kind == kind);
        add(Item::Access(kind), accesses::name(kind), is_there);
    }
    add(Item::Lost, "lost", ends().any(|end| matches!(end, End::Lost { .. })));
    add(Item::UnderWay, "still under way", history.messages.iter().any(|message| message.ends.is_empty()));
    add(Item::Pause, "stands still", history.lanes.iter().any(|lane| !lane.pauses.is_empty()));
    add(Item::Crash, "crash", history.lanes.iter().any(|lane| !lane.crashes.is_empty()));
    add(Item::Violation, "violation", !history.violations.is_empty());
    add(Item::Repetition, repetition::NAME, history.repetition.is_some());
    items
}

fn sample(canvas: &mut Canvas, item: &Item, at: Point) {
    let end = Point::new(at.x + SAMPLE, at.y);
    let (middle, sign) = (at.towards(end, 0.5), Point::new(at.x + 9.0, at.y));
    let soft_line = |canvas: &mut Canvas, to: Point| {
        canvas.draw(Element::line(at, to).class("soft-line").thick(messages::THICK));
    };
    match item {
        Item::Phase(phase) => lanes::draw_band(canvas, *phase, at, end.x, Element::group()),
        Item::Kind(look) => {
            Arrow { path: Path::Straight(at, end), look: *look, thick: messages::THICK }.draw(canvas);
        }
        Item::Access(kind) => accesses::draw_sign(canvas, *kind, Point::new(at.x + 6.0, at.y)),
        Item::Lost => {
            soft_line(canvas, middle);
            messages::draw_cross(canvas, middle, "soft-line");
        }
        Item::UnderWay => {
            soft_line(canvas, middle);
            canvas.draw(Element::circle(middle, 3.5).class("soft-line hollow").thick(1.4));
        }
        Item::Pause => {
            lanes::draw_shadow(canvas, at, end.x);
            lanes::draw_band(canvas, Phase::Outside, at, end.x, Element::group());
        }
        Item::Crash => lanes::draw_crash_sign(canvas, sign),
        Item::Violation => lanes::draw_warning(canvas, sign),
        Item::Repetition => {
            repetition::draw_band(canvas, Area::new(at.x, at.y - 8.0, end.x, at.y + 8.0));
        }
        Item::Rest => {}
    }
}
