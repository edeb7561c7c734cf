//! A comparison as a picture: what was measured as marks, what the formula says as lines.

use doorway_core::Refusal;
use doorway_picture::chart::{Axis, Chart, Formula, Panels, Series};

use super::{ComparisonCell, Metric};

/// One chart for each load at which something was measured, with a series for each algorithm.
///
/// # Errors
/// If nothing was measured at any load.
pub fn panels(cells: &[ComparisonCell], metric: Metric) -> Result<Panels, Refusal> {
    let loads = in_order(cells, |cell| &cell.load);
    let title = |load: &str| {
        let title = metric.title();
        let (first, rest) = title.split_at(title.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}, {load}", first.to_uppercase())
    };
    let charts = loads.iter().map(|load| {
        let of_load: Vec<&ComparisonCell> = cells.iter().filter(|cell| cell.load == *load).collect();
        Chart {
            title: title(load),
            x: sizes(&of_load),
            y: values(&of_load, metric),
            series: series(&of_load, metric),
        }
    });
    let has_points = |chart: &Chart| chart.series.iter().any(|series| !series.points.is_empty());
    let charts: Vec<Chart> = charts.filter(has_points).collect();
    if charts.is_empty() {
        return Err(Refusal::new(format!(
            "there is nothing to draw: no run has a {}; another load may have one",
            metric.name()
        )));
    }
    Ok(Panels { title: String::new(), charts, columns: 1 })
}

/// Each different word of the cells, in the order in which it comes.
fn in_order<'a>(
    cells: impl IntoIterator<Item = &'a ComparisonCell>,
    word: impl Fn(&'a ComparisonCell) -> &'a String,
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

fn sizes(cells: &[&ComparisonCell]) -> Axis {
    let title = "nodes N";
    let sizes = cells.iter().map(|cell| cell.nodes as f64);
    if is_wide(sizes, 4.0) { Axis::binary(title).whole() } else { Axis::linear(title).whole() }
}

fn values(cells: &[&ComparisonCell], metric: Metric) -> Axis {
    let values = cells.iter().filter_map(|cell| metric.of(cell));
    if is_wide(values, 10.0) { Axis::decimal(metric.title()) } else { Axis::linear(metric.title()) }
}

fn series(cells: &[&ComparisonCell], metric: Metric) -> Vec<Series> {
    let names = in_order(cells.iter().copied(), |cell| &cell.algorithm);
    names
        .into_iter()
        .map(|name| {
            let mine: Vec<&ComparisonCell> =
                cells.iter().copied().filter(|cell| cell.algorithm == name).collect();
            let is_cost = metric == Metric::Messages;
            let points = mine.iter().filter_map(|cell| Some((cell.nodes as f64, metric.of(cell)?)));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let bound = if is_cost { nearest_bound(&mine) } else { None };
            let (words, formula) = bound.map_or(("", None), |(words, line)| (words, Some(line)));
            let told = mine.first().filter(|_| is_cost).map(|cell| format!("{}{words}", cell.formula));
            Series { name: name.to_owned(), note: told.unwrap_or_default(), points, formula }
        })
        .collect()
}

/// The formula as a line: the one of its two bounds that is nearer to what was measured, unless neither is near; and which one
/// that is, if they differ.
fn nearest_bound(cells: &[&ComparisonCell]) -> Option<(&'static str, Formula)> {
    /// A bound that is off by more than this factor says nothing about the measurements.
    const NEAR: f64 = 2.0;
    let bound = |words: &'static str, of: fn(&ComparisonCell) -> Option<f64>| {
        let mut points = Vec::new();
        let mut distance = 0.0;
        for cell in cells {
            let (value, measured) = of(cell).zip(cell.messages_per_entry)?;
            if value <= 0.0 || measured <= 0.0 {
                return None;
            }
            distance += (measured / value).ln().abs();
            points.push((cell.nodes as f64, value));
        }
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
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
        assert!(svg.contains(">marks: measured<") && svg.contains(">3<") && !svg.contains(">0.5<"), "{svg}");
        let refused = panels(&cells[..1], Metric::Delay).map_err(|refusal| refusal.to_string());
        assert_eq!(
            refused,
            Err("there is nothing to draw: no run has a delay; another load may have one".to_owned())
        );
    }
}
