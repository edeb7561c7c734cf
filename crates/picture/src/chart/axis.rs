//! Axes: from numbers to places, and the round numbers that are written beside them.

use std::ops::RangeInclusive;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is counted, with its unit: `nodes`, `sync delay in ticks`.
    pub title: String,
    /// How equal distances grow.
    pub growth: Growth,
    /// Whether there is nothing between two whole numbers.
    pub is_whole: bool,
    /// The numbers to write beside it, as far as there is room; round ones if there are none here.
    pub ticks: Vec<f64>,
    /// Numbers beyond these limits do not stretch the axis: they are drawn at its edge.
    pub limits: RangeInclusive<f64>,
}

/// How equal distances on an axis grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By addition, from zero.
    Linear,
    /// By doubling: its round numbers are 1, 2, 4, 8, …
    Binary,
    /// By multiplication: its round numbers are 1, 2, 5, 10, …
    Decimal,
}

impl Axis {
    /// An axis on which equal distances are equal differences; it begins at zero.
    #[must_use]
    pub fn linear(title: &str) -> Self {
        let limits = f64::NEG_INFINITY..=f64::INFINITY;
        Self { title: title.to_owned(), growth: Growth::Linear, is_whole: false, ticks: Vec::new(), limits }
    }

    /// A logarithmic axis with powers of two.
    #[must_use]
    pub fn binary(title: &str) -> Self {
        Self { growth: Growth::Binary, ..Self::linear(title) }
    }

    /// A logarithmic axis with powers of ten.
    #[must_use]
    pub fn decimal(title: &str) -> Self {
        Self { growth: Growth::Decimal, ..Self::linear(title) }
    }
}

impl Axis {
    /// The same for things that are counted: only whole numbers are written beside it.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// The same with these numbers beside it instead of round ones.
    #[must_use]
    pub fn ticks(self, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { ticks: numbers.into_iter().collect(), ..self }
    }

    /// The same for which numbers beyond these limits do not count.
    #[must_use]
    pub fn limits(self, limits: RangeInclusive<f64>) -> Self {
        Self { limits, ..self }
    }
}

/// No axis goes further: larger numbers, and their inverses, are drawn at its edge.
const LARGEST: f64 = 1e15;

/// An axis with its ends, in numbers and in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruler {
    growth: Growth,
    is_whole: bool,
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Ruler {
    /// An axis between two places that has room for all of these numbers.
    pub(super) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let Axis { growth, is_whole, ref limits, .. } = *axis;
        let is_possible = |number: &f64| match growth {
            _ if !limits.contains(number) => false,
            Growth::Linear => number.abs() <= LARGEST,
            Growth::Binary | Growth::Decimal => (1.0 / LARGEST..=LARGEST).contains(number),
        };
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.filter(is_possible) {
            least = least.min(number);
            most = most.max(number);
        }
        if least > most {
            (least, most) = (1.0, 1.0);
        }
        let (least, most) = match growth {
            Growth::Linear => (least.min(0.0), most.max(1e-9) * 1.04),
            Growth::Binary | Growth::Decimal if least == most => (least / 2.0, most * 2.0),
            Growth::Binary => (least / 1.06, most * 1.06),
            Growth::Decimal => (least / 1.15, most * 1.15),
        };
        Self { growth, is_whole, least, most, from, to }
    }

    /// The place of a number. What is out of the axis is at its edge.
    pub(super) fn place(&self, number: f64) -> f64 {
        let share = match self.growth {
            Growth::Linear => (number - self.least) / (self.most - self.least),
            Growth::Binary | Growth::Decimal => {
                let from_least = number.max(f64::MIN_POSITIVE).ln() - self.least.ln();
                from_least / (self.most.ln() - self.least.ln())
            }
        };
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Those of these numbers that are on the axis and have room beside each other, if about `wanted` fit on it.
    pub(super) fn roomy(&self, numbers: &[f64], wanted: usize) -> Vec<f64> {
        let apart = (self.to - self.from).abs() / wanted.max(2) as f64 * 0.65;
        let mut kept: Vec<f64> = Vec::new();
        for &number in numbers.iter().filter(|number| (self.least..=self.most).contains(number)) {
            if kept.iter().all(|&other| (self.place(number) - self.place(other)).abs() >= apart) {
                kept.push(number);
            }
        }
        kept
    }

    /// The numbers to write, with a line each; not more than about `wanted`.
    pub(super) fn major(&self, wanted: usize) -> Vec<f64> {
        let wanted = wanted.max(2);
        let inside = |number: &f64| *number >= self.least && *number <= self.most;
        match self.growth {
            Growth::Linear => {
                let step = round_step((self.most - self.least) / wanted as f64);
                let step = if self.is_whole { step.max(1.0) } else { step };
                let first = (self.least / step).ceil() as i64;
                (first..).map(|count| count as f64 * step).take_while(|number| *number <= self.most).collect()
            }
            Growth::Binary => thinned(self.powers(2.0, &[1.0]), wanted),
            Growth::Decimal => {
                let fine: Vec<f64> = self.powers(10.0, &[1.0, 2.0, 5.0]).into_iter().filter(inside).collect();
                if fine.len() <= wanted { fine } else { thinned(self.powers(10.0, &[1.0]), wanted) }
            }
        }
    }

    /// Where fainter lines go between them.
    pub(super) fn minor(&self) -> Vec<f64> {
        match self.growth {
            Growth::Linear | Growth::Binary => Vec::new(),
            Growth::Decimal => self.powers(10.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        }
    }

    /// The products of these digits with the powers of a base that are on the axis.
    fn powers(&self, base: f64, digits: &[f64]) -> Vec<f64> {
        let power = |number: f64| (number.ln() / base.ln()).floor() as i32;
        let powers = power(self.least)..=power(self.most);
        let numbers = powers.flat_map(|power| digits.iter().map(move |digit| digit * base.powi(power)));
        numbers.filter(|number| *number >= self.least && *number <= self.most).collect()
    }
}

/// Every second, third, … so that not more than `wanted` are left.
fn thinned(numbers: Vec<f64>, wanted: usize) -> Vec<f64> {
    let step = numbers.len().div_ceil(wanted).max(1);
    numbers.into_iter().step_by(step).collect()
}

/// The least of 1, 2, 5 times a power of ten that is not smaller.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powi(least.log10().floor() as i32);
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= least * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

/// A number as people write it: 0.05, 2.5, 12, 1,000.
pub(super) fn written(number: f64) -> String {
    if number.abs() >= 1e7 || (number != 0.0 && number.abs() < 1e-4) {
        return format!("{number:e}");
    }
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, rest) = text.split_once('.').map_or((text, ""), |(whole, rest)| (whole, rest));
    let digits = whole.trim_start_matches('-');
    let sign = if whole.len() > digits.len() { "−" } else { "" };
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if rest.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped}.{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(growth: Growth, numbers: &[f64]) -> Ruler {
        let axis = Axis { growth, ..Axis::linear("") };
        Ruler::new(&axis, numbers.iter().copied(), 0.0, 100.0)
    }

    #[test]
    fn what_is_counted_has_only_whole_numbers() {
        let numbers = |axis: Axis| Ruler::new(&axis, [4.0].into_iter(), 0.0, 100.0).major(20);
        assert_eq!(numbers(Axis::linear("nodes").whole()), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(numbers(Axis::linear("ticks"))[..3], [0.0, 0.5, 1.0]);
    }

    #[test]
    fn round_numbers_are_written() {
        assert_eq!(ruler(Growth::Linear, &[3.0, 97.0]).major(6), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ruler(Growth::Binary, &[2.0, 64.0]).major(8), [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(
            ruler(Growth::Decimal, &[1.5, 190.0]).major(8),
            [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
        );
        assert_eq!(ruler(Growth::Decimal, &[1.0, 90_000.0]).major(6), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
    }

    #[test]
    fn chosen_numbers_are_written_as_far_as_there_is_room() {
        let ruler = ruler(Growth::Linear, &[100.0]);
        assert_eq!(ruler.roomy(&[4.0, 9.0, 16.0, 25.0, 400.0], 20), [4.0, 9.0, 16.0, 25.0]);
        assert_eq!(ruler.roomy(&[4.0, 9.0, 16.0, 25.0], 6), [4.0, 16.0]);
    }

    #[test]
    fn numbers_beyond_the_limits_do_not_stretch_the_axis() {
        let axis = Axis::decimal("failure").limits(1e-6..=1.0);
        let ruler = Ruler::new(&axis, [1e-12, 1e-3, 1.0, 50.0].into_iter(), 0.0, 100.0);
        assert_eq!(ruler.major(9), [1e-3, 1e-2, 0.1, 1.0]);
        assert_eq!((ruler.place(1e-12), ruler.place(50.0)), (0.0, 100.0));
    }

    #[test]
    fn numbers_without_a_place_are_at_the_edge() {
        let ruler = ruler(Growth::Decimal, &[f64::NAN, 0.0, -3.0, 1.0, 100.0]);
        assert_eq!((ruler.place(0.0), ruler.place(-1.0), ruler.place(1e9)), (0.0, 0.0, 100.0));
        assert!((ruler.place(10.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn an_axis_without_numbers_is_still_one() {
        for growth in [Growth::Linear, Growth::Binary, Growth::Decimal] {
            let ruler = ruler(growth, &[]);
            assert!(!ruler.major(5).is_empty() && ruler.place(1.0).is_finite());
        }
    }

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0.0, 0.05, 2.5, 12.0, 1000.0, 1_234_567.0, -1000.0];
        assert_eq!(numbers.map(written), ["0", "0.05", "2.5", "12", "1,000", "1,234,567", "−1,000"]);
    }
}
