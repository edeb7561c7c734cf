//! M. Maekawa: "A √N algorithm for mutual exclusion in decentralized systems", ACM Transactions on Computer Systems
//! 3(2), 1985.
//!
//! For a number of nodes that has no plane, take the smallest larger plane and replace each missing node
//! everywhere by the same existing one. Lines that met in the missing node now meet in its substitute.
//! Quorums have at most q + 1 nodes and every node is in its own, but the load is no longer equal.
//! Substitution goes round robin: no node replaces two missing ones before every node replaces one.
//!
//! Fewer than seven nodes are cut from the plane of order 2, the smallest; a single node is its own quorum.

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

use crate::{field, plane};

/// For each of `n` nodes, its line in the larger plane with missing nodes replaced.
pub(crate) fn assignment(n: usize) -> Result<PerNode<NodeSet>, Refusal> {
    let order = field::orders().find(|&order| plane::size(order) >= n).ok_or_else(|| refusal(n))?;
    let plane = plane::of_order(order);
    let substitute = |node: NodeId| NodeId::new(node.index() % n);
    Ok(PerNode::from_fn(n, |node| plane[node].iter().map(substitute).collect()))
}

fn refusal(n: usize) -> Refusal {
    let most = plane::MOST_NODES;
    Refusal::new(format!("planes are cut for at most {most} nodes, not {n}: `cyclic` works for every N"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(n: usize) -> (usize, usize) {
        let assignment = assignment(n).expect("small enough");
        let sizes = || assignment.values().iter().map(NodeSet::len);
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    }

    #[test]
    fn quorums_are_no_larger_than_their_lines() {
        for (n, order) in [(6, 2), (8, 3), (10, 3), (12, 3), (14, 4), (40, 7), (64, 8), (1000, 32)] {
            assert!(sizes(n).1 <= order + 1, "{n}: {:?}", sizes(n));
        }
    }

    #[test]
    fn ten_nodes_have_quorums_of_three_and_four() {
        assert_eq!(sizes(10), (3, 4));
        assert_eq!(sizes(14), (4, 5));
    }

    #[test]
    fn a_size_with_a_plane_gets_the_whole_plane() {
        for order in [2, 3, 4, 5, 7] {
            let n = plane::size(order);
            assert_eq!(assignment(n), plane::assignment(n));
        }
    }

    #[test]
    fn tiny_systems_are_cut_from_the_least_plane() {
        assert_eq!(sizes(1), (1, 1));
        for n in 2..7 {
            let (_, largest) = sizes(n);
            assert!(largest <= 3.min(n), "{n}");
        }
    }

    #[test]
    fn beyond_the_largest_plane_it_is_refused() {
        let sentence = assignment(1058).unwrap_err().to_string();
        assert_eq!(sentence, "planes are cut for at most 1057 nodes, not 1058: `cyclic` works for every N");
    }
}
