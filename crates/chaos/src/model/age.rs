//! The age rule (16): a quiet time ends early if a majority of the voters has acknowledged no outsider for that long.

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::roster::Roster;
use super::state::{Sent, Standing, State};
use super::voters::{Voters, Voting};

impl ViewModel {
    /// Calls `visit` with every majority of the voters whose ages may end a node's quiet time, and the state after it.
    ///
    /// All members of the view have reported, so the majority is one of members. Each of them has acknowledged no outsider for the
    /// length of a quiet time, or is silent since its start. So every lease of an outsider has ended that one of them had
    /// acknowledged.
    pub(super) fn ages(&self, state: &State, me: usize, visit: &mut impl FnMut(Voters, State)) {
        let node = &state.nodes[me];
        let Some(roster) = node.view(node.learned).filter(|_| self.bounds.age) else { return };
        if !node.is_quiet || node.standing != Standing::Active || roster.voting == Voting::Joint {
            return;
        }
        let [voters, _] = self.sets(roster.voting);
        for silent in voters.majorities() {
            let are_members =
                Voters::that(|voter| silent.has(voter) && roster.life(voter).is_some()) == silent;
            if let Some(after) = self.age(state, me, roster, silent).filter(|_| are_members) {
                visit(silent, after);
            }
        }
    }

    /// Ends a node's quiet time by the ages of these voters, unless an outsider is inside that one of them has acknowledged.
    fn age(&self, state: &State, me: usize, roster: Roster, silent: Voters) -> Option<State> {
        let view = state.nodes[me].learned;
        // Only members of an earlier view: a node that is admitted later sends its first heartbeat after these reports.
        let is_outsider = |node, life| {
            !roster.has(node, life) && !state.was_in(view + 1..self.bounds.views + 1, node, life)
        };
        let is_over = |node, life, lease: Sent| {
            self.is_before_guard(roster, lease) || is_outsider(node, life) && self.is_known(lease, silent)
        };
        let mut inside = state.inside();
        if inside.any(|(node, life, lease)| lease.is_some_and(|lease| is_over(node, life, lease))) {
            return None;
        }
        let mut after = *state;
        for (number, node) in after.nodes.iter_mut().enumerate() {
            let life = node.life;
            node.lease = node.lease.filter(|lease| !is_over(number, life, *lease));
            node.heartbeat = node.heartbeat.filter(|(voters, sent)| {
                let is_known = is_outsider(number, life) && voters.without(sent.forgotten).meets(silent);
                !is_known && !self.is_before_guard(roster, *sent)
            });
        }
        after.forget_quiet(me);
        Some(after)
    }

    /// The guard: the rule is not used until a quiet time after the voters changed, so what was sent before the change has ended.
    fn is_before_guard(&self, roster: Roster, sent: Sent) -> bool {
        let is_guarded = !self.has(ViewFlaw::AgeDespiteVoterChange);
        is_guarded && roster.voting == Voting::New && sent.is_before_new
    }

    /// Whether one of these voters has acknowledged a lease for certain and remembers it: without them there is no majority.
    fn is_known(&self, lease: Sent, silent: Voters) -> bool {
        let others = Voters(u8::MAX).without(silent.without(lease.forgotten));
        !others.are_majority(self.lease_sets(lease.voting))
    }
}
