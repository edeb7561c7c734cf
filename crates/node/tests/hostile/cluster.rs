//! A few nodes in virtual time, small enough to stand between any two of their messages.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Effects, Machine, NodeId, Options, Refusal, Sent, Ticks, To};
use doorway_node::disk::{Disk, MemoryDisk, Write, found};
use doorway_node::timing::milliseconds;
use doorway_node::{
    ClientId, Command, Damping, LockCommand, LockNode, Msg, Notice, Recipe, Recipes, RequestId, Setup, Timing,
};

use crate::corpus::{disk, node, nonce, section, with_synced};

/// How long a message is under way.
const LATENCY: Ticks = Ticks(500);

/// How long a write takes.
const WRITE: Ticks = Ticks(1_000);

/// Some nodes, what is on its way between them, and what is on their disks.
pub struct Cluster {
    pub nodes: Vec<LockNode>,
    pub disks: Vec<MemoryDisk>,
    pub now: Ticks,
    /// What the nodes told their clients, in order.
    pub notices: Vec<(usize, Notice)>,
    events: BTreeMap<(Ticks, u64), Event>,
    made: u64,
}

/// Something that happens to a node.
pub enum Event {
    /// A message arrives.
    Deliver { to: usize, from: NodeId, msg: Msg },
    /// A timer rings.
    Ring { at: usize, timer: Ticks },
    /// A write is finished.
    Written { at: usize, write: Write },
}

/// The recipes of the textbook.
pub fn recipes() -> Recipes {
    let mut recipes = Recipes::default();
    doorway_algorithms::register(&mut recipes);
    recipes
}

/// The recipe of an algorithm of the textbook.
pub fn recipe(name: &str) -> Recipe {
    recipes().recipe(name, &Options::none()).expect("it is in the textbook and needs no options")
}

/// Makes the node with this index in a cluster of `n`.
pub fn setup(index: usize, n: usize, recipe: &Recipe) -> Setup {
    Setup {
        longest_log: Setup::LONGEST_LOG,
        most_open: Setup::MOST_OPEN,
        me: node(index),
        peers: (0..n).map(node).collect(),
        founders: BTreeSet::new(),
        nonce: nonce(index),
        recipe: recipe.clone(),
        timing: Timing::default(),
        damping: Damping::of(&Timing::default()),
    }
}

impl Cluster {
    /// So many nodes that begin as the voters of a new cluster.
    pub fn new(n: usize, algorithm: &str) -> Self {
        let voters: Vec<_> = (0..n).map(|index| (disk(index), node(index))).collect();
        Self::on_disks(n, algorithm, found(&voters)).expect("the disks are good")
    }

    /// The nodes of a cluster, one for each of these disks.
    ///
    /// # Errors
    /// If a disk is not that of a node.
    pub fn on_disks(n: usize, algorithm: &str, disks: Vec<Vec<u8>>) -> Result<Self, Refusal> {
        let recipe = recipe(algorithm);
        Self::of((0..disks.len()).map(|index| setup(index, n, &recipe)).collect(), disks)
    }

    /// So many nodes that begin as the voters of a new cluster, each with what makes it the one that it is.
    pub fn founded(setups: Vec<Setup>) -> Self {
        let voters: Vec<_> = (0..setups.len()).map(|index| (disk(index), node(index))).collect();
        Self::of(setups, found(&voters)).expect("the disks are good")
    }

    fn of(setups: Vec<Setup>, disks: Vec<Vec<u8>>) -> Result<Self, Refusal> {
        let make = |(setup, disk): (Setup, &Vec<u8>)| LockNode::new(setup, disk);
        let nodes = setups.into_iter().zip(&disks).map(make).collect::<Result<_, _>>()?;
        let disks = disks.into_iter().map(MemoryDisk::new).collect();
        let (now, notices, events) = (Ticks(0), Vec::new(), BTreeMap::new());
        let mut cluster = Self { nodes, disks, now, notices, events, made: 0 };
        for at in 0..cluster.nodes.len() {
            cluster.act(at, |node, now, effects| node.on_start(now, effects));
        }
        Ok(cluster)
    }

    /// A node that was put in the place of another begins to live; what was under way to that one is lost.
    pub fn restart(&mut self, at: usize) {
        let is_for = |event: &Event| match event {
            Event::Deliver { to, .. } => *to == at,
            Event::Ring { at: there, .. } | Event::Written { at: there, .. } => *there == at,
        };
        self.events.retain(|_, event| !is_for(event));
        self.act(at, |node, now, effects| node.on_start(now, effects));
        while let Some((place, _)) =
            self.events.iter().find(|(_, event)| matches!(event, Event::Written { .. }) && is_for(event))
        {
            let place = *place;
            let event = self.events.remove(&place);
            event.into_iter().for_each(|event| self.have(event));
        }
    }

    /// The next thing happens, unless it is later than this.
    pub fn step(&mut self, until: Ticks) -> Option<Event> {
        let first = self.events.first_entry().filter(|first| first.key().0 <= until)?;
        self.now = first.key().0;
        Some(first.remove())
    }

    /// Lets a node have what happens to it.
    pub fn have(&mut self, event: Event) {
        match event {
            Event::Deliver { to, from, msg } => self.deliver(to, from, msg),
            Event::Ring { at, timer } => self.act(at, |node, now, out| node.on_timer(now, timer, out)),
            Event::Written { at, write } => {
                self.disks[at].write(&write).expect("memory does not fail");
                self.act(at, |node, now, out| node.on_written(now, write, out));
            }
        }
    }

    /// A message arrives now.
    pub fn deliver(&mut self, to: usize, from: NodeId, msg: Msg) {
        self.act(to, |node, now, effects| node.on_message(now, from, (), msg, effects));
    }

    /// A forged message arrives now, with as many synced writes as its sender has: with fewer it would be taken for late.
    pub fn forge(&mut self, to: usize, from: usize, msg: Msg) {
        let synced = self.nodes[from].look().synced;
        self.deliver(to, node(from), with_synced(msg, disk(from), synced));
    }

    /// A client says something now.
    pub fn command(&mut self, at: usize, command: Command) {
        self.act(at, |node, now, effects| node.on_command(now, command, effects));
    }

    /// Everything happens up to this time.
    pub fn run_until(&mut self, until: Ticks) {
        while let Some(event) = self.step(until) {
            self.have(event);
        }
        self.now = until;
    }

    /// The nodes at which a new client gets into this section within so long, one after the other.
    pub fn served(&mut self, name: &str, patience: Ticks) -> Vec<usize> {
        let nodes = 0..self.nodes.len();
        nodes.filter(|at| self.is_served(*at, name, patience)).collect()
    }

    fn is_served(&mut self, at: usize, name: &str, patience: Ticks) -> bool {
        self.made += 1;
        let (request, client) = (RequestId(self.made), ClientId(self.made));
        let (names, max_hold) = (vec![section(name)], Some(milliseconds(10)));
        let lock = LockCommand {
            request,
            client,
            names,
            patience: Some(patience),
            max_hold,
            ttl: None,
            tell_if_wanted: false,
        };
        self.notices.clear();
        self.command(at, Command::Lock(lock));
        self.run_until(self.now + patience + milliseconds(20));
        let is_in = |(_, notice): &(usize, Notice)| matches!(notice, Notice::Granted { request: id, .. } if *id == request);
        self.notices.iter().any(is_in)
    }

    fn act(&mut self, at: usize, act: impl FnOnce(&mut LockNode, Ticks, &mut Effects<LockNode>)) {
        let mut effects = Effects::default();
        act(&mut self.nodes[at], self.now, &mut effects);
        self.notices.extend(effects.notices.drain(..).map(|notice| (at, notice)));
        for (span, timer) in std::mem::take(&mut effects.timers) {
            self.schedule(span, Event::Ring { at, timer });
        }
        for write in std::mem::take(&mut effects.writes) {
            self.schedule(WRITE, Event::Written { at, write });
        }
        for Sent { to, msg, .. } in effects.out.drain() {
            // The nodes that hostile messages invent do not exist.
            let To::One(to) = to else { panic!("a lock node sends to one node at a time") };
            if to.index() < self.nodes.len() {
                self.schedule(LATENCY, Event::Deliver { to: to.index(), from: node(at), msg });
            }
        }
    }

    fn schedule(&mut self, span: Ticks, event: Event) {
        self.made += 1;
        self.events.insert((self.now + span, self.made), event);
    }
}
