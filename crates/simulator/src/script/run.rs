//! Runs scripts.

use doorway_core::{Channels, Explain, Factory, LamportClock, NodeId, NodeSet, Phase, Ticks, kind};

use super::{Action, Expectation, Pick, Played, Script, ScriptError};
use crate::outcome::{Outcome, Repetition};
use crate::settings::{Load, Settings};
use crate::simulation::Simulation;

impl Script {
    /// Runs the script as far as possible, and lists the possible next actions. Of the settings it uses
    /// nodes, channels, start, seed, invariants, order, trace and limits; the script itself determines load,
    /// times and faults.
    ///
    /// # Errors
    /// If the system cannot be built, or a line names a node that does not exist.
    pub fn play<A: Explain>(&self, factory: &Factory<A>, settings: &Settings) -> Result<Played, ScriptError> {
        self.refuse_unknown_nodes(settings.nodes)?;
        let mut run = self.begin(factory, settings)?;
        let trouble = self.actions.iter().find_map(|(line, action)| {
            let trouble = run.act(action).err()?;
            Some(trouble.at(*line))
        });
        let choices = run.choices();
        Ok(Played { outcome: run.finish(), choices, trouble })
    }

    /// A line about a node that does not exist can never be played, so the whole script is refused.
    fn refuse_unknown_nodes(&self, n: usize) -> Result<(), ScriptError> {
        for (line, action) in &self.actions {
            if let Some(node) = action.nodes().into_iter().find(|node| node.index() >= n) {
                return Err(unknown_node(node, n).at(*line));
            }
        }
        Ok(())
    }

    fn begin<A: Explain>(
        &self,
        factory: &Factory<A>,
        settings: &Settings,
    ) -> Result<ScriptRun<A>, ScriptError> {
        let &Settings { nodes, channels, start, seed, invariants, order, trace, .. } = settings;
        let (order, trace) = (order || self.asks_for_order(), trace || self.asks_for_times());
        let (load, entries) = (Load::Isolated, u64::MAX);
        let by_hand = Settings { load, entries, ..Settings::default() };
        let limits = settings.limits.clone();
        let settings = Settings { nodes, channels, start, seed, invariants, order, trace, limits, ..by_hand };
        let refused =
            |refusal: doorway_core::Refusal| ScriptError::Impossible { line: 0, what: refusal.to_string() };
        let mut simulation = Simulation::new(factory, &settings).map_err(refused)?;
        simulation.engine.hold_messages();
        if channels == Channels::Causal {
            simulation.engine.track_causality();
        }
        simulation.start();
        Ok(ScriptRun {
            simulation,
            channels: settings.channels,
            entries: Vec::new(),
            expected: Expected::default(),
            repetition: None,
        })
    }

    fn asks_for_order(&self) -> bool {
        self.actions.iter().any(|(_, action)| matches!(action, Action::Expect(Expectation::OutOfOrder(_))))
    }
}

/// A script in progress.
pub(super) struct ScriptRun<A: Explain> {
    pub(super) simulation: Simulation<A>,
    channels: Channels,
    /// The entries so far.
    entries: Vec<NodeId>,
    expected: Expected,
    /// The loop, once it has begun.
    repetition: Option<Repetition>,
}

/// The expected failures that occurred.
#[derive(Default)]
struct Expected {
    deadlock: bool,
    violation: bool,
}

/// What is wrong with a line.
pub(super) enum Trouble {
    Impossible(String),
    Unmet(String),
}

impl Trouble {
    fn at(self, line: usize) -> ScriptError {
        match self {
            Trouble::Impossible(what) => ScriptError::Impossible { line, what },
            Trouble::Unmet(what) => ScriptError::Unmet { line, what },
        }
    }
}

impl<A: Explain> ScriptRun<A> {
    /// The most deliveries of one `deliver all`.
    const MOST_DELIVERIES: usize = 1_000_000;
    /// The most messages in flight that an error lists.
    const SHOWN: usize = 12;

    fn finish(self) -> Outcome {
        let (Expected { deadlock, violation }, repetition) = (self.expected, self.repetition);
        let mut outcome = self.simulation.finish();
        outcome.unissued = 0;
        // A loop that ends at rest is no stall: its next round starts with a request.
        outcome.stall = outcome.stall.filter(|_| deadlock || repetition.is_none());
        outcome.repetition = repetition;
        outcome.as_expected =
            (deadlock || outcome.stall.is_none()) && (violation || outcome.violations.is_empty());
        outcome
    }

    fn act(&mut self, action: &Action) -> Result<(), Trouble> {
        if let Action::Expect(expectation) = action {
            return self.expect(expectation);
        }
        if let Action::Loop = action {
            self.begin_loop();
            return Ok(());
        }
        let now = self.simulation.engine.now() + Ticks(1);
        self.simulation.engine.advance_to(now);
        match action {
            Action::Request(node) => {
                self.demand(*node, Phase::Outside, "ask")?;
                self.simulation.ask(*node, now);
                self.note_entry(*node);
            }
            Action::Release(node) => {
                self.demand(*node, Phase::Inside, "leave")?;
                self.simulation.leave(*node, now);
            }
            Action::Deliver(pick) => self.deliver(pick)?,
            Action::DeliverAll => self.deliver_all()?,
            Action::Lose(pick) => {
                let place = self.find(pick)?;
                self.simulation.engine.lose_held(place);
            }
            Action::Duplicate(pick) => {
                let place = self.find(pick)?;
                self.simulation.engine.double_held(place);
            }
            Action::Crash(node) => {
                self.exists(*node)?;
                self.simulation.engine.crash(*node);
                self.simulation.crash_application(*node);
                self.end_starving(*node);
            }
            Action::Report { crashed, to } => self.report(*crashed, *to)?,
            Action::Clock(node, count) => self.set_clock(*node, *count)?,
            Action::Tell(from, to) => self.tell(*from, *to)?,
            Action::Loop | Action::Expect(_) => {}
        }
        Ok(())
    }

    fn begin_loop(&mut self) {
        let engine = &mut self.simulation.engine;
        engine.note_loop();
        let from = engine.now();
        let starving = NodeId::first(engine.machines().len())
            .filter(|&node| self.phase(node) == Phase::Waiting && !self.simulation.engine.is_crashed(node))
            .collect();
        self.repetition = Some(Repetition { from, starving });
    }

    /// An application tells another, outside the algorithm. Like every message between two processes it
    /// carries the logical clock of its sender, if there is one.
    fn tell(&mut self, from: NodeId, to: NodeId) -> Result<(), Trouble> {
        for node in [from, to] {
            self.exists(node)?;
            if self.simulation.engine.is_crashed(node) {
                return Err(Trouble::Impossible(format!(
                    "node {node} has crashed and can neither tell nor be told"
                )));
            }
        }
        let engine = &mut self.simulation.engine;
        engine.tell(from, to);
        let shown = engine.machine_mut(from).node_mut().algorithm_mut().clock().map(|clock| clock.count());
        let heard = engine.machine_mut(to).node_mut().algorithm_mut().clock();
        if let Some((clock, count)) = heard.zip(shown) {
            clock.merge(count);
            let count = clock.count();
            engine.note_clock(to, count);
        }
        Ok(())
    }

    /// The oracle reports a crash to a node. It may err: the script decides.
    fn report(&mut self, crashed: NodeId, to: NodeId) -> Result<(), Trouble> {
        self.exists(crashed)?;
        self.exists(to)?;
        if self.simulation.engine.is_crashed(to) || to == crashed {
            return Err(Trouble::Impossible(format!(
                "node {to} has crashed or is node {crashed} itself, so it gets no report"
            )));
        }
        self.simulation.engine.report_crash(to, crashed);
        self.simulation.after_step(to);
        self.note_entry(to);
        Ok(())
    }

    /// Records an entry of this node, if its last step entered.
    fn note_entry(&mut self, node: NodeId) {
        if !self.simulation.engine.effects().notices.is_empty() {
            self.entries.push(node);
            self.end_starving(node);
        }
    }

    /// This node does not wait throughout the loop.
    fn end_starving(&mut self, node: NodeId) {
        if let Some(repetition) = &mut self.repetition {
            repetition.starving.remove(node);
        }
    }

    fn exists(&self, node: NodeId) -> Result<(), Trouble> {
        let n = self.simulation.engine.machines().len();
        if node.index() < n {
            return Ok(());
        }
        Err(unknown_node(node, n))
    }

    fn demand(&self, node: NodeId, wanted: Phase, to: &str) -> Result<(), Trouble> {
        self.exists(node)?;
        if self.simulation.engine.is_crashed(node) {
            return Err(Trouble::Impossible(format!("node {node} has crashed and cannot {to}")));
        }
        let words = |phase| match phase {
            Phase::Outside => "outside",
            Phase::Waiting => "waiting",
            Phase::Inside => "inside",
        };
        match self.phase(node) {
            phase if phase == wanted => Ok(()),
            phase => {
                let (is, must) = (words(phase), words(wanted));
                Err(Trouble::Impossible(format!("node {node} is {is} and cannot {to}: it must be {must}")))
            }
        }
    }

    pub(super) fn phase(&self, node: NodeId) -> Phase {
        self.simulation.engine.machines()[node.index()].node().phase()
    }

    fn deliver(&mut self, pick: &Pick) -> Result<(), Trouble> {
        let place = self.find(pick)?;
        self.check_order(place)?;
        self.deliver_at(place);
        Ok(())
    }

    fn deliver_at(&mut self, place: usize) {
        if let Some(node) = self.simulation.engine.deliver_held(place) {
            self.simulation.after_step(node);
            self.note_entry(node);
        }
    }

    fn deliver_all(&mut self) -> Result<(), Trouble> {
        for _ in 0..Self::MOST_DELIVERIES {
            if self.simulation.engine.held().is_empty() {
                return Ok(());
            }
            if self.simulation.check_limits() {
                break;
            }
            self.deliver_at(0);
        }
        Err(Trouble::Impossible("`deliver all` does not come to an end: this system never rests".to_owned()))
    }

    /// The place of the named message among those in flight.
    fn find(&self, pick: &Pick) -> Result<usize, Trouble> {
        self.exists(pick.from)?;
        self.exists(pick.to)?;
        let is_kind = |name: &str| pick.kind.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case(name));
        let held = self.simulation.engine.held();
        let is_meant = |place: &usize| {
            let letter = &held[*place];
            (letter.from, letter.to) == (pick.from, pick.to) && is_kind(kind(&letter.msg).name)
        };
        let mut meant = (0..held.len()).filter(is_meant);
        meant
            .nth(pick.which.get() - 1)
            .ok_or_else(|| self.missing(pick, (0..held.len()).filter(is_meant).count()))
    }

    /// The error for a message that is not in flight; `there` messages match.
    fn missing(&self, pick: &Pick, there: usize) -> Trouble {
        let Pick { from, to, kind, which } = pick;
        let wanted = kind.as_deref().unwrap_or("message");
        let in_flight = self.in_flight();
        Trouble::Impossible(match there {
            0 => format!("there is no {wanted} {from}->{to} in flight; {in_flight}"),
            _ => format!("there is no {wanted} {from}->{to} #{which} in flight, only {there}; {in_flight}"),
        })
    }

    fn in_flight(&self) -> String {
        let held = self.simulation.engine.held();
        let mut listed: Vec<String> = held
            .iter()
            .take(Self::SHOWN)
            .map(|letter| format!("{}->{} {}", letter.from, letter.to, kind(&letter.msg).name))
            .collect();
        if held.len() > Self::SHOWN {
            listed.push(format!("{} more", held.len() - Self::SHOWN));
        }
        if listed.is_empty() { "nothing is".to_owned() } else { format!("in flight: {}", listed.join(", ")) }
    }

    /// A message that the channels must deliver before this one.
    pub(super) fn first_of(&self, place: usize) -> Option<usize> {
        let engine = &self.simulation.engine;
        let held = engine.held();
        let letter = &held[place];
        match self.channels {
            Channels::Any => None,
            Channels::Fifo => {
                held[..place].iter().position(|other| (other.from, other.to) == (letter.from, letter.to))
            }
            Channels::Causal => {
                (0..place).find(|&other| held[other].to == letter.to && engine.held_before(other, place))
            }
        }
    }

    /// Whether the channels allow this message to arrive next.
    fn check_order(&self, place: usize) -> Result<(), Trouble> {
        let held = self.simulation.engine.held();
        let letter = &held[place];
        let Some(first) = self.first_of(place).map(|first| &held[first]) else { return Ok(()) };
        let name = |letter: &crate::engine::Envelope<_>| {
            format!("{} {}->{}", kind(&letter.msg).name, letter.from, letter.to)
        };
        Err(Trouble::Impossible(format!(
            "{} cannot arrive on {} channels before {}, which was sent first",
            name(letter),
            self.channels.name(),
            name(first)
        )))
    }

    fn set_clock(&mut self, node: NodeId, count: u64) -> Result<(), Trouble> {
        /// Larger counts could overflow.
        const LATEST: u64 = 1 << 62;
        self.exists(node)?;
        if count > LATEST {
            return Err(Trouble::Impossible(format!("a clock can be set to at most {LATEST}")));
        }
        let algorithm = self.simulation.engine.machine_mut(node).node_mut().algorithm_mut();
        match algorithm.clock() {
            Some(clock) => *clock = LamportClock::at(count),
            None => return Err(Trouble::Impossible("this algorithm has no logical clock to set".to_owned())),
        }
        self.simulation.engine.note_clock(node, count);
        Ok(())
    }

    fn expect(&mut self, expectation: &Expectation) -> Result<(), Trouble> {
        match expectation {
            Expectation::Inside(nodes) => self.expect_phase(nodes, Phase::Inside, "inside"),
            Expectation::Waiting(nodes) => self.expect_phase(nodes, Phase::Waiting, "waiting"),
            Expectation::Deadlock(nodes) => self.expect_deadlock(nodes),
            Expectation::Cycle(nodes) => {
                let cycle = self.simulation.stall().map(|stall| stall.cycle).unwrap_or_default();
                compare("the cycle", &listed(nodes), &listed(&cycle))
            }
            Expectation::Entries(nodes) => {
                compare("the order of entries", &listed(nodes), &listed(&self.entries))
            }
            Expectation::Messages(count) => {
                compare("the number of messages", count, &self.simulation.engine.traffic().messages)
            }
            Expectation::InFlight(count) => compare(
                "the number of messages in flight",
                count,
                &(self.simulation.engine.held().len() as u64),
            ),
            Expectation::State { node, field, value } => self.expect_state(*node, field, value),
            Expectation::OutOfOrder(count) => {
                compare("the number of entries out of order", count, &self.simulation.out_of_order())
            }
            Expectation::Lamport { node, counts } => self.expect_lamport(*node, counts),
            Expectation::Vector { node, counts } => self.expect_vector(*node, counts),
            Expectation::Violation if self.simulation.violations().is_empty() => {
                Err(Trouble::Unmet("a violation is expected, but all went well so far".to_owned()))
            }
            Expectation::Violation => {
                self.expected.violation = true;
                Ok(())
            }
        }
    }

    fn expect_phase(&self, nodes: &[NodeId], phase: Phase, word: &str) -> Result<(), Trouble> {
        let n = self.simulation.engine.machines().len();
        let found: NodeSet = NodeId::first(n).filter(|&node| self.phase(node) == phase).collect();
        compare(&format!("who is {word}"), &nodes.iter().copied().collect::<NodeSet>(), &found)
    }

    fn expect_deadlock(&mut self, nodes: &[NodeId]) -> Result<(), Trouble> {
        let Some(stall) = self.simulation.stall() else {
            let what = match self.simulation.engine.held() {
                [] => {
                    "a deadlock is expected, but no node waits, or a node inside can still leave".to_owned()
                }
                _ => format!("a deadlock is expected, but something can still happen; {}", self.in_flight()),
            };
            return Err(Trouble::Unmet(what));
        };
        let waiting: NodeSet = stall.waiting.iter().map(|waiting| waiting.node).collect();
        compare("who waits for ever", &nodes.iter().copied().collect::<NodeSet>(), &waiting)?;
        self.expected.deadlock = true;
        Ok(())
    }

    fn expect_state(&self, node: NodeId, field: &str, value: &str) -> Result<(), Trouble> {
        self.exists(node)?;
        let fields = self.simulation.engine.machines()[node.index()].node().algorithm().fields();
        match fields.iter().find(|candidate| candidate.name == field) {
            Some(found) => compare(&format!("{field} of node {node}"), &value.to_owned(), &found.value),
            None => {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                Err(Trouble::Impossible(format!(
                    "node {node} has no field {field:?}, only {}",
                    names.join(", ")
                )))
            }
        }
    }
}

fn unknown_node(node: NodeId, n: usize) -> Trouble {
    Trouble::Impossible(format!("there is no node {node}: nodes are 1 to {n}"))
}

pub(super) fn compare<T: PartialEq + std::fmt::Display>(
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), Trouble> {
    if expected == found {
        return Ok(());
    }
    Err(Trouble::Unmet(format!("{what} is expected to be {expected} and is {found}")))
}

fn listed(nodes: &[NodeId]) -> String {
    let numbers: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
    if numbers.is_empty() { "nobody".to_owned() } else { numbers.join(" ") }
}
