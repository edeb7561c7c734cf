//! The judge of a cluster: it checks every holder, fence and view in true time, and trusts no node.

mod letters;
mod rules;
#[cfg(test)]
mod tests;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Fence, NodeId, SectionName, Ticks};
use doorway_node::node::Standing;
use doorway_node::{DiskId, Epoch, Incarnation, ReportPart, RequestId, Timing, View, wire};
use doorway_simulator::Engine;

use self::letters::Beats;
use self::rules::Watched;
use super::design::Design;
use super::host::{DiskRequirement, Host, Said};
use super::moment::Moment;
use super::rule::ObservedRule;
use super::violation::{ClusterViolation, ViolationKind};

/// What is known about a cluster, and what was wrong in it.
pub struct Judge {
    timing: Timing,
    /// The epoch of the cluster that is judged, where there may be others.
    epoch: Option<Epoch>,
    /// Requests that nodes of other clusters granted.
    foreign: BTreeSet<RequestId>,
    /// The holders, as far as their clients know of it.
    holders: BTreeMap<RequestId, Holder>,
    /// The last fence of each section.
    fences: BTreeMap<SectionName, Fence>,
    /// What a store behind each section has seen.
    stores: BTreeMap<SectionName, Fence>,
    /// Every view that was decided, and when the first node knew.
    views: BTreeMap<u64, (View, Ticks)>,
    /// The end of each life's lease in true time, until it is long over.
    leases: BTreeMap<Incarnation, Ticks>,
    /// The same on the clock of its node, as it was judged last, for good.
    judged: BTreeMap<Incarnation, Ticks>,
    /// The heartbeats of each life.
    beats: BTreeMap<Incarnation, Beats>,
    /// The parts of reports for each view.
    reports: BTreeMap<u64, BTreeMap<(Incarnation, u16), ReportPart>>,
    /// How many parts of reports were sent, repeats included.
    pub report_parts: u64,
    /// Each view that was installed, with those inside when it began.
    installed: BTreeMap<u64, (View, BTreeMap<SectionName, NodeId>)>,
    /// The view and the number of the latest verdict about sections from one node to another.
    verdicts: BTreeMap<(NodeId, NodeId), (u64, u64)>,
    /// What each node has last said that its disk must know.
    claims: Vec<Option<DiskRequirement>>,
    /// The newest view that each node knows to be decided.
    known: Vec<u64>,
    /// The clock of each section at each node, in the view in which it acts.
    clocks: Vec<BTreeMap<SectionName, u64>>,
    /// The first view of each life.
    first_views: BTreeMap<Incarnation, u64>,
    /// Lives that ended by themselves, without a holder: their leases mean nothing.
    clean: BTreeSet<Incarnation>,
    /// What each node had adopted and installed when it was looked at last.
    standings: Vec<(u64, bool)>,
    /// When each node last adopted a view in a step that began in an installed one.
    froze: Vec<Option<Ticks>>,
    violations: Vec<ClusterViolation>,
    /// How often each rule was seen.
    fired: BTreeMap<ObservedRule, u64>,
    /// Whether the founders begin with blank disks.
    begins_blank: bool,
    /// What was seen of each node last.
    watched: Vec<Watched>,
    /// The disk with which each node was taken in last.
    disks: BTreeMap<NodeId, DiskId>,
    /// The newest view with two voter sets that a leader has proposed.
    proposed: u64,
    /// Moments that the nemesis has not taken yet.
    moments: Vec<(Moment, NodeId)>,
    /// Number of grants.
    pub entries: u64,
    /// Writes that a store refused because their holder was late.
    pub refused_writes: u64,
    now: Ticks,
}

/// A holder.
#[derive(Debug)]
struct Holder {
    node: NodeId,
    /// The life of the node that let it in.
    life: Incarnation,
    sections: Vec<(SectionName, Fence)>,
    /// D + M on the node's clock, D the latest deadline that it was told: it counts as inside until then, unless it has left
    /// before. Told to stop or not, whether its node frees it or others do without that node: no other client comes in earlier (R31).
    until: Ticks,
    /// Whether its node has freed it.
    is_freed: bool,
}

impl Judge {
    /// More violations of one kind are not collected.
    const MOST: usize = 5;
    const COUNTER_BITS: u32 = wire::COUNTER_BITS;

    pub(super) fn new(design: &Design) -> Self {
        Self {
            timing: design.timing,
            epoch: None,
            foreign: BTreeSet::new(),
            holders: BTreeMap::new(),
            fences: BTreeMap::new(),
            stores: BTreeMap::new(),
            views: BTreeMap::new(),
            leases: BTreeMap::new(),
            judged: BTreeMap::new(),
            clean: BTreeSet::new(),
            first_views: BTreeMap::new(),
            standings: vec![(0, false); design.nodes],
            froze: vec![None; design.nodes],
            beats: BTreeMap::new(),
            reports: BTreeMap::new(),
            report_parts: 0,
            verdicts: BTreeMap::new(),
            installed: BTreeMap::new(),
            claims: vec![None; design.nodes],
            known: vec![0; design.nodes],
            clocks: vec![BTreeMap::new(); design.nodes],
            violations: Vec::new(),
            fired: BTreeMap::new(),
            begins_blank: design.begins_blank,
            watched: vec![Watched::default(); design.nodes],
            disks: BTreeMap::new(),
            proposed: 0,
            moments: Vec::new(),
            entries: 0,
            refused_writes: 0,
            now: Ticks(0),
        }
    }

    /// What was wrong.
    #[must_use]
    pub fn violations(&self) -> &[ClusterViolation] {
        &self.violations
    }

    /// How many views were decided.
    #[must_use]
    pub fn views(&self) -> u64 {
        self.views.len() as u64
    }

    /// The cluster was recovered. From now on it is judged as the one of this epoch; nodes of other epochs are not of it, and are only
    /// watched to see that no node is of both.
    pub fn follow(&mut self, epoch: Epoch) {
        self.epoch = Some(epoch);
    }

    /// Whether a node is of another cluster than the one that is judged.
    fn is_foreign(&self, node: NodeId, engine: &Engine<Host>) -> bool {
        let theirs = || engine.machines()[node.index()].look().epoch;
        self.epoch.is_some_and(|mine| theirs().is_some_and(|theirs| theirs != mine))
    }

    /// Something was wrong.
    pub fn violate(&mut self, kind: ViolationKind, what: String) {
        if self.violations.iter().filter(|other| other.kind == kind).count() < Self::MOST {
            let sentence = format!("at {:.6} s: {what}", self.now.0 as f64 / 1e6);
            self.violations.push(ClusterViolation { kind, sentence });
        }
    }

    /// A lock is granted.
    pub fn grant(
        &mut self,
        node: NodeId,
        request: RequestId,
        sections: Vec<(SectionName, Fence)>,
        until: Ticks,
        engine: &Engine<Host>,
    ) {
        self.now = engine.now();
        if self.is_foreign(node, engine) {
            self.foreign.insert(request);
            return;
        }
        self.entries += 1;
        self.watch_entry(node, &sections, engine);
        for (name, fence) in &sections {
            self.judge_entry(node, request, name, *fence, engine);
        }
        self.judge_gate(node, &sections, engine);
        let names: Vec<SectionName> = sections.iter().map(|(name, _)| name.clone()).collect();
        let life = engine.machines()[node.index()].look().incarnation;
        self.judge_outsider(life, &names);
        self.holders.retain(|_, holder| !holder.is_freed || Self::is_valid(holder, engine));
        let until = until + self.timing.margin;
        self.holders.insert(request, Holder { node, life, sections, until, is_freed: false });
    }

    fn judge_entry(
        &mut self,
        node: NodeId,
        request: RequestId,
        name: &SectionName,
        fence: Fence,
        engine: &Engine<Host>,
    ) {
        let is_in = |holder: &Holder| holder.sections.iter().any(|(section, _)| section == name);
        let others = self.holders.iter().filter(|(other, holder)| **other != request && is_in(holder));
        let other = others.map(|(_, holder)| holder).find(|holder| Self::is_valid(holder, engine));
        if let Some(other) = other {
            let other = other.node;
            self.violate(
                ViolationKind::TwoInside,
                format!("node {node} granted {name} while a client of node {other} held it"),
            );
        }
        let last = self.fences.get(name).copied();
        if last.is_some_and(|last| fence <= last) {
            let last = last.unwrap_or_default();
            self.violate(
                ViolationKind::Fence,
                format!("node {node} entered {name} with fence {fence} after {last}"),
            );
        }
        self.fences.insert(name.clone(), fence.max(last.unwrap_or_default()));
    }

    /// Whether a holder counts as inside.
    fn is_valid(holder: &Holder, engine: &Engine<Host>) -> bool {
        engine.local_time(holder.node, engine.now()) < holder.until
    }

    /// Whether a node may grant a lock: installed, within its lease, and no node outside of its view has a lease.
    fn judge_gate(&mut self, node: NodeId, sections: &[(SectionName, Fence)], engine: &Engine<Host>) {
        let machine = &engine.machines()[node.index()];
        let look = machine.look();
        let local = engine.local_time(node, engine.now());
        let has_lease = local < look.lease_until - self.timing.margin;
        // One step may let a client in and then learn of a view. The entry came first, in the view before, and the report for the
        // new one names it (R9).
        let view = look.view.map_or(0, |view| view.number);
        let has_just_frozen = look.standing == Standing::Limbo && self.froze[node.index()] == Some(self.now);
        if has_lease && has_just_frozen && self.is_reported(view, look.incarnation, sections) {
            return;
        }
        if look.standing != Standing::Active || !has_lease {
            self.violate(
                ViolationKind::Gate,
                format!("node {node} granted a lock without an installed view or a lease"),
            );
        }
        let Some(view) = look.view else { return };
        let unknown = sections.iter().find(|(name, _)| !machine.knows_holder(name));
        let is_later = |life| self.first_views.get(life).is_none_or(|first| *first > view.number);
        let is_outside = |life| !view.has(life) && !self.clean.contains(life) && !is_later(life);
        let outsider = self.leases.iter().find(|(life, end)| **end > self.now && is_outside(life));
        if let (Some((name, _)), Some((life, _))) = (unknown, outsider) {
            let number = view.number;
            self.violate(
                ViolationKind::Outsider,
                format!("node {node} granted {name} in view {number} while {life}, which is not in it, had a lease"),
            );
        }
    }

    /// Whether a life has reported to be inside all of these, or has not sent all parts of its report yet.
    fn is_reported(&self, view: u64, life: Incarnation, sections: &[(SectionName, Fence)]) -> bool {
        let of_view = self.reports.get(&view);
        let parts = of_view.map(|parts| parts.range((life, 0)..=(life, u16::MAX)).map(|(_, part)| part));
        let parts: Vec<&ReportPart> = parts.into_iter().flatten().collect();
        let is_whole = parts.first().is_some_and(|part| usize::from(part.count) == parts.len());
        let names = |name: &SectionName| parts.iter().any(|part| part.inside.contains(name));
        !is_whole || sections.iter().all(|(name, _)| names(name))
    }

    /// A holder is renewed: no other client has acquired the lock meanwhile.
    pub fn renew(&mut self, request: RequestId, until: Ticks, engine: &Engine<Host>) {
        self.now = engine.now();
        self.fire(ObservedRule::Renewed);
        let Some(holder) = self.holders.get_mut(&request) else { return };
        holder.until = holder.until.max(until + self.timing.margin);
        let is_valid = Self::is_valid(holder, engine);
        let is_late = |(name, fence): &&(SectionName, Fence)| self.fences.get(name) > Some(fence);
        let late = holder.sections.iter().find(is_late).map(|(name, _)| name.clone());
        if let Some(name) = late.filter(|_| is_valid) {
            let node = holder.node;
            self.violate(
                ViolationKind::TwoInside,
                format!("node {node} renewed {name} after another client had acquired it"),
            );
        }
    }

    /// A holder has left.
    pub fn end(&mut self, request: RequestId) {
        self.holders.remove(&request);
    }

    /// A node has freed a holder that had to stop. If that was too early, the next entry shows it: a node that was left out frees
    /// at once, and grants nothing.
    pub fn free(&mut self, request: RequestId) {
        if let Some(holder) = self.holders.get_mut(&request) {
            holder.is_freed = true;
        }
    }

    /// A holder writes to the store behind a section.
    pub fn write(&mut self, request: RequestId, sections: &[(SectionName, Fence)], engine: &Engine<Host>) {
        self.now = engine.now();
        if self.foreign.contains(&request) {
            return;
        }
        for (name, fence) in sections {
            let highest = self.stores.entry(name.clone()).or_default();
            if fence >= highest {
                *highest = *fence;
                continue;
            }
            self.refused_writes += 1;
            let holder = self.holders.get(&request);
            if holder.is_some_and(|holder| Self::is_valid(holder, engine)) {
                self.violate(
                    ViolationKind::Store,
                    format!("the store of {name} refused one who was inside, with fence {fence}"),
                );
            }
        }
    }

    /// A node has made a step.
    pub(super) fn look_at(
        &mut self,
        node: NodeId,
        breach: Option<&'static str>,
        said: Vec<Said>,
        disk: &[u8],
        engine: &Engine<Host>,
    ) {
        self.now = engine.now();
        if let Some(what) = breach {
            self.violate(ViolationKind::Breach, format!("node {node}: {what}"));
        }
        if self.epoch.is_some() {
            self.judge_epochs(node, engine);
        }
        if self.is_foreign(node, engine) {
            return;
        }
        self.judge_said(node, said, disk, engine);
        let look = engine.machines()[node.index()].look();
        let adopted = look.view.map_or(0, |view| view.number);
        let is_active = look.standing == Standing::Active;
        let before = std::mem::replace(&mut self.standings[node.index()], (adopted, is_active));
        if before.1 && adopted > before.0 {
            self.froze[node.index()] = Some(self.now);
        }
        self.watch(node, before, &look, engine);
        if let Some(newest) = look.newest {
            self.judge_views(node, newest.number, engine);
        }
        if before != (adopted, is_active) {
            self.clocks[node.index()].clear();
            if is_active {
                self.judge_installation(node, engine);
            }
        }
        if is_active {
            self.judge_clocks(node, engine);
        }
        self.judge_lease(node, engine);
    }

    /// The clock of a node goes at another rate from now on, so its lease ends at another time.
    pub(super) fn note_drift(&mut self, node: NodeId, engine: &Engine<Host>) {
        self.now = engine.now();
        if !engine.is_crashed(node) && !self.is_foreign(node, engine) {
            self.judge_lease(node, engine);
        }
    }

    /// The clocks of sections only go forward within a view, forgotten or not.
    fn judge_clocks(&mut self, node: NodeId, engine: &Engine<Host>) {
        let machine = &engine.machines()[node.index()];
        let mut back = None;
        for name in self.fences.keys() {
            let clock = machine.clock(name);
            match self.clocks[node.index()].get_mut(name) {
                Some(known) if *known <= clock => *known = clock,
                Some(_) => back = Some(name.clone()),
                None => {
                    self.clocks[node.index()].insert(name.clone(), clock);
                }
            }
        }
        if let Some(name) = back {
            self.violate(ViolationKind::Clock, format!("the counter of {name} went back at node {node}"));
        }
    }

    /// A message did not come out of its bytes as it had gone in.
    pub(super) fn judge_wire(&mut self, garbled: Option<String>) {
        garbled.into_iter().for_each(|what| self.violate(ViolationKind::Wire, what));
    }

    /// A node has stopped.
    pub(super) fn forget_node(&mut self, node: NodeId) {
        self.standings[node.index()] = (0, false);
        self.froze[node.index()] = None;
        self.watched[node.index()] = Watched::default();
        self.known[node.index()] = 0;
        self.claims[node.index()] = None;
        self.clocks[node.index()].clear();
    }
}
