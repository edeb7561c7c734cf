//! M. Maekawa: "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on Computer Systems
//! 3(2), 1985.
//!
//! In a projective plane every two lines meet in exactly one point. The plane of order q has q² + q + 1 points and as
//! many lines, with q + 1 points on each line and q + 1 lines through each point: quorums of about √N that share the
//! load equally, and no quorum system has less load. It is built over the field with q elements: points are the
//! triples (1,a,b), (0,1,a) and (0,0,1), lines are the same triples, and a point lies on a line if the sum of the
//! products of their coordinates is zero.
//!
//! Each node gets its own line through it. Such an assignment exists because every point is on as many lines
//! as every line has points (Hall), and H. W. Kuhn's augmenting paths find it.

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

use crate::field::{self, Element, Field};

/// For each of `n` nodes, a line of its own.
pub(crate) fn assignment(n: usize) -> Result<PerNode<NodeSet>, Refusal> {
    match field::orders().find(|&order| size(order) == n) {
        Some(order) => Ok(of_order(order)),
        None => Err(refusal(n)),
    }
}

/// The plane of this order with a line for each point.
pub(crate) fn of_order(order: usize) -> PerNode<NodeSet> {
    let field = Field::new(order).expect("only the orders of fields are asked for");
    let points = points(&field);
    let on_line =
        |line: &Triple| (0..points.len()).filter(|&point| is_on(&field, &points[point], line)).collect();
    let lines: Vec<Vec<usize>> = points.iter().map(on_line).collect();
    // Points and lines are dual, so `lines` also lists the lines through each point.
    let line_of = perfect_matching(&lines);
    PerNode::from_fn(points.len(), |node| {
        lines[line_of[node.index()]].iter().map(|&point| NodeId::new(point)).collect()
    })
}

/// The number of points of the plane of this order.
pub(crate) const fn size(order: usize) -> usize {
    order * order + order + 1
}

/// The largest plane that is built: order 32.
pub(crate) const MOST_NODES: usize = size(32);

/// Whether these sets, one for each node, are the lines of a projective plane: all of size q + 1, every node
/// in exactly q + 1 of them, every two with exactly one node in common. The smallest plane has order 2 and
/// seven nodes.
#[must_use]
pub fn is_projective_plane(lines: &[NodeSet]) -> bool {
    let n = lines.len();
    let Some(order) = (2..n).take_while(|&order| size(order) <= n).find(|&order| size(order) == n) else {
        return false;
    };
    let lines_through = |point| lines.iter().filter(|line| line.contains(point)).count();
    let meet_once = |i: usize| lines[i + 1..].iter().all(|other| lines[i].common(other) == 1);
    lines.iter().all(|line| line.len() == order + 1)
        && NodeId::first(n).all(|point| lines_through(point) == order + 1)
        && (0..n).all(meet_once)
}

/// Who proved that there is no projective plane of this order; `None` if there is one, or the question is open.
///
/// R. H. Bruck, H. J. Ryser: "The nonexistence of certain finite projective planes", Canadian Journal of Mathematics 1, 1949:
/// an order that leaves 1 or 2 when divided by 4 is a sum of two squares. C. W. H. Lam, L. Thiel, S. Swiercz: "The
/// non-existence of finite projective planes of order 10", Canadian Journal of Mathematics 41(6), 1989, by computer. All
/// other orders that are not powers of a prime are open; 12 is the first of them.
#[must_use]
pub fn proof_of_no_plane(order: usize) -> Option<&'static str> {
    let is_square = |number: usize| number.isqrt().pow(2) == number;
    let is_sum_of_two_squares = (0..=order.isqrt()).any(|root| is_square(order - root * root));
    if matches!(order % 4, 1 | 2) && !is_sum_of_two_squares {
        Some("Bruck and Ryser 1949")
    } else if order == 10 {
        Some("Lam, Thiel and Swiercz 1989")
    } else {
        None
    }
}

type Triple = [Element; 3];

fn points(field: &Field) -> Vec<Triple> {
    let plane = field.elements().flat_map(|a| field.elements().map(move |b| [1, a, b]));
    let horizon = field.elements().map(|a| [0, 1, a]);
    plane.chain(horizon).chain([[0, 0, 1]]).collect()
}

fn is_on(field: &Field, point: &Triple, line: &Triple) -> bool {
    let products = point.iter().zip(line).map(|(&x, &l)| field.product(x, l));
    products.fold(0, |sum, product| field.sum(sum, product)) == 0
}

/// Matches each point with one of its `candidates`, none of them twice.
fn perfect_matching(candidates: &[Vec<usize>]) -> Vec<usize> {
    let n = candidates.len();
    let mut owner = vec![None; n];
    for point in 0..n {
        assert!(
            augment(point, candidates, &mut owner, &mut vec![false; n]),
            "a regular graph has a matching"
        );
    }
    let mut taken = vec![0; n];
    for (line, point) in owner.into_iter().enumerate() {
        taken[point.expect("as many lines as points")] = line;
    }
    taken
}

/// Finds a line for `point`: a free one, or one whose owner can move to another line.
fn augment(point: usize, candidates: &[Vec<usize>], owner: &mut [Option<usize>], tried: &mut [bool]) -> bool {
    for &line in &candidates[point] {
        if tried[line] {
            continue;
        }
        tried[line] = true;
        if owner[line].is_none_or(|other| augment(other, candidates, owner, tried)) {
            owner[line] = Some(point);
            return true;
        }
    }
    false
}

fn refusal(n: usize) -> Refusal {
    if n > MOST_NODES {
        return Refusal::new(format!(
            "planes are built for at most {MOST_NODES} nodes, not {n}: `cyclic` works for every N"
        ));
    }
    let below = field::orders().map(size).rfind(|&size| size < n);
    let above = field::orders().map(size).find(|&size| size > n);
    let nearest = match (below, above) {
        (Some(below), Some(above)) => format!("the nearest sizes are {below} and {above}"),
        (Some(only), None) | (None, Some(only)) => format!("the nearest size is {only}"),
        (None, None) => unreachable!("there are planes"),
    };
    let order = (2..32).find(|&order| size(order) == n);
    let reason = match order.map(|order| (order, proof_of_no_plane(order))) {
        Some((order, Some(proof))) => {
            format!("there is no projective plane of order {order}, with {n} nodes ({proof})")
        }
        Some((order, None)) => format!(
            "no projective plane of order {order}, with {n} nodes, is known, and whether one exists is open"
        ),
        None if n == 1 => "no projective plane has 1 node".to_owned(),
        None => format!("no projective plane has {n} nodes"),
    };
    Refusal::new(format!("{reason}: {nearest}; `truncated` works for every N up to 1057"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> NodeSet {
        numbers.iter().filter_map(|&number| NodeId::from_number(number)).collect()
    }

    /// The thirteen quorums of the lectures.
    fn lecture() -> Vec<NodeSet> {
        let sets: [[u32; 4]; 13] = [
            [1, 2, 3, 4],
            [2, 5, 8, 11],
            [3, 6, 8, 13],
            [4, 6, 10, 11],
            [1, 5, 6, 7],
            [2, 6, 9, 12],
            [2, 7, 10, 13],
            [1, 8, 9, 10],
            [3, 7, 9, 11],
            [3, 5, 10, 12],
            [1, 11, 12, 13],
            [4, 7, 8, 12],
            [4, 5, 9, 13],
        ];
        sets.iter().map(|numbers| set(numbers)).collect()
    }

    #[test]
    fn every_plane_up_to_order_32_gives_each_node_its_own_line() {
        assert_eq!(field::orders().count(), 18);
        for order in field::orders() {
            let plane = of_order(order);
            let lines = plane.values();
            assert_eq!(lines.len(), order * order + order + 1);
            assert!(plane.iter().all(|(node, line)| line.contains(node) && line.len() == order + 1));
            for (i, line) in lines.iter().enumerate() {
                assert!(
                    lines[..i].iter().all(|other| line.common(other) == 1),
                    "order {order}, line {}",
                    i + 1
                );
            }
            for node in NodeId::first(lines.len()) {
                assert_eq!(lines.iter().filter(|line| line.contains(node)).count(), order + 1);
            }
            assert!(is_projective_plane(lines));
        }
    }

    #[test]
    fn the_thirteen_sets_of_the_lectures_are_a_plane() {
        assert!(is_projective_plane(&lecture()));
    }

    #[test]
    fn changing_any_one_element_breaks_the_plane() {
        for (i, line) in lecture().into_iter().enumerate() {
            for member in &line {
                for other in NodeId::first(13).filter(|&other| !line.contains(other)) {
                    let mut changed = lecture();
                    changed[i].remove(member);
                    changed[i].insert(other);
                    assert!(!is_projective_plane(&changed));
                }
            }
        }
    }

    #[test]
    fn other_sets_are_no_plane() {
        assert!(!is_projective_plane(&[]));
        assert!(!is_projective_plane(&[set(&[1])]));
        let triangle = [set(&[1, 2]), set(&[2, 3]), set(&[1, 3])];
        assert!(!is_projective_plane(&triangle), "order 1 is no plane");
        assert!(!is_projective_plane(&lecture()[..12]));
        assert!(!is_projective_plane(&vec![set(&[1, 2, 3]); 7]));
        let mut outside = lecture();
        outside[0].remove(NodeId::new(0));
        outside[0].insert(NodeId::new(13));
        assert!(!is_projective_plane(&outside));
    }

    #[test]
    fn sizes_without_a_plane_are_refused_with_the_nearest_sizes() {
        let refusal = |n| assignment(n).unwrap_err().to_string();
        assert_eq!(
            refusal(10),
            "no projective plane has 10 nodes: the nearest sizes are 7 and 13; `truncated` works for every N up to 1057"
        );
        assert_eq!(
            refusal(3),
            "no projective plane has 3 nodes: the nearest size is 7; `truncated` works for every N up to 1057"
        );
        assert_eq!(
            refusal(43),
            "there is no projective plane of order 6, with 43 nodes (Bruck and Ryser 1949): the nearest sizes are \
             31 and 57; `truncated` works for every N up to 1057"
        );
        assert!(refusal(111).starts_with(
            "there is no projective plane of order 10, with 111 nodes (Lam, Thiel and Swiercz 1989): "
        ));
        assert!(refusal(157).starts_with(
            "no projective plane of order 12, with 157 nodes, is known, and whether one exists is open: "
        ));
        assert!(refusal(1).starts_with("no projective plane has 1 node: the nearest size is 7;"));
        assert!(refusal(931).contains("order 30") && refusal(931).contains("871 and 993"));
        assert_eq!(
            refusal(1058),
            "planes are built for at most 1057 nodes, not 1058: `cyclic` works for every N"
        );
    }

    #[test]
    fn six_orders_up_to_32_are_excluded_and_no_order_of_a_field_is() {
        let excluded: Vec<usize> = (2..=32).filter(|&order| proof_of_no_plane(order).is_some()).collect();
        assert_eq!(excluded, [6, 10, 14, 21, 22, 30]);
        assert!(field::orders().all(|order| proof_of_no_plane(order).is_none()));
    }
}
