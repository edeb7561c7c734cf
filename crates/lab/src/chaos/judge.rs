//! The judge of a cluster: whoever is inside, every fence, every view, in true time. It trusts no node.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::{Incarnation, LockNode, RequestId, Timing, View};
use doorway_simulator::Engine;

use super::cluster::Design;

/// What is known about a cluster, and what was wrong in it.
pub struct Judge {
    timing: Timing,
    /// Who is inside, as far as they have been told.
    holders: BTreeMap<RequestId, Holder>,
    /// The last fence of each section.
    fences: BTreeMap<SectionName, Fence>,
    /// What a store behind each section has seen.
    stores: BTreeMap<SectionName, Fence>,
    /// Every view that was decided, and when the first node knew.
    views: BTreeMap<u64, (View, Ticks)>,
    /// The end of each life's lease in true time, as far as it got.
    leases: BTreeMap<Incarnation, Ticks>,
    /// The first view of each life.
    first_views: BTreeMap<Incarnation, u64>,
    /// Lives that ended by themselves, with nobody inside: their leases mean nothing.
    clean: BTreeSet<Incarnation>,
    /// What each node had adopted and installed when it was looked at last.
    standings: Vec<(u64, bool)>,
    /// Whether clocks keep what they promise; if not, only the store can tell.
    violations: Vec<String>,
    /// How often somebody was let in.
    pub entries: u64,
    /// How many writes a store refused, because of somebody who was late.
    pub refused_writes: u64,
    now: Ticks,
}

/// Somebody inside.
#[derive(Debug)]
struct Holder {
    node: NodeId,
    /// The life of the node that let it in.
    life: Incarnation,
    sections: Vec<(SectionName, Fence)>,
    /// The deadline, on the node's clock.
    until: Ticks,
}

impl Judge {
    /// More violations are not collected.
    const MOST: usize = 20;

    pub(super) fn new(design: &Design) -> Self {
        Self {
            timing: design.timing,
            holders: BTreeMap::new(),
            fences: BTreeMap::new(),
            stores: BTreeMap::new(),
            views: BTreeMap::new(),
            leases: BTreeMap::new(),
            clean: BTreeSet::new(),
            first_views: BTreeMap::new(),
            standings: vec![(0, false); design.nodes],
            violations: Vec::new(),
            entries: 0,
            refused_writes: 0,
            now: Ticks(0),
        }
    }

    /// What was wrong.
    #[must_use]
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// How many views were decided.
    #[must_use]
    pub fn views(&self) -> u64 {
        self.views.len() as u64
    }

    /// Something was wrong.
    pub fn violate(&mut self, what: String) {
        if self.violations.len() < Self::MOST {
            self.violations.push(format!("at {:.6} s: {what}", self.now.0 as f64 / 1e6));
        }
    }

    /// Somebody is let in.
    pub fn grant(
        &mut self,
        node: NodeId,
        request: RequestId,
        sections: Vec<(SectionName, Fence)>,
        until: Ticks,
        engine: &Engine<LockNode>,
    ) {
        self.now = engine.now();
        self.entries += 1;
        for (name, fence) in &sections {
            self.judge_entry(node, request, name, *fence, engine);
        }
        self.judge_gate(node, &sections, engine);
        let life = engine.machines()[node.index()].look().incarnation;
        self.holders.insert(request, Holder { node, life, sections, until });
    }

    fn judge_entry(
        &mut self,
        node: NodeId,
        request: RequestId,
        name: &SectionName,
        fence: Fence,
        engine: &Engine<LockNode>,
    ) {
        let is_in = |holder: &Holder| holder.sections.iter().any(|(section, _)| section == name);
        let others = self.holders.iter().filter(|(other, holder)| **other != request && is_in(holder));
        let other = others.map(|(_, holder)| holder).find(|holder| Self::is_valid(holder, engine));
        if let Some(other) = other {
            let other = other.node;
            self.violate(format!(
                "node {node} let somebody into {name} while one of node {other} was inside"
            ));
        }
        let last = self.fences.get(name).copied();
        if last.is_some_and(|last| fence <= last) {
            let last = last.unwrap_or_default();
            self.violate(format!("node {node} entered {name} with fence {fence} after {last}"));
        }
        self.fences.insert(name.clone(), fence.max(last.unwrap_or_default()));
    }

    /// Whether somebody may still think to be inside.
    fn is_valid(holder: &Holder, engine: &Engine<LockNode>) -> bool {
        engine.local_time(holder.node, engine.now()) < holder.until
    }

    /// Whether a node may let somebody in: installed, within its lease, and nobody outside of its view has one.
    fn judge_gate(&mut self, node: NodeId, sections: &[(SectionName, Fence)], engine: &Engine<LockNode>) {
        let machine = &engine.machines()[node.index()];
        let look = machine.look();
        let local = engine.local_time(node, engine.now());
        if look.standing != Standing::Active || local >= look.lease_until - self.timing.margin {
            self.violate(format!("node {node} let somebody in without an installed view or a lease"));
        }
        let Some(view) = look.view else { return };
        let unknown = sections.iter().find(|(name, _)| !machine.knows_holder(name));
        let is_later = |life| self.first_views.get(life).is_none_or(|first| *first > view.number);
        let is_outside = |life| !view.has(life) && !self.clean.contains(life) && !is_later(life);
        let outsider = self.leases.iter().find(|(life, end)| **end > self.now && is_outside(life));
        if let (Some((name, _)), Some((life, _))) = (unknown, outsider) {
            let number = view.number;
            self.violate(format!(
                "node {node} let somebody into {name} in view {number} while {life}, which is not in it, had a lease"
            ));
        }
    }

    /// Somebody may stay longer.
    pub fn renew(&mut self, request: RequestId, until: Ticks) {
        if let Some(holder) = self.holders.get_mut(&request) {
            holder.until = until.max(holder.until);
        }
    }

    /// Somebody has left, or was told to.
    pub fn end(&mut self, request: RequestId) {
        self.holders.remove(&request);
    }

    /// Somebody who was let in writes to the store behind a section.
    pub fn write(
        &mut self,
        request: RequestId,
        sections: &[(SectionName, Fence)],
        engine: &Engine<LockNode>,
    ) {
        self.now = engine.now();
        for (name, fence) in sections {
            let highest = self.stores.entry(name.clone()).or_default();
            if fence >= highest {
                *highest = *fence;
                continue;
            }
            self.refused_writes += 1;
            let holder = self.holders.get(&request);
            if holder.is_some_and(|holder| Self::is_valid(holder, engine)) {
                self.violate(format!("the store of {name} refused one who was inside, with fence {fence}"));
            }
        }
    }

    /// A node has made a step.
    pub(super) fn look_at(
        &mut self,
        node: NodeId,
        breach: Option<&'static str>,
        engine: &mut Engine<LockNode>,
    ) {
        self.now = engine.now();
        if let Some(what) = breach {
            self.violate(format!("node {node}: {what}"));
        }
        let look = engine.machines()[node.index()].look();
        let adopted = look.view.map_or(0, |view| view.number);
        let is_active = look.standing == Standing::Active;
        let before = std::mem::replace(&mut self.standings[node.index()], (adopted, is_active));
        if let Some(newest) = look.newest {
            self.judge_view(node, newest, engine);
        }
        if is_active && before != (adopted, true) {
            self.judge_installation(node, engine);
        }
        self.judge_lease(node, engine);
    }

    /// Every decided number has one content.
    fn judge_view(&mut self, node: NodeId, newest: &View, engine: &Engine<LockNode>) {
        let now = self.now;
        let is_early =
            |holder: &&Holder| newest.clean.contains(&holder.life) && Self::is_valid(holder, engine);
        let early = self.holders.values().find(is_early).map(|holder| holder.node);
        if let Some(early) = early.filter(|_| !self.views.contains_key(&newest.number)) {
            self.violate(format!("node {early} has left while somebody was inside"));
        }
        self.clean.extend(&newest.clean);
        for life in newest.members.values() {
            let first = self.first_views.entry(*life).or_insert(newest.number);
            *first = newest.number.min(*first);
        }
        let (known, _) = self.views.entry(newest.number).or_insert_with(|| (newest.clone(), now));
        if known != newest {
            let number = newest.number;
            self.violate(format!("node {node} knows another view {number} than was decided before"));
        }
    }

    /// If one node acts in a view, every member of it has stopped acting in every earlier one.
    fn judge_installation(&mut self, node: NodeId, engine: &Engine<LockNode>) {
        let Some(view) = engine.machines()[node.index()].look().view.cloned() else { return };
        for (member, life) in &view.members {
            let machine = engine.machines()[member.index()].look();
            let adopted = machine.view.map_or(0, |view| view.number);
            let is_alive = machine.incarnation == *life && !engine.is_crashed(*member);
            if is_alive && machine.standing == Standing::Active && adopted < view.number {
                let number = view.number;
                self.violate(format!(
                    "node {node} acts in view {number} while node {member} acts in view {adopted}"
                ));
            }
        }
    }

    /// The lease of somebody who was left out ends in time.
    fn judge_lease(&mut self, node: NodeId, engine: &Engine<LockNode>) {
        let look = engine.machines()[node.index()].look();
        if look.lease_until == Ticks(0) {
            return;
        }
        let end = engine.true_time(node, look.lease_until);
        let life = look.incarnation;
        let known = self.leases.insert(life, end);
        let Some((view, decided)) = self.views.values().next_back() else { return };
        if known == Some(end) || view.has(&life) {
            return;
        }
        let slow = 1_000_000 - self.timing.drift_ppm;
        let longest = Ticks((self.timing.lease.0 * 1_000_000).div_ceil(slow) + 2);
        if end > *decided + longest {
            let (number, late) = (view.number, end - *decided);
            self.violate(format!("{life} has a lease until {late} µs after view {number} left it out"));
        }
        let now = self.now;
        self.leases.retain(|_, end| *end + longest > now);
    }

    /// A node has stopped.
    pub(super) fn forget_node(&mut self, node: NodeId) {
        self.standings[node.index()] = (0, false);
    }
}
