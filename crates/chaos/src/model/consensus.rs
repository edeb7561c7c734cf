//! Deciding views: proposals, and logs that take them from each other, which is all that is left of Raft here.

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::roster::{Roster, Seat};
use super::state::{NODES, Node, Standing, State};
use super::voters::Voters;

/// A place in a log where an entry may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// That of a view.
    View(u8),
    /// That of the new voters of consensus, directly after a view.
    Config(u8),
}

impl ViewModel {
    /// Calls `visit` with every content that a node may propose as its next view, if it may propose one: it has learned all views
    /// that are in its log (rule 5). A view may change members and voters at once, which a real leader does not do.
    pub(super) fn proposals(&self, state: &State, me: usize, visit: &mut impl FnMut(Roster)) {
        let node = &state.nodes[me];
        if !node.is_running() || node.newest() != node.learned || node.learned == self.bounds.views {
            return;
        }
        let Some(present) = node.view(node.learned) else { return };
        for voting in self.next_votings(state, node).into_iter().flatten() {
            let fewest = usize::from(voting == present.voting);
            self.fill(state, me, Roster { voting, ..present }, 0, &mut |roster| {
                let changes = (0..NODES).filter(|disk| present.life(*disk) != roster.life(*disk)).count();
                if roster.members().next().is_some() && (fewest..=self.bounds.changes).contains(&changes) {
                    visit(roster);
                }
            });
        }
    }

    /// Every content that has of the disks before this one what the present view has.
    fn fill(&self, state: &State, me: usize, roster: Roster, disk: usize, visit: &mut dyn FnMut(Roster)) {
        if disk == NODES {
            return visit(roster);
        }
        for seat in self.seats(state, me, disk).into_iter().flatten() {
            let mut next = roster;
            next.seats[disk] = seat;
            self.fill(state, me, next, disk + 1, visit);
        }
    }

    /// What the next view may have of a disk (rule 6): nothing, what the present one has, or the incarnation that said Hello if it
    /// is higher than all of that disk in the proposer's log.
    fn seats(&self, state: &State, proposing: usize, disk: usize) -> [Option<Seat>; 5] {
        let (proposer, node) = (&state.nodes[proposing], &state.nodes[disk]);
        let stays = proposer.view(proposer.learned).and_then(|roster| roster.life(disk));
        let highest = (1..=proposer.learned).filter_map(|view| proposer.view(view)?.life(disk)).max();
        let has_left = node.standing == Standing::Left && stays == Some(node.life);
        let is_heard = state.is_greeted(proposing, disk);
        let is_new = is_heard && node.standing == Standing::Apart && Some(node.life) > highest;
        let comes_back = stays.is_none() && self.has(ViewFlaw::LeftOutReadmitted);
        [
            Some(Seat::Out),
            stays.map(Seat::In),
            has_left.then_some(Seat::Clean),
            is_new.then_some(Seat::In(node.life)),
            highest.filter(|_| comes_back).map(Seat::In),
        ]
    }

    /// A node writes a view of its own into its log.
    pub(super) fn propose(&self, state: &State, me: usize, roster: Roster) -> State {
        let mut after = *state;
        let node = &mut after.nodes[me];
        node.log[usize::from(node.learned) - 1] = Some(roster);
        self.on_accepted(&mut after, me);
        after
    }

    /// A node takes the first entry in which another's log differs from its own, or that there is none, and so loses what came
    /// after it. What is decided stays.
    pub(super) fn accept(&self, state: &State, me: usize, from: usize) -> Option<(Slot, State)> {
        let (node, other) = (&state.nodes[me], &state.nodes[from]);
        let slot = self.slots().find(|slot| slot.is_other(node, other))?;
        let is_kept = self.is_decided(state, node, slot);
        if is_kept || !node.is_running() || !other.is_running() || !state.is_greeted(me, from) {
            return None;
        }
        let mut after = *state;
        after.nodes[me].take(slot, other);
        self.on_accepted(&mut after, me);
        Some((slot, after))
    }

    /// The places of a log in their order.
    fn slots(&self) -> impl Iterator<Item = Slot> {
        let views = self.bounds.views;
        (1..=views).flat_map(|view| [Slot::View(view), Slot::Config(view)])
    }

    /// Whether what a node has in a place of its log is decided, or something after it is.
    fn is_decided(&self, state: &State, node: &Node, slot: Slot) -> bool {
        match slot {
            Slot::View(view) => {
                let is_decided = node.view(view).is_some() && node.view(view) == state.decided(view);
                is_decided && node.config_before(view) == state.config_before(view) || node.learned >= view
            }
            Slot::Config(place) => {
                let is_decided = node.config == Some(place) && state.configured == Some(place);
                is_decided || place < self.bounds.views && self.is_decided(state, node, Slot::View(place + 1))
            }
        }
    }

    /// Whether a node can learn a view (rule 8): its own log has it, and a majority that it counts has the same. The first to learn it
    /// decides it.
    pub(super) fn is_learnable(&self, state: &State, me: usize, view: u8) -> bool {
        let node = &state.nodes[me];
        if node.learned >= view || node.view(view).is_none() {
            return false;
        }
        let entry = |node: &Node| (node.view(view), node.config_before(view));
        let counts = |other| entry(&state.nodes[other]) == entry(node) && state.is_greeted(me, other);
        let sets = self.deciding_sets(state, node, view);
        sets.is_some_and(|sets| Voters::that(counts).are_majority(sets))
    }

    /// Drops a report that a set-back disk made for another content of the view that it has now. If a rule is broken, this is also
    /// the wrong moment at which to begin to wait.
    fn on_accepted(&self, state: &mut State, me: usize) {
        let newest = state.nodes[me].newest();
        if newest > 1 && state.nodes[me].view(newest) != state.decided(newest) {
            state.nodes[me].reports[usize::from(newest) - 2] = None;
        }
        if self.has(ViewFlaw::WaitFromAccepting) && self.leaves_somebody_out(&state.nodes[me], newest) {
            state.begin_quiet(me);
        }
    }
}

impl Slot {
    /// Whether two logs differ in this place.
    fn is_other(self, node: &Node, other: &Node) -> bool {
        match self {
            Slot::View(view) => node.view(view) != other.view(view),
            Slot::Config(place) => (node.config == Some(place)) != (other.config == Some(place)),
        }
    }
}

impl Node {
    /// Takes what another log has in a place, and loses what came after it.
    fn take(&mut self, slot: Slot, other: &Node) {
        match slot {
            Slot::View(view) => {
                self.log[usize::from(view) - 2..].fill(None);
                self.log[usize::from(view) - 2] = other.view(view);
                self.config = self.config_before(view);
            }
            Slot::Config(place) => {
                self.log[usize::from(place) - 1..].fill(None);
                self.config = other.config.filter(|config| *config == place);
            }
        }
    }
}
