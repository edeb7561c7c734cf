//! Between our messages and records and the engine `noraft`: its actions out, our messages in; pre-vote and stepping back.

use std::collections::BTreeSet;

use doorway_core::Ticks;
use noraft::{Action, LogEntries, LogEntry, Message};

use super::ballot::outlines;
use super::outgoing::{end_for_votes, measured_by};
use super::{Ballot, BallotEntry, Body, Consensus, Electorate, LogSnapshot, Position};
use crate::disk::Record;
use crate::{DiskId, View};

impl Consensus {
    /// Carries out what the engine asks for.
    pub(super) fn flush(&mut self, now: Ticks) {
        if self.syncing.is_some() {
            return;
        }
        let actions = std::mem::take(self.raft.actions_mut());
        let (mut records, mut sends) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                Action::SetElectionTimeout => self.set_alarm(now),
                Action::SaveCurrentTerm | Action::SaveVotedFor => {
                    let record = self.vote();
                    if records.last() != Some(&record) {
                        records.push(record);
                    }
                }
                Action::AppendLogEntries(entries) => {
                    let after = entries.prev_position().into();
                    records.push(Record::Entries { after, entries: self.spell_out(&entries) });
                }
                Action::BroadcastMessage(message) => {
                    let ballot = self.ballot(&message);
                    let peers = self.raft.peers().map(|disk| DiskId(disk.get()));
                    sends.extend(peers.map(|peer| (peer, ballot.clone())));
                }
                Action::SendMessage(to, message) => sends.push((DiskId(to.get()), self.ballot(&message))),
                Action::InstallSnapshot(to) => {
                    let body = Body::Snapshot(Box::new(self.base.clone()));
                    sends.push((DiskId(to.get()), self.say(body)));
                }
            }
        }
        self.forget_what_is_not_in_the_log();
        if records.is_empty() {
            self.outbox.extend(sends);
        } else {
            self.write(&records);
            // R25: sent after the sync
            self.syncing = Some(sends);
        }
    }

    fn vote(&self) -> Record {
        let voted_for = self.raft.voted_for().map(|disk| DiskId(disk.get()));
        Record::Vote { term: self.raft.current_term().get(), voted_for }
    }

    /// When to stand for election, or to say that one lives.
    pub(super) fn set_alarm(&mut self, now: Ticks) {
        let wait = if self.raft.role().is_leader() {
            Ticks(self.timing.election.0 / 5)
        } else {
            let config = self.config();
            let rank = config.voters.keys().chain(config.new_voters.keys()).position(|disk| *disk == self.me);
            // R24: by rank, no split votes
            self.timing.election + Ticks(self.timing.rank.0 * rank.unwrap_or_default() as u64)
        };
        self.alarm = now + wait;
    }

    /// A message in the engine's words becomes one in ours.
    fn ballot(&self, message: &Message) -> Ballot {
        let body = match message {
            Message::RequestVoteCall { last_position, .. } => Body::AskVote { last: (*last_position).into() },
            Message::RequestVoteReply { vote_granted, .. } => Body::Vote { is_granted: *vote_granted },
            Message::AppendEntriesCall { commit_index, entries, .. } => Body::Append {
                decided: commit_index.get(),
                after: entries.prev_position().into(),
                entries: self.spell_out(entries),
            },
            Message::AppendEntriesReply { last_position, .. } => {
                Body::Appended { last: (*last_position).into() }
            }
        };
        self.signed(message.term().get(), body)
    }

    fn signed(&self, term: u64, body: Body) -> Ballot {
        Ballot { from: self.me, state: self.disk_state(), epoch: self.identity.epoch, term, body }
    }

    pub(super) fn say(&self, body: Body) -> Ballot {
        self.signed(self.raft.current_term().get(), body)
    }

    /// Entries with what they say.
    fn spell_out(&self, entries: &LogEntries) -> Vec<BallotEntry> {
        let mut spelled = Vec::with_capacity(entries.len());
        for (position, entry) in entries.iter_with_positions() {
            spelled.push(match entry {
                LogEntry::Term(term) => BallotEntry::Term(term.get()),
                LogEntry::ClusterConfig(config) => {
                    BallotEntry::Config(Electorate::of(&config, &self.directory))
                }
                LogEntry::Command => match self.views.get(&position.into()) {
                    Some(view) => BallotEntry::View(Box::new(view.clone())),
                    // It cannot be: every command came with its view. Better a short message than a wrong one.
                    None => break,
                },
            });
        }
        spelled
    }

    pub(super) fn entries_after(&self, position: Position) -> Vec<(Position, BallotEntry)> {
        let entries = self.raft.log().entries();
        let positions = entries.iter_with_positions().map(|(position, _)| Position::from(position));
        let spelled = positions.zip(self.spell_out(entries));
        spelled.filter(|(at, _)| at.index > position.index).collect()
    }

    pub(super) fn note_entry(&mut self, position: Position, entry: &BallotEntry) {
        match entry {
            BallotEntry::Term(_) => {}
            BallotEntry::Config(config) => self.look_up_config(config),
            BallotEntry::View(view) => {
                self.look_up_view(view);
                self.note_second_starts(view);
                let before = self.views.insert(position, (**view).clone());
                if let Some(before) = before.filter(|before| *before != **view) {
                    self.replaced.push(before.number);
                    self.dropped_lives.extend(before.members.values());
                }
                self.have_views_changed = true;
            }
        }
    }

    pub(super) fn look_up_config(&mut self, config: &Electorate) {
        config.everybody().for_each(|(disk, node)| self.look_up(disk, node));
    }

    pub(super) fn look_up_view(&mut self, view: &View) {
        let members = view.members.iter().map(|(node, member)| (member.disk, *node));
        view.all_voters().into_iter().chain(members).for_each(|(disk, node)| self.look_up(disk, node));
    }

    /// Every disk that is named anywhere in the log.
    pub(super) fn disks_in_log(&self) -> BTreeSet<DiskId> {
        let log = self.raft.log();
        let configs = log.entries().iter().filter_map(|entry| match entry {
            LogEntry::ClusterConfig(config) => Some(config),
            LogEntry::Term(_) | LogEntry::Command => None,
        });
        let of_config = |config: &noraft::ClusterConfig| -> Vec<DiskId> {
            config.unique_nodes().map(|disk| DiskId(disk.get())).collect()
        };
        let of_view = |view: &View| -> Vec<DiskId> {
            let members = view.members.values().map(|member| member.disk);
            members.chain(view.all_voters().into_keys()).collect()
        };
        let views = self.views.values().chain(&self.base.view).flat_map(of_view);
        let all = configs.flat_map(|config| of_config(&config)).chain(of_config(log.snapshot_config()));
        all.chain(views).chain([self.me]).collect()
    }

    /// Whether a disk votes or listens.
    pub(super) fn is_in_config(&self, disk: DiskId) -> bool {
        self.raft.config().contains(noraft::NodeId::new(disk.0))
    }

    pub(super) fn forget_what_is_not_in_the_log(&mut self) {
        let (entries, base) = (self.raft.log().entries(), self.base.position.index);
        let (replaced, dropped) = (&mut self.replaced, &mut self.dropped_lives);
        self.views.retain(|position, view| {
            let is_in = entries.contains((*position).into());
            if !is_in && position.index > base {
                replaced.push(view.number);
                dropped.extend(view.members.values());
            }
            is_in && position.index > base
        });
    }

    /// A message reaches the engine, or what stands before it.
    pub(super) fn handle(&mut self, ballot: Ballot, now: Ticks) {
        let Ballot { from, term, body, .. } = ballot;
        let (id, engine_term) = (noraft::NodeId::new(from.0), noraft::Term::new(term));
        let message = match body {
            Body::Sound { round, last } => return self.answer_sounding(from, round, last, now),
            Body::Support { round } => return self.count_support(from, round),
            Body::Snapshot(snapshot) => return self.take_over(*snapshot, term),
            Body::Lead { last } => return self.stand_as_told(from, term, last, now),
            Body::AskVote { last } => {
                Message::RequestVoteCall { from: id, term: engine_term, last_position: last.into() }
            }
            Body::Vote { .. } | Body::Appended { .. } if !self.is_in_config(from) => return,
            Body::Vote { is_granted } => {
                Message::RequestVoteReply { from: id, term: engine_term, vote_granted: is_granted }
            }
            Body::Append { decided, after, entries } => {
                if term >= self.raft.current_term().get() {
                    (self.leader_heard, self.leader) = (Some(now), Some(from));
                    self.led_by = Some((term, from));
                    self.supporters = None;
                }
                let message = Message::AppendEntriesCall {
                    from: id,
                    term: engine_term,
                    commit_index: decided.into(),
                    entries: outlines(after, &entries),
                };
                self.is_corrupt |= self.raft.handle_message(&message).is_err();
                return self.note_appended(term, after, &entries);
            }
            Body::Appended { last } => {
                Message::AppendEntriesReply { from: id, term: engine_term, last_position: last.into() }
            }
        };
        // R22: votes of outgoing voters
        let message = measured_by(end_for_votes(&self.raft, self.commit()), &self.raft, &message);
        self.is_corrupt |= self.raft.handle_message(&message).is_err();
    }

    /// Notes what those entries say that the engine has taken into the log.
    fn note_appended(&mut self, term: u64, after: Position, entries: &[BallotEntry]) {
        if !self.raft.role().is_follower() || term != self.raft.current_term().get() {
            return;
        }
        let mut position = after;
        for entry in entries {
            position = position.followed_by(entry);
            if self.raft.log().entries().contains(position.into()) {
                self.note_entry(position, entry);
            }
        }
    }

    /// Takes over the leader's log where it begins, which is later than where this one ends.
    fn take_over(&mut self, snapshot: LogSnapshot, term: u64) {
        let is_news = snapshot.position.index > self.commit() && term == self.raft.current_term().get();
        if !is_news
            || !self.raft.handle_snapshot_installed(snapshot.position.into(), (&snapshot.config).into())
        {
            return;
        }
        self.look_up_config(&snapshot.config);
        snapshot.view.iter().for_each(|view| self.look_up_view(view));
        // The views that the snapshot passes over may have been others than the leader's.
        self.dropped_lives.extend(self.views.values().flat_map(|view| view.members.values()));
        self.told = snapshot.position.index;
        self.newest_decided.clone_from(&snapshot.view);
        self.base = snapshot;
        // R15: a snapshot was taken
        (self.took_snapshot, self.have_views_changed) = (true, true);
        self.forget_what_is_not_in_the_log();
        self.rewrite();
    }

    /// A voter asks whether this one would vote for it: not while a leader is heard of, and not if its log is older.
    fn answer_sounding(&mut self, from: DiskId, round: u64, last: Position, now: Ticks) {
        // R24: pre-vote
        let hears_leader = self.leader_heard.is_some_and(|heard| now < heard + self.timing.election);
        let leads = self.raft.role().is_leader() && self.hears_majority(now);
        let is_behind = noraft::LogPosition::from(last) < end_for_votes(&self.raft, self.commit());
        if !hears_leader && !leads && !is_behind {
            self.outbox.push((from, self.say(Body::Support { round })));
        }
    }

    fn count_support(&mut self, from: DiskId, round: u64) {
        let config = self.config();
        let Some(supporters) = self.supporters.as_mut().filter(|_| round == self.round) else { return };
        if config.is_voter(from) {
            supporters.insert(from);
        }
        if config.is_majority(|disk| supporters.contains(&disk)) {
            // R24: pre-vote won
            self.supporters = None;
            self.raft.handle_election_timeout();
        }
    }

    /// Asks whether a majority would vote for this one, before it stands for election.
    pub(super) fn sound_out(&mut self, now: Ticks) {
        self.set_alarm(now);
        let config = self.config();
        if !config.is_voter(self.me) {
            return;
        }
        (self.leader, self.round) = (None, self.round + 1);
        self.supporters = Some([].into());
        let ask = self.say(Body::Sound { round: self.round, last: self.raft.log().last_position().into() });
        let others = config.voters.keys().chain(config.new_voters.keys()).filter(|disk| **disk != self.me);
        let others: BTreeSet<DiskId> = others.copied().collect();
        self.outbox.extend(others.into_iter().map(|disk| (disk, ask.clone())));
        self.count_support(self.me, self.round);
    }

    /// Whether a leader has heard from a majority lately.
    pub(super) fn hears_majority(&self, now: Ticks) -> bool {
        self.config().is_majority(|disk| disk == self.me || self.hears(disk, now))
    }

    /// A leader that hears no majority follows from now on. The engine knows no such step, so it begins anew from its log.
    pub(super) fn step_back(&mut self, now: Ticks) {
        self.decided_before = self.commit();
        let raft = &self.raft;
        self.raft =
            noraft::Node::restart(raft.id(), raft.current_term(), raft.voted_for(), raft.log().clone());
        self.set_alarm(now);
    }
}
