//! D. K. Gifford: "Weighted voting for replicated data", 7th ACM Symposium on Operating Systems Principles, 1979.
//!
//! Every node has a number of votes, and any set with more than half of all votes is a quorum: two such sets
//! cannot be disjoint. Reliable nodes get many votes; a node may have none. Node i is assigned itself and the
//! following nodes of the ring that have votes, until they reach a majority.

use std::ops::ControlFlow;

use doorway_core::{NodeId, NodeSet, PerNode, Refusal};

/// The votes of each node.
#[derive(Clone, Debug)]
pub(crate) struct Votes {
    weights: PerNode<u64>,
    /// The nodes that have a vote, most votes first.
    ranking: Vec<NodeId>,
    /// The sum of all votes. 128 bits hold twice the sum of 4,096 weights.
    total: u128,
}

impl Votes {
    /// One weight for each of `n` nodes.
    pub(crate) fn new(weights: &[u64], n: usize) -> Result<Self, Refusal> {
        if weights.len() != n {
            let found = weights.len();
            return Err(Refusal::new(format!(
                "there are {found} weights for {n} nodes: each node needs one"
            )));
        }
        let weights = PerNode::from(weights.to_vec());
        let total = weights.values().iter().map(|&weight| u128::from(weight)).sum();
        if total == 0 {
            return Err(Refusal::new("all weights are 0: at least one node needs a vote"));
        }
        let mut ranking: Vec<NodeId> = NodeId::first(n).filter(|&node| weights[node] > 0).collect();
        ranking.sort_by_key(|&node| std::cmp::Reverse(weights[node]));
        Ok(Self { weights, ranking, total })
    }

    /// For each node: itself, then the following nodes that have votes, until they reach a majority.
    pub(crate) fn assignment(&self) -> PerNode<NodeSet> {
        let n = self.weights.len();
        PerNode::from_fn(n, |node| {
            let followers = node.around(n).filter(|&other| self.weights[other] > 0);
            self.gather([node].into_iter().chain(followers)).expect("all of the votes are more than half")
        })
    }

    /// The fewest live nodes with the most votes that reach a majority. The last one added has the fewest
    /// votes and was needed, so the quorum is minimal.
    pub(crate) fn choose(&self, alive: &NodeSet) -> Option<NodeSet> {
        self.gather(self.ranking.iter().copied().filter(|&node| alive.contains(node)))
    }

    fn gather(&self, nodes: impl Iterator<Item = NodeId>) -> Option<NodeSet> {
        let (mut quorum, mut votes) = (NodeSet::new(), 0);
        for node in nodes {
            quorum.insert(node);
            votes += self.of(node);
            if self.suffice(votes) {
                return Some(quorum);
            }
        }
        None
    }

    /// All minimal quorums, unless there are more than `most`. It counts them first, because counting is
    /// faster than building the sets.
    pub(crate) fn quorums(&self, most: usize) -> Option<Vec<NodeSet>> {
        let mut count = 0;
        let counted = self.visit(&mut |_| {
            count += 1;
            if count > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if counted.is_break() {
            return None;
        }
        let mut quorums = Vec::with_capacity(count);
        let _ = self.visit(&mut |quorum| {
            quorums.push(quorum.iter().copied().collect());
            ControlFlow::Continue(())
        });
        Some(quorums)
    }

    fn visit(&self, each: Each<'_>) -> ControlFlow<()> {
        self.visit_from(0, self.total, &mut Vec::new(), 0, each)
    }

    /// Completes `chosen`, which has `votes`, in every minimal way with the nodes from place `next` of the
    /// ranking on, which have `rest` votes. The ranking descends, so the node that completes a set has the
    /// fewest votes in it: each set is minimal and found once.
    fn visit_from(
        &self,
        next: usize,
        mut rest: u128,
        chosen: &mut Vec<NodeId>,
        votes: u128,
        each: Each<'_>,
    ) -> ControlFlow<()> {
        for (place, &node) in self.ranking.iter().enumerate().skip(next) {
            if !self.suffice(votes + rest) {
                break;
            }
            rest -= self.of(node);
            let with_node = votes + self.of(node);
            chosen.push(node);
            if self.suffice(with_node) {
                each(chosen)?;
            } else {
                self.visit_from(place + 1, rest, chosen, with_node, each)?;
            }
            chosen.pop();
        }
        ControlFlow::Continue(())
    }

    /// The votes of each node that has any, most first.
    pub(crate) fn ranking(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.ranking.iter().map(|&node| self.weights[node])
    }

    /// All votes.
    pub(crate) fn total(&self) -> u128 {
        self.total
    }

    /// A minimal quorum of small weight, though not always the lightest: it takes the cheapest votes first,
    /// then drops nodes that are not needed.
    pub(crate) fn light_quorum(&self, weights: &[f64]) -> NodeSet {
        let price = |node: NodeId| weights[node.index()] / self.weights[node] as f64;
        let mut order = self.ranking.clone();
        order.sort_by(|&one, &other| price(one).total_cmp(&price(other)));
        let mut quorum = self.gather(order.iter().copied()).expect("all of the votes are more than half");
        let mut votes: u128 = quorum.iter().map(|node| self.of(node)).sum();
        for &node in order.iter().rev() {
            if quorum.contains(node) && self.suffice(votes - self.of(node)) {
                votes -= self.of(node);
                quorum.remove(node);
            }
        }
        quorum
    }

    fn of(&self, node: NodeId) -> u128 {
        u128::from(self.weights[node])
    }

    fn suffice(&self, votes: u128) -> bool {
        2 * votes > self.total
    }
}

/// Called with each quorum; decides whether to continue.
type Each<'a> = &'a mut dyn FnMut(&[NodeId]) -> ControlFlow<()>;
