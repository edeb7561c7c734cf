//! An enumeration of all sets of nodes and which of them contain a quorum.
//!
//! Only nodes in a minimal quorum matter, and twenty nodes have a million sets. A flag for each says whether
//! it contains a quorum; the flags spread from the quorums to their supersets, one node after the other.
//! Counted by size the sets give the failure probability for every crash probability at once; compared with
//! their complements they show whether the system is dominated (H. Garcia-Molina, D. Barbara: "How to assign
//! votes in a distributed system", Journal of the ACM 32(4), 1985; T. Ibaraki, T. Kameda: "A theory of
//! coteries", IEEE Transactions on Parallel and Distributed Systems 4(7), 1993).

use doorway_core::{NodeId, NodeSet};

/// The sets of relevant nodes that contain a quorum.
#[derive(Clone, Debug)]
pub(super) struct Coalitions {
    /// The number of nodes that are in a minimal quorum.
    members: usize,
    /// One flag for each set; the bits of its index are its members.
    winning: Vec<bool>,
}

impl Coalitions {
    /// The most relevant nodes that are enumerated.
    pub(super) const MOST_MEMBERS: usize = 20;

    /// The sets of the members of these quorums, unless there are too many members.
    pub(super) fn new(quorums: &[NodeSet]) -> Option<Self> {
        let members: NodeSet = quorums.iter().flatten().collect();
        if members.len() > Self::MOST_MEMBERS {
            return None;
        }
        let members: Vec<NodeId> = members.iter().collect();
        let place = |node: NodeId| members.binary_search(&node).expect("a member of a quorum");
        let mut winning = vec![false; 1 << members.len()];
        for quorum in quorums {
            winning[quorum.iter().map(|node| 1 << place(node)).sum::<usize>()] = true;
        }
        for place in 0..members.len() {
            for set in (0..winning.len()).filter(|set| set >> place & 1 == 1) {
                winning[set] |= winning[set & !(1 << place)];
            }
        }
        Some(Self { members: members.len(), winning })
    }

    /// Whether exactly one of each set and its complement contains a quorum. Both cannot.
    pub(super) fn is_nondominated(&self) -> bool {
        let all = self.winning.len() - 1;
        (0..self.winning.len()).all(|set| self.winning[set] != self.winning[all & !set])
    }

    /// The number of sets of each size without a quorum.
    pub(super) fn losing(&self) -> Vec<u32> {
        let mut losing = vec![0; self.members + 1];
        for set in (0..self.winning.len()).filter(|&set| !self.winning[set]) {
            losing[set.count_ones() as usize] += 1;
        }
        losing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> NodeSet {
        numbers.iter().filter_map(|&number| NodeId::from_number(number)).collect()
    }

    #[test]
    fn two_of_three_are_nondominated() {
        let coalitions = Coalitions::new(&[set(&[1, 5]), set(&[5, 9]), set(&[1, 9])]).expect("three nodes");
        assert_eq!(coalitions.losing(), [1, 3, 0, 0]);
        assert!(coalitions.is_nondominated());
    }

    #[test]
    fn two_of_two_are_dominated_by_one_alone() {
        let coalitions = Coalitions::new(&[set(&[1, 2])]).expect("two nodes");
        assert_eq!(coalitions.losing(), [1, 2, 0]);
        assert!(!coalitions.is_nondominated());
    }

    #[test]
    fn more_than_twenty_members_are_too_many() {
        assert!(Coalitions::new(&[NodeSet::first(20)]).is_some());
        assert!(Coalitions::new(&[NodeSet::first(21)]).is_none());
    }
}
