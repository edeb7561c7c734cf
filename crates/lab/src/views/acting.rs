//! Acting in a view: leases, the permission, letting in and out, and the order in which leases and quiet times end.

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::state::{NODES, Node, Report, Sent, Standing, State};

impl ViewModel {
    /// Renews a lease if two of the three voters would acknowledge a heartbeat sent now: a fresher lease only lets more happen.
    pub(super) fn lease(&self, state: &mut State, me: usize) {
        let willing = (0..NODES).filter(|voter| self.acknowledges(state, *voter, me)).count();
        let node = &mut state.nodes[me];
        if node.has_view() && 2 * willing > NODES {
            node.lease = Some(Sent::NOW);
        }
    }

    /// A member sends a heartbeat, which a voter acknowledges, though no majority would now.
    pub(super) fn heartbeat(&self, state: &State, me: usize, voter: usize) -> Option<State> {
        let node = &state.nodes[me];
        if node.lease == Some(Sent::NOW) || !node.has_view() || !self.acknowledges(state, voter, me) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].heartbeat = Some((voter as u8, Sent::NOW));
        Some(after)
    }

    /// A second voter acknowledges the heartbeat: two of three are a majority, and the lease counts from the sending (rule 4).
    pub(super) fn renew(&self, state: &State, me: usize, voter: usize) -> Option<State> {
        let (first, sent) = state.nodes[me].heartbeat?;
        if usize::from(first) == voter || !self.acknowledges(state, voter, me) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].lease = Some(sent);
        after.nodes[me].heartbeat = None;
        Some(after)
    }

    /// Rule 3: the newest view in the voter's log, decided or not, is not newer than the member's, or has it.
    fn acknowledges(&self, state: &State, voter: usize, member: usize) -> bool {
        let is_greeted = state.is_greeted(voter, member);
        let (voter, node) = (&state.nodes[voter], &state.nodes[member]);
        let asked =
            if self.has(ViewFlaw::AcknowledgedAfterAccepting) { voter.learned } else { voter.newest() };
        let has_it = || voter.view(asked).is_some_and(|roster| roster.has(member, node.life));
        voter.is_running() && is_greeted && (asked <= node.learned || has_it())
    }

    /// A node sends the permission of its view to another member.
    pub(super) fn pass(&self, state: &State, me: usize, to: usize) -> Option<State> {
        let node = &state.nodes[me];
        let place = usize::from(node.learned) - 1;
        let is_member = node.view(node.learned)?.members().any(|member| member == to);
        let can = node.standing == Standing::Active && node.has_permission && !node.is_inside;
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
        self.on_left(node);
        Some(after)
    }

    /// A lease ends, and the client inside is told, or stops by itself (rules 14 and 18). If nobody waits for its end, it is the same
    /// as a release, but for the lease.
    pub(super) fn end_lease(&self, state: &State, me: usize) -> Option<State> {
        if self.reduces && state.nodes[me].lease == Some(Sent::NOW) {
            return None;
        }
        let mut after = self.release(state, me)?;
        after.nodes[me].lease = None;
        Some(after)
    }

    /// The deadline of a client comes that a crash left behind. It may as well stay if nobody waits for its end.
    pub(super) fn end_orphan(&self, state: &State, me: usize) -> Option<State> {
        let matters = |lease: Sent| !self.reduces || lease != Sent::NOW;
        let ends = state.has_orphan(me) && state.orphan.is_some_and(|orphan| matters(orphan.lease));
        ends.then_some(State { orphan: None, ..*state })
    }

    fn on_left(&self, node: &mut Node) {
        if node.standing == Standing::Left {
            node.lease = None;
        }
        if self.has(ViewFlaw::ReportRebuilt) && node.has_view() && node.learned > 1 {
            node.reports[usize::from(node.learned) - 2] = Some(Report { life: node.life, is_inside: false });
        }
    }

    /// A quiet time ends. It is longer than a lease: what was leased by a heartbeat sent before it began has ended by now.
    pub(super) fn end_quiet(&self, state: &State, me: usize) -> Option<State> {
        let is_older = |lease: &Sent| lease.is_before(me);
        let inside = state.nodes.iter().filter(|node| node.is_inside).filter_map(|node| node.lease);
        let mut stays = inside.chain(state.orphan.map(|orphan| orphan.lease));
        if !state.nodes[me].is_quiet || stays.any(|lease| is_older(&lease)) {
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
