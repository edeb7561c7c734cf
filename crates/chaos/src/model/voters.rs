//! Who votes: sets of voters, their majorities, and the three steps by which they change (rule 22).

use super::ViewModel;
use super::flaw::ViewFlaw;
use super::state::{NODES, Node, State};

/// A change of voters that a run may make, once. Members and voters are different things: every node has a log and may be a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VoterChange {
    /// From node 1 to node 2: the two majorities have no node in common.
    HandOver,
    /// From node 1 to nodes 1, 2 and 3.
    Growth,
    /// From nodes 1, 2 and 3 to node 3.
    Shrinking,
    /// From nodes 1 and 2 to nodes 2 and 3.
    Exchange,
    /// From nodes 1, 2 and 3 to nodes 2, 3 and 4. Node 4 is a fourth node, which the first view does not have.
    Replacement,
}

/// Of which voters the lease of a member needs a majority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voting {
    /// Of those that vote in the first view.
    Old,
    /// Of both sets.
    Joint,
    /// Of those to whom the vote went.
    New,
}

/// Some voters, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Voters(pub(super) u8);

impl VoterChange {
    /// All of them.
    pub const ALL: [VoterChange; 5] = [
        VoterChange::HandOver,
        VoterChange::Growth,
        VoterChange::Shrinking,
        VoterChange::Exchange,
        VoterChange::Replacement,
    ];

    /// Who votes before it and who after it.
    fn sets(self) -> [Voters; 2] {
        let [before, after] = match self {
            VoterChange::HandOver => [0b0001, 0b0010],
            VoterChange::Growth => [0b0001, 0b0111],
            VoterChange::Shrinking => [0b0111, 0b0100],
            VoterChange::Exchange => [0b0011, 0b0110],
            VoterChange::Replacement => [0b0111, 0b1110],
        };
        [Voters(before), Voters(after)]
    }

    /// Who votes before it and who after it, in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            VoterChange::HandOver => "1 to 2",
            VoterChange::Growth => "1 to 1, 2, 3",
            VoterChange::Shrinking => "1, 2, 3 to 3",
            VoterChange::Exchange => "1, 2 to 2, 3",
            VoterChange::Replacement => "1, 2, 3 to 2, 3, 4",
        }
    }
}

impl Voting {
    /// The one with this number.
    pub(super) fn of(number: u32) -> Self {
        match number {
            0 => Voting::Old,
            1 => Voting::Joint,
            _ => Voting::New,
        }
    }
}

impl Voters {
    /// No node.
    pub(super) const NONE: Self = Self(0);
    /// Three of three nodes.
    const THREE: Self = Self(0b0111);

    /// The voters for which something holds.
    pub(super) fn that(holds: impl Fn(usize) -> bool) -> Self {
        Self((0..NODES).filter(|voter| holds(*voter)).fold(0, |all, voter| all | 1 << voter))
    }

    pub(super) fn has(self, voter: usize) -> bool {
        self.0 & 1 << voter != 0
    }

    pub(super) fn with(self, voter: usize) -> Self {
        Self(self.0 | 1 << voter)
    }

    pub(super) fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(super) fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether these include a majority of each set.
    pub(super) fn are_majority(self, sets: [Self; 2]) -> bool {
        sets.iter().all(|set| 2 * (self.0 & set.0).count_ones() > set.0.count_ones())
    }

    /// Every majority of these that none can be missing from.
    pub(super) fn majorities(self) -> impl Iterator<Item = Self> {
        let size = self.0.count_ones() / 2 + 1;
        (0..1 << NODES).map(Self).filter(move |some| some.0 & !self.0 == 0 && some.0.count_ones() == size)
    }
}

impl ViewModel {
    /// The sets of voters, the same one twice if there is only one.
    pub(super) fn sets(&self, voting: Voting) -> [Voters; 2] {
        let [old, new] = self.bounds.voters.map_or([Voters::THREE; 2], VoterChange::sets);
        match voting {
            Voting::Old => [old; 2],
            Voting::Joint => [old, new],
            Voting::New => [new; 2],
        }
    }

    /// Of which sets a lease needs a majority each (rule 4).
    pub(super) fn lease_sets(&self, voting: Voting) -> [Voters; 2] {
        let [first, second] = self.sets(voting);
        if self.has(ViewFlaw::FirstVoterSetOnly) { [first; 2] } else { [first, second] }
    }

    /// Who may vote in the view after one that a node has learned: as before, or the next of the three steps.
    pub(super) fn next_votings(&self, state: &State, node: &Node) -> [Option<Voting>; 2] {
        let present = node.voting();
        let is_configured = node.config.is_some() && node.config == state.configured;
        let is_by_views = self.bounds.voters.is_some() && !self.has(ViewFlaw::VotersBesideViews);
        let next = match present {
            Voting::Old if self.has(ViewFlaw::JointSkipped) => Some(Voting::New),
            Voting::Old => Some(Voting::Joint),
            Voting::Joint => is_configured.then_some(Voting::New),
            Voting::New => None,
        };
        [Some(present), next.filter(|_| is_by_views)]
    }

    /// A node writes into its log that the new voters decide: the second step, after it has learned a view with both sets.
    pub(super) fn configure(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        let is_beside = self.has(ViewFlaw::VotersBesideViews) && self.bounds.voters.is_some();
        let is_time = node.voting() == Voting::Joint || is_beside;
        if !node.is_running() || !is_time || node.config.is_some() || node.newest() != node.learned {
            return None;
        }
        let mut after = *state;
        after.nodes[me].config = Some(node.learned);
        Some(after)
    }

    /// That the new voters decide is decided: a majority of each set has it in its log.
    pub(super) fn decide_config(&self, state: &State, me: usize) -> Option<State> {
        let node = &state.nodes[me];
        if !node.is_running() || node.config.is_none() || state.configured.is_some() {
            return None;
        }
        let have = Voters::that(|voter| state.nodes[voter].config == node.config);
        let is_decided = have.are_majority(self.sets(Voting::Joint));
        is_decided.then_some(State { configured: node.config, ..*state })
    }

    /// Whose majority decides a view of a node's log: the new voters if it comes after their entry, which must be decided.
    pub(super) fn deciding_sets(&self, state: &State, node: &Node, view: u8) -> Option<[Voters; 2]> {
        match node.config_before(view) {
            None => Some(self.sets(Voting::Old)),
            place => (place == state.configured).then(|| self.sets(Voting::New)),
        }
    }
}
