//! Who votes and who only gets the log, and the three steps in which voters change.

use std::collections::BTreeSet;

use doorway_core::{NodeId, Ticks};

use super::{Joiner, PeerWatch};
use crate::consensus::Electorate;
use crate::view::Voters;
use crate::{DiskId, Flaw, Rules, View};

/// The largest number of voters that is made without being asked for.
const MOST_VOTERS: usize = 5;

impl<R: Rules> PeerWatch<R> {
    /// Who should listen: members and joiners who do not vote. And the change of the voters of the consensus, in the middle of a
    /// change of voters.
    pub(super) fn next_config(&self, current: &View, config: &Electorate, now: Ticks) -> Option<Electorate> {
        if !config.new_voters.is_empty() {
            return None;
        }
        let is_late = |joiner: &Joiner| now > joiner.last + self.timing.heartbeat;
        let members = current.members.iter().map(|(node, life)| (life.disk, *node));
        let joiners = self.joiners.iter().filter(|(_, joiner)| !is_late(joiner));
        let joiners = joiners.map(|(node, joiner)| (joiner.hello.incarnation.disk, *node));
        let mut listeners: Voters = members.chain(joiners).collect();
        // A listener stays one, unless its node has another disk by now.
        let nodes: BTreeSet<NodeId> = listeners.values().copied().collect();
        listeners.extend(config.listeners.iter().filter(|(_, node)| !nodes.contains(node)));
        listeners.retain(|disk, _| !config.voters.contains_key(disk) && !current.removed.contains(disk));
        let mut next = Electorate { listeners, ..config.clone() };
        let wanted = if self.rules.breaks(Flaw::VotersBesideViews) {
            self.desired_voters(current, config)
        } else {
            // R22: second step, the consensus
            current.next_voters.clone().filter(|_| current.voters.keys().eq(config.voters.keys()))
        };
        if let Some(voters) = wanted {
            next.listeners.retain(|disk, _| !voters.contains_key(disk));
            next.new_voters = voters;
        }
        (next != *config).then_some(next)
    }

    /// The view that begins or ends a change of voters.
    pub(super) fn next_voters(&self, current: &View, config: &Electorate) -> Option<View> {
        if !config.new_voters.is_empty() || self.rules.breaks(Flaw::VotersBesideViews) {
            return None;
        }
        let mut next = current.successor();
        next.voters_since = next.number;
        if let Some(voters) = &current.next_voters {
            next.voters.clone_from(voters);
            next.next_voters = None;
            // R22: third step, new set alone
            return config.voters.keys().eq(voters.keys()).then_some(next);
        }
        // R22: first step, both sets
        next.next_voters = Some(self.desired_voters(current, config)?);
        Some(next)
    }

    /// The voters that there should be, if they differ from the present ones.
    fn desired_voters(&self, current: &View, config: &Electorate) -> Option<Voters> {
        let voters = if self.rules.breaks(Flaw::VotersBesideViews) {
            config.voters.clone()
        } else {
            current.voters.clone()
        };
        let active = current.members.iter().filter(|(node, life)| self.is_active(**node, life, current));
        let active: Voters = active.map(|(node, life)| (life.disk, *node)).collect();
        let can_vote = |disk: &DiskId| config.listeners.contains_key(disk) || voters.contains_key(disk);
        let active: Voters = active.into_iter().filter(|(disk, _)| can_vote(disk)).collect();
        let desired = match &current.appointed {
            Some(nodes) => {
                let chosen = active.iter().filter(|(_, node)| nodes.contains(node)).map(copy);
                Some(chosen.collect::<Voters>()).filter(|chosen| chosen.len() >= nodes.len())?
            }
            None => grown(&voters, &active, current.members.len(), &current.removed),
        };
        (!desired.is_empty() && desired != voters).then_some(desired)
    }
}

/// The voters that there should be without an appointment: the present ones, without the disks that are gone, and others in their
/// place; and of a growing cluster more of them, always an odd number.
fn grown(voters: &Voters, active: &Voters, members: usize, removed: &BTreeSet<DiskId>) -> Voters {
    // R26: a lost disk. A node that is active with another disk has lost the one that voted.
    let is_replaced =
        |disk: &DiskId, node: &NodeId| active.iter().any(|(other, at)| at == node && other != disk);
    let is_gone = |disk: &DiskId, node: &NodeId| removed.contains(disk) || is_replaced(disk, node);
    let mut grown: Voters = voters.iter().filter(|(disk, node)| !is_gone(disk, node)).map(copy).collect();
    let mut others: Vec<_> = active.iter().filter(|(disk, _)| !grown.contains_key(disk)).map(copy).collect();
    others.sort_unstable_by_key(|(_, node)| *node);
    let lost = voters.len() - grown.len();
    let most = MOST_VOTERS.min(members.max(voters.len()));
    let missing = (most - usize::from(most.is_multiple_of(2))).saturating_sub(grown.len());
    let is_odd = (grown.len() + missing.min(others.len())) % 2 == 1;
    let added = match lost {
        0 if is_odd => missing,
        0 => 0,
        _ => lost,
    };
    grown.extend(others.into_iter().take(added));
    grown
}

fn copy<A: Copy, B: Copy>((a, b): (&A, &B)) -> (A, B) {
    (*a, *b)
}
