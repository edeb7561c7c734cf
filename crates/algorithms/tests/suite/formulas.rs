//! The printed formula for messages per entry and the function that computes it agree.

use doorway_core::{Entry, Explain, Hints, Options, Scale};

use crate::textbook::{Visit, visit_all};

/// Compares formula and cost; keeps the names of the algorithms with a bound that [`value`] cannot read.
#[derive(Default)]
struct Compare {
    unread: Vec<&'static str>,
}

impl Visit for Compare {
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, _: &[Options]) {
        let about = &entry.about;
        let formula = about.messages.formula;
        for n in [2.0, 3.0, 7.0, 16.0] {
            let scale = Scale { n, k: [2.0, n] };
            for (read, computed) in bounds(formula, scale).into_iter().zip((about.messages.bounds)(scale)) {
                match read {
                    Some(read) => assert_eq!(read, computed, "{}: {formula}, N = {n}", about.name),
                    None if !self.unread.contains(&about.name) => self.unread.push(about.name),
                    None => {}
                }
            }
        }
    }
}

/// The least and the most by a formula such as `3(K−1) … 7(K−1)`. A remark follows a comma: the bounds stand without it,
/// unless it adds to them or names an exception to a single number.
fn bounds(formula: &str, Scale { n, k }: Scale) -> [Option<f64>; 2] {
    let (formula, remark) = formula.split_once(", ").unwrap_or((formula, ""));
    match formula.split_once(" … ").or_else(|| formula.split_once(" or ")) {
        _ if remark.starts_with('+') => [None; 2],
        Some((least, most)) => [value(least, n, k[0]), value(most, n, k[1])],
        None => [value(formula, n, k[0]).filter(|_| remark.is_empty()), value(formula, n, k[1])],
    }
}

/// A number, `N`, `∞`, a multiple such as `3(K−1)`, or a sum of them.
fn value(term: &str, n: f64, k: f64) -> Option<f64> {
    if let Some((first, rest)) = term.split_once(" + ") {
        return Some(value(first, n, k)? + value(rest, n, k)?);
    }
    if let Some(factor) = term.strip_suffix("(N−1)") {
        return Some(factor.parse::<f64>().ok()? * (n - 1.0));
    }
    if let Some(factor) = term.strip_suffix("(K−1)") {
        return Some(factor.parse::<f64>().ok()? * (k - 1.0));
    }
    match term {
        "N" => Some(n),
        "∞" => Some(f64::INFINITY),
        number => number.parse().ok(),
    }
}

#[test]
fn printed_formulas_are_what_is_computed() {
    let mut compare = Compare::default();
    visit_all(&mut compare);
    assert_eq!(compare.unread, ["central", "sanders", "singhal", "raymond"], "their formulas need words");
}
