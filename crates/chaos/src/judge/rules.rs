//! Which rules were needed, and which moments came, as far as the judge can see.

use std::collections::BTreeMap;

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::node::{NodeSummary, Standing};
use doorway_node::{Incarnation, Loss, Notice, View};
use doorway_simulator::Engine;

use super::Judge;
use crate::host::Host;
use crate::moment::Moment;
use crate::rule::ObservedRule;

/// What was seen of a node last.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    life: Option<Incarnation>,
    quiet_until: Ticks,
    /// The term in which it leads.
    leads: Option<u64>,
    is_set_back: bool,
    /// How many sections it has forgotten, alone and together.
    forgotten: [u64; 2],
}

impl Judge {
    /// A rule was needed.
    pub(super) fn fire(&mut self, rule: ObservedRule) {
        *self.fired.entry(rule).or_default() += 1;
    }

    fn fire_if(&mut self, is_seen: bool, rule: ObservedRule) {
        if is_seen {
            self.fire(rule);
        }
    }

    /// How often each rule was seen.
    pub(crate) fn fired(&self) -> &BTreeMap<ObservedRule, u64> {
        &self.fired
    }

    /// The moments that have come since this was asked last.
    pub(crate) fn take_moments(&mut self) -> Vec<(Moment, NodeId)> {
        std::mem::take(&mut self.moments)
    }

    /// A node has started again.
    pub(crate) fn note_restart(&mut self) {
        self.fire(ObservedRule::Restarted);
    }

    /// A client leaves its section while its node waits for reports.
    pub(crate) fn note_release_in_limbo(&mut self) {
        self.fire(ObservedRule::LimboRelease);
    }

    /// A node tells its clients or its operator something.
    pub(crate) fn watch_notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Lost { why: Loss::Lease, .. } => self.fire(ObservedRule::LeaseLost),
            Notice::Lost { why: Loss::Silent, .. } => self.fire(ObservedRule::Silent),
            Notice::Freed { .. } => self.fire(ObservedRule::Freed),
            Notice::Stranger { .. } | Notice::TwoClusters(_) => self.fire(ObservedRule::Stranger),
            _ => {}
        }
    }

    /// A node has made a step; before it, it had adopted and installed what `before` says.
    pub(super) fn watch(
        &mut self,
        node: NodeId,
        before: (u64, bool),
        look: &NodeSummary<'_>,
        engine: &Engine<Host>,
    ) {
        let counters = look.counters;
        let seen = Watched {
            life: Some(look.incarnation),
            quiet_until: look.quiet_until,
            leads: look.is_leader.then_some(look.term),
            is_set_back: look.standing == Standing::SetBack,
            forgotten: [counters.forgotten_alone, counters.forgotten_together],
        };
        let (quiet_until, term, is_set_back, forgotten) =
            (seen.quiet_until, look.term, seen.is_set_back, seen.forgotten);
        let known = std::mem::replace(&mut self.watched[node.index()], seen);
        let was_left_out = |life: Incarnation| look.incarnation.tenure > life.tenure;
        self.fire_if(known.life.is_some_and(was_left_out), ObservedRule::LeftOut);
        self.fire_if(quiet_until > known.quiet_until, ObservedRule::QuietRaised);
        self.fire_if(quiet_until < known.quiet_until, ObservedRule::QuietLowered);
        self.fire_if(known.leads == Some(term) && !look.is_leader, ObservedRule::SteppedDown);
        self.fire_if(is_set_back && !known.is_set_back, ObservedRule::SetBack);
        self.fire_if(forgotten[0] > known.forgotten[0], ObservedRule::ForgottenAlone);
        self.fire_if(forgotten[1] > known.forgotten[1], ObservedRule::ForgottenTogether);
        let newest = look.newest.map_or(0, |view| view.number);
        self.fire_if(newest > self.known[node.index()], ObservedRule::Learned);
        let adopted = look.view.map_or(0, |view| view.number);
        if adopted > before.0 {
            self.fire_if(before.0 > 0 && adopted > before.0 + 1, ObservedRule::SkippedView);
            let has_lease = engine.local_time(node, engine.now()) < look.lease_until;
            self.fire_if(has_lease, ObservedRule::KeptLease);
        }
        if look.standing == Standing::Limbo && adopted > before.0 {
            self.moments.push((Moment::Barrier, node));
        }
        if look.is_leader {
            self.watch_proposal(node, engine);
        }
    }

    /// A leader may have begun to change the voters.
    fn watch_proposal(&mut self, node: NodeId, engine: &Engine<Host>) {
        let newest = engine.machines()[node.index()].newest_in_log();
        let joint = newest.filter(|view| view.next_voters.is_some() && view.voters_since == view.number);
        if let Some(number) = joint.map(|view| view.number).filter(|number| *number > self.proposed) {
            self.proposed = number;
            self.moments.push((Moment::Proposed, node));
        }
    }

    /// A view is known to be decided, to this node first.
    pub(super) fn watch_view(&mut self, node: NodeId, view: &View) {
        self.fire(ObservedRule::Decided);
        self.fire_if(view.number == 1 && self.begins_blank, ObservedRule::Founded);
        if view.next_voters.is_some() && view.voters_since == view.number {
            self.fire(ObservedRule::JointView);
            self.moments.push((Moment::Joint, node));
        } else if view.voters_since == view.number && view.number > 1 {
            self.fire(ObservedRule::NewVoters);
            self.moments.push((Moment::NewVoters, node));
        }
        let mut has_new_disk = false;
        for (member, life) in &view.members {
            has_new_disk |= self.disks.insert(*member, life.disk).is_some_and(|known| known != life.disk);
        }
        self.fire_if(has_new_disk, ObservedRule::NewDisk);
        let Some((before, _)) = self.views.get(&view.number.saturating_sub(1)) else { return };
        let later = |node: &NodeId| Some((before.members.get(node)?, view.members.get(node)?));
        let both = || before.members.keys().filter_map(later);
        let is_replaced = both().any(|(old, new)| old != new && old.disk == new.disk);
        let joiners = view.members.keys().filter(|node| !before.members.contains_key(node)).count();
        let is_excluded = |(node, life): (&NodeId, &Incarnation)| {
            !view.members.contains_key(node) && !view.clean.contains(life)
        };
        let is_excluding = before.members.iter().any(is_excluded);
        self.fire_if(is_replaced, ObservedRule::Replaced);
        self.fire_if(joiners > 0, ObservedRule::TakenIn);
        self.fire_if(joiners > 1, ObservedRule::SeveralTakenIn);
        self.fire_if(!view.clean.is_empty(), ObservedRule::LeftClean);
        self.fire_if(is_excluding, ObservedRule::ExcludedByLeader);
    }

    /// A node acts in a view from now on.
    pub(super) fn watch_installation(
        &mut self,
        node: NodeId,
        view: &View,
        holders: &BTreeMap<SectionName, NodeId>,
        engine: &Engine<Host>,
    ) {
        self.fire(ObservedRule::Installed);
        self.fire_if(!holders.is_empty(), ObservedRule::InstalledHolders);
        let quiet_until = engine.machines()[node.index()].look().quiet_until;
        let could_end = self.quiet_end_by_age(view).map(|left| engine.local_time(node, self.now) + left);
        self.fire_if(could_end.is_some_and(|end| quiet_until > end), ObservedRule::AgeWithheld);
    }

    /// For how long it would have to be quiet by the ages in the reports, if the voters had not changed.
    fn quiet_end_by_age(&self, view: &View) -> Option<Ticks> {
        let reports = self.reports.get(&view.number)?.values();
        let first = reports.filter(|part| part.number == 0);
        let voters = first.filter(|report| view.voters.contains_key(&report.incarnation.disk));
        let mut left: Vec<Ticks> =
            voters.filter_map(|report| Some(self.timing.wait() - report.age?)).collect();
        left.sort_unstable();
        left.get(view.voters.len() / 2).copied()
    }

    /// A client enters.
    pub(super) fn watch_entry(
        &mut self,
        node: NodeId,
        sections: &[(SectionName, Fence)],
        engine: &Engine<Host>,
    ) {
        let quiet_until = engine.machines()[node.index()].look().quiet_until;
        let is_quiet = engine.local_time(node, engine.now()) < quiet_until;
        let view = |fence: &Fence| fence.0 >> Self::COUNTER_BITS;
        let is_later = |(name, fence): &(SectionName, Fence)| {
            self.fences.get(name).is_some_and(|last| view(fence) > view(last))
        };
        let has_later = sections.iter().any(is_later);
        self.fire_if(is_quiet, ObservedRule::QuietEntry);
        self.fire_if(has_later, ObservedRule::FenceOfNewView);
    }
}
