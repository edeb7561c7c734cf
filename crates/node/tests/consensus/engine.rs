//! The library that decides, in words that do not depend on its version.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use super::outgoing::{end_before_open, end_for_votes, measured_by};

/// A voter or listener, by its number.
pub type Id = u64;

/// A place in a log: the term in which its entry was made, and how many entries there are up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub term: u64,
    pub index: u64,
}

/// Who votes. Between two sets of voters both must agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Config {
    pub voters: BTreeSet<Id>,
    pub next_voters: BTreeSet<Id>,
    pub listeners: BTreeSet<Id>,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    Term(u64),
    Config(Config),
    Command,
}

/// A log: where it begins, and its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    pub base: Position,
    pub base_config: Config,
    pub entries: Vec<Entry>,
}

/// What is written down, as the node writes it: each record replaces what stands after its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk {
    pub term: u64,
    pub voted_for: Option<Id>,
    pub log: Log,
}

/// What a library writes, in this order.
#[derive(Clone, Debug)]
pub enum Record {
    Vote { term: u64, voted_for: Option<Id> },
    Entries { after: Position, entries: Vec<Entry> },
}

/// What a library is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Follower,
    Candidate,
    Leader,
}

/// What can be seen of a library.
#[derive(Clone, Debug)]
pub struct Image {
    pub term: u64,
    pub role: Role,
    pub commit: u64,
    pub log: Log,
}

/// What a library wants to be done.
#[derive(Clone, Debug)]
pub struct Wants<M> {
    pub records: Vec<Record>,
    pub sends: Vec<(Id, M)>,
    /// Who needs the beginning of the log.
    pub snapshots: BTreeSet<Id>,
}

/// What can be seen of a message from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub letter: RaftMsg,
    pub from: Id,
    pub term: u64,
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaftMsg {
    AskVote,
    Vote,
    Append,
    Appended,
    Snapshot,
}

/// One version of the library.
pub trait Engine: Clone + Send + Sync {
    type Message: Clone + Debug + Eq + Hash + Send + Sync;

    /// Starts from what is written down.
    fn start(me: Id, disk: &Disk) -> Self;
    /// All that it is; two with the same key do the same for ever.
    fn key(&self) -> String;
    fn image(&self) -> Image;
    fn stand_for_election(&mut self);
    fn say_that_it_leads(&mut self);
    fn propose(&mut self);
    fn propose_config(&mut self, config: &Config);
    /// Tells whether it could take the message.
    fn receive(&mut self, message: &Self::Message) -> bool;
    /// Begins the log at a place, its own or a leader's; tells whether it did.
    fn begin_log_at(&mut self, position: Position, config: &Config) -> bool;
    fn take_wants(&mut self) -> Wants<Self::Message>;
    /// What a message is, who sent it and in which term.
    fn head(message: &Self::Message) -> Head;
}

impl Log {
    /// The entries with their places.
    pub fn places(&self) -> impl Iterator<Item = (Position, &Entry)> {
        self.entries.iter().scan(self.base, |position, entry| {
            position.index += 1;
            if let Entry::Term(term) = entry {
                position.term = *term;
            }
            Some((*position, entry))
        })
    }

    /// The newest list of voters up to an index, and where the log has that index.
    pub fn config_at(&self, index: u64) -> (Position, &Config) {
        let until = self.places().take_while(|(position, _)| position.index <= index);
        until.fold((self.base, &self.base_config), |(_, config), (position, entry)| match entry {
            Entry::Config(newer) => (position, newer),
            Entry::Term(_) | Entry::Command => (position, config),
        })
    }

    /// Replaces all after a place.
    pub fn replace_after(&mut self, after: Position, entries: &[Entry]) {
        let kept = after.index.saturating_sub(self.base.index) as usize;
        assert!(kept <= self.entries.len(), "a record continues {after:?}, where the log is not");
        self.entries.truncate(kept);
        self.entries.extend_from_slice(entries);
    }
}

impl Disk {
    pub fn write(&mut self, record: &Record) {
        match record {
            Record::Vote { term, voted_for } => (self.term, self.voted_for) = (*term, *voted_for),
            Record::Entries { after, entries } => self.log.replace_after(*after, entries),
        }
    }
}

/// Makes a version of the library an [`Engine`]. Versions differ in how they are started and in whether they refuse a message.
macro_rules! engine {
    ($name:ident, $library:ident, $start:expr, $receive:expr) => {
        #[derive(Clone)]
        pub struct $name($library::Node);

        impl $name {
            fn position(position: $library::LogPosition) -> Position {
                Position { term: position.term.get(), index: position.index.get() }
            }

            fn library_position(position: Position) -> $library::LogPosition {
                $library::LogPosition {
                    term: $library::Term::new(position.term),
                    index: $library::LogIndex::new(position.index),
                }
            }

            fn config(config: &$library::ClusterConfig) -> Config {
                let numbers = |ids: &BTreeSet<$library::NodeId>| ids.iter().map(|id| id.get()).collect();
                Config {
                    voters: numbers(&config.voters),
                    next_voters: numbers(&config.new_voters),
                    listeners: numbers(&config.non_voters),
                }
            }

            fn library_config(config: &Config) -> $library::ClusterConfig {
                let ids =
                    |numbers: &BTreeSet<Id>| numbers.iter().map(|id| $library::NodeId::new(*id)).collect();
                let mut made = $library::ClusterConfig::new();
                made.voters = ids(&config.voters);
                made.new_voters = ids(&config.next_voters);
                made.non_voters = ids(&config.listeners);
                made
            }

            fn entries(entries: &$library::LogEntries) -> Vec<Entry> {
                let entry = |entry| match entry {
                    $library::LogEntry::Term(term) => Entry::Term(term.get()),
                    $library::LogEntry::ClusterConfig(config) => Entry::Config(Self::config(&config)),
                    $library::LogEntry::Command => Entry::Command,
                };
                entries.iter().map(entry).collect()
            }

            fn library_log(log: &Log) -> $library::Log {
                let entry = |entry: &Entry| match entry {
                    Entry::Term(term) => $library::LogEntry::Term($library::Term::new(*term)),
                    Entry::Config(config) => $library::LogEntry::ClusterConfig(Self::library_config(config)),
                    Entry::Command => $library::LogEntry::Command,
                };
                let base = Self::library_position(log.base);
                let entries = $library::LogEntries::from_iter(base, log.entries.iter().map(entry));
                $library::Log::new(Self::library_config(&log.base_config), entries)
            }

            fn vote(&self) -> Record {
                let voted_for = self.0.voted_for().map(|id| id.get());
                Record::Vote { term: self.0.current_term().get(), voted_for }
            }
        }

        impl Engine for $name {
            type Message = $library::Message;

            fn start(me: Id, disk: &Disk) -> Self {
                let id = $library::NodeId::new(me);
                let term = $library::Term::new(disk.term);
                let voted_for = disk.voted_for.map($library::NodeId::new);
                Self($start(id, term, voted_for, Self::library_log(&disk.log)))
            }

            fn key(&self) -> String {
                // Its counters, the last of its fields, only count.
                let key = format!("{:?}", self.0);
                key.split(", metrics: ").next().unwrap_or_default().to_owned()
            }

            fn image(&self) -> Image {
                let log = self.0.log();
                let role = match self.0.role() {
                    $library::Role::Follower => Role::Follower,
                    $library::Role::Candidate => Role::Candidate,
                    $library::Role::Leader => Role::Leader,
                };
                Image {
                    term: self.0.current_term().get(),
                    role,
                    commit: self.0.commit_index().get(),
                    log: Log {
                        base: Self::position(log.snapshot_position()),
                        base_config: Self::config(log.snapshot_config()),
                        entries: Self::entries(log.entries()),
                    },
                }
            }

            fn stand_for_election(&mut self) {
                self.0.handle_election_timeout();
            }

            fn say_that_it_leads(&mut self) {
                self.0.heartbeat();
            }

            fn propose(&mut self) {
                self.0.propose_command();
            }

            fn propose_config(&mut self, config: &Config) {
                self.0.propose_config(Self::library_config(config));
            }

            fn receive(&mut self, message: &Self::Message) -> bool {
                $receive(&mut self.0, message)
            }

            fn begin_log_at(&mut self, position: Position, config: &Config) -> bool {
                self.0
                    .handle_snapshot_installed(Self::library_position(position), Self::library_config(config))
            }

            fn take_wants(&mut self) -> Wants<Self::Message> {
                let mut wants = Wants { records: Vec::new(), sends: Vec::new(), snapshots: BTreeSet::new() };
                let actions = std::mem::take(self.0.actions_mut());
                let mut has_voted = false;
                for action in actions {
                    match action {
                        $library::Action::SetElectionTimeout => {}
                        $library::Action::SaveCurrentTerm | $library::Action::SaveVotedFor => {
                            if !std::mem::replace(&mut has_voted, true) {
                                wants.records.push(self.vote());
                            }
                        }
                        $library::Action::AppendLogEntries(entries) => {
                            let after = Self::position(entries.prev_position());
                            wants.records.push(Record::Entries { after, entries: Self::entries(&entries) });
                        }
                        $library::Action::BroadcastMessage(message) => {
                            wants.sends.extend(self.0.peers().map(|peer| (peer.get(), message.clone())));
                        }
                        $library::Action::SendMessage(to, message) => wants.sends.push((to.get(), message)),
                        $library::Action::InstallSnapshot(to) => {
                            wants.snapshots.insert(to.get());
                        }
                    }
                }
                wants
            }

            fn head(message: &Self::Message) -> Head {
                let letter = match message {
                    $library::Message::RequestVoteCall { .. } => RaftMsg::AskVote,
                    $library::Message::RequestVoteReply { .. } => RaftMsg::Vote,
                    $library::Message::AppendEntriesCall { .. } => RaftMsg::Append,
                    $library::Message::AppendEntriesReply { .. } => RaftMsg::Appended,
                };
                Head { letter, from: message.from().get(), term: message.term().get() }
            }
        }
    };
}

engine!(Linked, noraft, noraft::Node::restart, |node: &mut noraft::Node, message| {
    let end = end_for_votes(node, node.commit_index().get());
    node.handle_message(&measured_by(end, node, message)).is_ok()
});

// A known-wrong variant: it ignores an uncommitted configuration even if it is a voter in it.
engine!(Loose, noraft, noraft::Node::restart, |node: &mut noraft::Node, message| {
    let end = end_before_open(node, node.commit_index().get(), |_| true);
    node.handle_message(&measured_by(end, node, message)).is_ok()
});

engine!(
    Before,
    noraft_before,
    |id, term, voted_for, log| {
        // Nothing that was answered is lost, so it need not know that it was started anew.
        noraft_before::Node::restart(id, noraft_before::NodeGeneration::ZERO, term, voted_for, log)
    },
    |node: &mut noraft_before::Node, message| {
        node.handle_message(message);
        true
    }
);
