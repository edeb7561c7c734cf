//! A run of one algorithm: engine, applications, watch and measures together.

use doorway_core::{Ask, Cut, Entered, Explain, Factory, Fence, Fenced, Node, NodeId, Phase, Refusal, Ticks};
use doorway_trace::What;

use crate::application::{Applications, Stage};
use crate::engine::{Engine, LostMessage};
use crate::limits::RunLimits;
use crate::measures::Measures;
use crate::nodes::make_nodes;
use crate::oracle::Oracle;
use crate::outcome::Outcome;
use crate::settings::Settings;
use crate::stall::Stall;
use crate::watch::{Line, OrderMonitor, SafetyMonitor};

/// Runs an algorithm until every request is served and nothing is in flight, or until it stalls.
///
/// # Errors
/// If the settings are inconsistent, or the algorithm cannot run with this number of nodes.
pub fn simulate<A: Explain>(factory: &Factory<A>, settings: &Settings) -> Result<Outcome, Refusal> {
    let mut simulation = Simulation::new(factory, settings)?;
    simulation.run();
    Ok(simulation.finish())
}

/// A run in progress.
pub(crate) struct Simulation<A: Explain> {
    pub(crate) engine: Engine<Fenced<A>>,
    applications: Applications,
    pub(crate) oracle: Oracle,
    watch: SafetyMonitor,
    line: Line,
    /// The place in line of each node's request: its low 32 bits.
    place_in_line: Vec<u32>,
    order: Option<OrderMonitor>,
    measures: Measures,
    entries_by_node: Vec<u32>,
    warmup: u64,
    /// All entries so far, those of the warm-up included.
    entries: u64,
    /// The number of applications that wait to enter.
    waiting: usize,
    /// The last release, if another application waited at that time.
    left_to_others: Option<(NodeId, Ticks)>,
    first_and_last_entry: Option<(Ticks, Ticks)>,
    /// Steps since the last entry, or since the last progress check.
    steps_without_entry: u64,
    /// The number of steps without an entry after which progress is checked.
    patience: u64,
    /// When progress was last checked.
    checked_at: Option<Ticks>,
    /// Whether messages move but no node will ever enter again.
    livelock: bool,
    /// Whether messages multiply or travel for ever, so that the run would never end.
    is_runaway: bool,
    check_invariants: bool,
    limits: Option<RunLimits>,
    /// Whether the limits ended it.
    is_cut: bool,
    violations: Vec<String>,
}

impl<A: Explain> Simulation<A> {
    pub(crate) fn new(factory: &Factory<A>, settings: &Settings) -> Result<Self, Refusal> {
        settings.check()?;
        let n = settings.nodes;
        if A::PERPETUAL && n > 1 && settings.latency.is_always_zero() {
            let sentence =
                "messages of this algorithm travel for ever, so that time would stand still without latency";
            return Err(Refusal::new(sentence));
        }
        let nodes = make_nodes(factory, settings)?;
        let mut simulation = Self {
            engine: Engine::new(nodes, settings),
            applications: Applications::new(settings),
            oracle: Oracle::new(settings),
            watch: SafetyMonitor::default(),
            line: Line::default(),
            place_in_line: vec![0; n],
            order: settings.order.then(|| OrderMonitor::new(n)),
            measures: Measures::default(),
            entries_by_node: vec![0; n],
            warmup: settings.warmup,
            entries: 0,
            waiting: 0,
            left_to_others: None,
            first_and_last_entry: None,
            steps_without_entry: 0,
            patience: 1_000_000 + (n as u64).saturating_mul(n as u64).saturating_mul(8),
            checked_at: None,
            livelock: false,
            is_runaway: false,
            check_invariants: settings.invariants,
            limits: settings.limits.if_any(),
            is_cut: false,
            violations: Vec::new(),
        };
        if settings.trace {
            simulation.engine.record();
        }
        simulation.foresee_suspicions(settings);
        if let Some(holder) = settings.start.holder() {
            simulation.watch.begin_inside(holder, Fence::default());
            simulation.applications.begin_inside(holder);
        }
        Ok(simulation)
    }

    /// Starts every node that has not crashed.
    pub(crate) fn start(&mut self) {
        self.engine.advance_to(Ticks(0));
        for node in NodeId::first(self.engine.machines().len()) {
            if self.engine.is_crashed(node) {
                continue;
            }
            self.record_step(node, What::Start);
            self.engine.start(node);
            self.after_step(node);
        }
    }

    /// Not inlined: on a stack frame of more than a page the loop ran at half the speed.
    #[inline(never)]
    fn run(&mut self) {
        self.start();
        self.applications.begin();
        while !self.is_over() {
            while let Some(node) = self.engine.take_crashed() {
                self.crash_application(node);
                self.foresee_reports(node);
            }
            if A::PERPETUAL && self.applications.is_idle() && !self.go_on_when_quiet() {
                break;
            }
            let (due, alarm) = (self.engine.next_time(), self.applications.next_alarm());
            let next = due.into_iter().chain(alarm).min();
            let crash = self.engine.next_crash().filter(|crash| next.is_some_and(|next| *crash <= next));
            match (crash, next) {
                (Some(crash), _) => self.engine.advance_to(crash),
                (None, Some(next)) if alarm == Some(next) => self.ring(next),
                (None, Some(_)) => self.deliver_what_is_due(),
                (None, None) => {
                    if !self.go_on_when_quiet() {
                        break;
                    }
                }
            }
        }
    }

    /// Whether the run must end, although events remain.
    #[inline]
    fn is_over(&mut self) -> bool {
        if self.limits.is_some() {
            self.check_limits();
        }
        let is_wrong = self.violations.len() >= Outcome::MOST_VIOLATIONS || self.livelock || self.is_runaway;
        is_wrong || self.is_cut
    }

    /// Checks whether the limits end the run here.
    pub(crate) fn check_limits(&mut self) -> bool {
        let events = self.engine.log().map_or(0, |log| log.len());
        self.is_cut = self.limits.as_ref().is_some_and(|limits| limits.is_reached(events));
        self.is_cut
    }

    /// Delivers the next message, and then others of its tick until one needs attention.
    #[inline]
    fn deliver_what_is_due(&mut self) {
        loop {
            let Some(node) = self.engine.advance() else { return self.make_report() };
            let calm = self.after_step(node);
            if A::PERPETUAL || !calm || self.limits.is_some() || !self.engine.is_something_due_now() {
                return;
            }
        }
    }

    /// Issues the next request of a quiet system. Returns false if there are none.
    fn go_on_when_quiet(&mut self) -> bool {
        if !self.applications.is_idle() {
            return false;
        }
        let engine = &self.engine;
        if let Some(node) = self.applications.draw_next(|node| !engine.is_crashed(node)) {
            self.ask(node, self.engine.now());
            return true;
        }
        self.applications.unissued() > 0 && self.applications.next_alarm().is_some()
    }

    /// An alarm rings: an application moves to its next stage.
    fn ring(&mut self, at: Ticks) {
        self.engine.advance_to(at);
        let Some((node, stage)) = self.applications.ring() else { return };
        if self.engine.is_crashed(node) {
            return;
        }
        match stage {
            Stage::Thinking => self.ask(node, at),
            Stage::Asking => self.node_hears_request(node),
            Stage::Admitted => self.go_inside(node, at),
            Stage::Inside => self.leave(node, at),
            Stage::Leaving { asks_again } => {
                self.node_hears_release(node, at - self.applications.local_latency(), asks_again);
            }
            Stage::Idle | Stage::Waiting => unreachable!("no alarm ends this stage"),
        }
    }

    /// An application stops with its node: it is not inside any more.
    pub(crate) fn crash_application(&mut self, node: NodeId) {
        self.watch.leave(node);
        match self.applications.stage(node) {
            Stage::Asking | Stage::Waiting | Stage::Leaving { asks_again: true } => {
                self.waiting -= 1;
                let number = self.line.number(self.place_in_line[node.index()]);
                self.line.withdraw(number);
            }
            Stage::Admitted => self.waiting -= 1,
            Stage::Idle | Stage::Thinking | Stage::Inside | Stage::Leaving { asks_again: false } => {}
        }
        self.applications.crash(node);
    }

    /// Issues a request of an application, if any are left.
    pub(crate) fn ask(&mut self, node: NodeId, at: Ticks) {
        if !self.issue(node, at) {
            return;
        }
        let local_latency = self.applications.local_latency();
        if local_latency == Ticks(0) {
            self.node_hears_request(node);
        } else {
            self.applications.go_until(node, Stage::Asking, at + local_latency);
        }
    }

    /// Issues a request, if any are left; returns whether it did.
    fn issue(&mut self, node: NodeId, at: Ticks) -> bool {
        let issued = self.applications.ask(node, at);
        if issued {
            self.waiting += 1;
            self.place_in_line[node.index()] = self.line.join() as u32;
        }
        issued
    }

    /// The request reaches the node: this is the step that stamps it.
    fn node_hears_request(&mut self, node: NodeId) {
        self.applications.go(node, Stage::Waiting);
        self.record_step(node, What::Request);
        if let Some((order, clock)) = self.order.as_mut().zip(self.engine.clock(node)) {
            let mut clock = clock.clone();
            clock.tick(node);
            order.ask(node, &clock);
        }
        self.engine.command(node, Ask::Request);
        self.after_step(node);
    }

    /// Checks the effects of a step; returns whether it needed no attention.
    #[inline]
    pub(crate) fn after_step(&mut self, node: NodeId) -> bool {
        self.steps_without_entry += 1;
        let effects = self.engine.effects();
        let calm = effects.notices.is_empty()
            && effects.out.breach().is_none()
            && !self.check_invariants
            && self.steps_without_entry <= self.patience;
        if !calm {
            self.look_closer(node);
        }
        calm
    }

    #[inline(never)]
    fn look_closer(&mut self, node: NodeId) {
        if let Some(breach) = self.engine.effects().out.breach() {
            self.violate(node, format!("node {node}: {breach}"));
        }
        if let Some(&Entered(fence)) = self.engine.effects().notices.first() {
            self.node_enters(node, fence);
        }
        if self.check_invariants {
            self.test_invariants(node);
        }
        if self.steps_without_entry > self.patience {
            self.steps_without_entry = 0;
            self.judge_progress(node);
        }
    }

    /// Decides whether many steps without an entry are a livelock or a runaway.
    fn judge_progress(&mut self, node: NodeId) {
        let now = self.engine.now();
        let stands_still = self.checked_at.replace(now) == Some(now);
        let is_any_waiting =
            self.engine.machines().iter().any(|fenced| fenced.node().phase() == Phase::Waiting);
        if self.engine.due() as u64 > self.patience {
            self.is_runaway = true;
            self.violate(node, "messages multiply without end and no node enters".to_owned());
        } else if is_any_waiting {
            self.livelock = true;
        } else if stands_still {
            self.is_runaway = true;
            self.violate(node, "time stands still: messages travel for ever within one tick".to_owned());
        } else if !A::PERPETUAL && self.applications.next_alarm().is_none() {
            self.is_runaway = true;
            self.violate(node, "messages travel for ever although no node waits".to_owned());
        }
    }

    fn node_enters(&mut self, node: NodeId, fence: Fence) {
        let now = self.engine.now();
        let rule = self.engine.effects().out.last_rule();
        if let Some(log) = self.engine.log() {
            log.enter(fence, rule);
        }
        if let Some(wrong) = self.watch.enter(node, fence) {
            self.violate(node, wrong.to_string());
        }
        if let Some(order) = &mut self.order {
            order.enter(node);
        }
        self.steps_without_entry = 0;
        self.count_entry(node);
        let local_latency = self.applications.local_latency();
        if local_latency == Ticks(0) {
            self.go_inside(node, now);
        } else {
            self.applications.go_until(node, Stage::Admitted, now + local_latency);
        }
    }

    fn count_entry(&mut self, node: NodeId) {
        self.entries += 1;
        let number = self.line.number(self.place_in_line[node.index()]);
        let bypasses = self.line.enter(number);
        if self.is_measuring() {
            self.measures.bypasses.add(bypasses);
            self.entries_by_node[node.index()] += 1;
        }
        if self.entries == self.warmup {
            self.engine.restart_traffic();
            self.order.iter_mut().for_each(OrderMonitor::restart);
        }
    }

    fn is_measuring(&self) -> bool {
        self.entries > self.warmup
    }

    fn go_inside(&mut self, node: NodeId, now: Ticks) {
        self.waiting -= 1;
        if self.is_measuring() {
            self.measures.entries += 1;
            self.measures.waiting_time.add((now - self.applications.asked_at(node)).0);
            if let Some((_, left)) = self.left_to_others.filter(|(who, _)| *who != node) {
                self.measures.sync_delay.add((now - left).0);
            }
            let first = self.first_and_last_entry.map_or(now, |(first, _)| first);
            self.first_and_last_entry = Some((first, now));
        }
        self.left_to_others = None;
        self.applications.go_inside(node, now);
    }

    /// An application leaves.
    pub(crate) fn leave(&mut self, node: NodeId, now: Ticks) {
        let asked_at = self.applications.asked_at(node);
        if self.is_measuring() && asked_at != Applications::NEVER {
            self.measures.response_time.add((now - asked_at).0);
        }
        self.left_to_others = (self.waiting > 0).then_some((node, now));
        let asks_again = self.applications.leave(node) && self.issue(node, now);
        let local_latency = self.applications.local_latency();
        if local_latency == Ticks(0) {
            self.node_hears_release(node, now, asks_again);
        } else {
            self.applications.go_until(node, Stage::Leaving { asks_again }, now + local_latency);
        }
    }

    /// The release of an application that left at time `left` reaches its node. Under a saturated load the
    /// application requests again at the same time, so both arrive together.
    fn node_hears_release(&mut self, node: NodeId, left: Ticks, asks_again: bool) {
        self.watch.leave(node);
        self.record_step(node, What::Release);
        self.engine.command(node, Ask::Release);
        self.after_step(node);
        if asks_again {
            self.node_hears_request(node);
        } else {
            self.applications.rest(node, left);
        }
    }

    fn test_invariants(&mut self, node: NodeId) {
        let cut = self.cut();
        let broken =
            A::invariants().iter().find(|invariant| !(invariant.holds)(&cut)).map(|invariant| invariant.name);
        if let Some(name) = broken {
            self.violate(node, format!("after a step of node {node} it does not hold that {name}"));
        }
    }

    fn violate(&mut self, node: NodeId, what: String) {
        let now = self.engine.now();
        if let Some(log) = self.engine.log() {
            log.push(now, node, What::Violation { what: what.clone() }, "", log.step());
        }
        self.violations.push(format!("time {now}: {what}"));
    }

    fn record_step(&mut self, node: NodeId, what: What) {
        let now = self.engine.now();
        if let Some(log) = self.engine.log() {
            log.push(now, node, what, "", None);
        }
    }

    /// The global state: all nodes and the messages in flight.
    pub(crate) fn cut(&self) -> Cut<'_, A> {
        let nodes: Vec<&Node<A>> = self.engine.machines().iter().map(Fenced::node).collect();
        Cut { nodes, in_flight: self.engine.in_flight() }
    }

    /// The number of entries out of happened-before order; 0 if not counted.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.order.as_ref().map_or(0, OrderMonitor::violated)
    }

    pub(crate) fn violations(&self) -> &[String] {
        &self.violations
    }

    /// The stall, if a node waits, no live node is inside, and no message is in flight to a live node, or in
    /// a livelock.
    pub(crate) fn stall(&self) -> Option<Stall> {
        let lives = |node: NodeId| !self.engine.is_crashed(node);
        let is_any = |phase| {
            let mut nodes = NodeId::first(self.engine.machines().len()).zip(self.engine.machines());
            nodes.any(|(node, fenced)| fenced.node().phase() == phase && lives(node))
        };
        let moves = || self.engine.in_flight().iter().any(|letter| lives(letter.to));
        let can_go_on = !is_any(Phase::Waiting) || is_any(Phase::Inside) || moves();
        if !self.livelock && can_go_on {
            return None;
        }
        let mut stall = Stall::diagnose(&self.cut(), self.engine.crashed());
        stall.livelock = self.livelock;
        stall.lost = self.engine.losses().iter().map(LostMessage::to_string).collect();
        Some(stall)
    }

    pub(crate) fn finish(mut self) -> Outcome {
        let was_stopped = self.violations.len() >= Outcome::MOST_VIOLATIONS || self.is_runaway || self.is_cut;
        let stall = if was_stopped { None } else { self.stall() };
        let unissued = if was_stopped || stall.is_some() { 0 } else { self.applications.unissued() };
        self.close_measures();
        let never_sent = self.engine.never_sent();
        let (log, traffic) = self.engine.into_records();
        Outcome {
            as_expected: stall.is_none() && self.violations.is_empty() && unissued == 0 && !self.is_cut,
            log: log.unwrap_or_default(),
            measures: Measures { traffic, ..self.measures },
            stall,
            unissued,
            never_sent,
            repetition: None,
            is_cut: self.is_cut,
            violations: self.violations,
        }
    }

    fn close_measures(&mut self) {
        for (node, fenced) in NodeId::first(self.entries_by_node.len()).zip(self.engine.machines()) {
            let entries = &mut self.entries_by_node[node.index()];
            if fenced.node().phase() == Phase::Waiting {
                let number = self.line.number(self.place_in_line[node.index()]);
                if !self.engine.is_crashed(node) {
                    self.measures.bypasses.add(self.line.bypasses(number));
                }
            } else if *entries == 0 {
                *entries = Measures::NEVER_ASKED;
            }
        }
        self.measures.entries_by_node = std::mem::take(&mut self.entries_by_node);
        self.measures.time = self.engine.now().0;
        self.measures.out_of_order = self.order.as_ref().map(OrderMonitor::violated);
        self.measures.throughput = match self.first_and_last_entry {
            Some((first, last)) => (self.measures.entries - 1, (last - first).0),
            None => (0, 0),
        };
    }
}
