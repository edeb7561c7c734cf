//! What is judged of views: all nodes agree on them, no node acts in two, and leases end with them.

use std::collections::BTreeMap;

use doorway_core::{NodeId, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::{Incarnation, View};
use doorway_simulator::Engine;

use super::{Holder, Judge};
use crate::host::Host;
use crate::rule::ObservedRule;
use crate::violation::ViolationKind;

impl Judge {
    /// Everything that a node knows to be decided, when that has changed.
    pub(super) fn judge_views(&mut self, node: NodeId, newest: u64, engine: &Engine<Host>) {
        if std::mem::replace(&mut self.known[node.index()], newest) == newest {
            return;
        }
        let machine = &engine.machines()[node.index()];
        let mut before = 0;
        for view in machine.decided_views() {
            if before > 0 && view.number != before + 1 {
                let number = view.number;
                self.violate(
                    ViolationKind::Views,
                    format!("in the log of node {node} view {number} follows view {before}"),
                );
            }
            before = view.number;
            self.judge_view(node, view, engine);
        }
    }

    /// No node is in a view of another cluster than its own.
    pub(super) fn judge_epochs(&mut self, node: NodeId, engine: &Engine<Host>) {
        let look = engine.machines()[node.index()].look();
        let is_of_two = |(member, life): &(&NodeId, &Incarnation)| {
            let member = engine.machines()[member.index()].look();
            let is_other = look.epoch.zip(member.epoch).is_some_and(|(mine, theirs)| mine != theirs);
            member.incarnation == **life && is_other
        };
        let Some(view) = look.newest else { return };
        if let Some((member, _)) = view.members.iter().find(is_of_two) {
            let number = view.number;
            let what = format!("node {member} of another epoch is in view {number} of node {node}");
            self.violate(ViolationKind::Epochs, what);
        }
    }

    /// Every decided number has one content, and a life that was left out stays out.
    fn judge_view(&mut self, node: NodeId, view: &View, engine: &Engine<Host>) {
        let number = view.number;
        if let Some((known, _)) = self.views.get(&number) {
            if known != view {
                self.violate(
                    ViolationKind::Views,
                    format!("node {node} knows another view {number} than was decided before"),
                );
            }
            return;
        }
        let is_early = |holder: &&Holder| view.clean.contains(&holder.life) && Self::is_valid(holder, engine);
        if let Some(early) = self.holders.values().find(is_early).map(|holder| holder.node) {
            self.violate(
                ViolationKind::EarlyLeave,
                format!("node {early} has left while one of its clients held a lock"),
            );
        }
        self.watch_view(node, view);
        self.clean.extend(&view.clean);
        for life in view.members.values() {
            let first = self.first_views.entry(*life).or_insert(number);
            *first = number.min(*first);
        }
        self.views.insert(number, (view.clone(), self.now));
        let back = view.members.values().find(|life| self.left_out_before(life, number).is_some()).copied();
        if let Some(life) = back {
            self.violate(
                ViolationKind::Readmitted,
                format!("{life} is in view {number}, although one before left it out"),
            );
        }
    }

    /// The first view without a life that was in one before it, of those up to a number.
    fn left_out_before(&self, life: &Incarnation, number: u64) -> Option<(u64, Ticks)> {
        let first = self.first_views.get(life)?;
        let mut later = self.views.range(*first..=number.max(*first));
        later.find(|(_, (view, _))| !view.has(life)).map(|(number, (_, decided))| (*number, *decided))
    }

    /// If one node acts in a view, every member of it has stopped acting in every earlier one, and all begin alike.
    pub(super) fn judge_installation(&mut self, node: NodeId, engine: &Engine<Host>) {
        let machine = &engine.machines()[node.index()];
        let Some(view) = machine.look().view.cloned() else { return };
        let number = view.number;
        for (member, life) in &view.members {
            let machine = engine.machines()[member.index()].look();
            let adopted = machine.view.map_or(0, |view| view.number);
            let is_alive = machine.incarnation == *life && !engine.is_crashed(*member);
            if is_alive && machine.standing == Standing::Active && adopted < number {
                self.violate(
                    ViolationKind::OldView,
                    format!("node {node} acts in view {number} while node {member} acts in view {adopted}"),
                );
            }
        }
        let holders = machine.holders().cloned().unwrap_or_default();
        let (_, first) = self.installed.entry(number).or_insert_with(|| (view.clone(), holders.clone()));
        if *first != holders {
            self.violate(
                ViolationKind::FirstState,
                format!("node {node} begins view {number} with other holders than another member"),
            );
        }
        self.judge_known_holders(&view, &holders, engine);
        self.watch_installation(node, &view, &holders, engine);
    }

    /// If a view knows the holder of a section, no node outside of the view has one.
    fn judge_known_holders(
        &mut self,
        view: &View,
        known: &BTreeMap<SectionName, NodeId>,
        engine: &Engine<Host>,
    ) {
        let is_outside = |holder: &&Holder| {
            let is_known = holder.sections.iter().any(|(name, _)| known.contains_key(name));
            // A member may be late with a view after which others have come in.
            let is_later = self.first_views.get(&holder.life).is_none_or(|first| *first > view.number);
            is_known && !is_later && !view.has(&holder.life) && Self::is_valid(holder, engine)
        };
        let Some(holder) = self.holders.values().find(is_outside) else { return };
        let (life, number) = (holder.life, view.number);
        let name = holder.sections.iter().map(|(name, _)| name).find(|name| known.contains_key(*name));
        let what = name.map_or_else(String::new, ToString::to_string);
        let what = format!("{life} is inside {what}, of which view {number}, without it, knows the holder");
        self.violate(ViolationKind::KnownHolder, what);
    }

    /// No node grants a section of which a later view, without that node, knows the holder.
    pub(super) fn judge_outsider(&mut self, life: Incarnation, sections: &[SectionName]) {
        let Some((number, (view, known))) = self.installed.last_key_value() else { return };
        let is_later = self.first_views.get(&life).is_none_or(|first| first > number);
        let name = sections.iter().find(|name| known.contains_key(*name));
        if let (Some(name), false, false) = (name, view.has(&life), is_later) {
            let what = format!("{life} enters {name}, of which view {number}, without it, knows the holder");
            self.violate(ViolationKind::KnownHolder, what);
        }
    }

    /// Looks at the lease of a node, if it has one.
    pub(super) fn judge_lease(&mut self, node: NodeId, engine: &Engine<Host>) {
        let look = engine.machines()[node.index()].look();
        let (life, until) = (look.incarnation, look.lease_until);
        if until > Ticks(0) {
            self.judge_lease_of(life, until, engine.true_time(node, until), look.view);
        }
    }

    /// A lease never goes back, a majority stood behind it when it last grew, and that of a node that was left out ends in time.
    /// It is valid `until` a time of its node's clock, which is `end` in true time, and the node has adopted `view`.
    pub(super) fn judge_lease_of(
        &mut self,
        life: Incarnation,
        until: Ticks,
        end: Ticks,
        view: Option<&View>,
    ) {
        // When that is in true time changes with the clock, also while the lease does not.
        if self.leases.insert(life, end) != Some(end) {
            self.judge_end(life, end);
        }
        let known = self.judged.insert(life, until);
        if known.is_some_and(|known| until < known) {
            self.violate(ViolationKind::Lease, format!("the lease of {life} went back"));
        }
        // A node that sleeps through a change of voters adopts the view with a lease that other voters acknowledged.
        let has_grown = known.is_none_or(|known| until > known);
        if has_grown && view.is_some_and(|view| view.next_voters.is_some()) {
            self.fire(ObservedRule::JointLease);
        }
        if let Some(view) = view.filter(|_| has_grown)
            && self.majority_since(&life, view).is_none_or(|since| until > since + self.timing.lease)
        {
            self.violate(
                ViolationKind::Lease,
                format!("{life} has a longer lease than a majority of the voters stands for"),
            );
        }
    }

    fn judge_end(&mut self, life: Incarnation, end: Ticks) {
        let slow = 1_000_000 - self.timing.drift_ppm;
        let longest = Ticks((self.timing.lease.0 * 1_000_000).div_ceil(slow) + 2);
        if let Some((number, decided)) = self.left_out_before(&life, u64::MAX)
            && end > decided + longest
        {
            let late = end - decided;
            self.violate(
                ViolationKind::LateLease,
                format!("{life} has a lease until {late} µs after view {number} left it out"),
            );
        }
        let now = self.now;
        self.leases.retain(|_, end| *end + longest > now);
    }
}
