//! Lines of text with a known width.

use std::fmt::Display;

use super::element::Element;
use super::font::{self, Weight};
use super::geometry::{Area, Point};

/// Where the position of a text is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// At its start.
    #[default]
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A line of text.
#[derive(Clone, Debug)]
#[must_use = "a text is there when it has been written"]
pub struct Text {
    content: String,
    baseline: Point,
    size: f64,
    weight: Weight,
    anchor: Anchor,
    class: String,
    data: Vec<(String, String)>,
}

impl Text {
    /// A text of this size whose first letter stands at this point of its baseline.
    pub fn new(content: &str, baseline: Point, size: f64) -> Self {
        let content: String =
            content.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
        let (class, data) = ("ink".to_owned(), Vec::new());
        Self { content, baseline, size, weight: Weight::Regular, anchor: Anchor::Start, class, data }
    }

    /// A text whose capital letters have their middle at this height.
    pub fn beside(content: &str, middle: Point, size: f64) -> Self {
        Self::new(content, Point::new(middle.x, middle.y + font::CAPITALS / 2.0 * size), size)
    }

    /// A text whose middle is here.
    pub fn around(content: &str, centre: Point, size: f64) -> Self {
        Self::beside(content, centre, size).anchor(Anchor::Middle)
    }

    /// The same on this side of its place.
    pub fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same in strong letters.
    pub fn bold(self) -> Self {
        Self { weight: Weight::SemiBold, ..self }
    }

    /// The same with these classes instead of `ink`.
    pub fn class(self, classes: &str) -> Self {
        Self { class: classes.to_owned(), ..self }
    }

    /// The same with what it refers to: `data-NAME`.
    pub fn data(mut self, name: &str, value: impl Display) -> Self {
        self.data.push((name.to_owned(), value.to_string()));
        self
    }

    /// What it says.
    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// The text as an element. It carries its width, so that a browser without the font keeps to the layout.
    pub(super) fn element(&self) -> Element {
        let mut element = Element::new("text").class(&self.class);
        element =
            element.number("x", self.baseline.x).number("y", self.baseline.y).number("font-size", self.size);
        if self.weight == Weight::SemiBold {
            element = element.attribute("font-weight", "600");
        }
        element = match self.anchor {
            Anchor::Start => element,
            Anchor::Middle => element.attribute("text-anchor", "middle"),
            Anchor::End => element.attribute("text-anchor", "end"),
        };
        for (name, value) in &self.data {
            element = element.data(name, value);
        }
        element = element.number("textLength", self.width()).attribute("lengthAdjust", "spacingAndGlyphs");
        Element { text: Some(self.content.clone()), ..element }
    }

    /// How wide it is.
    #[must_use]
    pub fn width(&self) -> f64 {
        font::width(&self.content, self.size, self.weight)
    }

    /// The box that it fills.
    #[must_use]
    pub fn area(&self) -> Area {
        let width = self.width();
        let left = match self.anchor {
            Anchor::Start => self.baseline.x,
            Anchor::Middle => self.baseline.x - width / 2.0,
            Anchor::End => self.baseline.x - width,
        };
        let (top, bottom) =
            (self.baseline.y - font::ABOVE * self.size, self.baseline.y + font::BELOW * self.size);
        Area::new(left, top, left + width, bottom)
    }
}

/// A text in lines that are no wider than this; a word that is wider has a line of its own.
#[must_use]
pub fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), size, Weight::Regular) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text cut to this many letters, with dots if something is missing.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_of_a_text_is_where_it_stands() {
        let text = Text::new("Mm", Point::new(100.0, 50.0), 10.0);
        let width = text.width();
        assert_eq!(text.area(), Area::new(100.0, 42.2, 100.0 + width, 52.2));
        assert_eq!(text.clone().anchor(Anchor::End).area().left, 100.0 - width);
        assert_eq!(text.anchor(Anchor::Middle).area().left, 100.0 - width / 2.0);
    }

    #[test]
    fn long_texts_are_wrapped_or_cut() {
        assert_eq!(
            wrapped("one two three", 10.0, font::width("one two", 10.0, Weight::Regular)),
            ["one two", "three"]
        );
        assert!(wrapped("  ", 10.0, 50.0).is_empty());
        assert_eq!((shortened("äöü", 3), shortened("äöü", 2)), ("äöü".to_owned(), "äö…".to_owned()));
    }
}
