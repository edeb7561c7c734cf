//! Acting in a view: leases, the permission, letting in and out, and the order in which leases and quiet times end.

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::state::{ClientReport, Node, Sent, Standing, State};
use super::voters::{Voters, Voting};

impl ViewModel {
    /// Renews a lease if a majority of the voters would acknowledge a heartbeat sent now: a fresher lease only lets more happen. If
    /// other voters stand behind it than before, the age rule may see it where it did not: that is a step of its own.
    pub(super) fn lease(&self, state: &mut State, me: usize) {
        let node = &state.nodes[me];
        let voting = self.noted_voting(node);
        if !node.has_view() || node.lease.is_some_and(|lease| lease.voting != voting) {
            return;
        }
        let willing = Voters::that(|voter| self.acknowledges(state, voter, me));
        if willing.are_majority(self.lease_sets(node.voting())) {
            state.nodes[me].lease = Some(Sent::NOW.by(voting));
        }
    }

    /// Of which voters a majority stands behind a lease that a node gets now, as far as it is asked later.
    pub(super) fn noted_voting(&self, node: &Node) -> Voting {
        if self.bounds.age { node.voting() } else { Voting::Old }
    }

    /// A member sends a heartbeat, which a voter acknowledges, though no majority would now.
    pub(super) fn heartbeat(&self, state: &State, me: usize, voter: usize) -> Option<State> {
        let node = &state.nodes[me];
        let is_fresh = node.lease == Some(Sent::NOW.by(self.noted_voting(node)));
        if is_fresh || !node.has_view() || !self.counts(state, voter, me) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].heartbeat = Some((Voters::NONE.with(voter), Sent::NOW));
        self.gain_lease(&mut after.nodes[me]);
        Some(after)
    }

    /// Another voter acknowledges the heartbeat.
    pub(super) fn renew(&self, state: &State, me: usize, voter: usize) -> Option<State> {
        let (voters, sent) = state.nodes[me].heartbeat?;
        if voters.has(voter) || !self.counts(state, voter, me) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].heartbeat = Some((voters.with(voter), sent));
        self.gain_lease(&mut after.nodes[me]);
        Some(after)
    }

    /// If a majority of each set of voters has acknowledged the heartbeat, it is a lease, which counts from the sending (rule 4).
    fn gain_lease(&self, node: &mut Node) {
        let (voting, sets) = (self.noted_voting(node), self.lease_sets(node.voting()));
        let is_enough = |(voters, _): &(Voters, Sent)| voters.are_majority(sets);
        if let Some((_, sent)) = node.heartbeat.take_if(|heartbeat| is_enough(heartbeat)) {
            node.lease = Some(sent.by(voting));
        }
    }

    /// Whether a voter acknowledges a member's heartbeat and is a voter of the member's view.
    fn counts(&self, state: &State, voter: usize, member: usize) -> bool {
        let is_voter = self.sets(state.nodes[member].voting()).iter().any(|set| set.has(voter));
        is_voter && self.acknowledges(state, voter, member)
    }

    /// Rule 3: the newest view in the voter's log, decided or not, is not newer than the member's, or has it and the member
    /// knows of the voters' last change.
    fn acknowledges(&self, state: &State, voter: usize, member: usize) -> bool {
        let is_greeted = state.is_greeted(voter, member);
        let (voter, node) = (&state.nodes[voter], &state.nodes[member]);
        let asked =
            if self.has(ViewFlaw::AcknowledgedAfterAccepting) { voter.learned } else { voter.newest() };
        let has_it = || voter.view(asked).is_some_and(|roster| roster.has(member, node.life));
        let knows_voters =
            || node.learned >= voter.voters_since(asked) || self.has(ViewFlaw::VotersSinceIgnored);
        voter.is_running() && is_greeted && (asked <= node.learned || has_it() && knows_voters())
    }

    /// A node sends the permission of its view to another member.
    pub(super) fn pass(&self, state: &State, me: usize, to: usize) -> Option<State> {
        let node = &state.nodes[me];
        let place = usize::from(node.learned) - 1;
        let is_member = node.view(node.learned)?.members().any(|member| member == to);
        let is_held = node.is_inside && !(node.is_stopping && self.has(ViewFlaw::FreedAtDeadline));
        let can = node.standing == Standing::Active && node.has_permission && !is_held;
        if !can || to == me || !is_member || state.flights[place].is_some() {
            return None;
        }
        let mut after = *state;
        after.nodes[me].has_permission = false;
        after.flights[place] = Some(to as u8);
        Some(after)
    }

    /// A permission arrives. One of an older view is dropped, one of a newer view or before the reports are in is kept (rule 12).
    pub(super) fn receive(&self, state: &State, me: usize, view: u8) -> Option<State> {
        let node = &state.nodes[me];
        let place = usize::from(view) - 1;
        let counts = node.learned == view || node.learned > view && self.has(ViewFlaw::OldMessagesTaken);
        if node.standing != Standing::Active || state.flights[place] != Some(me as u8) || !counts {
            return None;
        }
        let mut after = *state;
        after.nodes[me].has_permission = true;
        after.flights[place] = None;
        Some(after)
    }

    /// Delivers the permission of a view if it can be: it is frozen with its node as it would be dropped on its way.
    pub(super) fn deliver(&self, state: &mut State, view: u8) {
        let place = usize::from(view) - 1;
        let Some(to) = state.flights[place].map(usize::from) else { return };
        if let Some(after) = self.receive(state, to, view) {
            *state = after;
        }
    }

    /// Drops the permission of a view if it can arrive no more.
    pub(super) fn drop_lost(&self, state: &mut State, view: u8) {
        let flight = &mut state.flights[usize::from(view) - 1];
        *flight = flight.filter(|to| {
            let node = &state.nodes[usize::from(*to)];
            let is_to_come = node.learned < view && node.standing != Standing::Marked;
            is_to_come || node.learned == view && node.has_view()
        });
    }

    /// A node lets its client in (rule 17).
    pub(super) fn enter(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        let is_unfrozen = node.standing == Standing::Limbo && self.has(ViewFlaw::ReportWithoutFreeze);
        let acts = node.standing == Standing::Active || is_unfrozen;
        let roster = node.view(node.learned)?;
        let is_free = !node.is_quiet || state.holders(node.learned, roster).next().is_some();
        if node.is_inside || !acts || !node.has_permission || node.lease.is_none() || !is_free {
            return None;
        }
        let mut after = *state;
        after.nodes[me].is_inside = true;
        after.fence = state.fence.max(node.learned);
        Some(after)
    }

    /// A client leaves. In limbo this is only noted: the report stays as it is (rules 9 and 10).
    pub(super) fn release(&self, state: &State, me: usize) -> Option<State> {
        let mut after = *state;
        let node = after.nodes.get_mut(me).filter(|node| node.is_inside)?;
        node.is_inside = false;
        node.is_stopping = false;
        self.on_left(node);
        Some(after)
    }

    /// The deadline of a client comes, and it is told to stop. It may be inside for the margin, and counts as inside until it has left
    /// or the margin has passed (rule 31): both are a release here. A new lease does not call it back.
    pub(super) fn tell(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        if !self.bounds.slack || !node.is_inside || node.is_stopping {
            return None;
        }
        let mut after = *state;
        after.nodes[me].is_stopping = true;
        Some(after)
    }

    /// A lease ends, and the client inside is told, or stops by itself (rules 14 and 18). If nobody waits for its end, it is the same
    /// as a release, but for the lease.
    pub(super) fn end_lease(&self, state: &State, me: usize) -> Option<State> {
        if self.reduces && state.nodes[me].lease.is_some_and(|lease| lease.by(Voting::Old) == Sent::NOW) {
            return None;
        }
        let mut after = self.release(state, me)?;
        after.nodes[me].lease = None;
        Some(after)
    }

    /// The deadline of a client comes that a crash left behind. It may as well stay if nobody waits for its end. By the age rule
    /// anybody may.
    pub(super) fn end_orphan(&self, state: &State, me: usize) -> Option<State> {
        let matters = |lease: Sent| !self.reduces || self.bounds.age || lease != Sent::NOW;
        let ends = state.has_orphan(me) && state.orphan.is_some_and(|orphan| matters(orphan.lease));
        ends.then_some(State { orphan: None, ..*state })
    }

    fn on_left(&self, node: &mut Node) {
        if node.standing == Standing::Left {
            node.lease = None;
        }
        if self.has(ViewFlaw::ReportRebuilt) && node.has_view() && node.learned > 1 {
            node.reports[usize::from(node.learned) - 2] =
                Some(ClientReport { life: node.life, is_inside: false });
        }
    }

    /// A quiet time ends. It is longer than a lease: what was leased by a heartbeat sent before it began has ended by now.
    pub(super) fn end_quiet(&self, state: &State, me: usize) -> Option<State> {
        let is_older = |lease: &Sent| lease.is_before(me);
        let stays = state.inside().any(|(_, _, lease)| lease.is_some_and(|lease| is_older(&lease)));
        if !state.nodes[me].is_quiet || stays {
            return None;
        }
        let mut after = *state;
        for node in &mut after.nodes {
            node.lease = node.lease.filter(|lease| !is_older(lease));
            node.heartbeat = node.heartbeat.filter(|(_, sent)| !is_older(sent));
        }
        after.forget_quiet(me);
        Some(after)
    }
}
