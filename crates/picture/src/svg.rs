//! A writer of SVG: shapes, texts and groups, one after the other.
//!
//! It knows where every text stands, so that a drawing can be asked whether two of them are in each other's way. The same
//! calls give the same bytes: numbers have two decimals, and nothing is ordered by chance.

use std::fmt::{Display, Write};

use super::font::{self, Weight};
use super::geometry::{Area, Point};
use super::palette::{Theme, stylesheet};
use super::{Drawing, LabelBox};

/// A picture in the making.
#[derive(Debug)]
pub struct Canvas {
    title: String,
    description: String,
    definitions: String,
    body: String,
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
            body: String::new(),
            labels: Vec::new(),
        }
    }

    /// Draws a shape over what is there.
    pub fn draw(&mut self, shape: Shape) {
        let Shape { name, attributes, title } = shape;
        let _ = match title {
            Some(title) => {
                writeln!(self.body, "<{name}{attributes}><title>{}</title></{name}>", escaped(&title))
            }
            None => writeln!(self.body, "<{name}{attributes}/>"),
        };
    }

    /// Draws several things as one, which has the attributes of `group`.
    pub fn group(&mut self, group: Shape, content: impl FnOnce(&mut Self)) {
        let Shape { attributes, title, .. } = group;
        let title = title.map_or(String::new(), |title| format!("<title>{}</title>", escaped(&title)));
        let _ = writeln!(self.body, "<g{attributes}>{title}");
        content(self);
        self.body.push_str("</g>\n");
    }

    /// Writes a text and remembers where it stands.
    pub fn write(&mut self, text: &Text) {
        let Text { content, baseline, size, weight, anchor, class, data } = text;
        if content.is_empty() {
            return;
        }
        let (x, y) = (number(baseline.x), number(baseline.y));
        let (size, width) = (number(*size), number(text.width()));
        let weight = if *weight == Weight::SemiBold { " font-weight=\"600\"" } else { "" };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight}{anchor}{data} \
             textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            escaped(content)
        );
        self.labels.push(LabelBox { text: content.clone(), area: text.area() });
    }

    /// Writes a text on paper of its own, so that no line runs through it.
    pub fn write_over(&mut self, text: &Text) {
        self.write_on(text, "paper");
    }

    /// Writes a text on a ground of its own, which has the colour of this class.
    pub fn write_on(&mut self, text: &Text, ground: &str) {
        let around = text.area().grown(1.5);
        self.draw(Shape::rectangle(around, 2.0).class(ground));
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
            self.body
        );
        Drawing { svg, width, height, labels: self.labels }
    }
}

/// One element: what it is, and what it looks like.
#[derive(Clone, Debug)]
#[must_use = "a shape is there when it has been drawn"]
pub struct Shape {
    name: &'static str,
    attributes: String,
    title: Option<String>,
}

impl Shape {
    fn new(name: &'static str) -> Self {
        Self { name, attributes: String::new(), title: None }
    }

    /// Several things as one.
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

    /// A curve from one point to another, drawn towards two others on its way.
    pub fn curve(from: Point, pulls: [Point; 2], to: Point) -> Self {
        let at = |point: Point| format!("{} {}", number(point.x), number(point.y));
        let path = format!("M{} C{} {} {}", at(from), at(pulls[0]), at(pulls[1]), at(to));
        Self::new("path").attribute("d", &path)
    }

    /// The same with these classes, which decide its colours.
    pub fn class(self, classes: &str) -> Self {
        self.attribute("class", classes)
    }

    /// The same with a line as thick as this.
    pub fn thick(self, width: f64) -> Self {
        self.number("stroke-width", width)
    }

    /// The same with a dashed line; an empty dash is a whole line.
    pub fn dashed(self, dash: &str) -> Self {
        if dash.is_empty() { self } else { self.attribute("stroke-dasharray", dash) }
    }

    /// The same with a fact about it, for programs: `data-NAME`.
    pub fn data(mut self, name: &str, value: impl Display) -> Self {
        self.attributes.push_str(&data(name, value));
        self
    }

    /// The same with a text that appears when one points at it.
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The same with any other attribute.
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.attributes, " {name}=\"{}\"", escaped(value));
        self
    }

    fn number(self, name: &str, value: f64) -> Self {
        self.attribute(name, &number(value))
    }
}

/// On which side of its place a text stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    #[default]
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
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
    data: String,
}

impl Text {
    /// A text of this size whose first letter stands at this point of its baseline.
    pub fn new(content: &str, baseline: Point, size: f64) -> Self {
        let content: String =
            content.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect();
        let (class, data) = ("ink".to_owned(), String::new());
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

    /// The same with a fact about it, for programs: `data-NAME`.
    pub fn data(mut self, name: &str, value: impl Display) -> Self {
        self.data.push_str(&data(name, value));
        self
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

fn data(name: &str, value: impl Display) -> String {
    format!(" data-{name}=\"{}\"", escaped(&value.to_string()))
}

fn listed(points: &[Point]) -> String {
    let one = |point: &Point| format!("{},{}", number(point.x), number(point.y));
    points.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
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

    #[test]
    fn hostile_texts_are_only_texts() {
        let hostile = "</text><script>alert(1)</script>&\"'\u{0}\u{1b}\u{7f}\u{85}\u{202e}\u{fffe}\r\nend";
        let mut canvas = Canvas::new(hostile, hostile);
        canvas.draw(
            Shape::circle(Point::new(1.0, 2.0), 3.0).class(hostile).data("kind", hostile).title(hostile),
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

    #[test]
    fn numbers_are_short_and_always_the_same() {
        assert_eq!(
            [0.0, -0.001, 1.0, 1.5, 2.125, -3.999_9, 1e6].map(number),
            ["0", "0", "1", "1.5", "2.12", "-4", "1000000"]
        );
    }

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
