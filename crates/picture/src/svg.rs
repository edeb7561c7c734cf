//! The canvas collects the elements of a picture and writes them as SVG.
//!
//! It knows where every text stands, so that a drawing can tell whether two of them overlap. The same calls give the same bytes:
//! numbers have two decimals, and the order of attributes is the order of the calls.

use std::fmt::Write;
use std::mem;

use super::element::{Element, Value, number};
use super::palette::{Theme, stylesheet};
use super::text::Text;
use super::{Drawing, LabelBox};

/// A picture in the making.
#[derive(Debug)]
pub struct Canvas {
    title: String,
    description: String,
    definitions: String,
    elements: Vec<Element>,
    labels: Vec<LabelBox>,
}

impl Canvas {
    /// An empty picture. Title and description are for those who cannot see it.
    #[must_use]
    pub fn new(title: &str, description: &str) -> Self {
        Self {
            title: title.to_owned(),
            description: description.to_owned(),
            definitions: String::new(),
            elements: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// Draws an element over what is there.
    pub fn draw(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// Draws a group: `content` draws its children.
    pub fn group(&mut self, group: Element, content: impl FnOnce(&mut Self)) {
        let outside = mem::take(&mut self.elements);
        content(self);
        let children = mem::replace(&mut self.elements, outside);
        self.elements.push(group.holding(children));
    }

    /// Writes a text and remembers where it stands.
    pub fn write(&mut self, text: &Text) {
        if text.content().is_empty() {
            return;
        }
        self.elements.push(text.element());
        self.labels.push(LabelBox { text: text.content().to_owned(), area: text.area() });
    }

    /// Writes a text on paper of its own, so that no line runs through it.
    pub fn write_over(&mut self, text: &Text) {
        self.write_on(text, "paper");
    }

    /// Writes a text on a ground of its own, which has the colour of this class.
    pub fn write_on(&mut self, text: &Text, ground: &str) {
        let around = text.area().grown(1.5);
        self.draw(Element::rectangle(around, 2.0).class(ground));
        self.write(text);
    }

    /// Puts something into the definitions, such as a pattern to fill with.
    pub fn define(&mut self, definition: &str) {
        self.definitions.push_str(definition);
        self.definitions.push('\n');
    }

    /// Where the texts stand that were written so far.
    #[must_use]
    pub fn labels(&self) -> &[LabelBox] {
        &self.labels
    }

    /// The picture, as large as this in whole pixels.
    #[must_use]
    pub fn finish(self, width: f64, height: f64, theme: Theme) -> Drawing {
        let (width, height) = (width.ceil(), height.ceil());
        let (across, down) = (number(width), number(height));
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"doorway\" role=\"img\" width=\"{across}\" \
             height=\"{down}\" viewBox=\"0 0 {across} {down}\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
             <style>\n{}</style>\n<defs>\n{}</defs>\n<rect class=\"paper\" width=\"{across}\" height=\"{down}\"/>\n\
             {}</svg>\n",
            stylesheet(theme),
            self.definitions,
            written(&self.elements)
        );
        Drawing { svg, width, height, elements: self.elements, labels: self.labels }
    }
}

/// Elements as SVG, one on each line.
fn written(elements: &[Element]) -> String {
    let mut svg = String::new();
    for element in elements {
        write_element(&mut svg, element);
    }
    svg
}

fn write_element(svg: &mut String, element: &Element) {
    let Element { name, attributes, title, text, children } = element;
    let _ = write!(svg, "<{name}");
    for (name, value) in attributes {
        let _ = match value {
            Value::Number(value) => write!(svg, " {name}=\"{}\"", number(*value)),
            Value::Text(text) => write!(svg, " {name}=\"{}\"", escaped(text)),
        };
    }
    let is_group = *name == "g";
    if !is_group && title.is_none() && text.is_none() {
        svg.push_str("/>\n");
        return;
    }
    svg.push('>');
    if let Some(title) = title {
        let _ = write!(svg, "<title>{}</title>", escaped(title));
    }
    if let Some(text) = text {
        svg.push_str(&escaped(text));
    }
    if is_group {
        svg.push('\n');
    }
    for child in children {
        write_element(svg, child);
    }
    let _ = writeln!(svg, "</{name}>");
}

/// Text as XML and HTML can have it. Letters that XML does not allow, and those that turn the direction of what follows, are replaced.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            _ if letter.is_control() || is_not_a_letter(letter) => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

fn is_not_a_letter(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    #[test]
    fn hostile_texts_are_only_texts() {
        let hostile = "</text><script>alert(1)</script>&\"'\u{0}\u{1b}\u{7f}\u{85}\u{202e}\u{fffe}\r\nend";
        let mut canvas = Canvas::new(hostile, hostile);
        canvas.draw(
            Element::circle(Point::new(1.0, 2.0), 3.0).class(hostile).data("kind", hostile).title(hostile),
        );
        canvas.write(&Text::new(hostile, Point::new(0.0, 10.0), 10.0).data("kind", hostile));
        let drawing = canvas.finish(10.0, 10.0, Theme::Auto);
        let document = roxmltree::Document::parse(&drawing.svg).expect("it is XML");
        assert!(document.descendants().all(|node| !node.has_tag_name("script")));
        let text = document.descendants().find(|node| node.has_tag_name((SVG, "text"))).expect("the text");
        let read = text.text().expect("it says something");
        assert!(read.starts_with("</text><script>alert(1)</script>&\"'\u{fffd}\u{fffd}"), "{read:?}");
        assert!(read.ends_with("  end"), "{read:?}");
    }

    const SVG: &str = "http://www.w3.org/2000/svg";
}
