//! The layout of a quorum system: where its nodes stand.

use doorway_core::NodeId;
use doorway_quorums::{Shape, System};
use serde_json::{Value, json};

use super::{fano_lines, places};

/// The figure behind a system, and the place of each node from 0 to 1, x to the right and y down.
#[must_use]
pub fn layout(system: &System) -> Value {
    let mut told = match system.shape() {
        Shape::Grid(rows) => json!({"kind": "grid", "rows": rows}),
        Shape::Wall(rows) => json!({"kind": "wall", "rows": rows}),
        Shape::Tree(children) => json!({"kind": "tree", "children": children.values()}),
        Shape::Plane => {
            let fano = (system.n() == 7).then(|| fano_lines(system, NodeId::new(0)));
            json!({"kind": "plane", "lines": system.assignment().values(), "fano": fano})
        }
        Shape::Sets => json!({"kind": "ring"}),
    };
    told["positions"] = json!(positions(system));
    told
}

/// The places of the nodes within a square; both directions have the same scale.
fn positions(system: &System) -> Vec<[f64; 2]> {
    let places = places(system);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    };
    let (left, right) = ends(&mut places.iter().map(|place| place.x));
    let (top, bottom) = ends(&mut places.iter().map(|place| place.y));
    let scale = (right - left).max(bottom - top).max(1.0);
    let centred = |value: f64, least: f64, most: f64| 0.5 + (value - f64::midpoint(least, most)) / scale;
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    places
        .iter()
        .map(|at| [rounded(centred(at.x, left, right)), rounded(centred(at.y, top, bottom))])
        .collect()
}
