//! The named sections of one node: its clients in front, the algorithm behind.
//!
//! Clients queue here first come first served. While a client queues, the node takes part in the algorithm of that section
//! as one participant among the members of the view. Whenever the algorithm lets the node in, and lease and quiet time
//! permit it, the first in the queue gets the section; after several clients of this node in a row it goes back to the
//! algorithm, for clients that wait elsewhere. A request that the algorithm knows of is never withdrawn: if its client cancels,
//! the next one here takes it over, or the section is given back at once.

mod admission;
mod breaking;
mod clients;
mod forget;
mod look;
mod running;
mod stopping;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use doorway_core::{Fence, NodeId, Phase, SectionName, Ticks};

pub use self::admission::MOST_REQUESTS;
use self::admission::Used;
use self::forget::{HeldMessage, IdleEntry, Round};
pub use self::look::{HolderSummary, SectionSummary, WaiterSummary};
use crate::delivery::Delivery;
use crate::message::Parcel;
use crate::recipe::{Blueprint, Participant, Recipe};
use crate::wire::MOST_NODES;
use crate::{BreakTarget, ClientId, Flaw, Notice, Reason, RequestId, Rules, Setup, Timing};

/// All sections of one node.
#[derive(Debug)]
pub(crate) struct Sections<R> {
    me: NodeId,
    recipe: Recipe,
    timing: Timing,
    rules: R,
    /// The most sections that can be open here.
    most_open: usize,
    /// How many members the latest view had.
    member_count: usize,
    /// The view in which sections are entered, while there is one.
    stage: Option<Stage>,
    open: BTreeMap<SectionName, Section>,
    requests: BTreeMap<RequestId, Request>,
    clients: BTreeMap<ClientId, BTreeSet<RequestId>>,
    /// The sections of those requests, and others that were and are still open.
    used: Used,
    /// When something about a request is due.
    alarms: BTreeSet<(Ticks, RequestId)>,
    /// Sections that the algorithm has granted to this node and that no client may enter yet.
    held_back: BTreeSet<SectionName>,
    /// How many sections clients here are inside of.
    inside: usize,
    /// How many of them have a holder that was told to stop.
    stopping: usize,
    /// The largest clock of a section that was forgotten in this view.
    floor: u64,
    /// The largest clock of any section in this view.
    highest: u64,
    /// Open sections in the order in which they were touched, roughly.
    idle: VecDeque<IdleEntry>,
    /// How many marks were given to entries of that list.
    marks: u64,
    /// The questions about forgetting that this node has asked, as the home of those sections.
    rounds: BTreeMap<SectionName, Round>,
    /// About how many bytes the messages take that wait for the answers to such questions.
    frozen_weight: usize,
    /// The sections that are to be broken, each with the members that have not answered yet.
    breaks: BTreeMap<BreakTarget, BTreeSet<NodeId>>,
    /// The conditions for a grant.
    pub(crate) gate: Gate,
    /// How many requests were made so far.
    made: u64,
    /// The nodes that have violated the protocol.
    pub(crate) suspects: BTreeMap<NodeId, &'static str>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) counters: Counters,
}

/// What was counted about sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How many entries there were.
    pub entries: u64,
    /// How many protocol violations there were, in messages to an algorithm or to the node itself.
    pub impossible: u64,
    /// How many sections were forgotten because their state was the first one again.
    pub forgotten_alone: u64,
    /// How many sections were forgotten because all members agreed to.
    pub forgotten_together: u64,
    /// The largest number of sections that were open at once.
    pub most_open: u64,
}

/// The conditions for a grant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gate {
    /// The present.
    pub(crate) now: Ticks,
    /// The end of the lease minus the margin: nothing is granted then or later.
    pub(crate) deadline: Ticks,
    /// Before this, only sections are entered whose holder is known.
    pub(crate) quiet_until: Ticks,
    /// Whether the node grants nothing any more, because it is leaving.
    pub(crate) is_closed: bool,
}

/// A view in which sections are entered.
#[derive(Debug)]
struct Stage {
    view: u64,
    /// The members in order: the algorithm's node of index i is at the i-th of them.
    members: Vec<NodeId>,
    /// This node's place among them.
    place: NodeId,
    blueprint: Blueprint,
    /// Who was inside which section when the view began.
    holders: BTreeMap<SectionName, NodeId>,
    /// Sections that two nodes reported to hold: neither may continue.
    disputed: BTreeSet<SectionName>,
    delivery: Delivery,
}

/// One section at this node.
#[derive(Debug, Default)]
struct Section {
    /// The algorithm's node, in a view.
    running: Option<Box<dyn Participant>>,
    /// The counter of its fences: the largest that this node knows.
    clock: u64,
    /// Who waits here, in order.
    line: VecDeque<RequestId>,
    /// Who is inside.
    holder: Option<RequestId>,
    /// Since when.
    held_since: Ticks,
    /// How many clients of this node were inside in a row.
    in_a_row: u32,
    /// While its home asks whether the section can be forgotten: the messages that came for it meanwhile.
    frozen: Option<Vec<HeldMessage>>,
    /// The number of the last parcel about it to each member.
    last_sent: Vec<(NodeId, u64)>,
    /// When something happened in it.
    touched: Ticks,
    /// The mark of its entry in the list of those that may be idle; 0 if it has none.
    mark: u64,
}

/// One request of a client.
#[derive(Debug)]
struct Request {
    client: ClientId,
    /// The sections in the order of their names, which is the same everywhere, so no requests wait in a circle.
    names: Vec<SectionName>,
    /// The fences of those that it has; it waits for the next one.
    fences: Vec<Fence>,
    /// Its place among all requests of this node.
    number: u64,
    /// When it will not wait any longer.
    gives_up: Option<Ticks>,
    max_hold: Option<Ticks>,
    ttl: Option<Ticks>,
    /// Its stay, once it has all of its sections.
    hold: Option<Hold>,
    /// When it was made.
    asked: Ticks,
    /// When others are told that it waits, and after what time again.
    nudge: Option<(Ticks, Ticks)>,
    tell_if_wanted: bool,
}

/// The stay of a request that has all of its sections.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// D: the latest deadline that its client was told.
    told_until: Ticks,
    /// When it will have stayed for as long as it said.
    ends: Option<Ticks>,
    /// When its client will have been silent for as long as its time-to-live.
    silent_at: Option<Ticks>,
    /// D + M if its client must stop: its sections are freed then, unless the client releases them before (R31).
    freed_at: Option<Ticks>,
}

impl Request {
    fn is_in(&self) -> bool {
        self.fences.len() == self.names.len()
    }

    /// Whether it is in, and may be told a later deadline.
    fn may_stay(&self) -> bool {
        self.hold.is_some_and(|hold| hold.freed_at.is_none())
    }

    /// Whether it is in, and must stop.
    fn is_stopping(&self) -> bool {
        self.hold.is_some_and(|hold| hold.freed_at.is_some())
    }

    /// When something about it is due.
    fn alarm(&self) -> Option<Ticks> {
        match self.hold {
            Some(hold) => hold.freed_at.or_else(|| hold.ends.into_iter().chain(hold.silent_at).min()),
            None => self.gives_up.into_iter().chain(self.nudge.map(|(at, _)| at)).min(),
        }
    }

    fn grants(&self) -> Vec<(SectionName, Fence)> {
        self.names.iter().cloned().zip(self.fences.iter().copied()).collect()
    }
}

impl<R: Rules> Sections<R> {
    /// How many clients of one node are let in, in a row, before the section is given back.
    const MOST_IN_A_ROW: u32 = 16;
    /// How many bytes the messages take at most, roughly, that wait for verdicts about their sections: more than honest members
    /// send before one that gives no verdict is left out.
    const HEAVIEST_FROZEN: usize = 16 << 20;

    pub(crate) fn new(setup: &Setup, rules: R) -> Self {
        Self {
            me: setup.me,
            recipe: setup.recipe.clone(),
            timing: setup.timing,
            rules,
            most_open: setup.most_open,
            member_count: MOST_NODES,
            stage: None,
            open: BTreeMap::new(),
            requests: BTreeMap::new(),
            clients: BTreeMap::new(),
            used: Used::default(),
            alarms: BTreeSet::new(),
            held_back: BTreeSet::new(),
            inside: 0,
            stopping: 0,
            floor: 0,
            highest: 0,
            idle: VecDeque::new(),
            marks: 0,
            rounds: BTreeMap::new(),
            frozen_weight: 0,
            breaks: BTreeMap::new(),
            gate: Gate::default(),
            made: 0,
            suspects: BTreeMap::new(),
            notices: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// The parcels of the present view.
    pub(crate) fn delivery(&mut self) -> Option<&mut Delivery> {
        self.stage.as_mut().map(|stage| &mut stage.delivery)
    }

    /// When the parcels of the present view need something done.
    pub(crate) fn delivery_alarm(&self) -> Option<Ticks> {
        self.stage.as_ref().and_then(|stage| stage.delivery.alarm())
    }

    /// The number of the view in which sections are entered.
    pub(crate) fn view(&self) -> Option<u64> {
        self.stage.as_ref().map(|stage| stage.view)
    }

    /// The sections that clients here are inside of, for the report. A holder that was told to stop counts until it is freed.
    pub(crate) fn inside(&self) -> Vec<SectionName> {
        let is_stopping = |id: &RequestId| self.requests.get(id).is_some_and(Request::is_stopping);
        let counts = |id: &RequestId| !(self.has(Flaw::SlackNotReported) && is_stopping(id));
        // R31: slack is reported
        let held = self.open.iter().filter(|(_, section)| section.holder.as_ref().is_some_and(counts));
        held.map(|(name, _)| name.clone()).collect()
    }

    /// Whether a client here is inside, told to stop or not.
    pub(crate) fn is_anybody_inside(&self) -> bool {
        self.inside > 0
    }

    /// Whether a client here is inside that was not told to stop.
    pub(crate) fn is_anybody_staying(&self) -> bool {
        self.inside > self.stopping
    }

    /// How many sections are open.
    pub(crate) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// How many requests wait.
    pub(crate) fn waiting_count(&self) -> usize {
        self.requests.values().filter(|request| !request.is_in()).count()
    }

    /// Whether a fence is running out of numbers.
    pub(crate) fn is_running_out(&self) -> bool {
        self.floor.max(self.highest) > crate::wire::LAST_COUNTER / 2
    }

    /// Stops acting in the view for good. Those inside stay inside; what the algorithms knew is forgotten.
    pub(crate) fn freeze(&mut self) {
        self.stage = None;
        self.held_back.clear();
        self.rounds.clear();
        self.frozen_weight = 0;
        self.idle.clear();
        let clock = self.first_clock();
        (self.floor, self.highest) = (clock, clock);
        self.close_unused();
        for section in self.open.values_mut() {
            section.running = None;
            section.frozen = None;
            section.last_sent.clear();
            section.clock = clock;
            section.in_a_row = 0;
            section.mark = 0;
        }
    }

    /// With what the clocks of the next view begin: with nothing, as a fence tells the view as well. Where it does not, the
    /// counter continues as far as this node knows it.
    fn first_clock(&self) -> u64 {
        if self.has(Flaw::FenceWithoutView) { self.floor.max(self.highest) } else { 0 }
    }

    /// Closes the sections that no client here holds or waits for. Only without a view: in one, the others may count on
    /// what the algorithm knows.
    fn close_unused(&mut self) {
        let Self { open, used, .. } = self;
        open.retain(|name, section| {
            let is_needed = section.holder.is_some() || !section.line.is_empty();
            if !is_needed {
                used.close(name);
            }
            is_needed
        });
    }

    /// Begins to act in a view: keeps sections with a holder, gives back those that were released, and requests those for which clients
    /// wait, oldest first.
    pub(crate) fn install(
        &mut self,
        view: u64,
        members: Vec<NodeId>,
        blueprint: Blueprint,
        holders: BTreeMap<SectionName, NodeId>,
        disputed: BTreeSet<SectionName>,
    ) {
        let Some(place) = members.iter().position(|member| *member == self.me) else { return };
        // A client that waited when the last view ended may have given up since.
        self.close_unused();
        let mine: Vec<SectionName> =
            holders.iter().filter(|(_, node)| **node == self.me).map(|(name, _)| name.clone()).collect();
        let delivery = Delivery::new(view, self.timing);
        let place = NodeId::new(place);
        self.member_count = members.len();
        self.stage = Some(Stage { view, members, place, blueprint, holders, disputed, delivery });
        for name in mine {
            // R10: carry out noted releases
            self.open_section(&name);
            self.settle(&name);
        }
        let number = |section: &Section| {
            section.line.front().and_then(|first| self.requests.get(first)).map(|request| request.number)
        };
        let wanted = self.open.iter().filter_map(|(name, section)| Some((number(section)?, name.clone())));
        let mut wanted: Vec<(u64, SectionName)> = wanted.collect();
        // R11: ask again, oldest first
        wanted.sort_unstable();
        for (_, name) in wanted {
            self.want(&name);
        }
        self.break_again();
    }

    /// Refuses all waiting requests.
    pub(crate) fn refuse_all(&mut self, why: Reason) {
        let waiting = self.requests.iter().filter(|(_, request)| !request.is_in());
        let waiting: Vec<RequestId> = waiting.map(|(id, _)| *id).collect();
        for request in waiting {
            self.refuse(request, why);
        }
    }

    /// Lets in who was held back, if that may be now.
    pub(crate) fn try_gate(&mut self) {
        for name in std::mem::take(&mut self.held_back) {
            self.settle(&name);
        }
    }

    /// What is due about requests by now.
    pub(crate) fn ring(&mut self) {
        while let Some(&(at, id)) = self.alarms.first()
            && at <= self.gate.now
        {
            self.alarms.pop_first();
            let Some(request) = self.requests.get(&id) else { continue };
            let now = self.gate.now;
            let is_due = |time: Option<Ticks>| time.is_some_and(|time| time <= now);
            if let Some(hold) = request.hold {
                self.end_hold(id, hold);
            } else if is_due(request.gives_up) {
                self.refuse(id, Reason::TimedOut);
            } else if is_due(request.nudge.map(|(at, _)| at)) {
                self.nudge(id);
            }
        }
    }

    /// When something is due: about a request, or the gate.
    pub(crate) fn alarm(&self) -> Option<Ticks> {
        let requests = self.alarms.first().map(|(at, _)| *at);
        let quiet = (!self.held_back.is_empty() && self.gate.quiet_until > self.gate.now)
            .then_some(self.gate.quiet_until);
        let idle = self.stage.as_ref().and_then(|_| self.idle.front());
        let idle = idle.map(|entry| entry.touched + self.timing.idle);
        requests.into_iter().chain(quiet).chain(idle).min()
    }

    /// A parcel of the present view is opened.
    pub(crate) fn open_parcel(&mut self, from: NodeId, parcel: Parcel) {
        let is_new = |name: &SectionName| !self.open.contains_key(name);
        if self.open.len() >= self.most_open && parcel.opens().iter().any(is_new) {
            return self.suspect(from, "more sections than a node can have");
        }
        match parcel {
            Parcel::Section { section, clock, bytes } => self.hear(from, &section, clock, bytes),
            Parcel::Open(section) => self.open_section(&section),
            Parcel::Wanted(section) => self.tell_wanted(&section),
            Parcel::Idle(names) => self.ask_whether_to_forget(names),
            Parcel::MayForget(names) => self.answer_whether_to_forget(from, names),
            Parcel::Idleness(idleness) => self.count_idleness(from, idleness),
            Parcel::Verdict { forget, clock, keep } => self.obey_verdict(from, &forget, clock, &keep),
            Parcel::Break(target) => self.obey_break(from, target),
            Parcel::Broken { target, was_inside } => self.count_broken(from, target, was_inside),
        }
    }

    /// Where this node stands towards a section.
    pub(crate) fn phase(&self, name: &SectionName) -> Phase {
        let running = self.open.get(name).and_then(|section| section.running.as_ref());
        running.map_or(Phase::Outside, |running| running.phase())
    }

    /// Moves the counter of an open section forward.
    pub(crate) fn advance_fence(&mut self, name: &SectionName, counter: u64) {
        if let Some(section) = self.open.get_mut(name) {
            section.clock = counter.clamp(section.clock, crate::wire::LAST_COUNTER);
            self.highest = self.highest.max(section.clock);
        }
    }

    /// A member has violated the protocol: this node counts it and tells the leader.
    pub(crate) fn suspect(&mut self, from: NodeId, what: &'static str) {
        self.counters.impossible += 1;
        self.suspects.entry(from).or_insert(what);
    }

    /// How many parcels have overtaken others, how many questions about forgetting are open, and how many messages wait for
    /// the answers.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let early = self.stage.as_ref().map_or(0, |stage| stage.delivery.early_count());
        let frozen = self.open.values().filter_map(|section| Some(section.frozen.as_ref()?.len()));
        (early, self.rounds.len(), frozen.sum())
    }

    /// Whether it is known who was inside a section when the view began.
    pub(crate) fn knows_holder(&self, name: &SectionName) -> bool {
        self.stage.as_ref().is_some_and(|stage| stage.holders.contains_key(name))
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.rules.breaks(flaw)
    }
}
