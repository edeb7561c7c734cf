//! The system of an algorithm: its nodes, the channels between them, and so many requests of each node.
//!
//! The states of single nodes and the messages in flight get numbers as they are met. A step of the whole system looks up what
//! comes of the numbers of a node's state and of what it is told; the algorithm's own code runs once for each such pair.

mod acts;
mod flight;
mod maps;
mod nodes;
mod outcomes;
mod steps;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};

use doorway_core::{Channels, Explain, Factory, Hints, Members, Node, NodeId, Phase, Refusal, Start};

use crate::{Known, Property, Step, System};
pub use acts::{Act, Delivery};
use flight::Flight;
use nodes::{Nodes, Population};
use steps::Missing;
use tables::Tables;

/// All nodes of an algorithm, and what is in flight between them.
pub struct Messages {
    setting: Setting,
    nodes: Box<dyn Nodes>,
    tables: Tables,
    flight: Flight,
    /// Whether counters are taken down, so that only their differences matter.
    translates: bool,
    /// Whether more messages were in flight at once than causal channels can keep apart.
    overflows: AtomicBool,
}

/// What is explored, and what is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// How often each node asks: there are as many nodes. [`Setting::UNBOUNDED`] is again and again.
    pub requests: Vec<u32>,
    /// In what order channels deliver.
    pub channels: Channels,
    /// Whether somebody is inside at the start.
    pub start: Start,
    /// What is watched besides exclusion and progress.
    pub watches: Watches,
    /// What may go wrong.
    pub faults: Faults,
    /// Whether to leave out what an algorithm promises to make no difference.
    pub reduction: bool,
}

impl Setting {
    /// A node that asks again and again.
    pub const UNBOUNDED: u32 = u32::MAX;
    /// The most nodes.
    pub const MOST_NODES: usize = 32;

    /// So many requests of each node, in channels of this order, from nobody inside, watching nothing else.
    #[must_use]
    pub fn new(requests: Vec<u32>, channels: Channels) -> Self {
        let (start, watches, faults) = (Start::Empty, Watches::default(), Faults::default());
        Self { requests, channels, start, watches, faults, reduction: false }
    }
}

/// What is watched besides exclusion and progress. All of it needs every state, and more of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// The algorithm's own invariants, in every state.
    pub invariants: bool,
    /// Fences. They are part of the states then.
    pub fences: bool,
    /// Whether requests of which one happened before the other are served in that order. Applications then tell each other,
    /// outside of the algorithm's channels, of all that they know.
    pub order: bool,
    /// Whether the messages by which a node asks have all arrived: that is where its doorway ends. They are told apart from
    /// others then.
    pub doorways: bool,
}

/// How much may go wrong in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many messages may be lost.
    pub losses: u8,
    /// How many messages may arrive once more.
    pub duplicates: u8,
    /// How many nodes may stop for good.
    pub crashes: u8,
}

impl Faults {
    /// Whether anything may go wrong.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }

    fn budget(self) -> u32 {
        u32::from(self.losses) | u32::from(self.duplicates) << 8 | u32::from(self.crashes) << 16
    }
}

impl Messages {
    /// The system of an algorithm.
    ///
    /// # Errors
    /// If the algorithm cannot run among so many nodes, or what is asked for does not go together.
    pub fn new<A: Explain + Hints>(factory: &Factory<A>, mut setting: Setting) -> Result<Self, Refusal> {
        // What may be lost or come twice cannot be made at once, and in causal channels an early delivery holds back others.
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
        Ok(Self { setting, nodes, tables, flight, translates, overflows })
    }

    fn n(&self) -> usize {
        self.setting.requests.len()
    }

    /// A state in full, to be compared with one of another search: nodes, and messages in flight in order, without what can
    /// make no difference when nobody asks any more.
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

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> Known {
        match self.try_steps(state, visit) {
            Ok(()) => Known::All,
            Err(_) => Known::No,
        }
    }

    fn learn(&mut self, state: &[u32]) {
        while let Err(missing) = self.try_steps(state, &mut |_, _| ()) {
            self.find_out(missing);
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
        self.tables.face(state[process]).phase
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
    /// Finds out one thing that was missing.
    fn find_out(&mut self, missing: Missing) {
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
