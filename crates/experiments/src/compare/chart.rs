//! A comparison as a picture: what was measured as marks, what the formula says as lines. The command and the studio's page draw the same
//! charts; the page chooses axes and formulas itself.

use doorway_core::Refusal;
use doorway_picture::chart::{Axis, Chart, Formula, Growth, Panels, Series};
use serde::Deserialize;

use super::{ComparisonCell, Metric};

/// What a chart shows of a cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The algorithm's name.
    pub algorithm: String,
    /// N.
    pub nodes: usize,
    /// The load, as one types it.
    pub load: String,
    /// The number that is drawn, if it was measured.
    pub value: Option<f64>,
    /// What the literature promises of messages: the formula.
    pub formula: String,
    /// The least of the formula at this size, where it has one.
    pub formula_least: Option<f64>,
    /// The most of the formula at this size, where it has one and is bounded.
    pub formula_most: Option<f64>,
}

impl Measurement {
    /// What a chart of this number shows of a cell.
    #[must_use]
    pub fn of(cell: &ComparisonCell, metric: Metric) -> Self {
        Self {
            algorithm: cell.algorithm.clone(),
            nodes: cell.nodes,
            load: cell.load.clone(),
            value: metric.of(cell),
            formula: cell.formula.to_owned(),
            formula_least: cell.formula_least,
            formula_most: cell.formula_most,
        }
    }
}

/// How the numbers of a comparison are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChartStyle {
    /// How the axis of N grows; by what was measured if nothing is said.
    pub x: Option<Growth>,
    /// How the axis of the numbers grows.
    pub y: Option<Growth>,
    /// What is drawn of the formulas.
    pub formulas: Formulas,
}

/// What is drawn of the formulas, in a chart of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// The bound that is nearer to what was measured.
    #[default]
    Nearest,
    /// Both bounds, with a band between them.
    Bounds,
    /// Nothing.
    Hidden,
}

/// One chart for each load at which something was measured, with a series for each algorithm.
///
/// # Errors
/// If nothing was measured at any load.
pub fn panels(cells: &[ComparisonCell], metric: Metric) -> Result<Panels, Refusal> {
    let measured: Vec<Measurement> = cells.iter().map(|cell| Measurement::of(cell, metric)).collect();
    let of_loads = charts(&measured, metric, ChartStyle::default());
    let charts: Vec<Chart> = of_loads.into_iter().filter_map(|(_, chart)| chart).collect();
    if charts.is_empty() {
        return Err(Refusal::new(format!(
            "there is nothing to draw: no run has a {}; another load may have one",
            metric.name()
        )));
    }
    Ok(Panels { title: String::new(), charts, columns: 1 })
}

/// The chart of each load, with a series for each algorithm; `None` where nothing was measured.
#[must_use]
pub fn charts(measured: &[Measurement], metric: Metric, style: ChartStyle) -> Vec<(String, Option<Chart>)> {
    let loads = in_order(measured, |cell| &cell.load);
    let chart = |load: &str| {
        let of_load: Vec<&Measurement> = measured.iter().filter(|cell| cell.load == load).collect();
        let chart = Chart {
            title: title(metric, load),
            x: sizes(&of_load, style),
            y: values(&of_load, metric, style),
            series: series(&of_load, metric, style),
            line_at: None,
        };
        (load.to_owned(), Some(chart).filter(has_points))
    };
    loads.into_iter().map(chart).collect()
}

fn title(metric: Metric, load: &str) -> String {
    let title = metric.title();
    let (first, rest) = title.split_at(title.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}, {load}", first.to_uppercase())
}

fn has_points(chart: &Chart) -> bool {
    chart.series.iter().any(|series| !series.points.is_empty())
}

/// Each different word of the cells, in the order in which it comes.
fn in_order<'a>(
    cells: impl IntoIterator<Item = &'a Measurement>,
    word: impl Fn(&'a Measurement) -> &'a String,
) -> Vec<&'a str> {
    let mut words: Vec<&str> = Vec::new();
    for cell in cells {
        if !words.contains(&word(cell).as_str()) {
            words.push(word(cell));
        }
    }
    words
}

/// Where the largest is many times the smallest, equal steps should be equal factors.
fn is_wide(values: impl Iterator<Item = f64> + Clone, factor: f64) -> bool {
    let (least, most) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
    least > 0.0 && most / least >= factor
}

/// The axis of N, with the sizes that were measured beside it.
fn sizes(cells: &[&Measurement], style: ChartStyle) -> Axis {
    let sizes = cells.iter().map(|cell| cell.nodes as f64);
    let usual = if is_wide(sizes.clone(), 4.0) { Growth::Binary } else { Growth::Linear };
    axis("nodes N", style.x.unwrap_or(usual)).whole().ticks(sizes)
}

fn values(cells: &[&Measurement], metric: Metric, style: ChartStyle) -> Axis {
    let values = cells.iter().filter_map(|cell| cell.value);
    let usual = if is_wide(values, 10.0) { Growth::Decimal } else { Growth::Linear };
    let axis = axis(metric.title(), style.y.unwrap_or(usual));
    match style.formulas {
        Formulas::Bounds => axis.limits(f64::NEG_INFINITY..=largest(cells)),
        Formulas::Nearest | Formulas::Hidden => axis,
    }
}

fn axis(title: &str, growth: Growth) -> Axis {
    let logarithmic = format!("{title}, logarithmic");
    match growth {
        Growth::Linear => Axis::linear(title),
        Growth::Binary => Axis::binary(&logarithmic),
        Growth::Decimal => Axis::decimal(&logarithmic),
    }
}

/// What must fit on the axis: all that was measured, and the formulas as far as they are not many times as much.
fn largest(cells: &[&Measurement]) -> f64 {
    /// A bound that is farther from what was measured would press the measurements together.
    const NEAR: f64 = 3.0;
    let of_cell = |cell: &&Measurement| {
        let measured = of_algorithm(cells, &cell.algorithm).filter_map(|other| other.value);
        let limit = NEAR * measured.fold(1.0, f64::max);
        let bounds = [cell.formula_least, cell.formula_most].into_iter().flatten();
        cell.value.into_iter().chain(bounds.filter(|bound| *bound <= limit)).fold(0.0, f64::max)
    };
    cells.iter().map(of_cell).fold(0.0, f64::max)
}

fn of_algorithm<'a>(cells: &'a [&'a Measurement], name: &'a str) -> impl Iterator<Item = &'a Measurement> {
    cells.iter().copied().filter(move |cell| cell.algorithm == name)
}

fn series(cells: &[&Measurement], metric: Metric, style: ChartStyle) -> Vec<Series> {
    let names = in_order(cells.iter().copied(), |cell| &cell.algorithm);
    names.into_iter().map(|name| series_of(name, cells, metric, style)).collect()
}

fn series_of(name: &str, cells: &[&Measurement], metric: Metric, style: ChartStyle) -> Series {
    let mut mine: Vec<&Measurement> = of_algorithm(cells, name).collect();
    mine.sort_by_key(|cell| cell.nodes);
    let is_cost = metric == Metric::Messages;
    let points = mine.iter().filter_map(|cell| Some((cell.nodes as f64, cell.value?)));
    let (words, formula) = match style.formulas {
        Formulas::Nearest if is_cost => nearest_bound(&mine).unzip(),
        Formulas::Bounds if is_cost => (None, bounds(&mine)),
        Formulas::Nearest | Formulas::Bounds | Formulas::Hidden => (None, None),
    };
    let told = mine.first().filter(|_| is_cost);
    let note = told.map(|cell| format!("{}{}", cell.formula, words.unwrap_or_default()));
    Series { name: name.to_owned(), points: points.collect(), note: note.unwrap_or_default(), formula }
}

/// Both bounds of the formula, where it has some; one that is not bounded above has only its least.
fn bounds(cells: &[&Measurement]) -> Option<Formula> {
    let bound = |cell: &&Measurement| {
        Some((cell.nodes as f64, cell.formula_least?, cell.formula_most.unwrap_or(f64::INFINITY)))
    };
    let points: Vec<(f64, f64, f64)> = cells.iter().filter_map(bound).collect();
    (!points.is_empty()).then_some(Formula::Band(points))
}

/// The formula as a line: the one of its two bounds that is nearer to what was measured, unless neither is near; and which one
/// that is, if they differ.
fn nearest_bound(cells: &[&Measurement]) -> Option<(&'static str, Formula)> {
    /// A bound that is off by more than this factor says nothing about the measurements.
    const NEAR: f64 = 2.0;
    let bound = |words: &'static str, of: fn(&Measurement) -> Option<f64>| {
        let mut points = Vec::new();
        let mut distance = 0.0;
        for cell in cells {
            let (value, measured) = of(cell).zip(cell.value)?;
            if value <= 0.0 || measured <= 0.0 {
                return None;
            }
            distance += (measured / value).ln().abs();
            points.push((cell.nodes as f64, value));
        }
        Some((distance / cells.len() as f64, words, points))
    };
    let bounds =
        [bound(", least drawn", |cell| cell.formula_least), bound(", most drawn", |cell| cell.formula_most)];
    let has_one = cells.iter().all(|cell| cell.formula_least == cell.formula_most);
    let nearest = bounds.into_iter().flatten().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let (distance, words, points) = nearest;
    (distance < NEAR.ln()).then_some((if has_one { "" } else { words }, Formula::Line(points)))
}

#[cfg(test)]
mod tests {
    use doorway_catalog::Catalog;
    use doorway_core::Options;
    use doorway_picture::Theme;
    use doorway_simulator::{Load, Settings};

    use super::*;
    use crate::compare::Comparison;

    #[test]
    fn every_algorithm_has_its_name_and_no_name_is_in_the_way_of_another() {
        let catalog = Catalog::textbook();
        let comparison = Comparison {
            algorithms: Comparison::everybody(&catalog),
            nodes: Comparison::USUAL_NODES.to_vec(),
            loads: vec![Load::Isolated, Load::Saturated],
            options: Options::none(),
            settings: Settings { entries: 200, ..Settings::default() },
        };
        let cells = comparison.run(&catalog, "doorway", 2, |_| ()).expect("all can be run");
        for metric in Metric::ALL {
            let drawing = panels(&cells, metric).expect("something was measured").draw(Theme::Auto);
            assert_eq!((drawing.overlaps().len(), drawing.clipped().len()), (0, 0), "{}", metric.name());
            for name in &comparison.algorithms {
                assert!(drawing.svg.contains(name.as_str()), "{name} in {}", metric.name());
            }
        }
    }

    #[test]
    fn a_formula_is_drawn_where_it_is_near_to_what_was_measured() {
        let catalog = Catalog::textbook();
        let comparison = Comparison {
            algorithms: ["lamport", "maekawa", "naimi-trehel"].map(str::to_owned).to_vec(),
            nodes: vec![16, 64],
            loads: vec![Load::Saturated],
            options: Options::none(),
            settings: Settings { entries: 200, ..Settings::default() },
        };
        let cells = comparison.run(&catalog, "doorway", 2, |_| ()).expect("all can be run");
        let charts = panels(&cells, Metric::Messages).expect("something was measured").charts;
        let formulas: Vec<Option<Formula>> =
            charts[0].series.iter().map(|series| series.formula.clone()).collect();
        assert_eq!(formulas[0], Some(Formula::Line(vec![(16.0, 45.0), (64.0, 189.0)])));
        assert_eq!(formulas[1], Some(Formula::Line(vec![(16.0, 12.0), (64.0, 27.0)])), "3(K−1), not 7(K−1)");
        assert_eq!(formulas[2], None, "N is far more than what it costs");
        let notes: Vec<&str> = charts[0].series.iter().map(|series| series.note.as_str()).collect();
        assert_eq!(notes, ["3(N−1)", "3(K−1) … 7(K−1), least drawn", "0 … N, O(log N) mean"]);
    }

    #[test]
    fn a_load_at_which_nothing_was_measured_is_left_out() {
        let catalog = Catalog::textbook();
        let comparison = Comparison {
            algorithms: vec!["lamport".to_owned()],
            nodes: vec![4],
            loads: vec![Load::Isolated, Load::Saturated],
            options: Options::none(),
            settings: Settings { entries: 50, ..Settings::default() },
        };
        let cells = comparison.run(&catalog, "doorway", 2, |_| ()).expect("it can be run");
        let charts = panels(&cells, Metric::Delay).expect("something was measured").charts;
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["Mean synchronisation delay in ticks, saturated"]);
        let svg = charts[0].draw(Theme::Auto).svg;
        assert!(svg.contains(">marks: measured<") && !svg.contains(">0.5<"), "{svg}");
        assert_eq!(charts[0].x.ticks, [4.0], "the sizes that were measured are written");
        let refused = panels(&cells[..1], Metric::Delay).map_err(|refusal| refusal.to_string());
        assert_eq!(
            refused,
            Err("there is nothing to draw: no run has a delay; another load may have one".to_owned())
        );
    }

    fn measured(algorithm: &str, nodes: usize, value: f64, bounds: [Option<f64>; 2]) -> Measurement {
        let [formula_least, formula_most] = bounds;
        Measurement {
            algorithm: algorithm.to_owned(),
            nodes,
            load: "saturated".to_owned(),
            value: Some(value),
            formula: "…".to_owned(),
            formula_least,
            formula_most,
        }
    }

    #[test]
    fn a_page_chooses_axes_and_sees_both_bounds() {
        let cells = [
            measured("maekawa", 9, 12.0, [Some(9.0), Some(21.0)]),
            measured("maekawa", 4, 8.0, [Some(6.0), Some(14.0)]),
            measured("token-ring", 4, 1.0, [Some(1.0), None]),
            measured("naimi-trehel", 9, 3.0, [Some(0.0), Some(900.0)]),
        ];
        let style =
            ChartStyle { x: Some(Growth::Linear), y: Some(Growth::Decimal), formulas: Formulas::Bounds };
        let [(load, Some(chart))] = &charts(&cells, Metric::Messages, style)[..] else { panic!("one chart") };
        assert_eq!((load.as_str(), chart.title.as_str()), ("saturated", "Messages per entry, saturated"));
        assert_eq!((chart.x.growth, &chart.x.ticks), (Growth::Linear, &vec![9.0, 4.0, 4.0, 9.0]));
        assert_eq!(chart.y.title, "messages per entry, logarithmic");
        assert_eq!(*chart.y.limits.end(), 21.0, "the 900 of a bound that is far away do not count");
        let formulas: Vec<&Formula> =
            chart.series.iter().filter_map(|series| series.formula.as_ref()).collect();
        assert_eq!(*formulas[0], Formula::Band(vec![(4.0, 6.0, 14.0), (9.0, 9.0, 21.0)]));
        assert_eq!(*formulas[1], Formula::Band(vec![(4.0, 1.0, f64::INFINITY)]));
        let hidden = ChartStyle { formulas: Formulas::Hidden, ..style };
        let [(_, Some(chart))] = &charts(&cells, Metric::Messages, hidden)[..] else { panic!("one chart") };
        assert!(chart.series.iter().all(|series| series.formula.is_none()));
    }
}
