//! A member's life: heartbeats, leases, reports, parcels.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, NodeId, Ticks};

use super::LockNode;
use crate::message::{Ack, Heartbeat, Msg, Parcel, Report};
use crate::{Flaw, Incarnation, View};

/// What a node knows as a member of a view.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) view: View,
    /// Whether the view is installed; until then nobody is let in.
    pub(super) is_active: bool,
    pub(super) adopted: Ticks,
    /// What it reported, once and for all.
    pub(super) report: Report,
    /// The reports that have arrived, and when.
    pub(super) reports: BTreeMap<NodeId, (Report, Ticks)>,
    /// Who has not said yet that the report arrived.
    pub(super) unheard: BTreeSet<NodeId>,
    pub(super) repeat_at: Ticks,
}

impl Membership {
    pub(super) fn alarm(&self) -> Ticks {
        if self.unheard.is_empty() { Ticks(u64::MAX) } else { self.repeat_at }
    }
}

impl LockNode {
    /// To every voter of the view, itself included: this node lives.
    pub(super) fn send_heartbeats(&mut self, effects: &mut Effects<Self>) {
        let unreachable = self.unreachable();
        let Some(membership) = &self.membership else { return };
        self.beats += 1;
        self.lease.send(self.beats, self.now);
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

    /// Members that do not answer, whose reports are missing, or who said what cannot be.
    fn unreachable(&mut self) -> Vec<NodeId> {
        let (now, timing, me) = (self.now, self.setup.timing, self.setup.me);
        let Some(membership) = &self.membership else { return Vec::new() };
        // Whoever has no lease is itself the one whom nobody can reach.
        let since = if now < self.lease.until() { membership.adopted.max(self.lease_since) } else { now };
        let mut those: BTreeSet<NodeId> = self.sections.suspects.keys().copied().collect();
        if !membership.is_active && now > since + timing.barrier {
            let is_missing = |node: &&NodeId| !membership.reports.contains_key(node);
            those.extend(membership.view.members.keys().filter(is_missing));
        }
        if now > since + timing.detection {
            those.extend(&membership.unheard);
        }
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
        // An answer to this life of somebody who does not vote any more is late, and of no use.
        let voter = membership.view.all_voters().get(&ack.voter).copied();
        if ack.incarnation != self.incarnation || voter.is_none() {
            return;
        }
        if voter != Some(from) || ack.seq > self.beats {
            return self
                .sections
                .suspect(from, "an answer to a heartbeat that was not sent, or of somebody else");
        }
        let newest = self.answered.entry(ack.voter).or_default();
        *newest = ack.seq.max(*newest);
        if ack.left_out_by.is_some_and(|number| number > membership.view.number) {
            return self.hear_of_being_left_out();
        }
        let Some(sent) = self.lease.sending_of(ack.seq).filter(|_| ack.is_granted) else { return };
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
            self.sections.renew();
        }
    }

    /// A voter says that there is a view without this node. If the log does not tell for long, because this node is no longer
    /// among those who get it, that word is enough: to give up a life is always safe.
    fn hear_of_being_left_out(&mut self) {
        let first = *self.told_left_out.get_or_insert(self.now);
        if self.now >= first + self.setup.timing.barrier {
            self.be_left_out();
        }
    }

    /// A member tells where it was inside when it learned of a view.
    pub(super) fn hear_report(&mut self, from: NodeId, report: Report, effects: &mut Effects<Self>) {
        let newest = self.membership.as_ref().map_or(0, |membership| membership.view.number);
        if report.view > newest {
            self.early_reports.insert(from, report);
        } else if report.view == newest {
            effects.out.send(from, Msg::Heard { view: newest, reporter: report.incarnation });
            self.take_report(from, report);
            self.try_to_install();
        }
    }

    /// Keeps a report of the adopted view, if it comes from the life that is in it.
    pub(super) fn take_report(&mut self, from: NodeId, report: Report) {
        let (now, is_rebuilt) = (self.now, self.has(Flaw::ReportRebuilt));
        let is_by_name = self.has(Flaw::LeftOutByName);
        let Some(membership) = &mut self.membership else { return };
        let listed = membership.view.members.get(&from);
        if listed != Some(&report.incarnation) && !(is_by_name && listed.is_some()) {
            return;
        }
        if listed != Some(&report.incarnation) {
            // Whoever is taken for the one that was there before is told what that one was told.
            membership.unheard.insert(from);
        }
        let known = membership.reports.get(&from).map(|(known, _)| known);
        if known.is_some_and(|known| *known != report) {
            self.breach = Some("a report was changed after it was made");
        }
        if known.is_none() || (is_rebuilt && !membership.is_active) {
            membership.reports.insert(from, (report, now));
        }
    }

    /// A member has got this node's report.
    pub(super) fn note_heard(&mut self, from: NodeId, view: u64, reporter: Incarnation) {
        if let Some(membership) = &mut self.membership
            && membership.view.number == view
            && reporter == self.incarnation
        {
            membership.unheard.remove(&from);
        }
    }

    /// Sends the report to those who have not said that it arrived.
    pub(super) fn repeat_report(&mut self, effects: &mut Effects<Self>) {
        let (now, resend, is_rebuilt) = (self.now, self.setup.timing.resend, self.has(Flaw::ReportRebuilt));
        let Some(membership) = &mut self.membership else { return };
        if now < membership.repeat_at {
            return;
        }
        membership.repeat_at = now + resend;
        if is_rebuilt {
            membership.report.inside = self.sections.inside();
        }
        for node in &membership.unheard {
            effects.out.send(*node, Msg::Report(membership.report.clone()));
        }
    }

    /// A member says which of this node's parcels have arrived.
    pub(super) fn count_arrivals(&mut self, from: NodeId, ack: u64) {
        let Some(delivery) = self.sections.delivery() else { return };
        if !delivery.acknowledged(from, ack) {
            self.sections.suspect(from, "an acknowledgement of what was not sent");
        }
    }

    /// A parcel has come: it is opened in its view, kept until that is installed, or dropped if that is over.
    pub(super) fn hear_parcel(&mut self, from: NodeId, view: u64, seq: u64, ack: u64, parcel: Parcel) {
        let stage = self.sections.view();
        let adopted = self.membership.as_ref().map_or(0, |membership| membership.view.number);
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
            self.kept.push(from, view, seq, parcel);
        } else if self.has(Flaw::OldViewAccepted) && matches!(parcel, Parcel::Section { .. }) {
            self.sections.open_parcel(from, parcel);
        }
    }
}
