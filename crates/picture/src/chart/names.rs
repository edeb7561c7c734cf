//! Names beside lines: as near as possible to where they belong, and never in each other's way.

/// Finds a height for each name: near the wanted one, at least `apart` from its neighbours, between `top` and `bottom` as long as
/// all of them fit there. The order of the wanted heights is kept.
///
/// Names that are too close form a block whose middle is the middle of what its names wanted; blocks that meet become one
/// (R. E. Barlow and H. D. Brunk's pooling of adjacent violators, 1972).
pub(super) fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]).then(one.cmp(&other)));
    // Without the distances that they must keep, the heights only have to be in order.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (rank, &name) in order.iter().enumerate() {
        blocks.push((wanted[name] - rank as f64 * apart, 1));
        while let [.., (above, several), (below, more)] = blocks[..] {
            if above <= below {
                break;
            }
            let together = several + more;
            let mean = (above * several as f64 + below * more as f64) / together as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, together));
        }
    }
    let room = bottom - apart * wanted.len().saturating_sub(1) as f64;
    let bases = blocks.iter().flat_map(|&(base, count)| std::iter::repeat_n(base, count));
    let mut heights = vec![0.0; wanted.len()];
    for ((rank, base), name) in bases.enumerate().zip(order) {
        heights[name] = base.min(room).max(top) + rank as f64 * apart;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_room_stay_where_they_belong() {
        assert_eq!(spread(&[50.0, 10.0, 90.0], 20.0, 0.0, 100.0), [50.0, 10.0, 90.0]);
        assert!(spread(&[], 20.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn names_that_want_the_same_place_share_the_way() {
        assert_eq!(spread(&[50.0, 50.0, 50.0], 20.0, 0.0, 100.0), [30.0, 50.0, 70.0]);
    }

    #[test]
    fn names_at_the_edge_move_inwards() {
        assert_eq!(spread(&[100.0, 98.0, 5.0], 20.0, 0.0, 100.0), [100.0, 80.0, 5.0]);
        assert_eq!(spread(&[0.0, 0.0], 20.0, 0.0, 100.0), [0.0, 20.0]);
    }

    #[test]
    fn whatever_is_wanted_neighbours_keep_their_distance_and_their_order() {
        let mut state = 1_u64;
        for seed in 1..200 {
            let mut number = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
                (state >> 40) as f64 % 400.0
            };
            let wanted: Vec<f64> = (0..16).map(|_| number()).collect();
            let mut pairs: Vec<(f64, f64)> =
                wanted.iter().copied().zip(spread(&wanted, 20.0, 0.0, 400.0)).collect();
            pairs.sort_by(|one, other| one.1.total_cmp(&other.1));
            for pair in pairs.windows(2) {
                assert!(
                    pair[1].1 - pair[0].1 >= 20.0 - 1e-9 && pair[0].0 <= pair[1].0,
                    "seed {seed}: {pairs:?}"
                );
            }
            assert!(pairs[0].1 >= 0.0 && pairs[15].1 <= 400.0 + 1e-9, "seed {seed}: {pairs:?}");
        }
    }
}
