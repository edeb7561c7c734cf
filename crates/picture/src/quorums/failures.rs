//! How likely it is that no quorum is alive, over the probability that a node has crashed: a curve for each system.

use crate::chart::{Axis, Chart, Formula, Growth, Series};

/// Probabilities below this do not stretch a logarithmic axis.
const SMALLEST: f64 = 1e-6;

/// The curve of one system.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureCurve {
    /// The name of the system.
    pub name: String,
    /// The probability that a node has crashed, and the probability that then no quorum is alive; in the order of the first.
    pub points: Vec<(f64, f64)>,
}

/// The chart of these curves, with a line at the probability `p` and a mark where a curve has it.
#[must_use]
pub fn failures(curves: &[FailureCurve], p: f64, growth: Growth) -> Chart {
    let title = "no quorum is alive";
    let y = match growth {
        Growth::Linear => Axis::linear(title),
        Growth::Binary | Growth::Decimal => Axis::decimal(&format!("{title}, logarithmic")),
    };
    Chart {
        title: "How likely no quorum is alive".to_owned(),
        x: Axis::linear("probability that a node has crashed"),
        y: y.limits(SMALLEST..=1.0),
        series: curves.iter().map(|curve| series(curve, p)).collect(),
        line_at: Some(p),
    }
}

fn series(curve: &FailureCurve, p: f64) -> Series {
    let marked = curve.points.iter().copied().filter(|(crashed, _)| (crashed - p).abs() < 1e-6);
    Series {
        name: curve.name.clone(),
        note: String::new(),
        points: marked.collect(),
        formula: Some(Formula::Line(curve.points.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_where_a_curve_has_the_chosen_probability() {
        let curve = |name: &str, points: &[(f64, f64)]| FailureCurve {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        let fine = curve("grid", &[(0.0, 0.0), (0.05, 1e-9), (0.1, 0.01), (1.0, 1.0)]);
        let coarse = curve("plane", &[(0.0, 0.0), (0.1, 0.02), (1.0, 1.0)]);
        let chart = failures(&[fine, coarse], 0.05, Growth::Decimal);
        let marks: Vec<&[(f64, f64)]> = chart.series.iter().map(|series| &series.points[..]).collect();
        assert_eq!(marks, [&[(0.05, 1e-9)][..], &[]], "the plane was not rated at 0.05");
        assert_eq!((chart.line_at, chart.y.limits), (Some(0.05), 1e-6..=1.0));
        assert_eq!(chart.y.title, "no quorum is alive, logarithmic");
    }
}
