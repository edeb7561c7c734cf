//! A disk that is set back to an earlier copy of itself, and how the other voters notice it (rules 27 and 28).

use super::ViewModel;
use super::act::Act;
use super::flaw::ViewFlaw;
use super::state::{Evidence, NODES, SetBack, Standing, State};

/// Which of the two other voters remember, when a disk loses the end of its log, that it had synced more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witnesses {
    /// Both, and neither restarts before the node has marked its disk: no second client enters.
    Both,
    /// Both, but either may restart first, and then remembers nothing: not enough.
    BothUntilRestart,
    /// One of them: not enough.
    One,
}

impl ViewModel {
    /// Calls `visit` with every set-back of a node's disk that is possible: to before its first start, or to a shorter log with the
    /// same list of lives. There is one in a run. A node that has left by itself is not set back.
    pub(super) fn set_backs(&self, state: &State, me: usize, visit: &mut impl FnMut(Act, State)) {
        let Some(witnesses) = self.bounds.set_back else { return };
        let is_marked = state.nodes.iter().any(|node| node.standing == Standing::Marked);
        if state.set_back.is_some() || is_marked || state.nodes[me].standing == Standing::Left {
            return;
        }
        visit(Act::SetBack { view: 0, voters: 0 }, self.set_back(state, me, 0, Evidence::Life));
        for view in 1..state.nodes[me].newest() {
            for voters in knowing(state, me, witnesses) {
                let after = self.set_back(state, me, view, Evidence::Synced(voters));
                visit(Act::SetBack { view, voters }, after);
            }
        }
    }

    /// A node stops if it runs, and is started again with a copy of its disk that has the log up to a view. The start draws a nonce, so
    /// it is a new incarnation.
    fn set_back(&self, state: &State, me: usize, view: u8, evidence: Evidence) -> State {
        let mut after = *state;
        if state.nodes[me].is_running() {
            after.stop(me);
        }
        let entries = state.nodes[me].newest() - view;
        after.set_back = Some(SetBack { node: me as u8, evidence: self.noticed(evidence, entries) });
        after.cut(me, view.max(1));
        let node = &mut after.nodes[me];
        node.standing = Standing::Apart;
        // A number of boots can be the same again, and then the incarnation is.
        let is_same = self.has(ViewFlaw::BootsWithoutNonce) && evidence == Evidence::Life;
        node.life += u8::from(!is_same);
        after
    }

    /// What is left of the evidence if a rule is broken, and the disk has lost this many entries.
    fn noticed(&self, evidence: Evidence, entries: u8) -> Evidence {
        let is_missed = match (self.flaw, evidence) {
            (Some(ViewFlaw::SetBackDiskVotes), _)
            | (Some(ViewFlaw::BootsWithoutNonce), Evidence::Life)
            | (Some(ViewFlaw::SyncedIgnored), Evidence::Synced(_)) => true,
            // The start has written a record of its own.
            (Some(ViewFlaw::SyncedAfterBoot), Evidence::Synced(_)) => entries <= 1,
            _ => false,
        };
        if is_missed { Evidence::Synced(0) } else { evidence }
    }

    /// A voter tells a node whose disk was set back what it knows of that disk, and the node marks it.
    pub(super) fn greet(&self, state: &State, me: usize, voter: usize) -> Option<State> {
        let SetBack { node, evidence } = state.set_back?;
        let are_running = [me, voter].iter().all(|node| state.nodes[*node].is_running());
        if usize::from(node) != me || me == voter || !evidence.is_known_to(voter) || !are_running {
            return None;
        }
        let mut after = *state;
        self.mark(&mut after, me);
        Some(after)
    }

    /// Marks a disk: its node never takes part again, and nothing that the disk has counts any more. If a rule is broken, a restart
    /// loses the first mark.
    fn mark(&self, state: &mut State, me: usize) {
        state.cut(me, 1);
        state.nodes[me].forget(Standing::Marked);
        state.forget_quiet(me);
        let is_first = state.set_back.is_some_and(|set_back| set_back.evidence.is_known_to_two());
        if !self.has(ViewFlaw::MarkNotDurable) || !is_first {
            state.set_back = None;
            state.nodes[me].life = 0;
        }
    }

    /// Marks a disk at once if both other voters know for good that it was set back: it can do nothing else.
    pub(super) fn mark_at_once(&self, state: &mut State) {
        let Some(SetBack { node, evidence }) = state.set_back else { return };
        let is_for_good = match evidence {
            Evidence::Life => true,
            Evidence::Synced(_) => {
                evidence.is_known_to_two() && self.bounds.set_back == Some(Witnesses::Both)
            }
        };
        if is_for_good {
            self.mark(state, usize::from(node));
        }
    }

    /// Whether a node's mark is lost when it is started again, and makes a difference: a voter has forgotten what it knew.
    pub(super) fn loses_mark(state: &State, me: usize) -> bool {
        let is_marked = state.nodes[me].standing == Standing::Marked;
        is_marked && state.set_back.is_some_and(|set_back| !set_back.evidence.is_known_to_two())
    }

    /// The state in which a voter has forgotten what it knew of a set-back disk, unless the bounds say that it does not restart now.
    pub(super) fn forget_evidence(&self, state: &State, voter: usize) -> Option<State> {
        let mut after = *state;
        let Some(SetBack { node, evidence: Evidence::Synced(voters) }) = &mut after.set_back else {
            return Some(after);
        };
        let is_marked = state.nodes[usize::from(*node)].standing == Standing::Marked;
        let is_bound = self.bounds.set_back == Some(Witnesses::Both) && !is_marked;
        let may_forget = !(is_bound && *voters & 1 << voter != 0);
        *voters &= !(1 << voter);
        may_forget.then_some(after)
    }
}

/// The sets of voters, one bit each, that may remember what a node's disk had synced. A voter that is down remembers nothing.
fn knowing(state: &State, me: usize, witnesses: Witnesses) -> impl Iterator<Item = u8> {
    let running = (0..NODES).filter(|voter| state.nodes[*voter].is_running());
    let able = running.filter(|voter| *voter != me).fold(0, |voters, voter| voters | 1 << voter);
    let size = match witnesses {
        Witnesses::Both | Witnesses::BothUntilRestart => 2,
        Witnesses::One => 1,
    };
    (0..1u8 << NODES).filter(move |voters| voters & !able == 0 && voters.count_ones() == size)
}

impl State {
    /// Cuts a node's log after a view. What was decided stays so, though no other node has learned it.
    fn cut(&mut self, me: usize, view: u8) {
        for later in view + 1..=self.nodes[me].learned {
            let roster = self.nodes[me].view(later);
            self.nodes[me].learned = view;
            if self.learned(later).is_none() {
                self.lost[usize::from(later) - 2] = roster;
            }
        }
        self.nodes[me].log[usize::from(view) - 1..].fill(None);
    }

    /// Drops what a set-back disk had as decided when another node has learned the same.
    pub(super) fn drop_found(&mut self) {
        for view in (2..).take(self.lost.len()) {
            if self.lost(view) == self.learned(view) {
                self.lost[usize::from(view) - 2] = None;
            }
        }
    }
}
