//! Charts as a page asks for them: what was measured, how it is to be drawn, and how much room there is. The answer has elements, which the
//! page paints.

use std::collections::BTreeMap;

use doorway_core::Refusal;
use doorway_experiments::compare::{ChartStyle, Formulas, Measurement, Metric, charts};
use doorway_picture::chart::{Chart, Growth, layouts, legend};
use doorway_picture::quorums::{FailureCurve, failures};
use serde::Deserialize;
use serde_json::{Value, json};

/// The charts of a comparison: one for each load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonChartSpec {
    metric: String,
    x: AxisKind,
    y: AxisKind,
    formulas: FormulaKind,
    width: f64,
    height: f64,
    cells: Vec<Measurement>,
}

/// The chart of the probability that no quorum is alive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureChartSpec {
    systems: Vec<RatedSystem>,
    p: f64,
    y: AxisKind,
    width: f64,
    height: f64,
}

/// A quorum system with its curve, as `/quorums` answers it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RatedSystem {
    name: String,
    curve: Vec<(f64, f64)>,
}

/// How an axis grows.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AxisKind {
    Log,
    Linear,
}

/// What is drawn of formulas.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FormulaKind {
    Nearest,
    Bounds,
    Off,
}

impl ComparisonChartSpec {
    /// The layout of each chart, and the looks of all series.
    ///
    /// # Errors
    /// If there is no such metric, or no such size.
    pub fn json(&self) -> Result<Value, Refusal> {
        check_size(self.width, self.height)?;
        let found = Metric::ALL.into_iter().find(|metric| metric.name() == self.metric);
        let metric = found.ok_or_else(|| Refusal::new(format!("{:?} is not compared", self.metric)))?;
        let of_loads = charts(&self.cells, metric, self.style());
        let drawn: Vec<Chart> = of_loads.iter().filter_map(|(_, chart)| chart.clone()).collect();
        let loads = of_loads.iter().filter(|(_, chart)| chart.is_some()).map(|(load, _)| load.as_str());
        let mut laid_out: BTreeMap<&str, _> = loads.zip(layouts(&drawn, self.width, self.height)).collect();
        let chart = |(load, _): &(String, Option<Chart>)| {
            let layout = laid_out.remove(load.as_str());
            json!({"load": load, "layout": layout})
        };
        let told: Vec<Value> = of_loads.iter().map(chart).collect();
        Ok(json!({"version": 1, "charts": told, "legend": legend(&drawn)}))
    }

    fn style(&self) -> ChartStyle {
        let x = match self.x {
            AxisKind::Log => Growth::Binary,
            AxisKind::Linear => Growth::Linear,
        };
        let formulas = match self.formulas {
            FormulaKind::Nearest => Formulas::Nearest,
            FormulaKind::Bounds => Formulas::Bounds,
            FormulaKind::Off => Formulas::Hidden,
        };
        ChartStyle { x: Some(x), y: Some(self.y.growth()), formulas }
    }
}

impl FailureChartSpec {
    /// The layout of the chart, and the looks of its curves.
    ///
    /// # Errors
    /// If there is no such size.
    pub fn json(&self) -> Result<Value, Refusal> {
        check_size(self.width, self.height)?;
        let curve =
            |system: &RatedSystem| FailureCurve { name: system.name.clone(), points: system.curve.clone() };
        let curves: Vec<FailureCurve> = self.systems.iter().map(curve).collect();
        let chart = [failures(&curves, self.p, self.y.growth())];
        let layout = layouts(&chart, self.width, self.height).pop();
        Ok(json!({"version": 1, "layout": layout, "legend": legend(&chart)}))
    }
}

impl AxisKind {
    fn growth(self) -> Growth {
        match self {
            AxisKind::Log => Growth::Decimal,
            AxisKind::Linear => Growth::Linear,
        }
    }
}

/// That a chart of this size can be drawn and read.
fn check_size(width: f64, height: f64) -> Result<(), Refusal> {
    let is_possible = |length: &f64| (120.0..=8000.0).contains(length);
    match [width, height].iter().find(|length| !is_possible(length)) {
        Some(length) => {
            Err(Refusal::new(format!("a chart is 120 to 8000 pixels wide and high, not {length}")))
        }
        None => Ok(()),
    }
}
