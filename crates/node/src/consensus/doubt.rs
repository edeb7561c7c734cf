//! Messages that no honest voter sends, as far as this voter's own log can tell.
//!
//! The engine trusts its peers: it lets a leader overwrite what was decided, and what an entry says it never sees. So a message
//! is held against the log before it gets there. Raft promises that a leader's log has everything that was decided, and that a
//! place in the log, its index with its term, has one content for ever; a node that says otherwise is mistaken or lies.

use super::{Ballot, BallotEntry, Body, Consensus, LogSnapshot, Position};

/// By how much a term can be ahead of this voter's. Terms are used up one by one; a single leap to the last would leave none.
const LONGEST_LEAP: u64 = 1 << 32;

/// How many undecided entries a log can have. Only one is proposed at a time, and one for each change of leaders.
const MOST_UNDECIDED: u64 = crate::wire::MOST_APPENDED as u64;

/// After this many contradictions by leaders in a row, this log itself is wrong.
const MOST_CONTRADICTIONS: u32 = 64;

impl Consensus {
    /// The protocol violation in a message, if any.
    pub(super) fn doubt(&mut self, ballot: &Ballot) -> Option<&'static str> {
        let term = self.raft.current_term().get();
        if ballot.from == self.me {
            return Some("a ballot that names its recipient as sender");
        }
        if ballot.term > term.saturating_add(LONGEST_LEAP) {
            return Some("a term too far ahead to be real");
        }
        // What an old leader says is not listened to, and may well be void by now.
        if ballot.term < term {
            return None;
        }
        let doubt = match &ballot.body {
            Body::Append { after, entries, .. } => self.doubt_append(ballot.term, *after, entries),
            Body::Snapshot(snapshot) => self.doubt_snapshot(snapshot),
            Body::Lead { .. } => return self.doubt_lead(ballot),
            Body::Sound { .. }
            | Body::Support { .. }
            | Body::AskVote { .. }
            | Body::Vote { .. }
            | Body::Appended { .. } => return None,
        };
        // What does not fit yet shows nothing: it is neither taken nor contradicted.
        let is_taken = match &ballot.body {
            Body::Append { after, .. } => self.raft.log().entries().contains((*after).into()),
            _ => true,
        };
        match doubt {
            Some(_) => self.contradictions += 1,
            None if is_taken => self.contradictions = 0,
            None => {}
        }
        self.is_corrupt |= self.contradictions > MOST_CONTRADICTIONS;
        doubt
    }

    fn doubt_append(&self, term: u64, after: Position, entries: &[BallotEntry]) -> Option<&'static str> {
        if self.raft.role().is_leader() && term == self.raft.current_term().get() {
            return Some("two leaders in one term");
        }
        // Where the log does not fit, nothing is taken into it, and the answer tells the leader what is missing.
        let fits = self.raft.log().entries().contains(after.into());
        if fits && after.index + entries.len() as u64 > self.commit() + MOST_UNDECIDED {
            return Some("more undecided entries than a log can have");
        }
        let mut position = after;
        let is_other = |entry: &BallotEntry| {
            position = position.followed_by(entry);
            self.is_void(position) || self.says_otherwise(position, entry)
        };
        if self.is_void(after) || entries.iter().any(is_other) {
            return Some("a log that contradicts what was decided");
        }
        let views = entries
            .iter()
            .filter_map(|entry| if let BallotEntry::View(view) = entry { Some(view) } else { None });
        let before = self.view_at(after);
        let has_gap =
            before.zip(views.map(|view| view.number).next()).is_some_and(|(old, new)| new != old + 1);
        has_gap.then_some("a view whose number does not follow its predecessor's")
    }

    /// Only the leader of a term hands it over, and only to a voter that has followed it in that term. One that was restarted since
    /// does not remember which leader it followed.
    fn doubt_lead(&self, ballot: &Ballot) -> Option<&'static str> {
        let is_leader = |(term, leader)| (term, leader) == (ballot.term, ballot.from);
        let is_forgotten = self.led_by.is_none_or(|(term, _)| term < ballot.term)
            && ballot.term == self.raft.current_term().get();
        let is_possible = is_forgotten || self.led_by.is_some_and(is_leader);
        (!is_possible || self.raft.role().is_leader())
            .then_some("leadership handed over by a node that does not lead")
    }

    /// Whether something else was decided at a place.
    fn is_void(&self, position: Position) -> bool {
        let is_decided = (self.base.position.index..=self.commit()).contains(&position.index);
        is_decided && !self.raft.log().entries().contains(position.into())
    }

    /// Whether the log has another entry at this very place.
    fn says_otherwise(&self, position: Position, entry: &BallotEntry) -> bool {
        let log = self.raft.log().entries();
        if position.index <= self.base.position.index || !log.contains(position.into()) {
            return false;
        }
        let is_same = log.get_entry(position.index.into()) == Some(entry.outline());
        let is_same_view = |view| self.views.get(&position) == Some(view);
        !is_same || matches!(entry, BallotEntry::View(view) if !is_same_view(view.as_ref()))
    }

    /// The number of the newest view up to a place of the log, if the log has that place and a view up to it.
    fn view_at(&self, position: Position) -> Option<u64> {
        if !self.raft.log().entries().contains(position.into()) {
            return None;
        }
        let newest = self.views.range(..=position).next_back().map(|(_, view)| view);
        newest.or(self.base.view.as_ref()).map(|view| view.number)
    }

    fn doubt_snapshot(&self, snapshot: &LogSnapshot) -> Option<&'static str> {
        let number = |view: &Option<crate::View>| view.as_ref().map_or(0, |view| view.number);
        let is_news = snapshot.position.index > self.commit();
        let goes_back = number(&snapshot.view) < number(&self.newest_decided);
        (is_news && goes_back).then_some("a snapshot that is ahead of the decided log but has an older view")
    }
}
