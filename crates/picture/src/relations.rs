//! Pictures of who has to do with whom: the structures of Sanders' algorithm and the trees of Raymond's.
//!
//! In a structure the nodes are a ring. A red arrow with a whole line goes to each node that a node asks (R), a green one with a dashed line to each
//! that it informs (I); a bow on the outside is a node that asks or informs itself. In a tree the root is on top, and a red arrow goes from
//! each node to its parent, the way of a request; a faint line is an edge of the graph that the tree does not use.

use std::f64::consts::TAU;

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

use crate::quorums::{MARGIN, counted, ring, write_heading};
use crate::{Arrow, Canvas, Drawing, Element, Head, Look, Path, Point, Text, Theme};

/// More nodes of a structure are not drawn.
pub const MOST_NODES: usize = 64;
/// More nodes of a tree are not drawn.
pub const MOST_TREE_NODES: usize = 256;

const REACH: f64 = 18.0;
const THICK: f64 = 1.7;
const LEAST_WIDTH: f64 = 560.0;
/// The height of the legend.
const LEGEND: f64 = 34.0;
/// How far the longer one of the two bows on the outside reaches beyond its node.
const LOOP: f64 = 44.0;

const ASKS: Look = Look { colour: "alarm", dash: "", head: Head::Triangle };
const INFORMS: Look = Look { colour: "hue2", dash: "7 4", head: Head::HollowTriangle };

/// A structure to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Relations<'a> {
    /// What the picture is called.
    pub name: &'a str,
    /// R: the nodes that each node asks.
    pub asks: &'a PerNode<NodeSet>,
    /// I: the nodes that each node informs.
    pub informs: &'a PerNode<NodeSet>,
    /// The node whose arrows are drawn; the arrows of all nodes without one.
    pub of: Option<NodeId>,
}

/// Draws a structure.
///
/// # Errors
/// If there are too many nodes to draw, or there is no such node.
pub fn structure(relations: &Relations<'_>, theme: Theme) -> Result<Drawing, Refusal> {
    let n = relations.asks.len();
    refuse_more(n, MOST_NODES)?;
    if let Some(of) = relations.of.filter(|of| of.index() >= n) {
        return Err(Refusal::new(format!("there is no node {of}: the nodes are 1 to {n}")));
    }
    let whose = relations.of.map_or("each node".to_owned(), |of| format!("node {of}"));
    let sentence = format!("Which nodes {whose} asks (R) and informs (I).");
    let mut picture = Picture::new(ring(n, REACH), LOOP + REACH);
    let senders = NodeId::first(n).filter(|node| relations.of.is_none_or(|of| of == *node));
    for from in senders {
        for (looks, sets, bow) in [(ASKS, relations.asks, 9.0), (INFORMS, relations.informs, 22.0)] {
            picture.arrows.extend(sets[from].iter().map(|to| (from, to, looks, bow)));
        }
    }
    picture.marked = relations.of;
    let legend = [(ASKS, "asks (R)"), (INFORMS, "informs (I)")];
    let title = format!("{}, {}", relations.name, counted(n));
    Ok(picture.draw(&title, &sentence, &legend, theme))
}

/// Draws a tree from the parent of each node; the root has none. `graph` are the neighbours of each node in the graph from which it was taken, if
/// there was one.
///
/// # Errors
/// If there are too many nodes to draw.
pub fn tree(
    name: &str,
    parents: &PerNode<Option<NodeId>>,
    graph: Option<&[NodeSet]>,
    theme: Theme,
) -> Result<Drawing, Refusal> {
    let n = parents.len();
    refuse_more(n, MOST_TREE_NODES)?;
    let mut picture = Picture::new(tree_places(parents), REACH + 8.0);
    picture.marked = parents.iter().find(|(_, parent)| parent.is_none()).map(|(node, _)| node);
    picture.arrows =
        parents.iter().filter_map(|(node, parent)| Some((node, (*parent)?, ASKS, 0.0))).collect();
    let is_edge = |a: NodeId, b: NodeId| parents[a] == Some(b) || parents[b] == Some(a);
    for (node, neighbours) in NodeId::first(n).zip(graph.unwrap_or_default()) {
        picture
            .lines
            .extend(neighbours.iter().filter(|&to| node < to && !is_edge(node, to)).map(|to| (node, to)));
    }
    let root =
        picture.marked.map_or(String::new(), |root| format!("Node {root} has the token at the start."));
    let unused =
        if graph.is_some() { " Dotted lines are edges of the graph that the tree does not use." } else { "" };
    let sentence = format!("{root} A request goes from node to node towards it.{unused}");
    let legend = [(ASKS, "asks the parent for the token")];
    Ok(picture.draw(&format!("{name}, {}", counted(n)), &sentence, &legend, theme))
}

fn refuse_more(nodes: usize, most: usize) -> Result<(), Refusal> {
    match nodes > most {
        true => Err(Refusal::new(format!("{nodes} nodes are too many to draw: at most {most} are drawn"))),
        false => Ok(()),
    }
}

/// A node above the middle of its children; leaves are side by side.
fn tree_places(parents: &PerNode<Option<NodeId>>) -> Vec<Point> {
    let mut places = vec![Point::new(0.0, 0.0); parents.len()];
    let mut column = 0.0;
    // Depth first without recursion, since a chain is as deep as it has nodes: a node is placed after its children.
    let root = parents.iter().find(|(_, parent)| parent.is_none()).map(|(node, _)| node);
    let mut open: Vec<(NodeId, usize, bool)> = root.map(|node| (node, 0, false)).into_iter().collect();
    while let Some((node, depth, is_known)) = open.pop() {
        let children: Vec<NodeId> =
            parents.iter().filter(|(_, parent)| **parent == Some(node)).map(|(child, _)| child).collect();
        if !is_known && !children.is_empty() {
            open.push((node, depth, true));
            open.extend(children.iter().rev().map(|&child| (child, depth + 1, false)));
            continue;
        }
        let x = match (children.first(), children.last()) {
            (Some(first), Some(last)) => f64::midpoint(places[first.index()].x, places[last.index()].x),
            _ => {
                column += 1.0;
                column * 56.0
            }
        };
        places[node.index()] = Point::new(x, depth as f64 * 78.0);
    }
    places
}

/// Nodes, and the arrows between them.
struct Picture {
    places: Vec<Point>,
    /// How much room there is around the middles of the nodes.
    space: f64,
    /// The node with a second ring around it.
    marked: Option<NodeId>,
    /// From which node to which, with its look and how far it bends.
    arrows: Vec<(NodeId, NodeId, Look, f64)>,
    /// Faint lines.
    lines: Vec<(NodeId, NodeId)>,
}

impl Picture {
    fn new(places: Vec<Point>, space: f64) -> Self {
        Self { places, space, marked: None, arrows: Vec::new(), lines: Vec::new() }
    }

    fn draw(mut self, title: &str, sentence: &str, legend: &[(Look, &str)], theme: Theme) -> Drawing {
        let mut canvas = Canvas::new(title, sentence);
        let edge = |coordinate: fn(&Point) -> f64| {
            let values = || self.places.iter().map(coordinate);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (top, bottom)) = (edge(|place| place.x), edge(|place| place.y));
        let width = (right - left + 2.0 * (self.space + MARGIN)).max(LEAST_WIDTH);
        let heading = write_heading(&mut canvas, title, sentence, width - 2.0 * MARGIN);
        draw_legend(&mut canvas, legend, heading + 10.0);
        let (aside, down) = (width / 2.0 - f64::midpoint(left, right), heading + LEGEND + self.space - top);
        for place in &mut self.places {
            *place = Point::new(place.x + aside, place.y + down);
        }
        self.draw_arrows(&mut canvas);
        self.draw_nodes(&mut canvas);
        canvas.finish(width, bottom + down + self.space + MARGIN / 2.0, theme)
    }

    fn place(&self, node: NodeId) -> Point {
        self.places[node.index()]
    }

    fn draw_arrows(&self, canvas: &mut Canvas) {
        for &(from, to) in &self.lines {
            canvas.draw(
                Element::line(self.place(from), self.place(to)).class("soft-line").thick(1.0).dashed("2 4"),
            );
        }
        let middle = self.middle();
        for &(from, to, look, bow) in &self.arrows {
            let path =
                if from == to { self.bow_outside(from, middle, look) } else { self.way(from, to, bow) };
            let word = if look.colour == INFORMS.colour { "informs" } else { "asks" };
            let group = Element::group().class(&format!("relation {word}")).data("from", from).data("to", to);
            let titled = group.title(format!("node {from} {word} node {to}"));
            canvas.group(titled, |canvas| Arrow { path, look, thick: THICK }.draw(canvas));
        }
    }

    fn middle(&self) -> Point {
        let count = self.places.len().max(1) as f64;
        let sum = |coordinate: fn(&Point) -> f64| self.places.iter().map(coordinate).sum::<f64>() / count;
        Point::new(sum(|place| place.x), sum(|place| place.y))
    }

    /// From the edge of one node to the edge of another. What bends farther also leaves and arrives farther to its left, so that no head covers
    /// another.
    fn way(&self, from: NodeId, to: NodeId, bow: f64) -> Path {
        let ring = if self.marked == Some(to) { 5.0 } else { 0.0 };
        let (from, to) = (self.place(from), self.place(to));
        let (ahead, aside) = ((to.y - from.y).atan2(to.x - from.x), bow / 45.0);
        let edge = |at: Point, angle: f64, reach: f64| {
            Point::new(at.x + reach * angle.cos(), at.y + reach * angle.sin())
        };
        let start = edge(from, ahead - aside, REACH);
        let end = edge(to, ahead + TAU / 2.0 + aside, REACH + 2.0 + ring);
        let path = Path::Straight(start, end);
        if bow > 0.0 { path.bowed(bow) } else { path }
    }

    /// From a node to itself, on the side away from the middle; the bow to inform goes around the bow to ask.
    fn bow_outside(&self, node: NodeId, middle: Point, look: Look) -> Path {
        let at = self.place(node);
        let outward =
            if self.places.len() == 1 { -TAU / 4.0 } else { (at.y - middle.y).atan2(at.x - middle.x) };
        let around = |turn: f64, far: f64| {
            Point::new(at.x + far * (outward + turn).cos(), at.y + far * (outward + turn).sin())
        };
        let (open, far) =
            if look == INFORMS { (1.0, REACH + LOOP * 1.3) } else { (0.45, REACH + LOOP * 0.5) };
        Path::Curved(
            around(-open, REACH),
            [around(-open * 0.9, far), around(open * 0.9, far)],
            around(open, REACH + 2.0),
        )
    }

    fn draw_nodes(&self, canvas: &mut Canvas) {
        for node in NodeId::first(self.places.len()) {
            let at = self.place(node);
            canvas.group(Element::group().class("node").data("node", node), |canvas| {
                canvas.draw(Element::circle(at, REACH).class("ink-line hollow").thick(1.4));
                canvas.write(&Text::around(&node.to_string(), at, 15.0).bold());
                if self.marked == Some(node) {
                    canvas.draw(Element::circle(at, REACH + 4.0).class("ink-line").thick(2.5));
                }
            });
        }
    }
}

fn draw_legend(canvas: &mut Canvas, legend: &[(Look, &str)], y: f64) {
    let mut x = MARGIN;
    for &(look, words) in legend {
        let path = Path::Straight(Point::new(x, y), Point::new(x + 40.0, y));
        Arrow { path, look, thick: THICK }.draw(canvas);
        let text = Text::beside(words, Point::new(x + 50.0, y), 13.0);
        x = text.area().right + 28.0;
        canvas.write(&text);
    }
}
