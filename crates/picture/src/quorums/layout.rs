//! A quorum system as elements for a page, which marks the shown quorum and the crashed nodes itself.
//!
//! Every node and every line is there once, whatever quorum is shown, so that a page can show another quorum without asking again: it adds
//! the classes `member`, `owner` and `crashed` to nodes, and `shown` and `broken` to lines.

use doorway_core::NodeId;
use doorway_quorums::{QuorumSystem, Shape};
use serde::Serialize;

use super::{Line, Look, Picture};
use crate::{Element, Point};

/// Up to this many nodes a ring has a chord between every two of them; beyond, only between neighbours in an assigned quorum.
const MOST_CHORDED: usize = 64;

/// A quorum system as a page paints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// The figure: `grid`, `wall`, `tree`, `plane` or `ring`.
    pub kind: &'static str,
    /// The size of the picture, in pixels.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Lines (`figure-line`, with `data-nodes`), chords (`figure-line chord`, which join neighbours in a quorum) and nodes
    /// (`quorum-node`, with `data-node` and `data-x`, `data-y`).
    pub elements: Vec<Element>,
}

/// The layout of a system.
#[must_use]
pub fn layout(system: &QuorumSystem) -> Layout {
    let mut picture = Picture::new(system, NodeId::new(0));
    let bounds = picture.bounds();
    picture.move_by(-bounds.left, -bounds.top);
    let lines = picture
        .lines()
        .into_iter()
        .map(|Line { nodes, element }| tagged(element.class("figure-line"), &nodes));
    let nodes = NodeId::first(system.n()).map(|node| picture.node(node));
    let elements = lines.chain(picture.chords(system)).chain(nodes).collect();
    Layout { kind: kind(system), width: bounds.width().ceil(), height: bounds.height().ceil(), elements }
}

fn kind(system: &QuorumSystem) -> &'static str {
    match system.shape() {
        Shape::Grid(_) => "grid",
        Shape::Wall(_) => "wall",
        Shape::Tree(_) => "tree",
        Shape::Plane => "plane",
        Shape::Sets => "ring",
    }
}

impl Picture<'_> {
    /// A chord for each pair of nodes that can be neighbours in a quorum.
    fn chords(&self, system: &QuorumSystem) -> Vec<Element> {
        let Look::Ring = self.look else { return Vec::new() };
        let n = system.n();
        let mut pairs: Vec<[NodeId; 2]> = if n <= MOST_CHORDED {
            NodeId::first(n).flat_map(|to| NodeId::first(to.index()).map(move |from| [from, to])).collect()
        } else {
            system
                .assignment()
                .values()
                .iter()
                .flat_map(|quorum| neighbours(&quorum.iter().collect::<Vec<_>>()))
                .collect()
        };
        pairs.sort_unstable();
        pairs.dedup();
        pairs
            .iter()
            .map(|pair| tagged(self.chord(pair[0], pair[1]).class("figure-line chord"), pair))
            .collect()
    }

    /// A node with all that it can show: its outline, a ring if the quorum is its own, a cross if it has crashed, its number.
    fn node(&self, node: NodeId) -> Element {
        let at = self.place(node);
        let arm = 0.62 * self.reach;
        let stroke = |down: f64| {
            let end = |share: f64| Point::new(at.x + share * arm, at.y + share * down);
            Element::line(end(-1.0), end(1.0)).class("node-cross")
        };
        let children = vec![
            self.outline(at, self.reach).class("node-shape"),
            self.outline(at, self.reach + 5.0).class("node-owner"),
            stroke(arm),
            stroke(-arm),
            self.number(node).class("node-number").element(),
        ];
        let place = |value: f64| crate::element::number(value);
        let group = Element::group().class("quorum-node").data("node", node);
        group.data("x", place(at.x)).data("y", place(at.y)).holding(children)
    }
}

/// The neighbours in a quorum, the last and the first among them, each pair with the smaller node first.
fn neighbours(members: &[NodeId]) -> Vec<[NodeId; 2]> {
    let next = members.iter().cycle().skip(1);
    let pairs = members.iter().zip(next).filter(|(one, other)| one != other);
    pairs.map(|(&one, &other)| [one.min(other), one.max(other)]).collect()
}

/// A line with the numbers of its nodes.
fn tagged(line: Element, nodes: &[NodeId]) -> Element {
    let numbers: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    line.data("nodes", numbers.join(" "))
}

#[cfg(test)]
mod tests {
    use doorway_quorums::Construction;

    use super::*;

    fn classes(word: &str, nodes: usize) -> Vec<String> {
        let construction = Construction::parse(word, None).expect("a construction");
        let system = QuorumSystem::build(&construction, nodes).expect("a system");
        let json = serde_json::to_value(layout(&system)).expect("it can be written");
        let elements = json["elements"].as_array().expect("a list").clone();
        elements.iter().filter_map(|element| Some(element["class"].as_str()?.to_owned())).collect()
    }

    fn count(classes: &[String], wanted: &str) -> usize {
        classes.iter().filter(|class| *class == wanted).count()
    }

    #[test]
    fn every_node_and_every_line_is_there_once() {
        let fano = classes("plane", 7);
        assert_eq!((count(&fano, "quorum-node"), count(&fano, "figure-line")), (7, 7));
        let tree = classes("tree", 15);
        assert_eq!((count(&tree, "quorum-node"), count(&tree, "figure-line")), (15, 14));
        let grid = classes("grid", 9);
        assert_eq!((count(&grid, "quorum-node"), grid.len()), (9, 9));
    }

    #[test]
    fn a_ring_has_a_chord_for_each_pair_that_a_quorum_can_join() {
        assert_eq!(count(&classes("majority", 7), "figure-line chord"), 21);
        // 100 nodes have 4950 pairs; beyond the limit only those that an assigned quorum joins are there.
        assert!((100..1000).contains(&count(&classes("majority", 100), "figure-line chord")));
    }
}
