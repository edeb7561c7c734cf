//! Pictures that the server lays out for pages, and that they are those of the command.

use std::collections::BTreeSet;

use doorway_catalog::Catalog;
use doorway_core::Options;
use doorway_experiments::compare::{Comparison, ComparisonCell, Metric, panels};
use doorway_picture::Theme;
use doorway_simulator::{Load, Settings};
use serde_json::{Value, json};

use crate::client::in_studio;

/// What was measured of two algorithms.
fn cells() -> Vec<ComparisonCell> {
    let comparison = Comparison {
        algorithms: ["lamport", "maekawa"].map(str::to_owned).to_vec(),
        nodes: vec![4, 9],
        loads: vec![Load::Isolated, Load::Saturated],
        options: Options::none().with("quorum", "grid"),
        settings: Settings { entries: 50, ..Settings::default() },
    };
    comparison.run(&Catalog::textbook(), "doorway", 1, |_| ()).expect("all can be run")
}

fn request(cells: &[ComparisonCell], metric: Metric) -> Value {
    let measured = cells.iter().map(|cell| {
        json!({
            "algorithm": cell.algorithm, "nodes": cell.nodes, "load": cell.load, "value": metric.of(cell),
            "formula": cell.formula, "formula_least": cell.formula_least, "formula_most": cell.formula_most,
        })
    });
    json!({
        "metric": metric.name(), "x": "log", "y": "log", "formulas": "bounds", "width": 600, "height": 400,
        "cells": measured.collect::<Vec<_>>(),
    })
}

/// What a part of a chart is, and which series and number it belongs to.
type Id = (String, String, String);

/// The ids of a chart on a page.
fn ids(elements: &Value, ids: &mut BTreeSet<Id>, inherited: &str) {
    for element in elements.as_array().into_iter().flatten() {
        let word = |name: &str| element[name].as_str().unwrap_or_default();
        let name = if word("data-name").is_empty() { inherited } else { word("data-name") };
        collect(ids, word("class"), name, word("data-at"));
        self::ids(&element["children"], ids, name);
    }
}

/// The ids of a chart in the SVG of the command.
fn ids_of_svg(svg: &str) -> BTreeSet<Id> {
    let document = roxmltree::Document::parse(svg).expect("it is XML");
    let mut ids = BTreeSet::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let owner = node.ancestors().find_map(|node| node.attribute("data-name")).unwrap_or_default();
        let word = |name: &str| node.attribute(name).unwrap_or_default();
        collect(&mut ids, word("class"), owner, word("data-at"));
    }
    ids
}

fn collect(ids: &mut BTreeSet<Id>, class: &str, name: &str, at: &str) {
    let kind = class.split(' ').next().unwrap_or_default();
    if ["series", "mark", "join", "formula", "label", "leader", "name"].contains(&kind) {
        ids.insert((kind.to_owned(), name.to_owned(), at.to_owned()));
    }
}

#[test]
fn the_charts_of_a_page_have_the_parts_of_the_commands_picture() {
    let cells = cells();
    in_studio(|client| {
        let answer = client.post("/layouts/comparison", &request(&cells, Metric::Messages)).json();
        let charts = answer["charts"].as_array().expect("charts");
        let loads: Vec<&Value> = charts.iter().map(|chart| &chart["load"]).collect();
        assert_eq!(json!(loads), json!(["isolated", "saturated"]));
        assert_eq!(charts[0]["layout"]["title"], "Messages per entry, isolated");
        let mut shown = BTreeSet::new();
        for chart in charts {
            ids(&chart["layout"]["elements"], &mut shown, "");
        }
        let drawn =
            ids_of_svg(&panels(&cells, Metric::Messages).expect("it can be drawn").draw(Theme::Auto).svg);
        let marks = drawn.iter().filter(|id| id.0 == "mark" && !id.2.is_empty()).count();
        assert_eq!(marks, 4, "two algorithms at two sizes: {drawn:?}");
        // The command draws one bound, which its marks stand on; a page draws both and joins its marks.
        let unjoined =
            |ids: BTreeSet<Id>| ids.into_iter().filter(|id| id.0 != "join").collect::<BTreeSet<_>>();
        assert_eq!(unjoined(shown), unjoined(drawn));
        let legend: Vec<&Value> =
            answer["legend"].as_array().into_iter().flatten().map(|one| &one["name"]).collect();
        assert_eq!(json!(legend), json!(["lamport", "maekawa"]));
    });
}

#[test]
fn a_load_at_which_nothing_was_measured_has_no_chart() {
    let cells = cells();
    in_studio(|client| {
        let answer = client.post("/layouts/comparison", &request(&cells, Metric::Delay)).json();
        assert_eq!(
            (&answer["charts"][0]["load"], &answer["charts"][0]["layout"]),
            (&json!("isolated"), &Value::Null)
        );
        let layout = &answer["charts"][1]["layout"];
        assert_eq!(
            (&layout["width"], &layout["height"], &layout["named"]),
            (&json!(600.0), &json!(400.0), &json!(true))
        );
    });
}

#[test]
fn a_narrow_chart_has_no_names_and_a_crowded_one_is_higher() {
    let cells = cells();
    in_studio(|client| {
        let mut asked = request(&cells, Metric::Messages);
        (asked["width"], asked["height"]) = (json!(360), json!(120));
        let layout = client.post("/layouts/comparison", &asked).json()["charts"][0]["layout"].take();
        assert_eq!((&layout["named"], &layout["height"]), (&json!(false), &json!(120.0)));
        let mut parts = BTreeSet::new();
        ids(&layout["elements"], &mut parts, "");
        assert!(parts.iter().all(|id| id.0 != "label") && parts.iter().any(|id| id.0 == "mark"), "{parts:?}");
        let crowd: Vec<Value> = (0..30)
            .map(|number| {
                let mut cell = asked["cells"][0].clone();
                cell["algorithm"] = json!(format!("series {number}"));
                cell
            })
            .collect();
        (asked["cells"], asked["width"]) = (json!(crowd), json!(600));
        let height =
            client.post("/layouts/comparison", &asked).json()["charts"][0]["layout"]["height"].take();
        // Thirty names of 16.8 pixels between margins, head and foot of 84.
        assert_eq!(height, json!(588.0));
    });
}

#[test]
fn the_failure_curves_are_laid_out_with_the_chosen_probability() {
    in_studio(|client| {
        let curve =
            |name: &str, middle: f64| json!({"name": name, "curve": [[0.0, 0.0], [0.5, middle], [1.0, 1.0]]});
        let asked = json!({
            "systems": [curve("plane", 0.5), curve("tree", 0.25)], "p": 0.5, "y": "linear", "width": 600, "height": 290,
        });
        let answer = client.post("/layouts/failures", &asked).json();
        let layout = &answer["layout"];
        let mut parts = BTreeSet::new();
        ids(&layout["elements"], &mut parts, "");
        for name in ["plane", "tree"] {
            for (kind, at) in [("mark", "0.5"), ("formula", ""), ("label", "")] {
                let id = (kind.to_owned(), name.to_owned(), at.to_owned());
                assert!(parts.contains(&id), "{id:?} in {parts:?}");
            }
        }
        let elements = layout["elements"].as_array().expect("a list");
        let line = elements.iter().find(|one| one["class"] == "line-at soft-line").expect("a line at p");
        let mark = &elements
            .iter()
            .find(|one| one["data-name"] == "plane" && one["class"] == "series")
            .expect("a series")["children"][0];
        // The plot is 206 pixels high below a head of 36, and its axis goes to 1.04: 242 − 206 · 0.5 / 1.04.
        assert_eq!((&mark["cx"], &mark["cy"]), (&line["x1"], &json!(142.96)));
        assert_eq!([&line["y1"], &line["y2"]], [&json!(36.0), &json!(242.0)]);
    });
}

#[test]
fn a_wait_for_graph_is_laid_out() {
    in_studio(|client| {
        let asked = json!({
            "nodes": [{"node": 1, "phase": "waiting"}, {"node": 2, "phase": "inside"}],
            "edges": [{"from": 1, "to": 2, "at": null, "open": true}], "cycle": [],
        });
        let layout = client.post("/layouts/waits", &asked).json()["layout"].take();
        let classes: Vec<&Value> =
            layout["elements"].as_array().into_iter().flatten().map(|one| &one["class"]).collect();
        assert_eq!(json!(classes), json!(["edge open", "vertex waiting", "vertex inside"]));
    });
}

#[test]
fn what_cannot_be_laid_out_is_refused_in_a_sentence() {
    let cells = cells();
    in_studio(|client| {
        let asked = |name: &str, value: Value| {
            let mut asked = request(&cells, Metric::Messages);
            asked[name] = value;
            client.post("/layouts/comparison", &asked)
        };
        let answer = asked("metric", json!("colour"));
        assert_eq!((answer.status, answer.error()), (400, "\"colour\" is not compared.".to_owned()));
        for width in [json!(5), json!(1e9), json!(-3)] {
            let answer = asked("width", width);
            assert!(
                answer.status == 400 && answer.error().contains("120 to 8000 pixels"),
                "{}",
                answer.text()
            );
        }
        for (name, value) in
            [("x", json!("sideways")), ("colour", json!("red")), ("cells", json!([{"nodes": 3}]))]
        {
            let answer = asked(name, value);
            assert!(answer.status == 400 && answer.error().starts_with("The body cannot be read"), "{name}");
        }
        let answer = client.post(
            "/layouts/waits",
            &json!({"nodes": [{"node": 0, "phase": "waiting"}], "edges": [], "cycle": []}),
        );
        assert_eq!(answer.status, 400, "nodes count from 1");
        assert_eq!(client.get("/api/v1/layouts/waits").status, 405);
    });
}

#[test]
fn the_font_of_pictures_is_served() {
    in_studio(|client| {
        for name in ["regular", "semibold"] {
            let answer = client.get(&format!("/fonts/{name}.ttf"));
            assert_eq!((answer.status, answer.header("content-type")), (200, Some("font/ttf")));
            assert!(answer.body.len() > 20_000, "{name}");
        }
    });
}
