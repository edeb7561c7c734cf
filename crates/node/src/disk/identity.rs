//! Which disk it is, of which cluster, and how often it was started.

use std::collections::BTreeMap;

use doorway_core::NodeId;
use serde::{Deserialize, Serialize};

use crate::{DiskId, DiskState, Epoch, Nonce};

/// The disks that found a cluster together: for each founder its disk and its share of the epoch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Founders(pub BTreeMap<NodeId, (DiskId, Nonce)>);

impl Founders {
    /// The epoch of the cluster that they found: random, because each has drawn its share.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        // R30: a share of each founder
        Epoch(self.0.values().fold(0, |epoch, (_, share)| epoch ^ share.0))
    }
}

/// One start of a node from a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Boot {
    /// The so-manieth.
    pub number: u64,
    /// What the node drew.
    pub nonce: Nonce,
    /// How many writes had been synced before.
    pub after: u64,
}

/// What a disk knows about itself, besides the consensus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The disk.
    pub disk: DiskId,
    /// Its share of the epoch of a cluster that it founds.
    pub share: Nonce,
    /// Its starts, in order; of very many only the latest.
    pub boots: Vec<Boot>,
    /// The founders of its cluster, itself included, before and after the founding.
    pub founders: Option<Founders>,
    /// The cluster that it belongs to.
    pub epoch: Option<Epoch>,
    /// How far a peer has seen it, if it was set back since.
    pub set_back: Option<DiskState>,
}

impl Identity {
    /// Of how many starts the nonces are kept.
    pub const MOST_BOOTS: usize = 16_384;

    pub(super) fn new(disk: DiskId, share: Nonce) -> Self {
        Self { disk, share, boots: Vec::new(), founders: None, epoch: None, set_back: None }
    }

    /// How often a node was started from it.
    #[must_use]
    pub fn boot(&self) -> u64 {
        self.boots.last().map_or(0, |boot| boot.number)
    }

    /// Notes a start.
    pub(crate) fn start(&mut self, boot: Boot) {
        // R27: the list of lives
        self.boots.push(boot);
        let surplus = self.boots.len().saturating_sub(Self::MOST_BOOTS);
        self.boots.drain(..surplus);
    }

    /// How far the disk has come.
    #[must_use]
    pub fn state(&self, synced: u64) -> DiskState {
        let nonce = self.boots.last().map_or(Nonce::default(), |boot| boot.nonce);
        DiskState { boot: self.boot(), nonce, synced }
    }

    /// Whether this disk, which has synced this many writes, was once in the state that a peer has seen. If not, it has lost something or is an earlier
    /// copy of itself (R28).
    ///
    /// A start that the peer has seen must be in the list with its nonce: a copy that was started as often has drawn another. And
    /// what the peer knows to be synced in that start must have been synced before the next one began: otherwise the
    /// record of the next start would hide that a record was lost.
    #[must_use]
    pub fn remembers(&self, seen: &DiskState, synced: u64) -> bool {
        let Some(at) = self.boots.iter().position(|boot| boot.number == seen.boot) else {
            // Before the first start nothing is said; and of starts that were forgotten nothing is known.
            return self.boots.first().is_some_and(|first| seen.boot < first.number);
        };
        let end = self.boots.get(at + 1).map_or(synced, |next| next.after);
        // R28: synced within that life
        self.boots[at].nonce == seen.nonce && seen.synced <= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        let boot = |number, after| Boot { number, nonce: Nonce(u128::from(number) * 10), after };
        Identity { boots: vec![boot(4, 20), boot(5, 30), boot(6, 37)], ..Identity::new(DiskId(1), Nonce(0)) }
    }

    fn seen(boot: u64, nonce: u128, synced: u64) -> DiskState {
        DiskState { boot, nonce: Nonce(nonce), synced }
    }

    #[test]
    fn a_disk_remembers_where_it_has_been() {
        let remembers = |state| identity().remembers(&state, 40);
        assert!(remembers(seen(6, 60, 40)), "its present start");
        assert!(remembers(seen(5, 50, 37)), "all that was synced before the next start");
        assert!(remembers(seen(4, 40, 0)), "a start of which only the log tells");
        assert!(remembers(seen(3, 99, 99)), "a start that is forgotten");
    }

    #[test]
    fn a_disk_that_was_set_back_does_not_remember() {
        let remembers = |state| identity().remembers(&state, 40);
        assert!(!remembers(seen(7, 70, 0)), "a later start");
        assert!(!remembers(seen(5, 51, 0)), "a start of another copy");
        assert!(!remembers(seen(6, 60, 41)), "more than was ever synced");
        assert!(!remembers(seen(5, 50, 38)), "the next start hides no lost write");
    }

    #[test]
    fn the_list_of_starts_is_bounded() {
        let mut identity = Identity::new(DiskId(1), Nonce(0));
        for number in 1..=(Identity::MOST_BOOTS as u64 + 5) {
            identity.start(Boot { number, nonce: Nonce(0), after: number });
        }
        assert_eq!((identity.boots.len(), identity.boots[0].number), (Identity::MOST_BOOTS, 6));
    }
}
