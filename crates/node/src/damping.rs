//! Damping: how long a node that keeps failing is kept out (part of R7).
//!
//! Each time that a member fails, the others have to wait for its lease: no lock that it might hold can be given away for W. So a node
//! that fails over and over would block its whole cluster most of the time. The leader takes such a node in again only after it has run
//! for a while without a restart, longer after each failure. How often a node failed is part of the view: a new leader knows it, and so
//! does the node itself after a restart. A node that is kept out is no member and grants nothing, but it still votes and acknowledges leases.

use std::collections::BTreeMap;

use doorway_core::{NodeId, Ticks};
use serde::{Deserialize, Serialize};

use crate::wire::MOST_NODES;
use crate::{Incarnation, Timing, View};

/// How long a node that keeps failing must have run before it is taken in again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damping {
    /// The pause after the second failure in a row. It doubles with every further one.
    pub first: Ticks,
    /// No pause is longer.
    pub longest: Ticks,
    /// The failures of a member are forgotten when it has run for this long without another one.
    pub calm: Ticks,
}

/// A node that would be taken in by now if it had not failed so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeptOut {
    /// The node.
    pub node: NodeId,
    /// How often in a row it has failed.
    pub failures: u8,
    /// How long it must run without a restart.
    pub pause: Ticks,
    /// How long of that is still to come.
    pub left: Ticks,
}

impl Damping {
    /// The most failures that are counted.
    pub const MOST_FAILURES: u8 = 32;

    /// What fits these times. A failure blocks others for about W, so even a node that fails as soon as it is taken in blocks them for
    /// less than 2 % of the time in the end: the longest pause is 60 W, or ten minutes where leases are very long.
    #[must_use]
    pub fn of(timing: &Timing) -> Self {
        const TEN_MINUTES: Ticks = crate::timing::milliseconds(600_000);
        let times = |count: u64| Ticks(timing.wait().0.saturating_mul(count)).min(TEN_MINUTES);
        Self { first: times(5), longest: times(60), calm: times(60) }
    }

    /// How long a node must run without a restart after this many failures in a row. The first one costs nothing: restarts are part of
    /// a node's life.
    #[must_use]
    pub fn pause(&self, failures: u8) -> Ticks {
        match failures {
            0 | 1 => Ticks(0),
            // R7: damping
            more => Ticks(self.first.0.saturating_mul(1 << (more - 2).min(30))).min(self.longest),
        }
    }
}

/// Since when nodes have been as they are, as far as this one knows. It matters only where this one leads.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    damping: Damping,
    standings: BTreeMap<NodeId, Standing>,
}

/// How a node stands.
#[derive(Clone, Copy, Debug)]
struct Standing {
    /// Its life in the newest view, if it is a member.
    life: Option<Incarnation>,
    since: Ticks,
}

impl Record {
    /// By what factor a node that is away is remembered longer than one that runs.
    const AWAY: u64 = 10;

    pub(crate) fn new(damping: Damping) -> Self {
        Self { damping, standings: BTreeMap::new() }
    }

    pub(crate) fn damping(&self) -> &Damping {
        &self.damping
    }

    /// A view was decided.
    pub(crate) fn note(&mut self, view: &View, now: Ticks) {
        let known = std::mem::take(&mut self.standings);
        let nodes = view.members.keys().chain(view.failures.keys());
        self.standings = nodes
            .map(|node| {
                let life = view.members.get(node).copied();
                let same = known.get(node).filter(|known| known.life == life).copied();
                (*node, same.unwrap_or(Standing { life, since: now }))
            })
            .collect();
    }

    /// How often each node has failed in a row, as a view says that has these members and follows the current one.
    pub(crate) fn failures_of(&self, next: &View, current: &View, now: Ticks) -> BTreeMap<NodeId, u8> {
        let stay = current.members.values().filter(|life| next.has(life)).count();
        // If most go at once it is not one node that keeps failing, and few are left who would have to be spared.
        if 2 * stay < current.members.len() {
            return BTreeMap::new();
        }
        let mut failures = current.failures.clone();
        failures.retain(|node, _| !self.is_forgotten(*node, now));
        let gone = current.members.iter().filter(|(_, life)| !next.has(life) && !next.clean.contains(life));
        for (node, life) in gone {
            let count = failures.entry(*node).or_default();
            *count = count.saturating_add(1).min(Damping::MOST_FAILURES);
            if next.removed.contains(&life.disk) {
                failures.remove(node);
            }
        }
        while failures.len() > MOST_NODES {
            let fewest = failures.iter().min_by_key(|(_, count)| **count).map(|(node, _)| *node);
            fewest.and_then(|node| failures.remove(&node));
        }
        failures
    }

    /// Whether it was long ago that a node failed.
    fn is_forgotten(&self, node: NodeId, now: Ticks) -> bool {
        let standing = self.standings.get(&node);
        standing.is_some_and(|Standing { life, since }| {
            let times = if life.is_some() { 1 } else { Self::AWAY };
            now > *since + Ticks(self.damping.calm.0.saturating_mul(times))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::milliseconds;
    use crate::{DiskId, Nonce};

    fn life(node: usize, boot: u64) -> (NodeId, Incarnation) {
        let disk = DiskId(node as u64 + 1);
        (NodeId::new(node), Incarnation { disk, boot, tenure: 0, nonce: Nonce(0) })
    }

    fn view(members: &[(usize, u64)]) -> View {
        let members = members.iter().map(|(node, boot)| life(*node, *boot)).collect();
        View { members, ..View::genesis([(DiskId(1), NodeId::new(0))].into()) }
    }

    fn record() -> Record {
        Record::new(Damping::of(&Timing::default()))
    }

    /// The failures after these members follow the current view.
    fn after(record: &Record, current: &View, members: &[(usize, u64)], now: Ticks) -> Vec<(usize, u8)> {
        let next = View { members: view(members).members, ..current.successor() };
        let failures = record.failures_of(&next, current, now);
        failures.into_iter().map(|(node, count)| (node.index(), count)).collect()
    }

    #[test]
    fn pauses_double_from_the_second_failure_to_the_longest() {
        let damping = Damping { first: Ticks(5), longest: Ticks(60), calm: Ticks(60) };
        let pauses: Vec<u64> = (0..=8).map(|failures| damping.pause(failures).0).collect();
        assert_eq!(pauses, [0, 0, 5, 10, 20, 40, 60, 60, 60]);
        assert_eq!(damping.pause(u8::MAX), Ticks(60));
        let usual = Damping::of(&Timing::default());
        assert!(usual.first < milliseconds(5_200) && usual.longest < milliseconds(62_000), "{usual:?}");
        let slow =
            Timing { lease: milliseconds(60_000), detection: milliseconds(61_000), ..Timing::default() };
        assert_eq!(Damping::of(&slow).longest, milliseconds(600_000));
    }

    #[test]
    fn being_left_out_is_a_failure_and_leaving_is_not() {
        let current = View { failures: [(NodeId::new(2), 3)].into(), ..view(&[(0, 1), (1, 1), (2, 1)]) };
        let record = record();
        assert_eq!(after(&record, &current, &[(0, 1), (1, 1), (2, 1)], Ticks(9)), [(2, 3)]);
        assert_eq!(after(&record, &current, &[(0, 1), (1, 1)], Ticks(9)), [(2, 4)]);
        assert_eq!(
            after(&record, &current, &[(0, 1), (1, 2), (2, 1)], Ticks(9)),
            [(1, 1), (2, 3)],
            "a restart"
        );
        let clean = [life(1, 1).1].into();
        let next = View { members: view(&[(0, 1), (2, 1)]).members, clean, ..current.successor() };
        assert_eq!(record.failures_of(&next, &current, Ticks(9)), current.failures);
        let removed = [DiskId(3)].into();
        let next = View { members: view(&[(0, 1), (1, 1)]).members, removed, ..current.successor() };
        assert_eq!(record.failures_of(&next, &current, Ticks(9)), BTreeMap::new(), "an operator removed it");
    }

    #[test]
    fn if_most_nodes_go_at_once_all_failures_are_forgotten() {
        let current = View { failures: [(NodeId::new(2), 3)].into(), ..view(&[(0, 1), (1, 1), (2, 1)]) };
        assert_eq!(after(&record(), &current, &[(0, 1)], Ticks(9)), []);
        let two = View { failures: [(NodeId::new(1), 3)].into(), ..view(&[(0, 1), (1, 1)]) };
        assert_eq!(after(&record(), &two, &[(0, 1)], Ticks(9)), [(1, 4)], "of two nodes one keeps failing");
        assert_eq!(after(&record(), &two, &[], Ticks(9)), []);
    }

    #[test]
    fn failures_are_forgotten_after_a_time_without_one() {
        let current =
            View { failures: [(NodeId::new(1), 3), (NodeId::new(2), 5)].into(), ..view(&[(0, 1), (1, 1)]) };
        let (mut record, calm) = (record(), Damping::of(&Timing::default()).calm);
        record.note(&current, Ticks(100));
        assert_eq!(after(&record, &current, &[(0, 1), (1, 2)], Ticks(100) + calm), [(1, 4), (2, 5)]);
        let later = Ticks(101) + calm;
        assert_eq!(after(&record, &current, &[(0, 1), (1, 2)], later), [(1, 1), (2, 5)], "it ran well");
        record.note(&current, later);
        assert_eq!(after(&record, &current, &[(0, 1)], later), [(1, 1), (2, 5)], "nothing has changed");
        let much_later = Ticks(101 + 10 * calm.0);
        assert_eq!(after(&record, &current, &[(0, 1)], much_later), [(1, 1)], "the other stayed away");
    }

    #[test]
    fn there_are_never_more_failures_than_a_view_has_room_for() {
        let members: Vec<(usize, u64)> = (0..MOST_NODES).map(|node| (node, 1)).collect();
        let failures = (0..MOST_NODES).map(|node| (NodeId::new(1_000 + node), 2)).collect();
        let current = View { failures, ..view(&members) };
        assert_eq!(after(&record(), &current, &members[1..], Ticks(9)).len(), MOST_NODES);
    }
}
