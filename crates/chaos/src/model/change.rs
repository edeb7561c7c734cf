//! Changing views: learning, reports, installing, being left out; crashing, restarting and leaving.

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::roster::Seat;
use super::state::{ClientReport, Node, Standing, State};
use super::voters::Voting;

impl ViewModel {
    /// A running node learns a view (rules 9, 13 and 15), perhaps skipping over others.
    pub(super) fn learn(&self, state: &State, me: usize, view: u8) -> Option<State> {
        let node = &state.nodes[me];
        if !node.is_running() || node.standing == Standing::Left || !self.is_learnable(state, me, view) {
            return None;
        }
        let mut after = *state;
        let before = state.nodes[me];
        if self.bounds.age && (2..=view).any(|view| Self::decides_new_voters(state, &before, view)) {
            after.each_sent(|sent| sent.is_before_new = true);
        }
        after.nodes[me].learned = view;
        if !before.view(view).is_some_and(|roster| roster.has(me, before.life)) {
            self.lose_view(&mut after, me);
            return Some(after);
        }
        self.raise_quiet(&mut after, me, &before, view);
        let node = &mut after.nodes[me];
        // Rule 31: a client that was told to stop counts as inside.
        let is_inside = node.is_inside && !(node.is_stopping && self.has(ViewFlaw::SlackNotReported));
        node.reports[usize::from(view) - 2] = Some(ClientReport { life: node.life, is_inside });
        node.standing = Standing::Limbo;
        node.has_permission &= self.has(ViewFlaw::ReportWithoutFreeze);
        Some(after)
    }

    /// Whether a node is the first to learn a view of its log that has only the new voters.
    fn decides_new_voters(state: &State, node: &Node, view: u8) -> bool {
        let is_new = |view| node.view(view).is_some_and(|roster| roster.voting == Voting::New);
        state.decided(view).is_none() && is_new(view) && !is_new(view - 1)
    }

    /// Rule 15: waits if any view since the last one leaves out a node that may still have a lease, or if there was none.
    fn raise_quiet(&self, state: &mut State, me: usize, before: &Node, view: u8) {
        if self.has(ViewFlaw::NoWait) || self.has(ViewFlaw::WaitFromAccepting) {
            return;
        }
        let since = if self.has(ViewFlaw::SkippedViewsForgotten) { view } else { before.learned + 1 };
        let leaves_out = (since..=view).any(|view| self.leaves_somebody_out(before, view));
        let is_new = !before.has_view() && !self.has(ViewFlaw::NewcomerActsAtOnce);
        if leaves_out || is_new {
            state.begin_quiet(me);
        } else if self.has(ViewFlaw::WaitOverwritten) {
            state.forget_quiet(me);
        }
    }

    /// Whether a view of a node's log lacks an incarnation that the view before it had, and that did not leave by itself.
    pub(super) fn leaves_somebody_out(&self, node: &Node, view: u8) -> bool {
        if view == 1 {
            return false;
        }
        let (Some(roster), Some(before)) = (node.view(view), node.view(view - 1)) else { return false };
        before.seats.iter().zip(roster.seats).any(|(before, after)| match (before, after) {
            (Seat::Out | Seat::Clean, _) | (Seat::In(_), Seat::Clean) => false,
            (Seat::In(_), Seat::Out) => true,
            (Seat::In(life), Seat::In(new)) => *life != new && !self.has(ViewFlaw::LeftOutByName),
        })
    }

    /// Rule 13: a left-out node with a view stops its client and continues as a new incarnation.
    fn lose_view(&self, state: &mut State, me: usize) {
        let node = &mut state.nodes[me];
        if node.has_view() {
            node.forget(Standing::Apart);
            node.life += 1;
            state.forget_quiet(me);
        }
    }

    /// A node in limbo installs its view if no more reports than these are missing (rule 11): the permission begins with the one
    /// reported inside, or else with the first member.
    pub(super) fn install(&self, state: &mut State, me: usize, missing: usize) {
        let node = &state.nodes[me];
        let view = node.learned;
        let Some(roster) = node.view(view).filter(|_| node.standing == Standing::Limbo) else { return };
        let is_missing = |member: &usize| state.reported(view, roster, *member).is_none();
        let begins = state.holders(view, roster).next().or(roster.members().next());
        let is_one = state.holders(view, roster).count() <= 1;
        if roster.members().filter(is_missing).count() <= missing && is_one {
            state.nodes[me].standing = Standing::Active;
            state.nodes[me].has_permission = begins == Some(me);
        }
    }

    /// Installs as a step of its own, where it makes a difference when reports arrive.
    pub(super) fn install_alone(&self, state: &State, me: usize) -> Option<State> {
        let mut after = *state;
        self.install(&mut after, me, usize::from(self.has(ViewFlaw::ReportMissing)));
        (after != *state).then_some(after)
    }

    /// A node stops. Its client continues until its deadline.
    pub(super) fn crash(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        if !self.bounds.crash || state.has_crashed || !node.is_running() || node.standing == Standing::Left {
            return None;
        }
        let mut after = self.forget_evidence(state, me)?;
        after.has_crashed = true;
        after.stop(me);
        Some(after)
    }

    /// A node is started again, as a new incarnation without a view. If its disk is marked as set back, it stays as it is.
    pub(super) fn restart(&self, state: &State, me: usize) -> Option<State> {
        if state.nodes[me].standing != Standing::Down && !Self::loses_mark(state, me) {
            return None;
        }
        let mut after = *state;
        if self.has(ViewFlaw::AgeWithoutBootGuard) {
            after.each_sent(|sent| sent.forgotten = sent.forgotten.with(me));
        }
        let node = &mut after.nodes[me];
        node.standing = Standing::Apart;
        let roster = node.view(node.learned).filter(|roster| roster.has(me, node.life));
        match roster.filter(|_| self.has(ViewFlaw::RestartIntoView)) {
            Some(roster) => {
                node.standing = Standing::Active;
                node.has_permission = roster.members().next() == Some(me);
            }
            None => node.life += 1,
        }
        Some(after)
    }

    /// A node leaves by itself (rule 21): it has no holder, and it never acts again but as a voter.
    pub(super) fn leave(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        let is_early = node.is_inside && !self.has(ViewFlaw::LeaveBeforeStop);
        if !self.bounds.leave || !node.has_view() || is_early {
            return None;
        }
        if state.nodes.iter().any(|node| node.standing == Standing::Left) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].forget(Standing::Left);
        after.nodes[me].is_inside = node.is_inside;
        after.nodes[me].lease = node.lease.filter(|_| node.is_inside);
        after.forget_quiet(me);
        Some(after)
    }
}
