//! Structures and trees as pictures: an arrow for each relation, and a legend.

use doorway_core::{NodeId, NodeSet, PerNode};
use doorway_picture::relations::{MOST_NODES, Relations, structure, tree};
use doorway_picture::{Drawing, Theme};
use roxmltree::Document;

fn nodes(numbers: &[u32]) -> NodeSet {
    numbers.iter().map(|&number| NodeId::from_number(number).expect("nodes count from 1")).collect()
}

/// The lecture's example of four nodes.
fn four_nodes() -> (PerNode<NodeSet>, PerNode<NodeSet>) {
    let asks = [nodes(&[1, 2]), nodes(&[1, 2]), nodes(&[1, 2, 3]), nodes(&[1, 2, 4])];
    let informs = [nodes(&[1]), nodes(&[2]), nodes(&[1, 2, 3]), nodes(&[1, 2, 4])];
    (Vec::from(asks).into(), Vec::from(informs).into())
}

/// The arrows of a class: from where to where.
fn arrows(drawing: &Drawing, class: &str) -> Vec<(String, String)> {
    let document = Document::parse(&drawing.svg).expect("it is XML");
    let groups = document.descendants().filter(|node| node.attribute("class") == Some(class));
    let end = |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap_or_default().to_owned();
    groups.map(|node| (end(node, "data-from"), end(node, "data-to"))).collect()
}

#[test]
fn a_structure_has_a_red_arrow_to_ask_and_a_green_one_to_inform() {
    let (asks, informs) = four_nodes();
    let relations = Relations { name: "four-node", asks: &asks, informs: &informs, of: None };
    let drawing = structure(&relations, Theme::Light).expect("few enough");
    assert_eq!(arrows(&drawing, "relation asks").len(), 10);
    assert_eq!(arrows(&drawing, "relation informs").len(), 8);
    let (red, green) = (drawing.svg.matches("alarm-line").count(), drawing.svg.matches("hue2-line").count());
    assert!(red > 10 && green > 8, "{red} red lines and {green} green ones");
    let texts: Vec<&str> = drawing.labels.iter().map(|label| label.text.as_str()).collect();
    assert!(texts.contains(&"asks (R)") && texts.contains(&"informs (I)"), "{texts:?}");
    assert_eq!((drawing.overlaps(), drawing.clipped()), (Vec::new(), Vec::new()));
}

#[test]
fn the_arrows_of_one_node_can_be_drawn_alone() {
    let (asks, informs) = four_nodes();
    let of = |number: u32| NodeId::from_number(number);
    let relations = |of| Relations { name: "four-node", asks: &asks, informs: &informs, of };
    let drawing = structure(&relations(of(2)), Theme::Auto).expect("few enough");
    let pair = |to: &str| ("2".to_owned(), to.to_owned());
    assert_eq!(arrows(&drawing, "relation asks"), [pair("1"), pair("2")]);
    assert_eq!(arrows(&drawing, "relation informs"), [pair("2")]);
    let refusal = structure(&relations(of(5)), Theme::Auto).expect_err("it has four nodes").to_string();
    assert_eq!(refusal, "there is no node 5: the nodes are 1 to 4");
}

#[test]
fn too_many_nodes_are_refused() {
    let everybody = PerNode::same(MOST_NODES + 1, NodeSet::first(MOST_NODES + 1));
    let relations = Relations { name: "lamport", asks: &everybody, informs: &everybody, of: None };
    let refusal = structure(&relations, Theme::Auto).expect_err("too many").to_string();
    assert_eq!(refusal, "65 nodes are too many to draw: at most 64 are drawn");
}

#[test]
fn a_tree_has_an_arrow_to_each_parent_and_its_graph_behind_it() {
    let parents: PerNode<Option<NodeId>> =
        Vec::from([None, NodeId::from_number(1), NodeId::from_number(1), NodeId::from_number(3)]).into();
    let graph = [nodes(&[2, 3, 4]), nodes(&[1, 3]), nodes(&[1, 2, 4]), nodes(&[1, 3])];
    let drawing = tree("elected", &parents, Some(&graph), Theme::Dark).expect("few enough");
    let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(arrows(&drawing, "relation asks"), [pair("2", "1"), pair("3", "1"), pair("4", "3")]);
    let faint = drawing.svg.matches("stroke-dasharray=\"2 4\"").count();
    assert_eq!(faint, 2, "the edges 1 – 4 and 2 – 3 of the graph are not in the tree");
    assert_eq!((drawing.overlaps(), drawing.clipped()), (Vec::new(), Vec::new()));
}
