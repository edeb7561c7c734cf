//! What the voters tell each other, and what their logs hold.

use std::collections::{BTreeMap, BTreeSet};

use noraft::{ClusterConfig, LogEntries, LogEntry, LogIndex, LogPosition, Term};
use serde::{Deserialize, Serialize};

use crate::view::Voters;
use crate::wire::{MOST_APPENDED, at_most};
use crate::{DiskId, DiskState, Epoch, Incarnation, View};

/// A place in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// How many entries there are up to it.
    pub index: u64,
    /// The term in which its entry was proposed.
    pub term: u64,
}

impl Position {
    /// The place of an entry that follows this place.
    #[must_use]
    pub fn followed_by(self, entry: &BallotEntry) -> Self {
        let term = if let BallotEntry::Term(term) = entry { *term } else { self.term };
        Self { index: self.index.saturating_add(1), term }
    }

    /// The last place of a log that continues after this one with these entries, if such a log is possible: terms only
    /// rise, voters and views are sound, and the numbers of views follow each other.
    #[must_use]
    pub fn after_all(self, entries: &[BallotEntry]) -> Option<Self> {
        let (mut last, mut view) = (self, None);
        for entry in entries {
            let before = last;
            last = before.followed_by(entry);
            let is_possible = match entry {
                BallotEntry::Term(term) => before.term < *term,
                BallotEntry::Config(config) => config.is_sound(),
                BallotEntry::View(next) => {
                    let follows = view.replace(next.number).is_none_or(|before| next.number == before + 1);
                    follows && next.is_sound()
                }
            };
            if !is_possible {
                return None;
            }
        }
        last.is_possible().then_some(last)
    }

    /// Whether a log can be that long and its terms that many.
    #[must_use]
    pub fn is_possible(self) -> bool {
        self.index < Ballot::MOST_ENTRIES && self.term < Ballot::MOST_TERMS
    }
}

impl From<LogPosition> for Position {
    fn from(position: LogPosition) -> Self {
        Self { index: position.index.get(), term: position.term.get() }
    }
}

impl From<Position> for LogPosition {
    fn from(position: Position) -> Self {
        LogPosition::new(Term::new(position.term), LogIndex::new(position.index))
    }
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BallotEntry {
    /// A leader begins its term.
    Term(u64),
    /// Other voters.
    Config(Electorate),
    /// A view.
    View(Box<View>),
}

impl BallotEntry {
    /// Of how many pieces it is made.
    fn pieces(&self) -> usize {
        match self {
            BallotEntry::Term(_) => 1,
            BallotEntry::Config(config) => 1 + config.everybody().count(),
            BallotEntry::View(view) => 1 + view.pieces(),
        }
    }

    pub(super) fn outline(&self) -> LogEntry {
        match self {
            BallotEntry::Term(term) => LogEntry::Term(Term::new(*term)),
            BallotEntry::Config(config) => LogEntry::ClusterConfig(config.into()),
            BallotEntry::View(_) => LogEntry::Command,
        }
    }
}

/// Entries as the engine of the consensus keeps them: without what they say.
pub(super) fn outlines<'a>(
    after: Position,
    entries: impl IntoIterator<Item = &'a BallotEntry>,
) -> LogEntries {
    LogEntries::from_iter(after.into(), entries.into_iter().map(BallotEntry::outline))
}

/// The voters of the consensus, and the nodes that only get its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Electorate {
    /// The voters.
    pub voters: Voters,
    /// While the voters change: the new ones.
    pub new_voters: Voters,
    /// The nodes that get the log and do not vote.
    pub listeners: Voters,
}

impl Electorate {
    /// Whether it is valid: it has a voter, and no node is both voter and listener.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_apart = |voters: &Voters| voters.keys().all(|disk| !self.listeners.contains_key(disk));
        let few = self.everybody().count() <= 3 * crate::wire::MOST_NODES;
        few && !self.voters.is_empty() && is_apart(&self.voters) && is_apart(&self.new_voters)
    }

    /// Whether it has a voter, now or when the change of voters is over.
    pub(super) fn is_voter(&self, disk: DiskId) -> bool {
        self.voters.contains_key(&disk) || self.new_voters.contains_key(&disk)
    }

    /// Whether it has a voter when the change of voters, if there is one, is over.
    pub(crate) fn will_vote(&self, disk: DiskId) -> bool {
        let voters = if self.new_voters.is_empty() { &self.voters } else { &self.new_voters };
        voters.contains_key(&disk)
    }

    /// Whether these are a majority of the voters, and while that changes of those to come as well.
    pub(super) fn is_majority(&self, is_among: impl Fn(DiskId) -> bool) -> bool {
        [&self.voters, &self.new_voters].into_iter().all(|voters| {
            let count = voters.keys().filter(|disk| is_among(**disk)).count();
            voters.is_empty() || count > voters.len() / 2
        })
    }

    /// All disks in it, each with its node.
    pub fn everybody(&self) -> impl Iterator<Item = (DiskId, doorway_core::NodeId)> {
        let all = self.voters.iter().chain(&self.new_voters).chain(&self.listeners);
        all.map(|(disk, node)| (*disk, *node))
    }

    /// The same with the nodes looked up.
    pub(super) fn of(config: &ClusterConfig, directory: &Voters) -> Self {
        let look_up = |disks: &std::collections::BTreeSet<noraft::NodeId>| {
            let known = disks.iter().map(|disk| DiskId(disk.get()));
            known.filter_map(|disk| Some((disk, *directory.get(&disk)?))).collect()
        };
        Self {
            voters: look_up(&config.voters),
            new_voters: look_up(&config.new_voters),
            listeners: look_up(&config.non_voters),
        }
    }
}

impl From<&Electorate> for ClusterConfig {
    fn from(config: &Electorate) -> Self {
        let disks = |voters: &Voters| voters.keys().map(|disk| noraft::NodeId::new(disk.0)).collect();
        let mut engine = ClusterConfig::new();
        engine.voters = disks(&config.voters);
        engine.new_voters = disks(&config.new_voters);
        engine.non_voters = disks(&config.listeners);
        engine
    }
}

/// All that was decided up to a place in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LogSnapshot {
    /// The place.
    pub position: Position,
    /// The voters at that place.
    pub config: Electorate,
    /// The newest view there.
    pub view: Option<View>,
    /// The latest life of each disk that was ever in a view, but for some that were forgotten.
    pub lives: BTreeMap<DiskId, Incarnation>,
    /// No disk that was forgotten was in a later view than the one with this number.
    pub forgotten_to: u64,
}

impl LogSnapshot {
    /// Of how many disks the latest life is remembered.
    pub const MOST_LIVES: usize = 4_096;

    /// The beginning of a new cluster.
    #[must_use]
    pub fn genesis(view: View) -> Self {
        let config = Electorate { voters: view.voters.clone(), ..Electorate::default() };
        Self { config, view: Some(view), ..Self::default() }
    }

    /// Whether it can be.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.position.is_possible()
            && self.config.is_sound()
            && self.view.as_ref().is_none_or(View::is_sound)
            && self.lives.len() <= Self::MOST_LIVES
    }

    /// Notes the lives of a view.
    pub(super) fn note_lives(lives: &mut BTreeMap<DiskId, Incarnation>, view: &View) {
        for member in view.members.values() {
            // R6: highest life of each disk
            let latest = lives.entry(member.disk).or_insert(*member);
            if member.life() > latest.life() {
                *latest = *member;
            }
        }
    }

    /// If there are more lives than this, forgets those of all disks that have no part in the cluster now. None of them was in
    /// a later view than the present one: a node that says hello and knows of that view begins a life that is later than any of
    /// them, and a late hello of one of them tells of an earlier view.
    pub(super) fn forget_lives_beyond(&mut self, most: usize) {
        if self.lives.len() <= most {
            return;
        }
        let members = self.view.iter().flat_map(|view| view.members.values()).map(|member| member.disk);
        let voters = self.view.iter().flat_map(View::all_voters).map(|(disk, _)| disk);
        let present: BTreeSet<DiskId> =
            members.chain(voters).chain(self.config.everybody().map(|(disk, _)| disk)).collect();
        self.lives.retain(|disk, _| present.contains(disk));
        self.forgotten_to = self.view.as_ref().map_or(0, |view| view.number).max(self.forgotten_to);
    }
}

/// A message of the consensus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ballot {
    /// Who says it.
    pub from: DiskId,
    /// How far the disk of the sender had come when it left.
    pub state: DiskState,
    /// The cluster of the sender.
    pub epoch: Option<Epoch>,
    /// In which term.
    pub term: u64,
    /// What.
    pub body: Body,
}

/// What a ballot says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Body {
    /// Would you vote for me? My log ends here.
    Sound {
        /// The number of the question.
        round: u64,
        /// The end of the log.
        last: Position,
    },
    /// I would.
    Support {
        /// The number of the question.
        round: u64,
    },
    /// Vote for me. My log ends here.
    AskVote {
        /// The end of the log.
        last: Position,
    },
    /// My vote.
    Vote {
        /// Whether it is for the one who asked.
        is_granted: bool,
    },
    /// Entries of the leader's log.
    Append {
        /// What is decided so far.
        decided: u64,
        /// Where the entries follow.
        after: Position,
        /// The entries.
        #[serde(deserialize_with = "at_most::<_, _, MOST_APPENDED>")]
        entries: Vec<BallotEntry>,
    },
    /// My log ends here.
    Appended {
        /// The end of the log.
        last: Position,
    },
    /// The leader's log begins here.
    Snapshot(Box<LogSnapshot>),
    /// Lead in my place: stand for election at once. My log ends here, and yours with it.
    Lead {
        /// The end of both logs.
        last: Position,
    },
}

impl Ballot {
    /// No honest cluster comes near this many entries.
    pub(super) const MOST_ENTRIES: u64 = 1 << 48;

    /// Nor near this many terms. It is so large that even a node that makes the term leap all the time does not get there.
    pub(super) const MOST_TERMS: u64 = 1 << 62;

    /// Whether only a leader says it.
    #[must_use]
    pub fn is_from_leader(&self) -> bool {
        matches!(self.body, Body::Append { .. } | Body::Snapshot(_))
    }

    /// Whether its numbers are such as a voter can have.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        let is_early = |position: &Position| position.is_possible() && position.term <= self.term;
        let body = match &self.body {
            Body::Sound { last, .. }
            | Body::AskVote { last }
            | Body::Appended { last }
            | Body::Lead { last } => is_early(last),
            Body::Support { .. } | Body::Vote { .. } => true,
            Body::Append { after, entries, decided } => {
                let last = after.after_all(entries);
                *decided < Self::MOST_ENTRIES && last.is_some_and(|last| is_early(&last))
            }
            Body::Snapshot(snapshot) => is_early(&snapshot.position) && snapshot.is_sound(),
        };
        self.term < Self::MOST_TERMS && body
    }

    /// About how many bytes of memory it takes.
    pub(super) fn weight(&self) -> usize {
        const PIECE: usize = 64;
        let pieces = match &self.body {
            Body::Append { entries, .. } => entries.iter().map(BallotEntry::pieces).sum(),
            Body::Snapshot(snapshot) => {
                let view = snapshot.view.as_ref().map_or(0, View::pieces);
                snapshot.config.everybody().count() + view + snapshot.lives.len()
            }
            Body::Sound { .. }
            | Body::Support { .. }
            | Body::AskVote { .. }
            | Body::Vote { .. }
            | Body::Appended { .. }
            | Body::Lead { .. } => 0,
        };
        PIECE * (1 + pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nonce;

    fn voters(disks: &[u64]) -> Voters {
        disks.iter().map(|&disk| (DiskId(disk), doorway_core::NodeId::new(disk as usize))).collect()
    }

    #[test]
    fn a_majority_is_one_of_each_set_of_voters() {
        let mut config = Electorate { voters: voters(&[1, 2, 3]), ..Electorate::default() };
        assert!(config.is_majority(|disk| disk.0 <= 2));
        assert!(!config.is_majority(|disk| disk.0 <= 1));
        config.new_voters = voters(&[3, 4, 5]);
        assert!(!config.is_majority(|disk| disk.0 <= 3));
        assert!(config.is_majority(|disk| disk.0 >= 2 && disk.0 <= 4));
    }

    #[test]
    fn old_lives_are_forgotten_but_not_those_of_members() {
        let mut view = View { number: 9, ..View::genesis(voters(&[1])) };
        let life = Incarnation { disk: DiskId(2), boot: 4, tenure: 0, nonce: Nonce(0) };
        view.members.insert(doorway_core::NodeId::new(2), life);
        let mut snapshot = LogSnapshot::genesis(view);
        snapshot.config.listeners = voters(&[3]);
        snapshot.lives =
            (1..=10).map(|disk| (DiskId(disk), Incarnation { disk: DiskId(disk), ..life })).collect();
        snapshot.forget_lives_beyond(10);
        assert_eq!((snapshot.lives.len(), snapshot.forgotten_to), (10, 0), "there is room for ten");
        snapshot.forget_lives_beyond(9);
        let kept: Vec<u64> = snapshot.lives.keys().map(|disk| disk.0).collect();
        assert_eq!((kept, snapshot.forgotten_to), (vec![1, 2, 3], 9));
    }
}
