//! What a member of a view does: heartbeats and their acknowledgements, the lease, parcels.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, NodeId, SectionName, Ticks};

use super::LockNode;
use super::reports::{Incoming, Outgoing};
use crate::message::{Ack, Heartbeat, MemberReport, Msg, Parcel, ReportPart};
use crate::{Flaw, Rules, View};

/// What a node knows as a member of a view.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) view: View,
    /// Whether the view is installed; until then the node grants nothing.
    pub(super) is_active: bool,
    pub(super) adopted: Ticks,
    /// What it reported, once and for all.
    pub(super) report: Vec<ReportPart>,
    /// The reports that have arrived as a whole, and when.
    pub(super) reports: BTreeMap<NodeId, (MemberReport, Ticks)>,
    /// What has arrived of the others' reports.
    pub(super) incoming: BTreeMap<NodeId, Incoming>,
    /// Its own report on its way to the members that have not acknowledged all of it.
    pub(super) outgoing: BTreeMap<NodeId, Outgoing>,
}

impl Membership {
    pub(super) fn alarm(&self) -> Ticks {
        self.outgoing.values().map(Outgoing::alarm).min().unwrap_or(Ticks(u64::MAX))
    }

    /// The flaw of a report that is made anew each time that it is sent.
    pub(super) fn rebuild_report(&mut self, inside: Vec<SectionName>) {
        if let Some(ReportPart { view, incarnation, age, .. }) = self.report.first().cloned() {
            self.report = MemberReport { view, incarnation, inside, age }.parts();
        }
    }
}

impl<R: Rules> LockNode<R> {
    /// How many times T_b a report may take at most, however steadily it comes.
    const LONGEST_REPORT: u64 = 10;

    /// To every voter of the view, itself included: this node lives.
    pub(super) fn send_heartbeats(&mut self, effects: &mut Effects<Self>) {
        let unreachable = self.unreachable();
        let Some(membership) = &self.membership else { return };
        self.beats += 1;
        self.lease.send(self.beats, self.now);
        // R2: all voters, itself included
        for (disk, node) in membership.view.all_voters() {
            let heartbeat = Heartbeat {
                incarnation: self.incarnation,
                view: membership.view.number,
                is_active: membership.is_active,
                synced: self.consensus.disk_state().synced,
                seq: self.beats,
                answered: self.answered.get(&disk).copied().unwrap_or_default(),
                unreachable: unreachable.clone(),
                is_running_out: self.sections.is_running_out(),
            };
            effects.out.send(node, Msg::Heartbeat(heartbeat));
        }
    }

    /// Members that do not answer, whose reports are missing, or that violated the protocol.
    fn unreachable(&mut self) -> Vec<NodeId> {
        let (now, timing, me) = (self.now, self.setup.timing, self.setup.me);
        let Some(membership) = &self.membership else { return Vec::new() };
        // A node without a lease is itself the one that is cut off.
        let since = if now < self.lease.until() { membership.adopted.max(self.lease_since) } else { now };
        // R23: protocol violations count
        let mut those: BTreeSet<NodeId> = self.sections.suspects.keys().copied().collect();
        // R23: missing report. A long one on a slow link takes its time, so the last new part counts, up to a limit.
        let longest = Ticks(timing.barrier.0 * (Self::LONGEST_REPORT - 1));
        let is_stuck =
            |progress: Ticks, patience: Ticks| now > since.max(progress).min(since + longest) + patience;
        if !membership.is_active {
            let missing =
                membership.view.members.keys().filter(|node| !membership.reports.contains_key(node));
            let progress = |node| membership.incoming.get(node).map_or(Ticks(0), Incoming::progress);
            those.extend(missing.filter(|node| is_stuck(progress(node), timing.barrier)));
        }
        let unheard = membership.outgoing.iter();
        let unheard = unheard.filter(|(_, outgoing)| is_stuck(outgoing.progress(), timing.detection));
        those.extend(unheard.map(|(node, _)| *node));
        if let Some(delivery) = self.sections.delivery().filter(|_| now > since + timing.detection) {
            those.extend(delivery.out_of_reach(now, timing.detection));
        }
        those.remove(&me);
        those.into_iter().take(crate::wire::MOST_NODES).collect()
    }

    /// As a voter: answers a heartbeat.
    pub(super) fn answer_heartbeat(
        &mut self,
        from: NodeId,
        heartbeat: Heartbeat,
        effects: &mut Effects<Self>,
    ) {
        // R3: undecided tail included
        let newest = self.consensus.newest_view();
        let me = (self.incarnation.disk, self.consensus.disk_state());
        let mut answer = self.voter.answer(me, &heartbeat, newest, self.now);
        let is_granted_by_flaw = if self.has(Flaw::LeftOutByName) {
            newest.is_some_and(|view| view.members.contains_key(&from))
        } else if self.has(Flaw::VotersSinceIgnored) {
            newest.is_some_and(|view| view.has(&heartbeat.incarnation))
        } else {
            self.has(Flaw::VoterAcknowledgesAll)
        };
        if is_granted_by_flaw {
            answer.is_granted = true;
            self.voter.note(heartbeat.incarnation, self.now);
        }
        let decided = self.consensus.newest_decided();
        let without = decided.filter(|view| !view.has(&heartbeat.incarnation) && !answer.is_granted);
        answer.left_out_by = without.map(|view| view.number).filter(|number| *number > heartbeat.view);
        effects.out.send(from, Msg::Ack(answer));
        self.watch.hear_heartbeat(from, heartbeat, self.now);
    }

    /// A voter has answered a heartbeat.
    pub(super) fn count_ack(&mut self, from: NodeId, ack: &Ack) {
        let Some(membership) = &self.membership else { return };
        // An answer to this life from a node that no longer votes is late and counts for nothing.
        let voter = membership.view.all_voters().get(&ack.voter).copied();
        if ack.incarnation != self.incarnation || voter.is_none() {
            return;
        }
        if voter != Some(from) || ack.seq > self.beats {
            return self.sections.suspect(
                from,
                "an acknowledgement of a heartbeat that was not sent, or that names another sender",
            );
        }
        let newest = self.answered.entry(ack.voter).or_default();
        *newest = ack.seq.max(*newest);
        if ack.left_out_by.is_some_and(|number| number > membership.view.number) {
            return self.hear_of_being_left_out();
        }
        let sent = self.lease.sending_of(ack.seq);
        sent.and_then(|sent| self.round_trips.insert(from, self.now - sent));
        let Some(sent) = sent.filter(|_| ack.is_granted) else { return };
        // R4: counted from the sending
        let sent = if self.has(Flaw::LeaseFromArrival) { self.now } else { sent };
        let (before, length) = (self.lease.until(), self.setup.timing.lease);
        let of_one_set = self.has(Flaw::LeaseOfOneVoterSet);
        let of_one_set = of_one_set.then(|| View { next_voters: None, ..membership.view.clone() });
        let view = of_one_set.as_ref().unwrap_or(&membership.view);
        if self.lease.acknowledge(ack.voter, sent, view, length) {
            if self.lease.until() < before || self.lease.until() > self.now + length {
                self.breach = Some("a lease went back, or reaches further than its length");
            }
            if before <= self.now {
                self.lease_since = self.now;
            }
            self.set_gate();
            // R18: renew the deadlines
            self.sections.renew();
        }
    }

    /// A voter says that a decided view leaves this node out. The node may no longer get the log, so after T_b it believes the
    /// voter: giving up a life is always safe.
    fn hear_of_being_left_out(&mut self) {
        // R13: left out, as told
        let first = *self.told_left_out.get_or_insert(self.now);
        if self.now >= first + self.setup.timing.barrier {
            self.be_left_out();
        }
    }

    /// A member says which of this node's parcels have arrived.
    pub(super) fn count_arrivals(&mut self, from: NodeId, ack: u64) {
        let Some(delivery) = self.sections.delivery() else { return };
        if !delivery.acknowledged(from, ack) {
            self.sections.suspect(from, "an acknowledgement of a message that was not sent");
        }
    }

    /// Takes a parcel: opens it in the installed view, keeps one of a view that is not installed yet, drops one of an older view.
    pub(super) fn hear_parcel(&mut self, from: NodeId, view: u64, seq: u64, ack: u64, parcel: Parcel) {
        let stage = self.sections.view();
        let adopted = self.membership.as_ref().map_or(0, |membership| membership.view.number);
        // R12: older views are dropped
        if stage == Some(view) {
            let is_member = self.membership.as_ref().is_some_and(|m| m.view.members.contains_key(&from));
            let now = self.now;
            let Some(delivery) = self.sections.delivery().filter(|_| is_member) else { return };
            let ready = delivery.receive(from, seq, parcel, now);
            self.count_arrivals(from, ack);
            for parcel in ready {
                self.sections.open_parcel(from, parcel);
            }
        } else if view >= adopted {
            // R12: kept, not acknowledged
            self.kept.push(from, view, seq, parcel);
        } else if self.has(Flaw::OldViewAccepted) && matches!(parcel, Parcel::Section { .. }) {
            self.sections.open_parcel(from, parcel);
        }
    }
}
