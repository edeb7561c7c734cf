//! The lease: for how long a node may act without hearing from a majority of the voters.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::Ticks;

use crate::{DiskId, View};

/// A node's lease. It counts from the *sending* of heartbeats, so that it never ends later here than any other node assumes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lease {
    until: Ticks,
    /// When heartbeats were sent whose answers still count, by number.
    sent: VecDeque<(u64, Ticks)>,
    /// When the newest heartbeat was sent that each voter has acknowledged.
    acknowledged: BTreeMap<DiskId, Ticks>,
}

impl Lease {
    /// How many unanswered heartbeats are remembered.
    const REMEMBERED: usize = 64;

    /// When it ends.
    pub(crate) fn until(&self) -> Ticks {
        self.until
    }

    /// A heartbeat of this number leaves now.
    pub(crate) fn send(&mut self, seq: u64, now: Ticks) {
        self.sent.push_back((seq, now));
        if self.sent.len() > Self::REMEMBERED {
            self.sent.pop_front();
        }
    }

    /// When the heartbeat of this number left.
    pub(crate) fn sending_of(&self, seq: u64) -> Option<Ticks> {
        let place = self.sent.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        self.sent.get(place).map(|(_, at)| *at)
    }

    /// A voter stands behind a heartbeat that left at this time; tells whether the lease has grown.
    pub(crate) fn acknowledge(&mut self, voter: DiskId, sent: Ticks, view: &View, length: Ticks) -> bool {
        let newest = self.acknowledged.entry(voter).or_default();
        *newest = sent.max(*newest);
        let Some(since) = self.majority_since(view) else { return false };
        let until = since + length;
        let grows = until > self.until;
        // R4: never goes back
        self.until = until.max(self.until);
        grows
    }

    /// The latest time such that in each set of voters a majority acknowledged heartbeats sent then or later.
    fn majority_since(&self, view: &View) -> Option<Ticks> {
        // R4: a majority of each set
        let since = view.voter_sets().map(|voters| {
            let mut times: Vec<Ticks> =
                voters.keys().filter_map(|disk| self.acknowledged.get(disk)).copied().collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            times.get(voters.len() / 2).copied()
        });
        since.collect::<Option<Vec<Ticks>>>()?.into_iter().min()
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::NodeId;

    use super::*;

    fn voters(disks: std::ops::Range<u64>) -> crate::view::Voters {
        disks.map(|disk| (DiskId(disk), NodeId::new(disk as usize))).collect()
    }

    #[test]
    fn a_lease_counts_from_the_sending_and_never_goes_back() {
        let view = View::genesis(voters(1..4));
        let mut lease = Lease::default();
        let mut acknowledge = |disk, sent| {
            lease.acknowledge(DiskId(disk), Ticks(sent), &view, Ticks(100));
            lease.until()
        };
        assert_eq!(acknowledge(1, 50), Ticks(0), "one of three is no majority");
        assert_eq!(acknowledge(2, 30), Ticks(130), "both acknowledged what was sent at 30 or later");
        assert_eq!(acknowledge(3, 60), Ticks(150));
        assert_eq!(acknowledge(2, 20), Ticks(150), "an old acknowledgement changes nothing");
    }

    #[test]
    fn while_voters_change_a_lease_needs_both_majorities() {
        let mut view = View::genesis(voters(1..4));
        view.next_voters = Some(voters(3..6));
        let mut lease = Lease::default();
        for disk in [1, 2, 3] {
            assert!(!lease.acknowledge(DiskId(disk), Ticks(10), &view, Ticks(100)));
        }
        assert!(lease.acknowledge(DiskId(4), Ticks(5), &view, Ticks(100)));
        assert_eq!(lease.until(), Ticks(105));
    }
}
