//! Arrows: a line or a curve, and a head that tells its number without colour.

use super::element::Element;
use super::geometry::Point;
use super::palette::{Head, Look};
use super::svg::Canvas;

/// The way that an arrow goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// Straight.
    Straight(Point, Point),
    /// From the first point to the last, drawn towards the two others.
    Curved(Point, [Point; 2], Point),
}

impl Path {
    /// Where it begins.
    #[must_use]
    pub fn start(&self) -> Point {
        match *self {
            Path::Straight(start, _) | Path::Curved(start, _, _) => start,
        }
    }

    /// Where it ends.
    #[must_use]
    pub fn end(&self) -> Point {
        match *self {
            Path::Straight(_, end) | Path::Curved(_, _, end) => end,
        }
    }

    /// The same path, bent to its left by about this many pixels.
    #[must_use]
    pub fn bowed(&self, pixels: f64) -> Path {
        let (start, end) = (self.start(), self.end());
        let length = start.distance(end).max(1e-9);
        let pull = |share: f64| {
            let way = start.towards(end, share);
            let (right, down) = ((end.y - start.y) / length, (start.x - end.x) / length);
            Point::new(way.x + right * pixels * 4.0 / 3.0, way.y + down * pixels * 4.0 / 3.0)
        };
        Path::Curved(start, [pull(0.25), pull(0.75)], end)
    }

    /// The place at this share of the way.
    #[must_use]
    pub fn at(&self, share: f64) -> Point {
        match *self {
            Path::Straight(from, to) => from.towards(to, share),
            Path::Curved(from, [first, second], to) => {
                let (one, two, three) =
                    (from.towards(first, share), first.towards(second, share), second.towards(to, share));
                one.towards(two, share).towards(two.towards(three, share), share)
            }
        }
    }

    /// The way as straight pieces, which is enough to know what it crosses.
    pub fn pieces(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        let pieces = match self {
            Path::Straight(..) => 1,
            Path::Curved(..) => 8,
        };
        let at = move |piece: usize| self.at(piece as f64 / f64::from(pieces));
        (0..pieces as usize).map(move |piece| (at(piece), at(piece + 1)))
    }

    /// The direction in which it arrives, with length 1.
    fn direction(&self) -> Point {
        let before = match *self {
            Path::Straight(from, _) => from,
            Path::Curved(..) => self.at(0.92),
        };
        let (end, length) = (self.end(), before.distance(self.end()).max(1e-9));
        Point::new((end.x - before.x) / length, (end.y - before.y) / length)
    }

    fn shape(&self) -> Element {
        match *self {
            Path::Straight(from, to) => Element::line(from, to),
            Path::Curved(from, pulls, to) => Element::curve(from, pulls, to),
        }
    }
}

/// An arrow with its look: colour, dash and head.
#[derive(Clone, Copy, Debug)]
pub struct Arrow {
    /// Its way.
    pub path: Path,
    /// What it looks like.
    pub look: Look,
    /// How thick its line is.
    pub thick: f64,
}

impl Arrow {
    /// Draws line and head.
    pub fn draw(&self, canvas: &mut Canvas) {
        self.draw_line(canvas);
        self.draw_head(canvas);
    }

    /// Draws the line alone.
    pub fn draw_line(&self, canvas: &mut Canvas) {
        let line = self.path.shape().class(&format!("{}-line", self.look.colour));
        canvas.draw(line.thick(self.thick).dashed(self.look.dash));
    }

    fn draw_head(&self, canvas: &mut Canvas) {
        let (tip, along) = (self.path.end(), self.path.direction());
        let place = |back: f64, aside: f64| {
            Point::new(tip.x - along.x * back - along.y * aside, tip.y - along.y * back + along.x * aside)
        };
        let triangle = [tip, place(9.0, 3.8), place(9.0, -3.8)];
        let diamond = [tip, place(5.0, 3.8), place(10.0, 0.0), place(5.0, -3.8)];
        let filled = self.look.colour;
        let hollow = format!("paper {filled}-line hollow");
        match self.look.head {
            Head::Triangle => canvas.draw(Element::polygon(&triangle).class(filled)),
            Head::Diamond => canvas.draw(Element::polygon(&diamond).class(filled)),
            Head::Disc => canvas.draw(Element::circle(place(4.0, 0.0), 4.0).class(filled)),
            Head::HollowTriangle => canvas.draw(Element::polygon(&triangle).class(&hollow).thick(1.4)),
            Head::HollowDiamond => canvas.draw(Element::polygon(&diamond).class(&hollow).thick(1.4)),
            Head::Chevron => {
                let chevron = Element::polyline(&[place(8.0, 4.5), tip, place(8.0, -4.5)]);
                canvas.draw(chevron.class(&format!("{filled}-line")).thick(2.0));
            }
        }
    }
}
