//! Pictures of quorum systems: the figure behind the construction, with one quorum in it.
//!
//! A grid is a grid, a wall has bricks, a tree has edges, the plane of seven points is G. Fano's figure of 1892, and all other systems
//! are a ring. Members of the quorum are filled, have bold numbers and are joined, so that they are seen without colour; the
//! node whose quorum it is has a second ring around it.

mod failures;
mod layout;

use std::f64::consts::TAU;

use doorway_core::{NodeId, NodeSet, Refusal};
use doorway_quorums::{QuorumSystem, Shape as Figure};

use crate::{Area, Canvas, Drawing, Element, Point, Text, Theme, wrapped};

pub use failures::{FailureCurve, failures};
pub use layout::{Layout, layout};

/// More nodes are not drawn.
pub const MOST_NODES: usize = 256;

pub(crate) const MARGIN: f64 = 32.0;
/// How much wider bricks are than other nodes.
const BRICK: f64 = 1.6;
/// The least width of an exported picture: its heading needs it.
const LEAST_WIDTH: f64 = 560.0;

/// Draws a system and the quorum that is assigned to one of its nodes.
///
/// # Errors
/// If there is no such node, or there are too many to draw.
pub fn quorum(system: &QuorumSystem, of: NodeId, theme: Theme) -> Result<Drawing, Refusal> {
    let n = system.n();
    if n > MOST_NODES {
        return Err(Refusal::new(format!("{n} nodes are too many to draw: at most {MOST_NODES} are drawn")));
    }
    if of.index() >= n {
        return Err(Refusal::new(format!("there is no node {of}: the nodes are 1 to {n}")));
    }
    let picture = Picture::new(system, of);
    Ok(picture.draw(system, theme))
}

/// Where the nodes are, before margins and heading.
struct Picture<'a> {
    of: NodeId,
    members: &'a NodeSet,
    places: Vec<Point>,
    /// How large a node is, from its middle.
    reach: f64,
    look: Look,
}

/// What nodes look like, and what joins them.
enum Look {
    /// Squares beside each other.
    Cells,
    /// Bricks beside each other.
    Bricks,
    /// Circles, with an edge from each node to its parent.
    Tree,
    /// Circles, with seven lines, of which these are straight and the last is round.
    Fano(Vec<[NodeId; 3]>),
    /// Circles, with the members joined in the order of the ring.
    Ring,
}

impl<'a> Picture<'a> {
    fn new(system: &'a QuorumSystem, of: NodeId) -> Self {
        let (n, members) = (system.n(), system.quorum_of(of));
        let (reach, places, look) = match system.shape() {
            Figure::Grid(rows) => (24.0, grid(n, rows.first().map_or(1, Vec::len)), Look::Cells),
            Figure::Wall(rows) => (24.0, wall(&rows.iter().map(Vec::len).collect::<Vec<_>>()), Look::Bricks),
            Figure::Tree(_) => (17.0, tree(n), Look::Tree),
            Figure::Plane if n == 7 => {
                let lines = fano_lines(system, of);
                (20.0, fano(&lines), Look::Fano(lines))
            }
            Figure::Plane | Figure::Sets => {
                let reach = if n <= 64 { 18.0 } else { 14.0 };
                (reach, ring(n, reach), Look::Ring)
            }
        };
        Self { of, members, places, reach, look }
    }

    fn draw(mut self, system: &QuorumSystem, theme: Theme) -> Drawing {
        let title = format!("{}, {}", system.construction().name(), counted(system.n()));
        let numbers: Vec<String> = self.members.iter().map(|node| node.to_string()).collect();
        let sentence =
            format!("The quorum of node {} has {}: {}", self.of, counted(numbers.len()), numbers.join(" "));
        let mut canvas = Canvas::new(&title, &format!("{sentence}."));
        let bounds = self.bounds();
        let width = (bounds.width() + 2.0 * MARGIN).max(LEAST_WIDTH);
        let top = write_heading(&mut canvas, &title, &sentence, width - 2.0 * MARGIN);
        let aside = f64::midpoint(0.0, width) - f64::midpoint(bounds.left, bounds.right);
        let down = top - bounds.top;
        self.move_by(aside, down);
        self.draw_figure(&mut canvas);
        self.draw_nodes(&mut canvas);
        canvas.finish(width, bounds.bottom + down + MARGIN, theme)
    }

    /// What the nodes cover, with the ring around one of them.
    fn bounds(&self) -> Area {
        let space = 10.0 + if let Look::Bricks = self.look { self.reach * BRICK } else { self.reach };
        Area::new(
            self.least(|place| place.x) - space,
            self.least(|place| place.y) - space,
            -self.least(|place| -place.x) + space,
            -self.least(|place| -place.y) + space,
        )
    }

    fn move_by(&mut self, aside: f64, down: f64) {
        for place in &mut self.places {
            *place = Point::new(place.x + aside, place.y + down);
        }
    }

    fn least(&self, coordinate: impl Fn(&Point) -> f64) -> f64 {
        self.places.iter().map(coordinate).fold(f64::INFINITY, f64::min)
    }

    fn place(&self, node: NodeId) -> Point {
        self.places[node.index()]
    }

    /// Draws what joins the nodes.
    fn draw_figure(&self, canvas: &mut Canvas) {
        for Line { nodes, element } in self.lines() {
            let is_quorum = nodes.iter().all(|&node| self.members.contains(node));
            canvas.draw(joined(element, is_quorum));
        }
        if let Look::Ring = self.look {
            let members: Vec<NodeId> = self.members.iter().collect();
            let next = members.iter().cycle().skip(1);
            for (&from, &to) in members.iter().zip(next).filter(|(from, to)| from != to) {
                canvas.draw(self.chord(from, to).class("hue0-line").thick(3.0));
            }
        }
    }

    /// The lines of the figure, whatever quorum is shown. A ring has none: the members of its quorum are joined by chords.
    fn lines(&self) -> Vec<Line> {
        match &self.look {
            Look::Cells | Look::Bricks | Look::Ring => Vec::new(),
            Look::Tree => self.edges(),
            Look::Fano(lines) => self.fano_figure(lines),
        }
    }

    /// A curve from one node to another. It bends towards the middle, the more the farther the nodes are apart, so that it passes
    /// the nodes between them.
    fn chord(&self, from: NodeId, to: NodeId) -> Element {
        let ends =
            |coordinate: fn(&Point) -> f64| (self.least(coordinate), -self.least(|place| -coordinate(place)));
        let ((left, right), (top, bottom)) = (ends(|place| place.x), ends(|place| place.y));
        let middle = Point::new(f64::midpoint(left, right), f64::midpoint(top, bottom));
        let (from, to) = (self.place(from), self.place(to));
        let bend = 0.42 * (from.distance(to) / from.distance(middle).max(1e-9)).min(1.0);
        Element::curve(from, [from.towards(middle, bend), to.towards(middle, bend)], to)
    }

    fn edges(&self) -> Vec<Line> {
        let edge = |child: NodeId| {
            let parent = NodeId::new((child.index() - 1) / 2);
            let element = Element::line(self.place(parent), self.place(child));
            Line { nodes: vec![parent, child], element }
        };
        NodeId::first(self.places.len()).skip(1).map(edge).collect()
    }

    /// Six lines are straight, the last is the circle through its points.
    fn fano_figure(&self, lines: &[[NodeId; 3]]) -> Vec<Line> {
        let drawn = lines.iter().rev().map(|line| {
            let [one, two, three] = line.map(|node| self.place(node));
            let is_straight = Some(line) != lines.last();
            let element = if is_straight {
                Element::line(one, two)
            } else {
                let middle = Point::new((one.x + two.x + three.x) / 3.0, (one.y + two.y + three.y) / 3.0);
                Element::circle(middle, middle.distance(one))
            };
            Line { nodes: line.to_vec(), element }
        });
        drawn.collect()
    }

    fn draw_nodes(&self, canvas: &mut Canvas) {
        for node in NodeId::first(self.places.len()) {
            let is_member = self.members.contains(node);
            let class = if is_member { "node member" } else { "node" };
            canvas.group(Element::group().class(class).data("node", node), |canvas| {
                self.draw_node(canvas, node, is_member);
            });
        }
    }

    fn draw_node(&self, canvas: &mut Canvas, node: NodeId, is_member: bool) {
        let at = self.place(node);
        let outline = |reach: f64| self.outline(at, reach);
        let number = self.number(node);
        if is_member {
            canvas.draw(outline(self.reach).class("hue0"));
            canvas.write(&number.bold().class("paper"));
        } else {
            canvas.draw(outline(self.reach).class("soft-line hollow").thick(1.4));
            canvas.write(&number.class("soft"));
        }
        if node == self.of {
            canvas.draw(outline(self.reach + 5.0).class("ink-line").thick(2.5));
        }
    }

    /// What a node looks like if it reaches this far from its middle.
    fn outline(&self, at: Point, reach: f64) -> Element {
        match self.look {
            Look::Cells => Element::rectangle(around(at, reach, reach), 4.0),
            Look::Bricks => Element::rectangle(around(at, reach * BRICK, reach * 0.8), 3.0),
            Look::Tree | Look::Fano(_) | Look::Ring => Element::circle(at, reach),
        }
    }

    fn number(&self, node: NodeId) -> Text {
        let size = if self.reach < 16.0 { 12.0 } else { 15.0 };
        Text::around(&node.to_string(), self.place(node), size)
    }
}

/// A line of the figure, and the nodes on it.
struct Line {
    nodes: Vec<NodeId>,
    element: Element,
}

fn joined(line: Element, is_quorum: bool) -> Element {
    if is_quorum { line.class("hue0-line").thick(5.0) } else { line.class("soft-line").thick(1.4) }
}

fn around(middle: Point, wide: f64, high: f64) -> Area {
    Area::new(middle.x - wide, middle.y - high, middle.x + wide, middle.y + high)
}

pub(crate) fn counted(nodes: usize) -> String {
    if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") }
}

/// Writes title and sentence and tells where they end.
pub(crate) fn write_heading(canvas: &mut Canvas, title: &str, sentence: &str, width: f64) -> f64 {
    canvas.write(&Text::new(title, Point::new(MARGIN, MARGIN + 18.0), 22.0).bold());
    let mut y = MARGIN + 46.0;
    for line in wrapped(sentence, 15.0, width) {
        canvas.write(&Text::new(&line, Point::new(MARGIN, y), 15.0).class("soft"));
        y += 21.0;
    }
    y + 4.0
}

fn grid(n: usize, columns: usize) -> Vec<Point> {
    let place = |index: usize| Point::new((index % columns) as f64 * 62.0, (index / columns) as f64 * 62.0);
    (0..n).map(place).collect()
}

/// Rows in the middle of each other.
fn wall(widths: &[usize]) -> Vec<Point> {
    let rows = widths.iter().enumerate();
    let places = rows.flat_map(|(row, &width)| {
        let place = move |column: usize| {
            Point::new((column as f64 - (width as f64 - 1.0) / 2.0) * 90.0, row as f64 * 52.0)
        };
        (0..width).map(place)
    });
    places.collect()
}

/// Each node between its left and its right subtree.
fn tree(n: usize) -> Vec<Point> {
    let mut places = vec![Point::new(0.0, 0.0); n];
    let mut column = 0.0;
    in_order(1, n, &mut |number| {
        places[number - 1] = Point::new(column * 24.0, f64::from(number.ilog2()) * 74.0);
        column += 1.0;
    });
    places
}

fn in_order(number: usize, n: usize, visit: &mut impl FnMut(usize)) {
    if number <= n {
        in_order(2 * number, n, visit);
        visit(number);
        in_order(2 * number + 1, n, visit);
    }
}

/// The first node on top, the others clockwise.
pub(crate) fn ring(n: usize, reach: f64) -> Vec<Point> {
    let radius = (n as f64 * (2.0 * reach + 14.0) / TAU).max(if n == 1 { 0.0 } else { 130.0 });
    let place = |index: usize| {
        let angle = TAU * (index as f64 / n as f64 - 0.25);
        Point::new(radius * angle.cos(), radius * angle.sin())
    };
    (0..n).map(place).collect()
}

/// The lines of the plane of seven points as Fano drew them: three sides and three medians of a triangle, each with its ends first and
/// what is between them last, and the circle. The line of `of` is the side below.
fn fano_lines(system: &QuorumSystem, of: NodeId) -> Vec<[NodeId; 3]> {
    let third = |one: NodeId, two: NodeId| {
        let through = |line: &&NodeSet| line.contains(one) && line.contains(two);
        let line = system.assignment().values().iter().find(through).expect("two points are on a line");
        line.iter().find(|&node| node != one && node != two).expect("a line has three points")
    };
    let side: Vec<NodeId> = system.quorum_of(of).iter().collect();
    let [left, right] = [side[0], side[1]];
    let below = third(left, right);
    let top = NodeId::first(7).find(|node| !side.contains(node)).expect("four points are not on a line");
    let (west, east, middle) = (third(left, top), third(right, top), third(top, below));
    vec![
        [left, right, below],
        [left, top, west],
        [right, top, east],
        [top, below, middle],
        [left, east, middle],
        [right, west, middle],
        [below, west, east],
    ]
}

/// The places of the seven points.
fn fano(lines: &[[NodeId; 3]]) -> Vec<Point> {
    let corner = |angle: f64| Point::new(190.0 * (angle * TAU).cos(), 190.0 * (angle * TAU).sin());
    let (top, right, left) = (corner(-0.25), corner(-0.25 + 1.0 / 3.0), corner(-0.25 + 2.0 / 3.0));
    let mut places = vec![Point::new(0.0, 0.0); 7];
    let [[a, b, below], [_, c, west], [_, _, east], [_, _, middle], ..] = lines[..] else { return places };
    let halfway = |one: Point, other: Point| one.towards(other, 0.5);
    for (node, place) in [
        (a, left),
        (b, right),
        (c, top),
        (below, halfway(left, right)),
        (west, halfway(left, top)),
        (east, halfway(right, top)),
        (middle, Point::new(0.0, 0.0)),
    ] {
        places[node.index()] = place;
    }
    places
}
