//! All sets of nodes, and which of them contain a quorum.
//!
//! Only nodes that are in a minimal quorum matter, and of twenty nodes there are a million sets. One bit for each says
//! whether it contains a quorum; the bits spread from the quorums to the larger sets, one node after the other. Counted by
//! size they give the failure probability for every probability of a crash at once, and compared with their complements
//! they show whether the system is dominated (H. Garcia-Molina, D. Barbara: "How to assign votes in a distributed system",
//! Journal of the ACM 32(4), 1985; T. Ibaraki, T. Kameda: "A theory of coteries", IEEE Transactions on Parallel and
//! Distributed Systems 4(7), 1993).

use doorway_core::{NodeId, NodeSet};

/// Which sets of the nodes that matter contain a quorum.
#[derive(Clone, Debug)]
pub(super) struct Coalitions {
    /// How many nodes matter.
    members: usize,
    /// One for each set; the bits of its number are its members.
    winning: Vec<bool>,
}

impl Coalitions {
    /// More nodes that matter are not looked at.
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

    /// Whether of each set and its complement exactly one contains a quorum. Both cannot.
    pub(super) fn is_nondominated(&self) -> bool {
        let all = self.winning.len() - 1;
        (0..self.winning.len()).all(|set| self.winning[set] != self.winning[all & !set])
    }

    /// How many sets of each size contain no quorum.
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
    fn two_of_three_win_and_nothing_is_undecided() {
        let coalitions = Coalitions::new(&[set(&[1, 5]), set(&[5, 9]), set(&[1, 9])]).expect("three nodes");
        assert_eq!(coalitions.losing(), [1, 3, 0, 0]);
        assert!(coalitions.is_nondominated());
    }

    #[test]
    fn two_that_must_agree_are_dominated_by_one_alone() {
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
