//! Accesses to shared memory: a sign on the lane for each, and what its label says was read or written.

use doorway_trace::AccessKind;

use crate::element::Element;
use crate::geometry::Point;
use crate::svg::Canvas;
use crate::text::shortened;

use super::history::Access;

/// Every way to get at a register, in the order of the key.
pub(super) const KINDS: [AccessKind; 6] = [
    AccessKind::Read,
    AccessKind::Write,
    AccessKind::Begin,
    AccessKind::End,
    AccessKind::Reach,
    AccessKind::Barrier,
];

/// A longer name of a register is cut.
const MOST_LETTERS: usize = 24;
/// How far a sign reaches.
const RADIUS: f64 = 4.4;
/// How wide the paper around a sign is, so that it is seen on a band as well.
const HALO: f64 = 1.2;

/// What the key calls it.
pub(super) fn name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Begin => "a slow write begins",
        AccessKind::End => "a slow write ends",
        AccessKind::Reach => "a store reaches memory",
        AccessKind::Barrier => "barrier",
    }
}

/// What was read or written, in the signs of the textbook.
pub(super) fn label(access: &Access<'_>) -> String {
    let (register, value) = (shortened(access.register, MOST_LETTERS), access.value);
    match access.kind {
        AccessKind::Read => format!("{register} = {value}"),
        AccessKind::Write => format!("{register} := {value}"),
        AccessKind::Begin => format!("{register} := {value} …"),
        AccessKind::End => format!("… {register} := {value}"),
        AccessKind::Reach => format!("{register} → {value}"),
        AccessKind::Barrier => "barrier".to_owned(),
    }
}

pub(super) fn described(access: &Access<'_>) -> Element {
    let &Access { event, kind, register, value, line, .. } = access;
    let (node, time) = (event.node, event.time);
    let (class, mut title) = match kind {
        AccessKind::Read => ("access read", format!("node {node} reads {register} = {value}")),
        AccessKind::Write => ("access write", format!("node {node} writes {register} := {value}")),
        AccessKind::Begin => ("access begin", format!("node {node} begins to write {register} := {value}")),
        AccessKind::End => ("access end", format!("node {node} has written {register} := {value}")),
        AccessKind::Reach => {
            ("access reach", format!("what node {node} wrote reaches memory: {register} → {value}"))
        }
        AccessKind::Barrier => ("access barrier", format!("node {node} passes a barrier")),
    };
    title.push_str(&format!(", at {time}"));
    if line > 0 {
        title.push_str(&format!(", line {line}"));
    }
    if let Some(rule) = &event.rule {
        title.push_str(&format!(", by rule {rule}"));
    }
    Element::group().class(class).data("event", event.id).data("register", register).title(title)
}

/// A hollow circle reads and a full one writes. The two halves of a slow write are those of its circle; what comes out of a
/// buffer is a diamond, a barrier stands across the lane.
pub(super) fn draw_sign(canvas: &mut Canvas, kind: AccessKind, at: Point) {
    match kind {
        AccessKind::Read => draw_hollow_circle(canvas, at),
        AccessKind::Write => {
            canvas.draw(Element::circle(at, RADIUS + HALO / 2.0).class("ink paper-line").thick(HALO));
        }
        AccessKind::Begin | AccessKind::End => {
            draw_hollow_circle(canvas, at);
            canvas.draw(half_circle(kind, at));
        }
        AccessKind::Reach => {
            let reach = RADIUS * 1.5;
            let corner = |x: f64, y: f64| Point::new(at.x + x * reach, at.y + y * reach);
            let corners = [corner(0.0, -1.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(-1.0, 0.0)];
            canvas.draw(Element::polygon(&corners).class("ink paper-line").thick(HALO));
        }
        AccessKind::Barrier => {
            let end = |y: f64| Point::new(at.x, at.y + y * RADIUS * 1.8);
            canvas.draw(Element::line(end(-1.0), end(1.0)).class("paper-line").thick(3.0 + 2.0 * HALO));
            canvas.draw(Element::line(end(-1.0), end(1.0)).class("ink-line").thick(3.0));
        }
    }
}

fn draw_hollow_circle(canvas: &mut Canvas, at: Point) {
    canvas.draw(Element::circle(at, RADIUS + HALO).class("paper"));
    canvas.draw(Element::circle(at, RADIUS - 0.8).class("ink-line hollow").thick(1.6));
}

/// The left half of a circle if something begins, else the right one.
fn half_circle(kind: AccessKind, at: Point) -> Element {
    let side = if kind == AccessKind::Begin { -1.0 } else { 1.0 };
    // A curve whose pulls are 4/3 of the radius away is as good as half a circle.
    let (x, radius) = (at.x + side * 4.0 / 3.0 * RADIUS, RADIUS);
    let (top, bottom) = (at.y - radius, at.y + radius);
    let pulls = [Point::new(x, top), Point::new(x, bottom)];
    Element::curve(Point::new(at.x, top), pulls, Point::new(at.x, bottom)).class("ink")
}
