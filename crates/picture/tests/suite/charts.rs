//! Charts: what they show, that it can be read, and what two of them look like.

use std::collections::BTreeSet;

use doorway_picture::chart::{Axis, Chart, Formula, Panels, Series, layouts, legend};
use doorway_picture::{Element, Theme, Weight, width};
use serde_json::{Value, json};

/// Twelve series as a comparison of the algorithms gives them, with made-up deviations.
fn twelve() -> Chart {
    let nodes = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let root = |n: f64| (n - 0.75).sqrt() - 0.5 + 1.0;
    let series = |name: &str, note: &str, value: &dyn Fn(f64) -> f64, deviation: f64| {
        let wave = |index: usize| 1.0 + deviation * [0.0, 0.6, -0.4, 1.0, 0.3, 0.8][index];
        Series {
            name: name.to_owned(),
            note: note.to_owned(),
            points: nodes.iter().enumerate().map(|(index, &n)| (n, value(n) * wave(index))).collect(),
            formula: Some(Formula::line(2.0..=64.0, value)),
        }
    };
    let band =
        |name: &str, note: &str, least: &dyn Fn(f64) -> f64, most: &dyn Fn(f64) -> f64, share: f64| Series {
            points: nodes.iter().map(|&n| (n, least(n) + share * (most(n) - least(n)))).collect(),
            formula: Some(Formula::band(2.0..=64.0, least, most)),
            name: name.to_owned(),
            note: note.to_owned(),
        };
    Chart {
        title: "Messages per entry, saturated".to_owned(),
        x: Axis::binary("nodes N"),
        y: Axis::decimal("messages per entry, logarithmic"),
        series: vec![
            series("central", "3", &|_| 3.0, 0.0),
            series("lamport", "3(N−1)", &|n| 3.0 * (n - 1.0), 0.0),
            series("ricart-agrawala", "2(N−1)", &|n| 2.0 * (n - 1.0), 0.0),
            band("carvalho-roucairol", "0 to 2(N−1)", &|_| 0.0, &|n| 2.0 * (n - 1.0), 0.9),
            band("maekawa", "3(K−1) to 7(K−1)", &|n| 3.0 * (root(n) - 0.5), &|n| 7.0 * (root(n) - 0.5), 0.4),
            series("sanders", "3(K−1)", &|n| 3.3 * (root(n) - 0.5), 0.1),
            series("cao-singhal", "", &|n| 3.6 * (root(n) - 0.5), 0.1),
            series("suzuki-kasami", "N", &|n| n, 0.0),
            series("singhal", "N/2 to N", &|n| 0.8 * n, 0.1),
            series("raymond", "about 4", &|_| 4.0, 0.1),
            series("naimi-trehel", "O(log N)", &|n| n.log2().max(1.0), 0.15),
            series("token-ring", "1", &|_| 1.0, 0.0),
        ],
        line_at: None,
    }
}

#[test]
fn names_never_overlap_for_up_to_sixteen_series() {
    for count in 0..=16 {
        let mut chart = twelve();
        let more: Vec<Series> =
            (0..4).map(|i| Series { name: format!("series {i}"), ..chart.series[1].clone() }).collect();
        chart.series.extend(more);
        chart.series.truncate(count);
        for columns in [1, 2] {
            let panels = Panels {
                title: "Both loads".to_owned(),
                charts: vec![chart.clone(), chart.clone()],
                columns,
            };
            for drawing in [panels.draw(Theme::Auto), chart.draw(Theme::Auto)] {
                assert_eq!((drawing.overlaps(), drawing.clipped()), (vec![], vec![]), "{count} series");
                let names =
                    drawing.labels.iter().filter(|label| chart.series.iter().any(|s| s.name == label.text));
                assert!(names.count() >= count);
            }
        }
    }
}

#[test]
fn a_chart_is_xml_and_the_same_every_time() {
    let drawing = twelve().draw(Theme::Auto);
    assert_eq!(drawing, twelve().draw(Theme::Auto));
    let document = roxmltree::Document::parse(&drawing.svg).expect("it is XML");
    let marks = document.descendants().filter(|node| {
        node.attribute("class").is_some_and(|class| class.split(' ').any(|class| class == "mark"))
    });
    assert_eq!(marks.count(), 12 * 6 + 12, "a mark for each measurement and one beside each name");
}

#[test]
fn nothing_that_can_be_measured_breaks_a_chart() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e300];
    for axis in [Axis::linear("odd <&>"), Axis::binary("odd"), Axis::decimal("odd")] {
        let points = odd.iter().flat_map(|&x| odd.iter().map(move |&y| (x, y))).collect();
        let series = Series { name: "a".repeat(300), note: "<&>".to_owned(), points, formula: None };
        let chart = Chart {
            title: "<b>".repeat(99),
            x: axis.clone(),
            y: axis,
            series: vec![series, Series::default()],
            line_at: None,
        };
        let drawing = chart.draw(Theme::Dark);
        roxmltree::Document::parse(&drawing.svg).expect("it is XML");
        assert!(!drawing.svg.contains("NaN") && !drawing.svg.contains("inf"), "{}", drawing.svg);
    }
}

#[test]
fn lines_from_mark_to_mark_are_not_those_of_formulas() {
    let mut chart = twelve();
    let caption = |chart: &Chart| {
        let labels = chart.draw(Theme::Auto).labels;
        labels.into_iter().find(|label| label.text.starts_with("marks")).expect("a caption").text
    };
    chart.series.truncate(3);
    assert_eq!(caption(&chart), "marks: measured · lines: by formula");
    chart.series[2].formula = None;
    assert_eq!(caption(&chart), "marks: measured · thick lines: formula · thin: joined marks");
    let svg = chart.draw(Theme::Auto).svg;
    let joins: Vec<&str> = svg.split('<').filter(|element| element.contains("\"join ")).collect();
    assert!(joins.len() == 1 && joins[0].contains("stroke-width=\"1.5\""), "{joins:?}");
    assert!(joins[0].contains("stroke-opacity=\"0.5\""), "{joins:?}");
    chart.series.drain(..2);
    assert_eq!(caption(&chart), "marks: measured, joined by lines");
}

#[test]
fn letters_are_large_enough_for_a_lecture_hall() {
    let svg = twelve().draw(Theme::Light).svg;
    let document = roxmltree::Document::parse(&svg).expect("it is XML");
    let texts: Vec<f64> = document
        .descendants()
        .filter_map(|node| node.attribute("font-size"))
        .map(|size| size.parse().expect("a size"))
        .collect();
    assert!(texts.len() > 30 && texts.iter().all(|&size| size >= 14.0), "{texts:?}");
}

#[test]
fn twelve_algorithms_look_as_reviewed() {
    insta::assert_snapshot!(twelve().draw(Theme::Auto).svg);
}

#[test]
fn two_panels_look_as_reviewed() {
    let mut linear = twelve();
    linear.title = "Messages per entry, isolated".to_owned();
    linear.y = Axis::linear("messages per entry");
    linear.series.truncate(5);
    let panels = Panels { title: "Two loads".to_owned(), charts: vec![twelve(), linear], columns: 2 };
    let drawing = panels.draw(Theme::Light);
    insta::assert_snapshot!(drawing.svg);
}

/// What a part of a chart is, and which series and number it belongs to.
fn parts(elements: &[Element]) -> BTreeSet<[String; 3]> {
    fn collect(elements: &Value, owner: &str, parts: &mut BTreeSet<[String; 3]>) {
        for element in elements.as_array().into_iter().flatten() {
            let word = |name: &str| element[name].as_str().unwrap_or_default();
            let owner = element["data-name"].as_str().unwrap_or(owner);
            if !owner.is_empty() {
                let kind = word("class").split(' ').next().unwrap_or_default();
                parts.insert([kind, owner, word("data-at")].map(str::to_owned));
            }
            collect(&element["children"], owner, parts);
        }
    }
    let mut parts = BTreeSet::new();
    collect(&serde_json::to_value(elements).expect("it can be written"), "", &mut parts);
    parts
}

#[test]
fn a_page_has_the_parts_of_the_picture_at_any_width() {
    let mut chart = twelve();
    chart.series.iter_mut().for_each(|series| series.note.clear());
    let drawn = parts(&chart.draw(Theme::Auto).elements);
    assert!(drawn.len() > 12 * 9, "{drawn:?}");
    for (wide, high) in [(440.0, 300.0), (700.0, 400.0), (1600.0, 900.0)] {
        let layout = layouts(std::slice::from_ref(&chart), wide, high).remove(0);
        assert_eq!(parts(&layout.elements), drawn, "{wide} pixels");
        assert_eq!((layout.width, layout.height, layout.named), (wide, high, true));
    }
    let narrow = layouts(std::slice::from_ref(&chart), 380.0, 300.0).remove(0);
    let is_label = |part: &[String; 3]| ["label", "leader", "name", "soft"].contains(&part[0].as_str());
    let of_label = |part: &&[String; 3]| is_label(part) || (part[0] == "mark" && part[2].is_empty());
    let unnamed: BTreeSet<[String; 3]> = drawn.iter().filter(|part| !of_label(part)).cloned().collect();
    assert_eq!((parts(&narrow.elements), narrow.named), (unnamed, false));
}

#[test]
fn a_small_chart_has_exact_places() {
    let series = |name: &str, points: &[(f64, f64)]| Series {
        name: name.to_owned(),
        points: points.to_vec(),
        ..Series::default()
    };
    let chart = Chart {
        x: Axis::linear("nodes").ticks([2.0, 4.0]),
        y: Axis::linear("messages"),
        series: vec![series("one", &[(2.0, 5.0), (4.0, 10.0)]), series("two", &[(4.0, 10.0)])],
        ..Chart::default()
    };
    let layout = layouts(std::slice::from_ref(&chart), 400.0, 300.0).remove(0);
    let elements = serde_json::to_value(&layout.elements).expect("it can be written");
    let series = elements.as_array().into_iter().flatten().filter(|element| element["class"] == "series");
    let series: Vec<&Value> = series.collect();
    let marks = &series[0]["children"];
    // The plot is between 36 and 252; its axes go to 10.4 and to 4.16.
    let left = 4.0 + width("10", 12.0, Weight::Regular) + 9.6;
    let place = |x: f64, y: f64| [left + (388.0 - left) * x / 4.16, 252.0 - 216.0 * y / 10.4];
    let rounded = |place: [f64; 2]| json!(place.map(|length| (length * 100.0).round() / 100.0));
    assert_eq!(json!([marks[1]["cx"], marks[1]["cy"]]), rounded(place(2.0, 5.0)));
    assert_eq!(json!([marks[2]["cx"], marks[2]["cy"]]), rounded(place(4.0, 10.0)));
    assert_eq!([&marks[1]["data-at"], &marks[2]["data-at"]], ["2", "4"]);
    assert_eq!([&marks[1]["data-also"], &marks[2]["data-also"]], [&Value::Null, &json!("two")]);
    assert_eq!(series[1]["children"][0]["data-also"], "one");
    let texts = elements.as_array().into_iter().flatten().filter_map(|element| element["text"].as_str());
    assert_eq!(texts.collect::<Vec<_>>(), ["0", "2", "4", "6", "8", "10", "2", "4", "nodes", "messages"]);
}

#[test]
fn a_legend_has_each_series_once_in_the_order_of_its_look() {
    let mut other = twelve();
    other.series.reverse();
    other.series.push(Series { name: "last".to_owned(), ..Series::default() });
    let entries = legend(&[twelve(), other]);
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[11], names[12]), (13, "central", "token-ring", "last"));
}
