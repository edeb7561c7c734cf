//! The elements of a picture as plain data: shapes, groups and texts, each with its position, its classes and what it refers to.
//!
//! A picture is computed once, as a list of elements. The SVG writer ([`crate::Canvas`]) and the pages of the studio paint the same list.
//! As JSON an element is one flat object: `{"shape":"circle","cx":4,"cy":8,"r":3,"class":"node-shape","data-node":"2"}`. `shape` is the
//! name of the SVG element; the other members are its attributes, apart from `title` (a tooltip), `text` (what a text says) and
//! `children` (of a group).

use std::borrow::Cow;
use std::fmt::Display;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::geometry::{Area, Point};

/// One element of a picture.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an element is painted once it is drawn on a canvas or listed in a layout"]
pub struct Element {
    pub(super) name: &'static str,
    pub(super) attributes: Vec<(Cow<'static, str>, Value)>,
    pub(super) title: Option<String>,
    /// What a text says; `None` for all other elements.
    pub(super) text: Option<String>,
    pub(super) children: Vec<Element>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), title: None, text: None, children: Vec::new() }
    }

    /// A group, still without children.
    pub fn group() -> Self {
        Self::new("g")
    }

    /// A straight line.
    pub fn line(from: Point, to: Point) -> Self {
        let ends = Self::new("line").number("x1", from.x).number("y1", from.y);
        ends.number("x2", to.x).number("y2", to.y)
    }

    /// A circle.
    pub fn circle(centre: Point, radius: f64) -> Self {
        Self::new("circle").number("cx", centre.x).number("cy", centre.y).number("r", radius)
    }

    /// A rectangle with round corners of this radius.
    pub fn rectangle(area: Area, radius: f64) -> Self {
        let corner = Self::new("rect").number("x", area.left).number("y", area.top);
        let sized = corner.number("width", area.width()).number("height", area.height());
        if radius > 0.0 { sized.number("rx", radius) } else { sized }
    }

    /// A line through these points.
    pub fn polyline(points: &[Point]) -> Self {
        Self::new("polyline").attribute("points", &listed(points))
    }

    /// The area between these points.
    pub fn polygon(points: &[Point]) -> Self {
        Self::new("polygon").attribute("points", &listed(points))
    }

    /// A cubic Bézier curve with two control points.
    pub fn curve(from: Point, controls: [Point; 2], to: Point) -> Self {
        let at = |point: Point| format!("{} {}", number(point.x), number(point.y));
        let path = format!("M{} C{} {} {}", at(from), at(controls[0]), at(controls[1]), at(to));
        Self::new("path").attribute("d", &path)
    }

    /// The same with these classes, which decide its colours.
    pub fn class(self, classes: &str) -> Self {
        self.attribute("class", classes)
    }

    /// The same with a line of this width.
    pub fn thick(self, width: f64) -> Self {
        self.number("stroke-width", width)
    }

    /// The same with a dashed line; an empty dash is a whole line.
    pub fn dashed(self, dash: &str) -> Self {
        if dash.is_empty() { self } else { self.attribute("stroke-dasharray", dash) }
    }

    /// The same with what it refers to, such as an event or a node: `data-NAME`.
    pub fn data(mut self, name: &str, value: impl Display) -> Self {
        self.attributes.push((format!("data-{name}").into(), Value::Text(value.to_string())));
        self
    }

    /// The same with a tooltip.
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The same with any other attribute.
    pub fn attribute(mut self, name: &'static str, value: &str) -> Self {
        self.attributes.push((name.into(), Value::Text(value.to_owned())));
        self
    }

    /// The same group with these children.
    pub fn holding(self, children: Vec<Element>) -> Self {
        Self { children, ..self }
    }

    pub(super) fn number(mut self, name: &'static str, value: f64) -> Self {
        self.attributes.push((name.into(), Value::Number(value)));
        self
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("shape", self.name)?;
        for (name, value) in &self.attributes {
            match value {
                Value::Number(value) => map.serialize_entry(name, &rounded(*value))?,
                Value::Text(text) => map.serialize_entry(name, text)?,
            }
        }
        if let Some(title) = &self.title {
            map.serialize_entry("title", title)?;
        }
        if let Some(text) = &self.text {
            map.serialize_entry("text", text)?;
        }
        if !self.children.is_empty() {
            map.serialize_entry("children", &self.children)?;
        }
        map.end()
    }
}

fn listed(points: &[Point]) -> String {
    let one = |point: &Point| format!("{},{}", number(point.x), number(point.y));
    points.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A number with at most two decimals.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// The same number for JSON. Adding zero turns -0 into 0.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_always_the_same() {
        assert_eq!(
            [0.0, -0.001, 1.0, 1.5, 2.125, -3.999_9, 1e6].map(number),
            ["0", "0", "1", "1.5", "2.12", "-4", "1000000"]
        );
    }

    #[test]
    fn an_element_is_one_flat_object() {
        let ring = Element::circle(Point::new(1.0, -0.001), 3.456).class("node-shape").data("node", 2);
        let group = Element::group().title("node 2").holding(vec![ring]);
        assert_eq!(
            serde_json::to_string(&group).expect("it can be written"),
            "{\"shape\":\"g\",\"title\":\"node 2\",\"children\":[{\"shape\":\"circle\",\"cx\":1.0,\"cy\":0.0,\"r\":3.46,\
             \"class\":\"node-shape\",\"data-node\":\"2\"}]}"
        );
    }
}
