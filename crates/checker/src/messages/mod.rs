//! The system of an algorithm: its nodes, the channels between them, and a number of requests of each node.
//!
//! The states of single nodes (locals) and the messages in flight (letters) are interned. A step of the whole
//! system looks up the outcome of a local and an input by their numbers; the algorithm's own code runs once
//! for each such pair.

mod acts;
mod flight;
mod maps;
mod nodes;
mod outcomes;
mod steps;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};

use doorway_core::{Channels, Explain, Factory, Hints, Members, Node, NodeId, Phase, Refusal, Start};

use crate::{Property, Step, StepsKnown, System};
pub use acts::{Act, Delivery};
use flight::Flight;
use nodes::{Nodes, Population};
use steps::Missing;
use tables::Tables;

/// All nodes of an algorithm, and the messages in flight between them.
///
/// A state is one word of 32-bit numbers; `fence` and `budget` are present only if they are used:
///
/// ```text
/// local 0 … local n−1 │ fence │ budget │ in flight
///
/// in flight, any  letters by number
///            fifo letters by channel, then in the order of sending
///          causal count │ letters by number │ heard of each node │ before of each letter
///
/// local, letter   numbers of an interned node state and an interned message
/// fence           the last fence, if fences are watched
/// budget          faults that may still happen: losses (bits 0–7), duplicates (8–15), crashes (16–23),
///                 wrong reports of a crash (24–31)
/// heard, before   masks over the letters, two numbers each, the lower half first
/// ```
pub struct Messages {
    setting: Setting,
    nodes: Box<dyn Nodes>,
    tables: Tables,
    flight: Flight,
    /// Whether nodes are told of crashes.
    has_oracle: bool,
    /// Whether counters are shifted down to 0, because only their differences matter.
    translates: bool,
    /// Whether more messages were in flight than the masks of causal channels hold.
    overflows: AtomicBool,
}

/// What to explore, and what to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The number of requests of each node; its length is the number of nodes. [`Setting::UNBOUNDED`] means
    /// for ever.
    pub requests: Vec<u32>,
    /// The delivery order of the channels.
    pub channels: Channels,
    /// The node inside at the start, if any.
    pub start: Start,
    /// What to watch besides mutual exclusion and progress.
    pub watches: Watches,
    /// The faults that may happen.
    pub faults: FaultBudget,
    /// Whether to use the algorithm's [hints](Hints) to reduce the state space.
    pub reduction: bool,
}

impl Setting {
    /// A node that requests for ever.
    pub const UNBOUNDED: u32 = u32::MAX;
    /// The most nodes.
    pub const MOST_NODES: usize = 32;

    /// This many requests of each node, on channels of this order, with no node inside, no watches, no faults
    /// and no reduction.
    #[must_use]
    pub fn new(requests: Vec<u32>, channels: Channels) -> Self {
        let (start, watches, faults) = (Start::Empty, Watches::default(), FaultBudget::default());
        Self { requests, channels, start, watches, faults, reduction: false }
    }
}

/// What to watch besides mutual exclusion and progress. Each needs the full search, and most enlarge the
/// state space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// The algorithm's own invariants, in every state.
    pub invariants: bool,
    /// Fences. They become part of the states.
    pub fences: bool,
    /// Whether requests are served in happened-before order. Applications then also tell each other, outside
    /// the algorithm's channels, all that they know.
    pub order: bool,
    /// Whether all messages of a node's request step have arrived: there its doorway ends. Such messages then
    /// differ from others.
    pub doorways: bool,
}

/// The most faults of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultBudget {
    /// The most lost messages.
    pub losses: u8,
    /// The most duplicated messages.
    pub duplicates: u8,
    /// The most crashed nodes. If the algorithm [watches crashes](doorway_core::Algorithm::WATCHES_CRASHES), each
    /// live node is told of each crash, sooner or later.
    pub crashes: u8,
    /// The most reports of a crash that did not happen: the oracle errs.
    pub suspicions: u8,
}

impl FaultBudget {
    /// Whether any fault may happen.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }

    fn budget(self) -> u32 {
        let [losses, duplicates, crashes, suspicions] =
            [self.losses, self.duplicates, self.crashes, self.suspicions].map(u32::from);
        losses | duplicates << 8 | crashes << 16 | suspicions << 24
    }
}

impl Messages {
    /// The system of an algorithm.
    ///
    /// # Errors
    /// If the algorithm cannot run with this number of nodes, or the setting is inconsistent.
    pub fn new<A: Explain + Hints>(factory: &Factory<A>, mut setting: Setting) -> Result<Self, Refusal> {
        // A message that may be lost or duplicated cannot be delivered eagerly, and on causal channels an
        // early delivery blocks others.
        setting.reduction &= !setting.faults.any() && setting.channels != Channels::Causal;
        let n = setting.requests.len();
        if n > Setting::MOST_NODES {
            let most = Setting::MOST_NODES;
            return Err(Refusal::new(format!("a system of 1 to {most} nodes can be explored, not of {n}")));
        }
        if setting.channels == Channels::Causal && setting.faults.any() {
            return Err(Refusal::new("faults are explored with channels fifo or any, not causal"));
        }
        let members = Members::new(n)?;
        let plan = factory.plan(&members)?;
        let nodes: Vec<Node<A>> = members.iter().map(|node| plan.node(node, setting.start)).collect();
        let is_unbounded = setting.requests.contains(&Setting::UNBOUNDED);
        let shows = |node: &Node<A>| node.clone().algorithm_mut().counters(&mut |_, _| ());
        let translates = (is_unbounded || setting.reduction)
            && setting.channels != Channels::Causal
            && nodes.iter().all(shows);
        let head = n + usize::from(setting.watches.fences) + usize::from(setting.faults.any());
        let flight = Flight { channels: setting.channels, head, n };
        let nodes = Box::new(Population::new(nodes, &setting, translates));
        let (tables, overflows) = (Tables::default(), AtomicBool::new(false));
        let has_oracle = A::WATCHES_CRASHES && setting.faults.crashes.max(setting.faults.suspicions) > 0;
        Ok(Self { setting, nodes, tables, flight, has_oracle, translates, overflows })
    }

    fn n(&self) -> usize {
        self.setting.requests.len()
    }

    /// A state in full, to compare it with one of another search: nodes and messages in flight in order,
    /// without what does not matter once no node requests again.
    #[must_use]
    pub fn picture(&self, state: &[u32]) -> String {
        self.nodes.picture(&state[..self.n()], self.flight.letters(state))
    }
}

impl System for Messages {
    fn processes(&self) -> usize {
        self.n()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let (mut word, sent) = self.nodes.start(&mut self.tables);
        if self.setting.watches.fences {
            word.push(0);
        }
        if self.setting.faults.any() {
            word.push(self.setting.faults.budget());
        }
        self.flight.clear(&mut word);
        for (number, &letter) in sent.iter().enumerate() {
            let from = self.tables.route(letter).from;
            if !self.flight.put(&self.tables, &mut word, from, letter, &sent[..number]) {
                self.overflows.store(true, Ordering::Relaxed);
            }
        }
        vec![word]
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        match self.try_steps(state, visit) {
            Ok(()) => StepsKnown::All,
            Err(_) => StepsKnown::No,
        }
    }

    fn learn(&mut self, state: &[u32]) {
        while let Err(missing) = self.try_steps(state, &mut |_, _| ()) {
            self.compute(missing);
        }
    }

    fn restart(&mut self) {
        self.tables = Tables::default();
        self.nodes.restart();
        self.overflows.store(false, Ordering::Relaxed);
    }

    fn bytes(&self) -> u64 {
        self.tables.outcomes.bytes() + self.nodes.bytes()
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.tables.facts(state[process]).phase
    }

    fn is_past_doorway(&self, state: &[u32], process: usize) -> bool {
        let asks = |letter: &u32| {
            let route = self.tables.route(*letter);
            route.asks && route.from as usize == process
        };
        !self.flight.letters(state).iter().any(asks)
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        if !self.setting.watches.invariants {
            return Vec::new();
        }
        self.nodes.flaws(&state[..self.n()], self.flight.letters(state))
    }

    fn unfold(&self, state: &[u32], step: &Step) -> Vec<Step> {
        self.unfolded(state, step)
    }

    fn is_cut(&self) -> bool {
        self.overflows.load(Ordering::Relaxed)
    }

    fn describe(&self, step: &Step) -> String {
        self.act(step).to_string()
    }
}

impl Messages {
    /// Computes a missing table entry.
    fn compute(&mut self, missing: Missing) {
        let tables = &mut self.tables;
        match missing {
            Missing::Outcome { process, local, input } => {
                self.nodes.run(tables, NodeId::new(process as usize), local, input);
            }
            Missing::Map { thing, map } => self.nodes.map(tables, thing, &map),
            Missing::Tell { from, to, local } => self.nodes.tell(tables, from, to, local),
        }
    }
}
