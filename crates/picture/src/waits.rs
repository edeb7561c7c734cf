//! The wait-for graph of one moment, as elements for a page: nodes on an ellipse, an arrow from each node to those that it waits for.
//!
//! Nodes of a cycle stand next to each other. With too many arrows the picture would be a blot: then only those of the cycle are
//! there.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use doorway_core::NodeId;
use serde::{Deserialize, Serialize};

use crate::{Anchor, Element, Point, Text};

const WIDTH: f64 = 300.0;
/// With more arrows than this only the cycle is drawn.
const MOST_ARROWS: usize = 120;
/// With more arrows than this they have no labels.
const MOST_LABELLED: usize = 16;
/// How far an arrow stands aside, so that two of opposite directions are told apart.
const ASIDE: f64 = 3.0;

/// Which nodes wait for which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// The nodes that wait or are waited for.
    pub nodes: Vec<WaitNode>,
    /// From each node that waits to those that it waits for.
    pub edges: Vec<WaitEdge>,
    /// Nodes of which each waits for the next one, and the last for the first; empty if there are none.
    pub cycle: Vec<NodeId>,
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitNode {
    /// Its number.
    pub node: NodeId,
    /// What it does.
    pub phase: WaitPhase,
}

/// What a node does, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitPhase {
    /// It wants nothing.
    Outside,
    /// It waits.
    Waiting,
    /// It is inside.
    Inside,
    /// It is down.
    Crashed,
}

/// That a node waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitEdge {
    /// The one that waits.
    pub from: NodeId,
    /// The one that it waits for.
    pub to: NodeId,
    /// The arbiter whose vote the other has, if that is why.
    pub at: Option<NodeId>,
    /// Whether a message is in flight that may end the wait.
    pub open: bool,
}

/// The graph as a page paints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitLayout {
    /// Its width in pixels.
    pub width: f64,
    /// Its height in pixels.
    pub height: f64,
    /// How many arrows there are.
    pub arrows: usize,
    /// Whether all of them are drawn.
    pub complete: bool,
    /// Arrows (`edge`, with `data-from` and `data-to`; `in-cycle`, `open`) and nodes (`vertex`, with `data-node`).
    pub elements: Vec<Element>,
}

/// Lays the graph out.
#[must_use]
pub fn wait_graph(waits: &Waits) -> WaitLayout {
    let graph = Graph::new(waits);
    let all = merged(&waits.edges);
    let complete = all.len() <= MOST_ARROWS;
    let drawn: Vec<&Arrow> = all.iter().filter(|arrow| complete || graph.is_in_cycle(arrow)).collect();
    let has_labels = drawn.len() <= MOST_LABELLED;
    let arrows = drawn.into_iter().filter_map(|arrow| graph.arrow(arrow, has_labels));
    let nodes = graph.order.iter().map(|node| graph.node(*node));
    WaitLayout {
        width: WIDTH,
        height: graph.height,
        arrows: all.len(),
        complete,
        elements: arrows.chain(nodes).collect(),
    }
}

/// All waits of one node for another.
struct Arrow {
    from: NodeId,
    to: NodeId,
    at: Vec<NodeId>,
    is_open: bool,
}

/// One arrow for each pair of nodes; it is open if all of its waits are.
fn merged(edges: &[WaitEdge]) -> Vec<Arrow> {
    let mut arrows: Vec<Arrow> = Vec::new();
    let mut places: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for &WaitEdge { from, to, at, open } in edges {
        let place = *places.entry((from, to)).or_insert_with(|| {
            arrows.push(Arrow { from, to, at: Vec::new(), is_open: true });
            arrows.len() - 1
        });
        arrows[place].at.extend(at);
        arrows[place].is_open &= open;
    }
    arrows
}

struct Graph<'a> {
    cycle: &'a [NodeId],
    /// The nodes in the order of the ellipse, those of the cycle first.
    order: Vec<WaitNode>,
    radius: f64,
    height: f64,
}

impl<'a> Graph<'a> {
    fn new(waits: &'a Waits) -> Self {
        let mut order = waits.nodes.clone();
        let rank = |node: NodeId| waits.cycle.iter().position(|&other| other == node);
        order.sort_by_key(|one| (rank(one.node).unwrap_or(usize::MAX), one.node));
        order.dedup_by_key(|one| one.node);
        let radius = match order.len() {
            0..=12 => 15.0,
            13..=24 => 11.0,
            _ => 7.0,
        };
        let height = if order.len() > 5 { 236.0 } else { 180.0 };
        Self { cycle: &waits.cycle, order, radius, height }
    }

    /// The place of a node, if it is part of the graph.
    fn place(&self, node: NodeId) -> Option<Point> {
        let (rank, count) = (self.order.iter().position(|one| one.node == node)?, self.order.len());
        let (middle_x, middle_y) = (WIDTH / 2.0, self.height / 2.0);
        if count == 1 {
            return Some(Point::new(middle_x, middle_y));
        }
        let turn = TAU * (rank as f64 / count as f64 - 0.25);
        let (wide, high) = (middle_x - self.radius - 26.0, middle_y - self.radius - 8.0);
        Some(Point::new(middle_x + wide * turn.cos(), middle_y + high * turn.sin()))
    }

    fn is_in_cycle(&self, arrow: &Arrow) -> bool {
        let Some(rank) = self.cycle.iter().position(|&node| node == arrow.from) else { return false };
        self.cycle[(rank + 1) % self.cycle.len()] == arrow.to
    }

    fn arrow(&self, arrow: &Arrow, has_label: bool) -> Option<Element> {
        let (start, end) = (self.place(arrow.from)?, self.place(arrow.to)?);
        let length = start.distance(end).max(1.0);
        let (along, across) = ((end.x - start.x) / length, (end.y - start.y) / length);
        // From a place so far along the arrow, and so far aside to its right.
        let moved = |from: Point, ahead: f64, aside: f64| {
            Point::new(from.x + along * ahead - across * aside, from.y + across * ahead + along * aside)
        };
        let tip = moved(end, -self.radius - 1.0, ASIDE);
        let head = [tip, moved(tip, -8.0, 4.0), moved(tip, -8.0, -4.0)];
        let mut children = vec![
            Element::line(moved(start, self.radius, ASIDE), tip).class("edge-line"),
            Element::polygon(&head).class("edge-tip"),
        ];
        if has_label && !arrow.at.is_empty() {
            let at: Vec<String> = arrow.at.iter().map(ToString::to_string).collect();
            let beside = moved(start.towards(end, 0.42), 0.0, 4.0 * ASIDE);
            // The text goes on to the side on which it stands, so that its own arrow does not cross it.
            let anchor = match -across {
                right if right > 0.3 => Anchor::Start,
                right if right < -0.3 => Anchor::End,
                _ => Anchor::Middle,
            };
            let label = Text::beside(&format!("at {}", at.join(", ")), beside, 12.0);
            children.push(label.anchor(anchor).class("soft").element());
        }
        let class = classes("edge", &[("in-cycle", self.is_in_cycle(arrow)), ("open", arrow.is_open)]);
        let group = Element::group().class(&class).data("from", arrow.from).data("to", arrow.to);
        Some(group.holding(children))
    }

    fn node(&self, WaitNode { node, phase }: WaitNode) -> Element {
        let phase = match phase {
            WaitPhase::Outside => "vertex outside",
            WaitPhase::Waiting => "vertex waiting",
            WaitPhase::Inside => "vertex inside",
            WaitPhase::Crashed => "vertex crashed",
        };
        let at = self.place(node).unwrap_or(Point::new(0.0, 0.0));
        let number = Text::around(&node.to_string(), at, 12.0).class("node-number").element();
        let class = classes(phase, &[("in-cycle", self.cycle.contains(&node))]);
        let group = Element::group().class(&class).data("node", node);
        group.holding(vec![Element::circle(at, self.radius), number])
    }
}

fn classes(first: &str, more: &[(&str, bool)]) -> String {
    let more = more.iter().filter(|(_, is_there)| *is_there).map(|(class, _)| *class);
    std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn laid_out(waits: &Value) -> Value {
        let waits: Waits = serde_json::from_value(waits.clone()).expect("a graph");
        serde_json::to_value(wait_graph(&waits)).expect("it can be written")
    }

    fn edge(from: usize, to: usize, at: Option<usize>) -> Value {
        json!({"from": from, "to": to, "at": at, "open": false})
    }

    #[test]
    fn a_cycle_of_three_has_exact_places() {
        let node = |node: usize| json!({"node": node, "phase": "waiting"});
        let told = laid_out(&json!({
            "nodes": [node(11), node(7), node(8)],
            "edges": [edge(7, 8, Some(10)), edge(8, 11, Some(1)), edge(11, 7, Some(13))],
            "cycle": [7, 8, 11],
        }));
        assert_eq!(
            (&told["width"], &told["height"], &told["arrows"]),
            (&json!(300.0), &json!(180.0), &json!(3))
        );
        let elements = told["elements"].as_array().expect("a list");
        let circles: Vec<[&Value; 3]> = elements[3..]
            .iter()
            .map(|vertex| {
                let circle = &vertex["children"][0];
                [&vertex["data-node"], &circle["cx"], &circle["cy"]]
            })
            .collect();
        assert_eq!(
            json!(circles),
            json!([["7", 150.0, 23.0], ["8", 244.4, 123.5], ["11", 55.6, 123.5]]),
            "the cycle goes round from the top"
        );
        let first = &elements[0];
        assert_eq!(
            (&first["class"], &first["data-from"], &first["data-to"]),
            (&json!("edge in-cycle"), &json!("7"), &json!("8"))
        );
        let label = &first["children"][2];
        assert_eq!(
            (&label["text"], &label["text-anchor"]),
            (&json!("at 10"), &json!("end")),
            "left of its arrow"
        );
        // A level arrow stands three pixels aside of the line between the two middles.
        let level = &elements[1]["children"][0];
        assert_eq!(
            [&level["x1"], &level["y1"], &level["x2"], &level["y2"]],
            [229.4, 120.5, 71.6, 120.5].map(|x| json!(x)).each_ref()
        );
    }

    #[test]
    fn waits_between_the_same_nodes_are_one_arrow_and_open_only_together() {
        let open = |at: usize| json!({"from": 1, "to": 2, "at": at, "open": true});
        let nodes = json!([{"node": 1, "phase": "waiting"}, {"node": 2, "phase": "inside"}]);
        let told = laid_out(&json!({"nodes": nodes, "edges": [open(3), open(4)], "cycle": []}));
        let arrow = &told["elements"][0];
        assert_eq!(
            (&arrow["class"], &arrow["children"][2]["text"]),
            (&json!("edge open"), &json!("at 3, 4"))
        );
        let told = laid_out(&json!({"nodes": nodes, "edges": [open(3), edge(1, 2, Some(4))], "cycle": []}));
        assert_eq!(told["elements"][0]["class"], "edge");
    }

    #[test]
    fn of_too_many_arrows_only_the_cycle_is_drawn() {
        let nodes: Vec<Value> = (1..=12).map(|node| json!({"node": node, "phase": "waiting"})).collect();
        let edges: Vec<Value> = (1..=12)
            .flat_map(|from| (1..=12).filter(move |to| *to != from).map(move |to| edge(from, to, None)))
            .collect();
        let told = laid_out(&json!({"nodes": nodes, "edges": edges, "cycle": [2, 5, 9]}));
        assert_eq!((&told["arrows"], &told["complete"]), (&json!(132), &json!(false)));
        let elements = told["elements"].as_array().expect("a list");
        let drawn: Vec<[&Value; 2]> = elements
            .iter()
            .filter(|element| element.get("data-from").is_some())
            .map(|arrow| [&arrow["data-from"], &arrow["data-to"]])
            .collect();
        assert_eq!(json!(drawn), json!([["2", "5"], ["5", "9"], ["9", "2"]]));
        assert_eq!(elements.len(), 3 + 12);
    }

    #[test]
    fn an_arrow_to_a_node_that_is_not_there_is_left_out() {
        let told = laid_out(
            &json!({"nodes": [{"node": 1, "phase": "crashed"}], "edges": [edge(1, 9, None)], "cycle": []}),
        );
        assert_eq!(told["elements"].as_array().map(Vec::len), Some(1));
        assert_eq!(told["elements"][0]["children"][0]["cx"], 150.0);
    }
}
