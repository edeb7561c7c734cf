//! R. H. Thomas: "A majority consensus approach to concurrency control for multiple copy databases", ACM Transactions
//! on Database Systems 4(2), 1979.
//!
//! Any ⌊N/2⌋ + 1 nodes: two such sets together are more than N, so they share a node. Quorums are large, but
//! while nodes crash with probability below one half no quorum system is more available. Node i is assigned
//! itself and the ⌊N/2⌋ nodes after it in the ring, which spreads the load evenly.

use doorway_core::Refusal;

use crate::weighted::Votes;

/// One vote for each of `n` nodes.
pub(crate) fn votes(n: usize) -> Result<Votes, Refusal> {
    Votes::new(&vec![1; n], n)
}
