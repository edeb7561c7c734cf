//! How a node learns, adopts and installs views, and what it does when a view leaves it out.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, NodeId, SectionName, Ticks};

use super::LockNode;
use super::member::Membership;
use super::reports::Outgoing;
use crate::message::MemberReport;
use crate::{Flaw, Loss, Rules, View};

impl<R: Rules> LockNode<R> {
    /// Learns what was decided: every view counts for the quiet time, the newest is adopted.
    pub(super) fn learn(&mut self, effects: &mut Effects<Self>) {
        let took_snapshot = self.consensus.take_snapshot_taken();
        let decided = self.consensus.take_decided();
        if decided.is_empty() && !took_snapshot {
            return;
        }
        for (before, view) in &decided {
            self.judge(before.as_ref(), view);
            let leaves_out = before.as_ref().is_some_and(|before| view.leaves_out_a_member_of(before));
            // R15: skipped views count too
            self.be_quiet(leaves_out);
            if view.voters_since == view.number {
                self.voters_changed = Some(self.now);
            }
        }
        // R15: a snapshot hides views
        if took_snapshot {
            self.be_quiet(true);
            self.voters_changed = Some(self.now);
        }
        if let Some(newest) = self.consensus.newest_decided().cloned() {
            self.watch.note_decided(&newest, self.now);
            self.lead_at = self.now;
            self.adopt(newest, effects);
        }
    }

    /// Raises the quiet time if needed: no unreported section is entered while a node that was left out may still have a lease.
    fn be_quiet(&mut self, is_needed: bool) {
        let until = self.now + self.setup.timing.wait();
        if self.has(Flaw::WaitOverwritten) {
            self.quiet_until = if is_needed { until } else { self.now };
        } else if is_needed && !self.has(Flaw::NoWait) {
            // R15: quiet time, only raised
            self.quiet_until = self.quiet_until.max(until);
        }
        self.set_gate();
    }

    /// What must hold of any two views that follow each other.
    fn judge(&mut self, before: Option<&View>, view: &View) {
        const REMEMBERED: usize = 1_024;
        if before.is_some_and(|before| view.number != before.number + 1) {
            self.breach = Some("a view was decided whose number does not follow its predecessor's");
        }
        if view.members.values().any(|life| self.left_out.contains(life)) {
            self.breach = Some("a life that was left out is in a later view");
        }
        let gone =
            before.into_iter().flat_map(|before| before.members.values()).filter(|life| !view.has(life));
        self.left_out.extend(gone);
        while self.left_out.len() > REMEMBERED {
            self.left_out.pop_first();
        }
    }

    fn adopt(&mut self, view: View, effects: &mut Effects<Self>) {
        let adopted = self.membership.as_ref().map(|membership| membership.view.number);
        if adopted.is_some_and(|adopted| view.number <= adopted) || self.has_left() {
            return;
        }
        let is_in = if self.has(Flaw::LeftOutByName) {
            view.members.contains_key(&self.setup.me)
        } else {
            // R13: by incarnation, not by name
            view.members.get(&self.setup.me) == Some(&self.incarnation)
        };
        match (is_in, adopted) {
            // R13: left out
            (false, Some(_)) => self.be_left_out(),
            // It was taken in and left out again before it knew of either: that life is over, too.
            (false, None) if self.is_spent() => self.be_left_out(),
            (false, None) => {}
            (true, _) => self.adopt_as_member(view, adopted.is_none(), effects),
        }
    }

    /// Whether this node ignores views, because it has said that it leaves.
    fn has_left(&self) -> bool {
        self.leaving.is_said() || (self.has(Flaw::LeaveBeforeStop) && self.leaving != super::Leaving::No)
    }

    /// Whether this life was in a view already. One that is not decided yet does not count: it may be about to take it in.
    fn is_spent(&self) -> bool {
        let latest = self.consensus.latest_decided_life(self.incarnation.disk);
        // If lives were forgotten of views that it does not know, it may have been in one of those.
        let may_be_forgotten = || self.consensus.forgotten_to() > self.joining.knew_from_birth();
        latest.map_or_else(may_be_forgotten, |latest| latest.life() >= self.incarnation.life())
    }

    /// Whether the voters changed shortly before this node started: that is no longer known, unless they never changed. A
    /// change that the log tells of is learned again, and counts from then.
    pub(super) fn recall_voters(&mut self) {
        // R16: a restart forgets when
        let may_have = |view: &View| view.voters_since > 1 || view.next_voters.is_some();
        self.voters_changed = self.consensus.newest_view().is_some_and(may_have).then_some(self.now);
    }

    /// A view has left this node out: it stops its holders, forgets the view and begins a new life.
    pub(super) fn be_left_out(&mut self) {
        self.told_left_out = None;
        self.membership = None;
        self.sections.freeze();
        self.sections.forget_holders(Loss::LeftOut);
        self.sections.suspects.clear();
        self.kept = Default::default();
        self.early_reports = Default::default();
        if !self.has(Flaw::Readmitted) {
            // R13: a new life
            self.incarnation.tenure += 1;
        }
        (self.lease, self.answered) = (Default::default(), BTreeMap::new());
        self.set_gate();
        self.joining.begin_again();
        self.joining.begin_life(self.consensus.newest_decided());
        self.beat_at = self.now;
    }

    fn adopt_as_member(&mut self, view: View, is_first: bool, effects: &mut Effects<Self>) {
        // R15: adopted from none
        if is_first {
            self.be_quiet(true);
        }
        // R9: freeze the old view
        if !self.has(Flaw::ReportWithoutFreeze) {
            self.sections.freeze();
        }
        self.sections.suspects.clear();
        let is_voter = view.all_voters().contains_key(&self.incarnation.disk);
        // R9: the report never changes
        let report = MemberReport {
            view: view.number,
            incarnation: self.incarnation,
            inside: self.sections.inside(),
            age: is_voter.then(|| self.voter.age(&view, self.now)),
        };
        let me = self.setup.me;
        let parts = report.parts();
        let others = view.members.keys().copied().filter(|node| *node != me);
        let outgoing = |node| (node, Outgoing::new(parts.len() as u16, self.round_trip(node)));
        let outgoing = others.map(outgoing).collect();
        self.round_trips.retain(|node, _| view.members.contains_key(node));
        let mut membership = Membership {
            is_active: false,
            adopted: self.now,
            report: parts,
            reports: BTreeMap::new(),
            incoming: BTreeMap::new(),
            outgoing,
            view,
        };
        membership.reports.insert(me, (report, self.now));
        let number = membership.view.number;
        self.membership = Some(membership);
        self.told_left_out = None;
        self.kept.forget_before(number);
        for (from, part) in self.early_reports.take() {
            if part.view >= number {
                self.hear_report(from, part, effects);
            }
        }
        self.send_report(effects);
        self.beat_at = self.now;
        self.try_to_install();
    }

    /// Installs the adopted view when all reports are here.
    pub(super) fn try_to_install(&mut self) {
        let Some(membership) = &self.membership else { return };
        let missing = membership.view.members.len() - membership.reports.len();
        let may_miss = usize::from(self.has(Flaw::ReportMissing) && membership.view.members.len() > 1);
        // R11: all reports are needed
        if membership.is_active || missing > may_miss {
            return;
        }
        let Ok(blueprint) = self.setup.recipe.blueprint(membership.view.members.len()) else { return };
        let (holders, disputed) = holders_of(&membership.reports);
        let (number, members) = (membership.view.number, membership.view.members.keys().copied().collect());
        self.lower_quiet_time();
        if self.has(Flaw::ReportWithoutFreeze) {
            self.sections.freeze();
        }
        self.set_gate();
        // R11: two holders, neither continues
        for name in &disputed {
            self.breach = Some("two members report to be inside one section");
            self.sections.conflict(name);
        }
        self.sections.install(number, members, blueprint, holders, disputed);
        if let Some(membership) = &mut self.membership {
            membership.is_active = true;
        }
        self.beat_at = self.now;
        for (from, view, seq, parcel) in self.kept.take() {
            self.hear_parcel(from, view, seq, 0, parcel);
        }
    }

    /// The age rule: the time for which a majority of the voters has acknowledged no outsider already counts towards the quiet time.
    fn lower_quiet_time(&mut self) {
        let wait = self.setup.timing.wait();
        let Some(membership) = &self.membership else { return };
        let view = &membership.view;
        // R16: not after voters changed
        let is_long_ago = self.voters_changed.is_none_or(|changed| self.now > changed + wait);
        let is_settled = view.next_voters.is_none() && (is_long_ago || self.has(Flaw::AgeAfterVoterChange));
        let ages = membership
            .reports
            .values()
            .filter(|(report, _)| view.voters.contains_key(&report.incarnation.disk));
        let ends = ages.filter_map(|(report, arrival)| Some(*arrival + (wait - report.age?)));
        let mut ends: Vec<Ticks> = ends.collect();
        ends.sort_unstable();
        // R16: age rule
        if let Some(end) = ends.get(view.voters.len() / 2).filter(|_| is_settled) {
            self.quiet_until = self.quiet_until.min(*end);
        }
    }

    /// The flaw of a node that continues in the view on its disk.
    pub(super) fn restart_into_view(&mut self, effects: &mut Effects<Self>) {
        if !self.has(Flaw::RestartIntoView) {
            return;
        }
        let view =
            self.consensus.newest_view().filter(|view| view.members.contains_key(&self.setup.me)).cloned();
        if let Some(view) = view
            && let Some(life) = view.members.get(&self.setup.me).copied()
        {
            self.incarnation = life;
            self.adopt_as_member(view.clone(), false, effects);
            if let Some(membership) = &mut self.membership {
                let own = membership.reports.get(&self.setup.me).cloned();
                let all = view.members.keys().map(|node| Some((*node, own.clone()?)));
                membership.reports = all.flatten().collect();
            }
            self.try_to_install();
        }
    }
}

/// The holder of each reported section, and the sections that two members report.
fn holders_of(
    reports: &BTreeMap<NodeId, (MemberReport, Ticks)>,
) -> (BTreeMap<SectionName, NodeId>, BTreeSet<SectionName>) {
    let (mut holders, mut disputed) = (BTreeMap::new(), BTreeSet::new());
    for (node, (report, _)) in reports {
        for name in &report.inside {
            if holders.contains_key(name) {
                disputed.insert(name.clone());
            } else {
                holders.insert(name.clone(), *node);
            }
        }
    }
    (holders, disputed)
}
