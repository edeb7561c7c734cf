//! W.-S. Luk, T.-T. Wong: "Two new quorum based algorithms for distributed mutual exclusion", 17th International
//! Conference on Distributed Computing Systems, 1997.
//!
//! Take a set D of numbers such that every number modulo N is a difference of two of them; the quorum of node
//! i is D shifted by i. The quorums of i and j meet because the distance from i to j is such a difference.
//! All quorums have the same size and all nodes the same load, for every N, which makes this the best
//! default.
//!
//! Up to 31 nodes D is the smallest possible, found by search. Where N has a plane D is a perfect difference
//! set ([`crate::singer`]). Elsewhere it is a ruler that measures every distance up to N/2 (B. Wichmann: "A
//! note on restricted difference bases", Journal of the London Mathematical Society 38, 1963; C. J. Colbourn,
//! A. C. H. Ling: "Quorums from difference covers", Information Processing Letters 75, 2000), without
//! redundant marks: at most √(3N/2) + 2 nodes, where fewer than √N are impossible.

use doorway_core::{NodeId, NodeSet, PerNode};

use crate::{field, plane, singer};

/// For each of `n` nodes, the difference cover shifted by its index.
pub(crate) fn assignment(n: usize) -> PerNode<NodeSet> {
    let cover = difference_cover(n);
    // Shifting two quorums by the same distance shifts their intersection, so this one check covers all
    // pairs.
    assert!(is_cover(&cover, n), "the differences of {cover:?} are not all numbers modulo {n}");
    PerNode::from_fn(n, |node| cover.iter().map(|d| NodeId::new((node.index() + d) % n)).collect())
}

/// A small set that contains 0 and whose differences are all numbers modulo `n`.
fn difference_cover(n: usize) -> Vec<usize> {
    if let Some(smallest) = SMALLEST.get(n) {
        return smallest.to_vec();
    }
    let order = field::orders().find(|&order| plane::size(order) == n);
    order.and_then(singer::difference_set).unwrap_or_else(|| without_redundant(wichmann_ruler(n), n))
}

/// The smallest covers, by the number of nodes; the entry for 0 is empty.
const SMALLEST: [&[usize]; 32] = [
    &[],
    &[0],
    &[0, 1],
    &[0, 1],
    &[0, 1, 2],
    &[0, 1, 2],
    &[0, 1, 3],
    &[0, 1, 3],
    &[0, 1, 2, 4],
    &[0, 1, 2, 4],
    &[0, 1, 2, 5],
    &[0, 1, 2, 5],
    &[0, 1, 3, 7],
    &[0, 1, 3, 9],
    &[0, 1, 2, 3, 7],
    &[0, 1, 2, 3, 7],
    &[0, 1, 2, 5, 8],
    &[0, 1, 2, 4, 12],
    &[0, 1, 2, 5, 11],
    &[0, 1, 2, 6, 9],
    &[0, 1, 2, 3, 6, 10],
    &[0, 1, 4, 14, 16],
    &[0, 1, 2, 3, 7, 11],
    &[0, 1, 2, 3, 7, 11],
    &[0, 1, 2, 3, 7, 15],
    &[0, 1, 2, 3, 8, 12],
    &[0, 1, 2, 5, 9, 15],
    &[0, 1, 2, 5, 13, 22],
    &[0, 1, 4, 15, 20, 22],
    &[0, 1, 2, 3, 4, 9, 14],
    &[0, 1, 2, 3, 4, 9, 19],
    &[0, 1, 3, 8, 12, 18],
];

/// The marks of the ruler with the fewest marks among Wichmann's that measure every distance up to `n` / 2; a
/// larger distance one way round the ring is a smaller one the other way.
///
/// The ruler for r and s has the gaps 1 (r times), r + 1, 2r + 1 (r times), 4r + 3 (s times), 2r + 2 (r + 1 times)
/// and 1 (r times): 4r + s + 3 marks and a length of 4r(r + s + 2) + 3(s + 1).
fn wichmann_ruler(n: usize) -> Vec<usize> {
    let rulers = (0..=n.isqrt()).map(|r| {
        let missing = (n / 2).saturating_sub(4 * r * (r + 2) + 3);
        (r, missing.div_ceil(4 * r + 3))
    });
    let (r, s) = rulers.min_by_key(|(r, s)| 4 * r + s).expect("r = 0 always gives one");
    let gaps = [(1, r), (r + 1, 1), (2 * r + 1, r), (4 * r + 3, s), (2 * r + 2, r + 1), (1, r)];
    let mut marks = vec![0];
    for gap in gaps.into_iter().flat_map(|(gap, times)| std::iter::repeat_n(gap, times)) {
        marks.push((marks[marks.len() - 1] + gap) % n);
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// The cover without redundant numbers, whose differences all occur elsewhere too; tried from the largest
/// down.
fn without_redundant(mut cover: Vec<usize>, n: usize) -> Vec<usize> {
    let mut occurrences = occurrences(&cover, n);
    for place in (1..cover.len()).rev() {
        let mark = cover.remove(place);
        let lost = || cover.iter().flat_map(|other| [(mark + n - other) % n, (other + n - mark) % n]);
        lost().for_each(|difference| occurrences[difference] -= 1);
        if lost().any(|difference| occurrences[difference] == 0) {
            lost().for_each(|difference| occurrences[difference] += 1);
            cover.insert(place, mark);
        }
    }
    cover
}

fn is_cover(cover: &[usize], n: usize) -> bool {
    occurrences(cover, n).iter().all(|&times| times > 0)
}

/// The number of times that each number modulo `n` is a difference of two numbers of the cover.
fn occurrences(cover: &[usize], n: usize) -> Vec<usize> {
    let mut occurrences = vec![0; n];
    for a in cover {
        for b in cover {
            occurrences[(a + n - b) % n] += 1;
        }
    }
    occurrences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: usize) -> usize {
        difference_cover(n).len()
    }

    #[test]
    fn up_to_31_nodes_the_sizes_are_as_specified() {
        let expected =
            [1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 6];
        assert_eq!((1..=31).map(size).collect::<Vec<_>>(), expected);
    }

    /// Whether `cover` can be completed to a cover with `more` numbers above its last.
    fn can_be_completed(cover: &mut Vec<usize>, more: usize, n: usize) -> bool {
        if more == 0 {
            return is_cover(cover, n);
        }
        (cover[cover.len() - 1] + 1..n).any(|next| {
            cover.push(next);
            let found = can_be_completed(cover, more - 1, n);
            cover.pop();
            found
        })
    }

    #[test]
    fn up_to_31_nodes_nothing_smaller_exists() {
        for n in 2..=31 {
            assert!(!can_be_completed(&mut vec![0], size(n) - 2, n), "{n}");
        }
    }

    #[test]
    fn every_n_up_to_4096_has_a_cover_within_the_bound() {
        for n in 1..=4096 {
            let cover = difference_cover(n);
            assert!(cover.contains(&0) && is_cover(&cover, n), "{n}");
            let beyond = cover.len().saturating_sub(2);
            assert!(2 * beyond * beyond <= 3 * n, "{n}: {}", cover.len());
            assert!(cover.len() <= 2 * n.isqrt() + 1);
        }
    }

    #[test]
    fn an_n_with_a_plane_gets_a_perfect_difference_set() {
        for order in field::orders() {
            assert_eq!(size(plane::size(order)), order + 1);
        }
    }

    #[test]
    fn larger_systems_have_these_sizes() {
        assert_eq!([32, 64, 100, 1000, 1057, 4096].map(size), [8, 10, 12, 39, 33, 78]);
    }
}
