//! Which heartbeats a voter acknowledges, and when it last did.

use std::collections::BTreeMap;

use doorway_core::Ticks;

use crate::message::{Ack, Heartbeat};
use crate::{DiskId, DiskState, Incarnation, View};

/// The lives that this voter has acknowledged, and when.
#[derive(Clone, Debug)]
pub(crate) struct Voter {
    /// From before this it remembers nothing.
    born: Ticks,
    acknowledged: BTreeMap<Incarnation, Ticks>,
}

impl Voter {
    /// How many lives it remembers; the oldest are forgotten first, as if it had been born after them.
    const REMEMBERED: usize = 4_096;

    /// A voter that begins now.
    pub(crate) fn new(now: Ticks) -> Self {
        Self { born: now, acknowledged: BTreeMap::new() }
    }

    /// Answers a heartbeat. The voter acknowledges no life that the newest view in its log leaves out, decided or not: as soon as a
    /// majority has that view in its log, the node that it leaves out can get no new lease.
    pub(crate) fn answer(
        &mut self,
        (voter, state): (DiskId, DiskState),
        heartbeat: &Heartbeat,
        newest: Option<&View>,
        now: Ticks,
    ) -> Ack {
        let Heartbeat { incarnation, view, seq, .. } = *heartbeat;
        let is_granted = newest.is_some_and(|newest| Self::may_acknowledge(newest, &incarnation, view));
        if is_granted {
            self.note(incarnation, now);
        }
        Ack { voter, state, incarnation, seq, is_granted, left_out_by: None }
    }

    /// Whether the newest view of a voter's log lets it stand behind a life that has adopted the view of this number.
    pub(crate) fn may_acknowledge(newest: &View, incarnation: &Incarnation, adopted: u64) -> bool {
        // R3: may acknowledge
        newest.number <= adopted || (newest.has(incarnation) && adopted >= newest.voters_since)
    }

    /// It stands behind a life now.
    pub(crate) fn note(&mut self, incarnation: Incarnation, now: Ticks) {
        self.acknowledged.insert(incarnation, now);
        if self.acknowledged.len() > Self::REMEMBERED {
            let oldest = self.acknowledged.iter().min_by_key(|(_, at)| **at).map(|(life, at)| (*life, *at));
            if let Some((life, at)) = oldest {
                self.acknowledged.remove(&life);
                self.born = self.born.max(at);
            }
        }
    }

    /// How long ago it last acknowledged a life that is not in this view, as far as it remembers.
    pub(crate) fn age(&self, view: &View, now: Ticks) -> Ticks {
        let outsiders = self.acknowledged.iter().filter(|(life, _)| !view.has(life)).map(|(_, at)| *at);
        // R16: never before the boot
        now - outsiders.max().unwrap_or_default().max(self.born)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskId;

    fn life(boot: u64) -> Incarnation {
        Incarnation { disk: DiskId(1), boot, tenure: 0, nonce: crate::Nonce(0) }
    }

    fn view(number: u64, members: &[u64]) -> View {
        let mut view = View::genesis([].into());
        view.number = number;
        let members = members.iter().map(|&boot| (doorway_core::NodeId::new(boot as usize), life(boot)));
        view.members = members.collect();
        view
    }

    #[test]
    fn a_voter_does_not_acknowledge_nodes_left_out() {
        let newest = view(5, &[1]);
        let may = |boot, adopted| Voter::may_acknowledge(&newest, &life(boot), adopted);
        assert!(may(1, 4), "it is in the newest view");
        assert!(may(2, 5), "it knows of a view as new");
        assert!(!may(2, 4), "it is left out");
    }

    #[test]
    fn after_a_voter_change_only_nodes_that_know_it_get_acks() {
        let mut newest = view(5, &[1]);
        newest.voters_since = 4;
        assert!(Voter::may_acknowledge(&newest, &life(1), 4));
        assert!(!Voter::may_acknowledge(&newest, &life(1), 3));
    }

    #[test]
    fn the_age_never_reaches_back_before_the_boot() {
        let mut voter = Voter::new(Ticks(100));
        assert_eq!(voter.age(&view(5, &[1]), Ticks(150)), Ticks(50));
        voter.note(life(1), Ticks(140));
        voter.note(life(2), Ticks(120));
        assert_eq!(voter.age(&view(5, &[1]), Ticks(150)), Ticks(30));
        assert_eq!(voter.age(&view(5, &[2]), Ticks(150)), Ticks(10));
    }
}
