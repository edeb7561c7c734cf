//! All nodes and what is in flight between them, driven one step at a time: the smallest driver that there can be.

use doorway_core::{
    About, Ahead, Algorithm, Channels, Cut, Entry, Explain, Group, Hints, InFlightMessage, Input, Invariant,
    Members, Node, NodeId, Options, Out, Phase, Plan, Start, To,
};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::textbook::{Visit, visit_all};

/// A stream of chance.
pub struct Chance(Pcg64Mcg);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }

    /// How `n` nodes start: with one of them inside in about half of the cases.
    pub fn start(&mut self, n: usize) -> Start {
        match self.below(2 * n) {
            node if node < n => Start::Inside(NodeId::new(node)),
            _ => Start::Empty,
        }
    }
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parcel<M> {
    pub from: NodeId,
    pub to: NodeId,
    pub msg: M,
}

/// What can happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<M> {
    Request(NodeId),
    Release(NodeId),
    Deliver(Parcel<M>),
}

impl<M> Step<M> {
    /// The node that makes it.
    pub fn node(&self) -> NodeId {
        match self {
            Step::Request(node) | Step::Release(node) => *node,
            Step::Deliver(parcel) => parcel.to,
        }
    }
}

/// A global state.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct World<A: Algorithm> {
    pub nodes: Vec<Node<A>>,
    /// How often each node will ask.
    pub left: Vec<u32>,
    /// What is in flight, in the order of sending.
    pub flying: Vec<Parcel<A::Msg>>,
    /// Whether messages between two nodes arrive in the order of sending.
    pub fifo: bool,
}

impl<A: Explain + Hints> World<A> {
    pub fn new(plan: &Plan<A>, left: &[u32], start: Start, channels: Channels) -> Self {
        let nodes = NodeId::first(left.len()).map(|me| plan.node(me, start)).collect();
        let fifo = channels == Channels::Fifo;
        let mut world = Self { nodes, left: left.to_vec(), flying: Vec::new(), fifo };
        for me in NodeId::first(left.len()) {
            world.step_node(me, Input::Start).expect("a start is never broken");
        }
        world
    }

    /// Which requests are still to come, as `node` sees it.
    pub fn ahead(&self, node: NodeId) -> Ahead {
        Ahead { mine: self.left[node.index()] > 0, any: self.left.iter().any(|&left| left > 0) }
    }

    /// Whether no node will ask again.
    pub fn is_last(&self) -> bool {
        self.left.iter().all(|&left| left == 0)
    }

    /// Every step that can be made, in a fixed order.
    pub fn steps(&self) -> Vec<Step<A::Msg>> {
        let own = self.nodes.iter().zip(NodeId::first(self.left.len())).filter_map(|(node, me)| {
            match node.phase() {
                Phase::Outside => (self.left[me.index()] > 0).then_some(Step::Request(me)),
                Phase::Waiting => None,
                Phase::Inside => Some(Step::Release(me)),
            }
        });
        own.chain(self.arrivals().map(|parcel| Step::Deliver(parcel.clone()))).collect()
    }

    /// What can arrive next.
    pub fn arrivals(&self) -> impl Iterator<Item = &Parcel<A::Msg>> {
        let is_first = |place: usize, parcel: &Parcel<A::Msg>| {
            let channel = (parcel.from, parcel.to);
            !self.flying[..place].iter().any(|before| (before.from, before.to) == channel)
        };
        let arrives =
            move |(place, parcel): &(usize, &Parcel<A::Msg>)| !self.fifo || is_first(*place, parcel);
        self.flying.iter().enumerate().filter(arrives).map(|(_, parcel)| parcel)
    }

    /// Those of them that the receiver promises can as well be delivered at once.
    pub fn promised(&self) -> impl Iterator<Item = &Parcel<A::Msg>> {
        self.arrivals().filter(|Parcel { from, to, msg }| {
            let node = self.nodes[to.index()].algorithm();
            node.commutes(*from, msg, self.ahead(*to))
        })
    }

    /// Makes a step; returns what was sent, or what was found broken.
    pub fn make(&mut self, step: &Step<A::Msg>) -> Result<Vec<Parcel<A::Msg>>, String> {
        let input = match step {
            Step::Request(node) => {
                self.left[node.index()] -= 1;
                Input::Request
            }
            Step::Release(_) => Input::Release,
            Step::Deliver(parcel) => {
                let place = self.flying.iter().position(|flying| flying == parcel);
                let place = place.ok_or_else(|| format!("{parcel:?} is not in flight"))?;
                let Parcel { from, msg, .. } = self.flying.remove(place);
                Input::Message { from, msg }
            }
        };
        self.step_node(step.node(), input)
    }

    /// Makes any step, if there is one.
    pub fn make_any(&mut self, chance: &mut Chance) -> Result<(), String> {
        let steps = self.steps();
        if !steps.is_empty() {
            self.make(&steps[chance.below(steps.len())])?;
        }
        Ok(())
    }

    /// Lets a node make a step; returns what was sent, or what was found broken.
    pub fn step_node(&mut self, me: NodeId, input: Input<A::Msg>) -> Result<Vec<Parcel<A::Msg>>, String> {
        let mut out = Out::default();
        self.nodes[me.index()].step(input, &mut out);
        let breach = out.breach();
        let mut sent = Vec::new();
        for letter in out.drain() {
            let parcel = |to| Parcel { from: me, to, msg: letter.msg.clone() };
            match &letter.to {
                To::One(to) => sent.push(parcel(*to)),
                To::Set(nodes) => sent.extend(nodes.iter().map(parcel)),
            }
        }
        self.flying.extend(sent.iter().cloned());
        breach.map_or(Ok(sent), |breach| Err(breach.to_owned()))
    }

    /// Forgets what can be forgotten, if no node will ask again.
    pub fn forget(&mut self) {
        if self.is_last() {
            self.nodes.iter_mut().for_each(|node| node.algorithm_mut().forget());
            self.flying.iter_mut().for_each(|parcel| A::forget_in(&mut parcel.msg));
        }
    }

    /// Shows every counter; tells whether those are all.
    pub fn counters(&mut self, show: &mut dyn FnMut(Group, &mut u64)) -> bool {
        let complete = self.nodes.iter_mut().map(|node| node.algorithm_mut().counters(show));
        let complete = complete.filter(|&complete| complete).count() == self.left.len();
        self.flying
            .iter_mut()
            .for_each(|parcel| A::counters_in(parcel.from, parcel.to, &mut parcel.msg, show));
        complete
    }

    /// The same state with what is in flight sorted, as far as the channels leave the order open.
    pub fn sorted(mut self) -> Self {
        if self.fifo {
            self.flying.sort_by_key(|parcel| (parcel.from, parcel.to));
        } else {
            self.flying.sort();
        }
        self
    }

    /// What invariants are asked of.
    pub fn cut(&self) -> Cut<'_, A> {
        let letters = self.flying.iter();
        let letters = letters.map(|Parcel { from, to, msg }| InFlightMessage { from: *from, to: *to, msg });
        Cut { nodes: self.nodes.iter().collect(), in_flight: letters.collect() }
    }

    /// The first invariant that does not hold.
    pub fn broken_invariant(&self) -> Option<&'static str> {
        let cut = self.cut();
        let broken = A::invariants().iter().find(|Invariant { holds, .. }| !holds(&cut));
        broken.map(|invariant| invariant.name)
    }

    /// Whether no node waits, is inside or will ask, and only perpetual messages are in flight.
    pub fn is_over(&self) -> bool {
        let is_outside = |node: &Node<A>| node.phase() == Phase::Outside;
        self.is_last() && self.nodes.iter().all(is_outside) && (A::PERPETUAL || self.flying.is_empty())
    }
}

/// A random run from one seed: its size, start and requests too.
pub struct Run<'a, A: Algorithm> {
    pub seed: u64,
    pub world: World<A>,
    pub chance: Chance,
    pub about: &'a About,
}

/// A test of random runs, for every correct algorithm.
pub trait Trial {
    /// Tests one run.
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>);
}

/// Tries every correct algorithm, on the given channels or on those that it needs.
pub fn try_all(trial: &mut impl Trial, seeds: u64, channels: Option<Channels>) {
    visit_all(&mut Tried { trial, seeds, channels });
}

struct Tried<'a, T> {
    trial: &'a mut T,
    seeds: u64,
    channels: Option<Channels>,
}

impl<T: Trial> Visit for Tried<'_, T> {
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, options: &[Options]) {
        for options in options {
            try_one(self.trial, entry, options, self.seeds, self.channels);
        }
    }
}

/// Tries one algorithm.
pub fn try_one<A: Explain + Hints>(
    trial: &mut impl Trial,
    entry: &Entry<A>,
    options: &Options,
    seeds: u64,
    channels: Option<Channels>,
) {
    let about = &entry.about;
    let factory = entry.factory(options).expect("the choices are right");
    for seed in 1..=seeds {
        let mut chance = Chance::new(seed);
        let n = 3 + chance.below(2);
        let plan = factory.plan(&a_few(n)).expect("it exists for every N");
        let left: Vec<u32> = (0..n).map(|_| chance.below(3) as u32).collect();
        let world = World::new(&plan, &left, chance.start(n), channels.unwrap_or(about.needs));
        trial.try_run(Run { seed, world, chance, about });
    }
}

/// The members of a small system.
pub fn a_few(n: usize) -> Members {
    Members::new(n).expect("a few nodes")
}
