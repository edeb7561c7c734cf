//! Leadership is handed to another voter (the thesis of D. Ongaro, 2014, §3.10).
//!
//! The leader stops proposing, and when the log of the other voter is as long as its own, it tells that one to stand for election at
//! once. The question before an election is left out: the others hear a leader, and would say no. If the other voter does not lead
//! within an election timeout, the old leader continues to lead.

use doorway_core::Ticks;

use super::{Body, Consensus, Position};
use crate::DiskId;

/// Leadership on its way to another voter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    to: DiskId,
    /// The term that it is about: a later one is another matter.
    term: u64,
    /// When the leader continues to lead, if the other one does not lead by then.
    until: Ticks,
}

impl Consensus {
    /// As a leader: begins to hand leadership to another voter.
    pub(crate) fn hand_over(&mut self, to: DiskId, now: Ticks) {
        self.transfer = Some(Transfer { to, term: self.term(), until: now + self.timing.election });
        // Who led before this one is of no interest when it leads no more.
        self.leader = None;
        self.urge(to);
        // The answers tell when the log of the other one is complete; and each of them is a reason to tell it again.
        if self.syncing.is_none() && self.raft.heartbeat() {
            self.flush(now);
        }
    }

    /// Whether this one leads and is handing that over.
    pub(crate) fn is_handing_over(&self) -> bool {
        self.raft.role().is_leader() && self.transfer.is_some_and(|transfer| transfer.term == self.term())
    }

    /// The voter, among these disks, to which leadership is best handed: one that was heard of lately, with the longest log.
    pub(crate) fn best_successor(&self, among: impl Iterator<Item = DiskId>, now: Ticks) -> Option<DiskId> {
        let config = self.config();
        let is_fit = |disk: DiskId| disk != self.me && config.will_vote(disk) && self.hears(disk, now);
        let candidates = among.filter(|disk| is_fit(*disk));
        candidates.max_by_key(|disk| (self.match_index(*disk), std::cmp::Reverse(*disk)))
    }

    /// As a leader: tells the voter that is to take over leadership to stand for election, if it has just been heard of and its log is complete.
    pub(super) fn urge(&mut self, heard: DiskId) {
        let last: Position = self.raft.log().last_position().into();
        let is_meant = self.transfer.is_some_and(|transfer| transfer.to == heard) && self.is_handing_over();
        // Nothing leaves that is not on this disk.
        if is_meant && self.syncing.is_none() && self.match_index(heard) == Some(last.index) {
            self.outbox.push((heard, self.say(Body::Lead { last })));
        }
    }

    /// As a leader: continues to lead, if the other one did not take over in time.
    pub(super) fn give_up_transfer(&mut self, now: Ticks) {
        self.transfer.take_if(|transfer| now >= transfer.until);
    }

    /// This node has stood still for an election timeout or longer: what it hears now may have waited for it, also a word to lead whose sender
    /// has given up long ago.
    pub(crate) fn wake_up(&mut self, now: Ticks) {
        self.unready_until = now + self.timing.election;
    }

    /// The leader of this term tells this voter to lead in its place.
    pub(super) fn stand_as_told(&mut self, from: DiskId, term: u64, last: Position, now: Ticks) {
        let is_of_leader = self.led_by == Some((term, from)) && term == self.raft.current_term().get();
        // A word that comes late is void as soon as the leader has gone on: its log is longer then.
        let is_complete = Position::from(self.raft.log().last_position()) == last;
        let is_ready = now >= self.unready_until;
        if is_of_leader
            && is_complete
            && is_ready
            && self.raft.role().is_follower()
            && self.config().is_voter(self.me)
        {
            (self.supporters, self.leader) = (None, None);
            self.raft.handle_election_timeout();
        }
    }

    /// As a leader: whether a disk was heard of lately.
    pub(super) fn hears(&self, disk: DiskId, now: Ticks) -> bool {
        self.heard.get(&disk).is_some_and(|heard| now < *heard + self.timing.election)
    }

    /// Up to where the log of a follower is known to be the same.
    pub(super) fn match_index(&self, disk: DiskId) -> Option<u64> {
        self.raft.follower_match_index(noraft::NodeId::new(disk.0)).map(noraft::LogIndex::get)
    }
}
