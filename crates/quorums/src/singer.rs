//! J. Singer: "A theorem in finite projective geometry and some applications to number theory", Transactions of the
//! American Mathematical Society 43(3), 1938.
//!
//! A plane of order q has a rotation that visits all points in one cycle. Numbered along this walk, the
//! points of one line have every difference exactly once: a perfect difference set of q + 1 numbers modulo
//! q² + q + 1. The walk is multiplication by x in the field with q³ elements, whose elements are triples over
//! the field with q: x³ is replaced by a·x² + b·x + c, and we try a, b, c until the walk visits every point.

use crate::field::{Element, Field};

/// A perfect difference set modulo q² + q + 1 that contains 0, for the order q of a field.
pub(crate) fn difference_set(order: usize) -> Option<Vec<usize>> {
    let field = Field::new(order)?;
    let coefficients = field.elements().skip(1).flat_map(|c| {
        let field = &field;
        field.elements().flat_map(move |b| field.elements().map(move |a| [c, b, a]))
    });
    coefficients.into_iter().find_map(|cubed| line_on_walk(&field, cubed, order))
}

/// A polynomial of degree below 3, the constant first.
type Triple = [Element; 3];

/// The times at which the walk crosses the line of the points without x², or `None` if it returns to its
/// start before it has visited every point.
fn line_on_walk(field: &Field, cubed: Triple, order: usize) -> Option<Vec<usize>> {
    let length = order * order + order + 1;
    let (mut point, mut crossings) = ([1, 0, 0], Vec::new());
    for time in 0..length {
        // Triples that differ by a factor are the same point, so any constant is the start.
        let is_at_start = point[1] == 0 && point[2] == 0;
        if is_at_start && time > 0 {
            return None;
        }
        if point[2] == 0 {
            crossings.push(time);
        }
        point = next(field, point, cubed);
    }
    (crossings.len() == order + 1).then_some(crossings)
}

fn next(field: &Field, [constant, linear, square]: Triple, cubed: Triple) -> Triple {
    let carried = cubed.map(|coefficient| field.product(square, coefficient));
    [carried[0], field.sum(constant, carried[1]), field.sum(linear, carried[2])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::orders;

    #[test]
    fn every_difference_but_zero_occurs_exactly_once() {
        for order in orders() {
            let n = order * order + order + 1;
            let set = difference_set(order).expect("every field has one");
            let mut seen = vec![0; n];
            for a in &set {
                for b in &set {
                    seen[(a + n - b) % n] += 1;
                }
            }
            assert_eq!((set[0], set.len(), seen[0]), (0, order + 1, order + 1));
            assert!(seen[1..].iter().all(|&times| times == 1), "order {order}");
        }
    }
}
