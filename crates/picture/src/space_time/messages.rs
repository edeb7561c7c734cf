//! The arrows: from the sending of a message to its delivery, or to where it got lost.

use std::collections::BTreeSet;

use doorway_core::{NodeId, Phase};
use doorway_trace::What;

use crate::arrow::{Arrow, Path};
use crate::element::Element;
use crate::geometry::Point;
use crate::palette::Look;
use crate::room::Room;
use crate::svg::Canvas;
use crate::text::{Text, shortened};

use super::history::{End, History, Message, Stay};
use super::lanes::reach;
use super::layout::Layout;
use super::repetition;
use super::routes::Routes;

/// How thick arrows are.
pub(super) const THICK: f64 = 1.7;
/// A longer name of a kind is cut.
pub(super) const MOST_LETTERS: usize = 24;
/// How large the label of an arrow is.
const SIZE: f64 = 11.0;
/// With more messages than this, labels would be unreadable and are left out.
const MOST_LABELLED: usize = 2_000;

/// An arrow of the picture, and what it shows.
pub(super) struct Shown<'m, 'a> {
    message: &'m Message<'a>,
    /// The end of the message that it shows; `None` if it is still in flight.
    end: Option<End<'a>>,
    path: Path,
}

/// The way of every message, once for each of its ends. Where two would go the same way, the later one makes a bow.
pub(super) fn arrows<'m, 'a>(history: &'m History<'a>, layout: &Layout) -> Vec<Shown<'m, 'a>> {
    let ways = Ways { history, layout };
    let each = history.messages.iter().flat_map(|message| {
        let ends = message.ends.iter().copied().map(Some);
        let under_way = message.ends.is_empty().then_some(None);
        ends.chain(under_way).map(move |end| (message, end))
    });
    let mut routes = Routes::default();
    let shown = each.map(|(message, end)| {
        let path = ways.path(message, end);
        let pixels = [path.start().x, path.end().x].map(|x| x.round() as i64);
        let earlier = routes.earlier(message.from, message.to, pixels);
        Shown { message, end, path: apart(path, earlier) }
    });
    shown.collect()
}

/// Draws the arrows and marks their ways.
pub(super) fn draw(canvas: &mut Canvas, history: &History<'_>, arrows: &[Shown<'_, '_>], room: &mut Room) {
    for (number, shown) in arrows.iter().enumerate() {
        room.cross(number, &shown.path);
        let look = history.look(shown.message.kind);
        canvas.group(shown.described(history), |canvas| shown.draw(canvas, look));
    }
}

/// Writes its kind beside one arrow of each multicast, where there is room.
pub(super) fn write_kinds(
    canvas: &mut Canvas,
    history: &History<'_>,
    layout: &Layout,
    arrows: &[Shown<'_, '_>],
    room: &mut Room,
) {
    if arrows.len() > MOST_LABELLED {
        return;
    }
    let mut labelled = BTreeSet::new();
    for (number, shown) in arrows.iter().enumerate() {
        let Message { kind, from, sent, .. } = *shown.message;
        if labelled.contains(&(sent, from, kind)) {
            continue;
        }
        let name = shortened(history.kinds[kind], MOST_LETTERS);
        let class = format!("kind {}", history.look(kind).colour);
        let places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78].map(|share| shown.path.at(share));
        let texts = places.map(|place| Text::around(&name, place, SIZE).class(&class));
        let fits = |text: &&Text| {
            let area = text.area();
            let around = area.grown(10.0);
            !around.has(shown.path.start())
                && !around.has(shown.path.end())
                && room.is_clear(&area.grown(2.0), Some(number))
        };
        if let Some(text) = texts.iter().find(fits) {
            room.take(text.area().grown(2.0));
            canvas.write_on(text, repetition::ground(history, layout, &text.area()));
            labelled.insert((sent, from, kind));
        }
    }
}

impl Shown<'_, '_> {
    fn described(&self, history: &History<'_>) -> Element {
        let Message { event, kind, from, to, sent, ends } = self.message;
        let kind = history.kinds[*kind];
        let mut title = format!("{kind} from {from} to {to}");
        if sent.is_some() {
            title.push_str(&format!(", sent at {}", event.time));
        }
        let group =
            Element::group().data("event", event.id).data("kind", kind).data("from", from).data("to", to);
        let (class, group) = match self.end {
            None => {
                title.push_str(", still under way");
                ("message under-way", group)
            }
            Some(End::Lost { event, why, .. }) => {
                title.push_str(&format!(", lost at {}: {why}", event.time));
                ("message lost", group.data("end", event.id))
            }
            Some(End::Delivered { event, .. }) => {
                title.push_str(&format!(", delivered at {}", event.time));
                let class = if ends.len() > 1 { "message delivered doubled" } else { "message delivered" };
                (class, group.data("end", event.id))
            }
        };
        if let Some(rule) = &event.rule {
            title.push_str(&format!(", by rule {rule}"));
        }
        if let What::Send { message, .. } | What::Deliver { message, .. } = &event.what {
            title.push_str(&format!("\n{}", shortened(&message.to_string(), 200)));
        }
        group.class(class).title(title)
    }

    fn draw(&self, canvas: &mut Canvas, look: Look) {
        let arrow = Arrow { path: self.path, look, thick: THICK };
        let line = format!("{}-line", look.colour);
        match self.end {
            Some(End::Delivered { .. }) => arrow.draw(canvas),
            Some(End::Lost { .. }) => {
                arrow.draw_line(canvas);
                draw_cross(canvas, self.path.end(), &line);
            }
            None => {
                arrow.draw_line(canvas);
                canvas
                    .draw(Element::circle(self.path.end(), 3.5).class(&format!("{line} hollow")).thick(1.4));
            }
        }
    }
}

/// The sign of what is lost.
pub(super) fn draw_cross(canvas: &mut Canvas, at: Point, class: &str) {
    for down in [-5.0, 5.0] {
        let (from, to) = (Point::new(at.x - 5.0, at.y - down), Point::new(at.x + 5.0, at.y + down));
        canvas.draw(Element::line(from, to).class(class).thick(2.4));
    }
}

/// Finds the ways of messages.
struct Ways<'h, 'a> {
    history: &'h History<'a>,
    layout: &'h Layout,
}

impl Ways<'_, '_> {
    fn path(&self, message: &Message<'_>, end: Option<End<'_>>) -> Path {
        let end_moment = end.map(|end| match end {
            End::Delivered { moment, .. } | End::Lost { moment, .. } => moment,
        });
        let near = self.layout.scale.step().clamp(18.0, 60.0);
        let end_place = end_moment.map(|moment| self.layout.scale.place(moment));
        let start = match message.sent {
            Some(moment) => self.layout.scale.place(moment),
            None => end_place.map_or(self.layout.scale.left, |place| place - near),
        };
        let arrives = matches!(end, Some(End::Delivered { .. }));
        // A message that gets lost at the moment of its sending still goes a part of its way.
        let stop = match end_place {
            Some(place) if arrives || place > start + near => place,
            Some(_) | None => start + near,
        };
        let (from, to) = (self.layout.height_of(message.from), self.layout.height_of(message.to));
        if message.from == message.to {
            return loop_above(Point::new(start, from - 4.0), Point::new(stop, from - 4.0));
        }
        let down = (to - from).signum();
        let leaves = from + down * message.sent.map_or(1.0, |_| self.reach(message.from, start));
        let target = to - down * end_moment.map_or(1.0, |_| self.reach(message.to, stop));
        let (first, last) = (Point::new(start, leaves), Point::new(stop, target));
        if arrives {
            return Path::Straight(first, last);
        }
        // What does not arrive ends before the last lane, between two lanes.
        let rest = self.layout.gap / 2.0 / (target - leaves).abs().max(1.0);
        Path::Straight(first, first.towards(last, (1.0 - rest).max(0.4)))
    }

    /// How far the band of a node reaches at this place: the wider of what ends and what begins.
    fn reach(&self, node: NodeId, x: f64) -> f64 {
        let place = |moment| self.layout.scale.place(moment);
        let stays = &self.history.lanes[node.index()].stays;
        let after = stays.partition_point(|stay| place(stay.until) < x);
        let near = stays[after..].iter().take_while(|stay| place(stay.from) <= x);
        let is_seen = |stay: &&Stay| place(stay.until) > place(stay.from);
        near.filter(is_seen).map(|stay| reach(stay.phase)).fold(reach(Phase::Outside), f64::max) + 0.5
    }
}

/// A straight way, with a bow if others went it before. A message that takes no time has a bow in any case: it goes down on
/// the right and up on the left.
fn apart(path: Path, before: u32) -> Path {
    let Path::Straight(first, last) = path else { return path };
    let is_upright = last.x - first.x < 4.0;
    match if is_upright { before + 1 } else { before } {
        0 => path,
        bows => path.bowed(10.0 * f64::from(bows)),
    }
}

/// The way of a message to oneself.
fn loop_above(first: Point, last: Point) -> Path {
    let wide = if last.x - first.x < 16.0 { 14.0 } else { 0.0 };
    let (one, two) = (Point::new(first.x - wide, first.y - 30.0), Point::new(last.x + wide, last.y - 30.0));
    Path::Curved(first, [one, two], last)
}
