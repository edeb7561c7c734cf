//! The endless part of a run: a calm band behind the lanes, from where the run begins to repeat itself to its end.

use crate::element::Element;
use crate::geometry::{Area, Point};
use crate::room::Room;
use crate::svg::Canvas;
use crate::text::{Anchor, Text};

use super::history::{History, Repetition};
use super::layout::Layout;

/// How the band is called, in it and in the key.
pub(super) const NAME: &str = "repeats for ever";
const SIZE: f64 = 12.0;
/// How far the band reaches above the lanes, so that its name covers no other label.
const HEAD: f64 = 28.0;
/// How far the name is from the edge of the band.
const INDENT: f64 = 8.0;

/// How much room the name needs above the lanes.
pub(super) fn head(history: &History<'_>) -> f64 {
    history.repetition.map_or(0.0, |_| HEAD)
}

/// Draws the band, if there is one, with its name.
pub(super) fn draw(canvas: &mut Canvas, history: &History<'_>, layout: &Layout, room: &mut Room) {
    let Some(repetition) = history.repetition else { return };
    let from = layout.scale.between(repetition.moment);
    let area = Area::new(from, layout.top - HEAD, layout.scale.right, layout.bottom);
    let name = name(area);
    room.take(name.area().grown(2.0));
    let Repetition { event, time, .. } = repetition;
    let title = format!("what happens after time {time} {NAME}");
    let group = Element::group().class("repetition").data("event", event).title(title);
    canvas.group(group, |canvas| {
        draw_band(canvas, area);
        canvas.write(&name);
    });
}

/// The colour of what is behind the most of an area: the band, or the paper.
pub(super) fn ground(history: &History<'_>, layout: &Layout, area: &Area) -> &'static str {
    let middle = f64::midpoint(area.left, area.right);
    let is_shaded = |repetition: Repetition| layout.scale.between(repetition.moment) <= middle;
    if history.repetition.is_some_and(is_shaded) { "wash" } else { "paper" }
}

/// A band that is shaded, with a line where it begins.
pub(super) fn draw_band(canvas: &mut Canvas, area: Area) {
    canvas.draw(Element::rectangle(area, 0.0).class("wash"));
    let (top, bottom) = (Point::new(area.left, area.top), Point::new(area.left, area.bottom));
    canvas.draw(Element::line(top, bottom).class("soft-line").thick(1.2).dashed("5 4"));
}

/// The name at the head of the band: at its beginning, or, where it is too narrow, up to its end.
fn name(band: Area) -> Text {
    let place = |x: f64| Point::new(x, band.top + HEAD / 2.0 - 3.0);
    let inside = Text::beside(NAME, place(band.left + INDENT), SIZE).class("soft");
    if inside.area().right + INDENT <= band.right {
        return inside;
    }
    Text::beside(NAME, place(band.right), SIZE).class("soft").anchor(Anchor::End)
}
