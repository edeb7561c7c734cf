//! The lanes: in which phase each node is, its entries with their fences, its pauses and crashes, and what must never happen.

use doorway_core::{NodeId, Phase};

use crate::element::Element;
use crate::geometry::{Area, Point};
use crate::room::Room;
use crate::svg::Canvas;
use crate::text::{Anchor, Text, shortened, wrapped};

use super::history::{History, Lane, Pause, Stay};
use super::layout::Layout;

/// The sizes of the numbers of nodes and of the other labels.
pub(super) const NODE_SIZE: f64 = 15.0;
const LABEL_SIZE: f64 = 11.0;
const NOTE_SIZE: f64 = 13.0;
/// More violations than these are only counted below the picture.
const MOST_NOTES: usize = 8;

pub(super) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Outside => "outside",
        Phase::Waiting => "waiting",
        Phase::Inside => "inside",
    }
}

/// How far the band of a phase reaches from the middle of its lane.
pub(super) fn reach(phase: Phase) -> f64 {
    match phase {
        Phase::Outside => 1.0,
        Phase::Waiting => 4.0,
        Phase::Inside => 8.0,
    }
}

/// The pattern that waiting is filled with.
pub(super) fn define_patterns(canvas: &mut Canvas) {
    canvas.define(
        "<pattern id=\"doorway-waiting\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect class=\"paper\" width=\"5\" height=\"5\"/>\
         <line class=\"soft-line\" x1=\"1\" y1=\"0\" x2=\"1\" y2=\"5\" stroke-width=\"1.6\"/></pattern>",
    );
}

/// Draws all lanes and takes their room.
pub(super) fn draw(canvas: &mut Canvas, history: &History<'_>, layout: &Layout, room: &mut Room) {
    for (node, lane) in NodeId::first(history.lanes.len()).zip(&history.lanes) {
        canvas.group(Element::group().class("lane").data("node", node), |canvas| {
            draw_lane(canvas, node, lane, layout, room);
        });
    }
}

fn draw_lane(canvas: &mut Canvas, node: NodeId, lane: &Lane, layout: &Layout, room: &mut Room) {
    let y = layout.height_of(node);
    let number = Point::new(layout.scale.left - 12.0, y);
    let number = Text::beside(&node.to_string(), number, NODE_SIZE).anchor(Anchor::End).bold();
    room.take(number.area());
    canvas.write(&number);
    for pause in &lane.pauses {
        draw_pause(canvas, node, pause, layout);
    }
    for (index, stay) in lane.stays.iter().enumerate() {
        let from = if index == 0 { layout.scale.left } else { layout.scale.place(stay.from) };
        let until = layout.scale.place(stay.until);
        if until <= from {
            continue;
        }
        draw_stay(canvas, node, stay, Point::new(from, y), until);
        let reach = reach(stay.phase).max(3.0);
        room.take(Area::new(from, y - reach - 1.0, until, y + reach + 1.0));
    }
}

/// A shadow behind the lane while its node stands still.
fn draw_pause(canvas: &mut Canvas, node: NodeId, pause: &Pause, layout: &Layout) {
    let (from, until) = (layout.scale.place(pause.from), layout.scale.place(pause.until));
    let from = Point::new(from, layout.height_of(node));
    let group =
        Element::group().class("pause").data("event", pause.event).title(format!("node {node} stands still"));
    canvas.group(group, |canvas| draw_shadow(canvas, from, until));
}

pub(super) fn draw_shadow(canvas: &mut Canvas, from: Point, until: f64) {
    canvas
        .draw(Element::rectangle(Area::new(from.x, from.y - 11.0, until, from.y + 11.0), 3.0).class("faint"));
}

fn draw_stay(canvas: &mut Canvas, node: NodeId, stay: &Stay, from: Point, until: f64) {
    let fence = stay.fence.map_or(String::new(), |fence| format!(" with fence {fence}"));
    let title = format!("node {node} is {}{fence}", name(stay.phase));
    let mut group = Element::group().class(&format!("stay {}", name(stay.phase))).title(title);
    if let Some(event) = stay.event {
        group = group.data("event", event);
    }
    draw_band(canvas, stay.phase, from, until, group);
}

/// The band of one phase.
pub(super) fn draw_band(canvas: &mut Canvas, phase: Phase, from: Point, until: f64, group: Element) {
    let reach = reach(phase);
    let area = Area::new(from.x, from.y - reach, until, from.y + reach);
    let shape = match phase {
        Phase::Outside => Element::line(from, Point::new(until, from.y)).class("soft-line").thick(1.2),
        Phase::Waiting => Element::rectangle(area, 0.0)
            .class("soft-line")
            .attribute("style", "fill:url(#doorway-waiting)")
            .thick(1.0),
        Phase::Inside => Element::rectangle(area, 2.0).class("ink"),
    };
    canvas.group(group, |canvas| canvas.draw(shape));
}

/// Draws the steps as dots, over the arrows. Those that come with an access have its sign.
pub(super) fn draw_steps(canvas: &mut Canvas, history: &History<'_>, layout: &Layout) {
    for (node, lane) in NodeId::first(history.lanes.len()).zip(&history.lanes) {
        for &(moment, event) in lane.steps.iter().filter(|(moment, _)| !history.has_access(*moment)) {
            let at = Point::new(layout.scale.place(moment), layout.height_of(node));
            canvas.draw(
                Element::circle(at, 3.0).class("step ink paper-line dot").thick(1.2).data("event", event),
            );
        }
    }
}

/// Writes the fence of each entry where there is room: in its band between two steps, above or below it.
pub(super) fn write_fences(canvas: &mut Canvas, history: &History<'_>, layout: &Layout, room: &mut Room) {
    for (node, lane) in NodeId::first(history.lanes.len()).zip(&history.lanes) {
        for stay in &lane.stays {
            let Some(fence) = stay.fence else { continue };
            let fence = fence.to_string();
            let (from, until) = widest_gap(lane, stay, layout);
            let middle = Point::new(f64::midpoint(from, until), layout.height_of(node));
            let within = Text::around(&fence, middle, LABEL_SIZE).bold().class("fence paper");
            if within.width() + 10.0 <= until - from {
                canvas.write(&within);
                continue;
            }
            let beside = [-17.0, 17.0].map(|down| {
                let at = Point::new(middle.x, middle.y + down);
                Text::around(&fence, at, LABEL_SIZE).bold().class("fence ink")
            });
            if let Some(text) = beside.into_iter().find(|text| room.is_clear(&text.area().grown(1.0), None)) {
                room.take(text.area().grown(1.0));
                canvas.write(&text);
            }
        }
    }
}

/// The widest part of a stay in which the node makes no step.
fn widest_gap(lane: &Lane, stay: &Stay, layout: &Layout) -> (f64, f64) {
    let begin = lane.steps.partition_point(|&(moment, _)| moment < stay.from);
    let steps = lane.steps[begin..].iter().map(|&(moment, _)| moment);
    let mut widest = (layout.scale.place(stay.from), layout.scale.place(stay.from));
    let mut last = stay.from;
    for moment in steps.take_while(|&moment| moment < stay.until).chain([stay.until]) {
        let gap = (layout.scale.place(last), layout.scale.place(moment));
        if gap.1 - gap.0 > widest.1 - widest.0 {
            widest = gap;
        }
        last = moment;
    }
    widest
}

/// Marks where lanes end in a crash.
pub(super) fn draw_crashes(canvas: &mut Canvas, history: &History<'_>, layout: &Layout, room: &mut Room) {
    for (node, lane) in NodeId::first(history.lanes.len()).zip(&history.lanes) {
        for &(moment, event) in &lane.crashes {
            let at = Point::new(layout.scale.place(moment), layout.height_of(node));
            let title = format!("node {node} crashes");
            let group = Element::group().class("crash").data("event", event).title(title);
            canvas.group(group, |canvas| draw_crash_sign(canvas, at));
            room.take(Area::new(at.x - 9.0, at.y - 9.0, at.x + 9.0, at.y + 9.0));
        }
    }
}

pub(super) fn draw_crash_sign(canvas: &mut Canvas, at: Point) {
    canvas.draw(Element::circle(at, 8.0).class("alarm-line hollow").thick(2.0));
    for down in [-3.6, 3.6] {
        let (from, to) = (Point::new(at.x - 3.6, at.y - down), Point::new(at.x + 3.6, at.y + down));
        canvas.draw(Element::line(from, to).class("alarm-line").thick(2.0));
    }
}

/// Marks violations in the lanes and tells them below the picture; answers where that ends.
pub(super) fn draw_violations(
    canvas: &mut Canvas,
    history: &History<'_>,
    layout: &Layout,
    room: &mut Room,
    top: f64,
) -> f64 {
    for violation in &history.violations {
        let x = layout.scale.place(violation.moment);
        let (at, lane) = (Point::new(x, layout.top), Point::new(x, layout.height_of(violation.event.node)));
        let group =
            Element::group().class("violation").data("event", violation.event.id).title(violation.what);
        canvas.group(group, |canvas| {
            let (from, to) = (Point::new(x, layout.top), Point::new(x, layout.bottom));
            canvas.draw(Element::line(from, to).class("alarm-line").thick(1.2).dashed("3 4"));
            canvas.draw(Element::circle(lane, 12.0).class("alarm-line").thick(2.0));
            draw_warning(canvas, at);
        });
        room.take(Area::new(at.x - 9.0, at.y - 9.0, at.x + 9.0, at.y + 9.0));
    }
    write_notes(canvas, history, layout, top)
}

/// A triangle with an exclamation mark.
pub(super) fn draw_warning(canvas: &mut Canvas, at: Point) {
    let corner = |x: f64, y: f64| Point::new(at.x + x, at.y + y);
    canvas.draw(Element::polygon(&[corner(0.0, -8.0), corner(9.0, 7.0), corner(-9.0, 7.0)]).class("alarm"));
    canvas.draw(Element::line(corner(0.0, -3.5), corner(0.0, 2.0)).class("paper-line").thick(2.0));
    canvas.draw(Element::circle(corner(0.0, 4.6), 1.2).class("paper"));
}

fn write_notes(canvas: &mut Canvas, history: &History<'_>, layout: &Layout, top: f64) -> f64 {
    let told = history.violations.iter().take(MOST_NOTES);
    let mut notes: Vec<String> = told
        .map(|violation| format!("time {}: {}", violation.event.time, shortened(violation.what, 400)))
        .collect();
    let rest = history.violations.len().saturating_sub(MOST_NOTES);
    if rest > 0 {
        notes.push(format!("and {rest} more violations"));
    }
    let mut y = top;
    let width = layout.scale.right - layout.scale.left - 26.0;
    for note in notes {
        y += 8.0;
        draw_warning(canvas, Point::new(layout.scale.left + 9.0, y + 8.0));
        for line in wrapped(&note, NOTE_SIZE, width) {
            canvas.write(
                &Text::beside(&line, Point::new(layout.scale.left + 26.0, y + 9.0), NOTE_SIZE).class("alarm"),
            );
            y += 19.0;
        }
    }
    y
}
