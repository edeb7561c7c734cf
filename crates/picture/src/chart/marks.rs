//! Marks that differ in shape: eight shapes, filled and hollow.

use crate::{Element, HUES, Point};

/// How large a mark is, from its middle, where letters have their full size.
pub(super) const REACH: f64 = 6.0;

/// The mark of the series with this number, which reaches this far from its middle.
pub(super) fn mark(number: usize, at: Point, reach: f64) -> Element {
    let hue = number % HUES;
    let is_hollow = (number / HUES) % 2 == 1;
    let class = if is_hollow {
        format!("mark hue{hue}-line hollow")
    } else {
        format!("mark hue{hue} paper-line dot")
    };
    let thick = if is_hollow { 2.2 } else { 1.0 };
    shape(number % HUES, at, reach).class(&class).thick(thick)
}

fn shape(which: usize, at: Point, reach: f64) -> Element {
    let corners = |places: &[(f64, f64)]| -> Vec<Point> {
        places.iter().map(|(x, y)| Point::new(at.x + reach * x, at.y + reach * y)).collect()
    };
    let around = |count: usize, outer: f64, inner: f64| -> Vec<Point> {
        let corner = |index: usize| {
            let angle = std::f64::consts::PI * (index as f64 / count as f64 - 0.5);
            let share = if index.is_multiple_of(2) { outer } else { inner };
            (share * angle.cos(), share * angle.sin())
        };
        corners(&(0..2 * count).map(corner).collect::<Vec<_>>())
    };
    match which {
        0 => Element::circle(at, reach * 0.95),
        1 => Element::polygon(&corners(&[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)])),
        2 => Element::polygon(&corners(&[(0.0, -1.15), (1.08, 0.82), (-1.08, 0.82)])),
        3 => Element::polygon(&corners(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)])),
        4 => Element::polygon(&corners(&[(0.0, 1.15), (1.08, -0.82), (-1.08, -0.82)])),
        5 => Element::polygon(&around(5, 1.35, 0.6)),
        6 => Element::polygon(&around(4, 1.35, 0.5)),
        _ => Element::polygon(&around(3, 1.1, 1.1)),
    }
}
