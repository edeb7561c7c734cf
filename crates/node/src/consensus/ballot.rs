//! What the voters tell each other, and what their logs hold.

use std::collections::BTreeMap;

use noraft::{ClusterConfig, LogEntries, LogEntry, LogIndex, LogPosition, Term};
use serde::{Deserialize, Serialize};

use crate::view::Voters;
use crate::{DiskId, View};

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
    pub fn followed_by(self, entry: &Entry) -> Self {
        let term = if let Entry::Term(term) = entry { *term } else { self.term };
        Self { index: self.index + 1, term }
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
pub enum Entry {
    /// A leader begins its term.
    Term(u64),
    /// Other voters.
    Config(Config),
    /// A view.
    View(Box<View>),
}

impl Entry {
    fn outline(&self) -> LogEntry {
        match self {
            Entry::Term(term) => LogEntry::Term(Term::new(*term)),
            Entry::Config(config) => LogEntry::ClusterConfig(config.into()),
            Entry::View(_) => LogEntry::Command,
        }
    }
}

/// Entries as the engine of the consensus keeps them: without what they say.
pub(super) fn outlines<'a>(after: Position, entries: impl IntoIterator<Item = &'a Entry>) -> LogEntries {
    LogEntries::from_iter(after.into(), entries.into_iter().map(Entry::outline))
}

/// Who votes, and who listens.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Config {
    /// Who votes.
    pub voters: Voters,
    /// While that changes: who will vote.
    pub new_voters: Voters,
    /// Who only listens.
    pub listeners: Voters,
}

impl Config {
    /// Everybody in it, with its node.
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

impl From<&Config> for ClusterConfig {
    fn from(config: &Config) -> Self {
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
pub struct Snapshot {
    /// The place.
    pub position: Position,
    /// Who votes there.
    pub config: Config,
    /// The newest view there.
    pub view: Option<View>,
    /// The latest life of each disk that was ever in a view.
    pub lives: BTreeMap<DiskId, (u64, u64)>,
}

impl Snapshot {
    /// The beginning of a new cluster.
    #[must_use]
    pub fn genesis(view: View) -> Self {
        let config = Config { voters: view.voters.clone(), ..Config::default() };
        Self { position: Position::default(), config, view: Some(view), lives: BTreeMap::new() }
    }

    /// Notes the lives of a view.
    pub(super) fn note_lives(lives: &mut BTreeMap<DiskId, (u64, u64)>, view: &View) {
        for member in view.members.values() {
            let latest = lives.entry(member.disk).or_default();
            *latest = member.life().max(*latest);
        }
    }
}

/// A message of the consensus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ballot {
    /// Who says it.
    pub from: DiskId,
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
    /// The leader's log goes on like this.
    Append {
        /// What is decided so far.
        decided: u64,
        /// Where the entries follow.
        after: Position,
        /// The entries.
        entries: Vec<Entry>,
    },
    /// My log ends here.
    Appended {
        /// The end of the log.
        last: Position,
    },
    /// The leader's log begins here.
    Snapshot(Box<Snapshot>),
}

impl Ballot {
    /// No honest cluster comes near this many terms or entries.
    const MOST: u64 = 1 << 48;

    /// Every view in it.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        let entries = if let Body::Append { entries, .. } = &self.body { entries.as_slice() } else { &[] };
        let snapshot = if let Body::Snapshot(snapshot) = &self.body { snapshot.view.as_ref() } else { None };
        let views = entries.iter().filter_map(|entry| match entry {
            Entry::View(view) => Some(view.as_ref()),
            Entry::Term(_) | Entry::Config(_) => None,
        });
        views.chain(snapshot)
    }

    /// Whether its numbers are such as a voter can have.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        let is_small = |position: &Position| position.index < Self::MOST && position.term <= self.term;
        let is_proper = |config: &Config| {
            let is_apart = |voters: &Voters| voters.keys().all(|disk| !config.listeners.contains_key(disk));
            let few = config.everybody().count() <= 3 * crate::wire::MOST_NODES;
            few && is_apart(&config.voters) && is_apart(&config.new_voters)
        };
        let body = match &self.body {
            Body::Sound { last, .. } | Body::AskVote { last } | Body::Appended { last } => is_small(last),
            Body::Support { .. } | Body::Vote { .. } => true,
            Body::Append { after, entries, decided } => {
                let mut last = *after;
                let rises = entries.iter().all(|entry| {
                    let before = last;
                    last = before.followed_by(entry);
                    let begins = matches!(entry, Entry::Term(_));
                    let proper = if let Entry::Config(config) = entry { is_proper(config) } else { true };
                    proper && if begins { before.term < last.term } else { before.term == last.term }
                });
                *decided < Self::MOST && is_small(after) && rises && is_small(&last)
            }
            Body::Snapshot(snapshot) => is_small(&snapshot.position) && is_proper(&snapshot.config),
        };
        self.term < Self::MOST && body
    }
}
