//! The nodes and messages themselves: the only place where an algorithm's own code runs.

use doorway_core::{
    Ahead, Channels, Cut, Explain, Group, Hints, InFlightMessage as Flying, Node, NodeId, ONE_TOKEN, Out,
    Phase, To, kind,
};

use super::maps::{Map, NO_COUNTER, StateOrMessage, place};
use super::outcomes::{CRASH, Ending, RELEASE, REQUEST, reported};
use super::tables::{NodeFacts, Route, Tables};
use super::{Setting, Watches};
use crate::Property;
use crate::intern::Interner;

/// The interface to the nodes, with the algorithm's type erased.
pub(super) trait Nodes: Send + Sync {
    /// The initial state of every node, and the messages in flight at the start.
    fn start(&mut self, tables: &mut Tables) -> (Vec<u32>, Vec<u32>);

    /// Drops all interned values.
    fn restart(&mut self);

    /// Computes the outcome of this input in this state of a node.
    fn run(&mut self, tables: &mut Tables, me: NodeId, local: u32, input: u32);

    /// Computes the image of a state or a message under a map.
    fn map(&mut self, tables: &mut Tables, thing: StateOrMessage, map: &Map);

    /// Computes what the application of one node, in this state, tells that of another.
    fn tell(&mut self, tables: &mut Tables, from: u32, to: u32, local: u32);

    /// The violated invariants of the algorithm: the first of each property.
    fn flaws(&self, locals: &[u32], letters: &[u32]) -> Vec<(Property, String)>;

    /// Their approximate memory in bytes.
    fn bytes(&self) -> u64;

    /// A state in full.
    fn picture(&self, locals: &[u32], letters: &[u32]) -> String;
}

/// A node with its remaining requests and ghost variables.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<A> {
    node: Node<A>,
    left: u32,
    /// The largest fence that it knows; 0 if fences are not watched.
    fence: u32,
    /// A mask of the nodes whose open requests it knows; 0 if the order is not watched.
    known: u32,
    /// The same mask at the time of its request.
    before: u32,
    /// Whether it has crashed.
    is_crashed: bool,
    /// A mask of the nodes that were reported to it as crashed.
    reported: u32,
    /// Whether no node will request again, so that what only matters to requests was erased.
    is_quiet: bool,
}

impl<A> Local<A> {
    fn new(node: Node<A>, left: u32) -> Self {
        Self { node, left, fence: 0, known: 0, before: 0, is_crashed: false, reported: 0, is_quiet: false }
    }

    /// Counts one request.
    fn count_request(&mut self) {
        if self.left != Setting::UNBOUNDED {
            self.left -= 1;
        }
    }
}

/// A message in flight.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StoredMessage<M> {
    from: NodeId,
    to: NodeId,
    /// The largest fence that its sender knew; 0 if fences are not watched.
    fence: u32,
    /// A mask of the nodes whose open requests its sender knew; 0 if the order is not watched.
    known: u32,
    /// Whether a request step sent it, if doorways are watched.
    asks: bool,
    body: Body<M>,
}

/// The content of a message.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Body<M> {
    /// A message of the algorithm.
    Msg(M),
    /// One application tells another what it knows, with its node's clock.
    Tell(u64),
}

impl<M> Body<M> {
    fn msg(&self) -> Option<&M> {
        match self {
            Body::Msg(msg) => Some(msg),
            Body::Tell(_) => None,
        }
    }
}

/// All interned states of nodes and messages.
pub(super) struct Population<A: Explain + Hints> {
    nodes: Vec<Node<A>>,
    requests: Vec<u32>,
    watches: Watches,
    /// The channels, if the algorithm's hints are used.
    reduction: Option<Channels>,
    translates: bool,
    locals: Interner<Local<A>>,
    letters: Interner<StoredMessage<A::Msg>>,
}

impl<A: Explain + Hints> Population<A> {
    pub(super) fn new(nodes: Vec<Node<A>>, setting: &Setting, translates: bool) -> Self {
        let (requests, watches) = (setting.requests.clone(), setting.watches);
        let reduction = setting.reduction.then_some(setting.channels);
        let (locals, letters) = (Interner::default(), Interner::default());
        Self { nodes, requests, watches, reduction, translates, locals, letters }
    }

    /// Interns a node's state.
    fn local(&mut self, tables: &mut Tables, local: Local<A>) -> u32 {
        let number = self.locals.number(local);
        if number as usize == tables.facts.len() {
            let local = self.locals.thing(number);
            let phase = if local.is_crashed { Phase::Outside } else { local.node.phase() };
            let (asks, is_crashed) = (local.left > 0 && !local.is_crashed, local.is_crashed);
            let (reported, known, before) = (local.reported, local.known, local.before);
            tables.facts.push(NodeFacts { phase, asks, is_crashed, reported, known, before });
            if self.translates {
                let mut node = local.node.clone();
                tables.local_floors.push(self.floors(|show| {
                    node.algorithm_mut().counters(show);
                }));
            }
        }
        number
    }

    /// Interns a message.
    fn letter(&mut self, tables: &mut Tables, letter: StoredMessage<A::Msg>) -> u32 {
        let number = self.letters.number(letter);
        if number as usize == tables.routes.len() {
            let StoredMessage { from, to, known, asks, body, .. } = self.letters.thing(number);
            let (sender, receiver) = (*from, *to);
            let kind = tables.kind(body.msg().map_or("", |msg| kind(msg).name));
            let (from, to, known, asks) = (from.index() as u32, to.index() as u32, *known, *asks);
            let lane = from * self.nodes.len() as u32 + to;
            tables.routes.push(Route { from, to, lane, kind, known, asks });
            if self.translates {
                let mut msg = body.msg().cloned();
                tables.letter_floors.push(self.floors(|show| {
                    if let Some(msg) = &mut msg {
                        A::counters_in(sender, receiver, msg, show);
                    }
                }));
            }
        }
        number
    }

    /// The least counter of each group.
    fn floors(&self, mut show: impl FnMut(&mut dyn FnMut(Group, &mut u64))) -> Box<[u64]> {
        let mut floors = vec![NO_COUNTER; self.nodes.len() + 1].into_boxed_slice();
        show(&mut |group, counter| floors[place(group)] = floors[place(group)].min(*counter));
        floors
    }

    /// Interns the messages of a step; `after` is its node after the step.
    fn post(
        &mut self,
        tables: &mut Tables,
        from: NodeId,
        after: &Local<A>,
        out: &mut Out<A::Msg>,
        asks: bool,
    ) -> Vec<u32> {
        let (fence, known) = (after.fence, after.known);
        let mut sends = Vec::new();
        for sent in out.drain() {
            let to: Vec<NodeId> = match &sent.to {
                To::One(to) => vec![*to],
                To::Set(nodes) => nodes.iter().collect(),
            };
            for to in to {
                let mut msg = sent.msg.clone();
                if after.is_quiet {
                    A::forget_in(&mut msg);
                }
                let body = Body::Msg(msg);
                sends.push(self.letter(tables, StoredMessage { from, to, fence, known, asks, body }));
            }
        }
        sends
    }

    /// Applies an input to a node. Returns whether the algorithm promises that it commutes.
    fn apply(&self, after: &mut Local<A>, me: NodeId, input: u32, out: &mut Out<A::Msg>) -> bool {
        match input {
            REQUEST => {
                after.count_request();
                if self.watches.order {
                    after.before = after.known;
                    after.known |= 1 << me.index();
                }
                after.node.request(out);
            }
            RELEASE => after.node.release(out),
            CRASH => after.is_crashed = true,
            input if let Some(crashed) = reported(input) => {
                after.reported |= 1 << crashed;
                after.node.crashed(NodeId::new(crashed as usize), out);
            }
            number => {
                let letter = self.letters.thing(number);
                after.fence = after.fence.max(letter.fence);
                after.known |= letter.known;
                match &letter.body {
                    Body::Tell(clock) => {
                        if let Some(mine) = after.node.clock() {
                            mine.merge(*clock);
                        }
                    }
                    Body::Msg(msg) => {
                        let ahead = Ahead { mine: after.left > 0, any: !after.is_quiet };
                        let promises = self.reduction.is_some()
                            && after.node.algorithm().commutes(letter.from, msg, ahead);
                        after.node.message(letter.from, msg.clone(), out);
                        return promises;
                    }
                }
            }
        }
        false
    }

    fn cut(&self, locals: &[u32], letters: &[u32]) -> Cut<'_, A> {
        let letters = letters.iter().map(|&number| self.letters.thing(number));
        let in_flight = letters.filter_map(|letter| {
            let (from, to) = (letter.from, letter.to);
            Some(Flying { from, to, msg: letter.body.msg()? })
        });
        Cut {
            nodes: locals.iter().map(|&number| &self.locals.thing(number).node).collect(),
            in_flight: in_flight.collect(),
        }
    }
}

impl<A: Explain + Hints> Nodes for Population<A> {
    fn start(&mut self, tables: &mut Tables) -> (Vec<u32>, Vec<u32>) {
        let (mut locals, mut letters) = (Vec::new(), Vec::new());
        for process in 0..self.nodes.len() {
            let (mut node, mut out) = (self.nodes[process].clone(), Out::default());
            node.start(&mut out);
            let local = Local::new(node, self.requests[process]);
            letters.extend(self.post(tables, NodeId::new(process), &local, &mut out, false));
            locals.push(self.local(tables, local));
        }
        (locals, letters)
    }

    fn restart(&mut self) {
        (self.locals, self.letters) = (Interner::default(), Interner::default());
    }

    fn run(&mut self, tables: &mut Tables, me: NodeId, local: u32, input: u32) {
        let mut after = self.locals.thing(local).clone();
        let (before, mut out) = (after.node.phase(), Out::default());
        let promises = self.apply(&mut after, me, input, &mut out);
        let enters = before != Phase::Inside && after.node.phase() == Phase::Inside;
        let overtakes = enters && after.before != 0;
        if enters {
            after.before = 0;
            let next = out.least_fence().max(u64::from(after.fence) + 1);
            after.fence = if self.watches.fences { next as u32 } else { 0 };
        }
        if after.is_quiet {
            after.node.algorithm_mut().forget();
        }
        let (broken, fence) = (out.breach(), after.fence);
        let asks = self.watches.doorways && input == REQUEST;
        let sends = self.post(tables, me, &after, &mut out, asks);
        let is_eager = promises
            && broken.is_none()
            && before == after.node.phase()
            && match self.reduction {
                Some(Channels::Any) => true,
                Some(Channels::Fifo) => sends.is_empty(),
                Some(Channels::Causal) | None => false,
            };
        let local_after = self.local(tables, after);
        let ending = Ending { local: local_after, broken, enters, overtakes, fence, is_eager };
        tables.outcomes.insert(local, input, ending, &sends);
    }

    fn map(&mut self, tables: &mut Tables, thing: StateOrMessage, map: &Map) {
        let number = match thing {
            StateOrMessage::Local(local) => {
                let mut local = self.locals.thing(local).clone();
                match map {
                    Map::Quiet => {
                        local.is_quiet = true;
                        local.node.algorithm_mut().forget();
                    }
                    Map::Served(node) => {
                        local.known &= !(1 << node);
                        local.before &= !(1 << node);
                    }
                    Map::Shift(by) => {
                        local.node.algorithm_mut().counters(&mut |group, count| *count -= by[place(group)]);
                    }
                }
                self.local(tables, local)
            }
            StateOrMessage::Letter(letter) => {
                let mut letter = self.letters.thing(letter).clone();
                match (map, &mut letter.body) {
                    (Map::Quiet, Body::Msg(msg)) => A::forget_in(msg),
                    (Map::Shift(by), Body::Msg(msg)) => {
                        A::counters_in(letter.from, letter.to, msg, &mut |group, count| {
                            *count -= by[place(group)];
                        });
                    }
                    (Map::Served(node), _) => letter.known &= !(1 << node),
                    (Map::Quiet | Map::Shift(_), Body::Tell(_)) => {}
                }
                self.letter(tables, letter)
            }
        };
        tables.maps.insert((thing, map.clone()), number);
    }

    fn tell(&mut self, tables: &mut Tables, from: u32, to: u32, local: u32) {
        let mut teller = self.locals.thing(local).clone();
        let clock = teller.node.clock().map_or(0, |clock| clock.count());
        let (sender, receiver) = (NodeId::new(from as usize), NodeId::new(to as usize));
        let (known, body) = (teller.known, Body::Tell(clock));
        let letter = StoredMessage { from: sender, to: receiver, fence: 0, known, asks: false, body };
        let letter = self.letter(tables, letter);
        tables.tells.insert((from, to, local), letter);
    }

    fn flaws(&self, locals: &[u32], letters: &[u32]) -> Vec<(Property, String)> {
        let cut = self.cut(locals, letters);
        let mut flaws: Vec<(Property, String)> = Vec::new();
        for broken in A::invariants().iter().filter(|invariant| !(invariant.holds)(&cut)) {
            let property = if broken.name == ONE_TOKEN { Property::OneToken } else { Property::Invariants };
            if flaws.iter().all(|(known, _)| *known != property) {
                flaws.push((property, format!("it does not hold that {}", broken.name)));
            }
        }
        flaws
    }

    fn bytes(&self) -> u64 {
        // Each value is in a list and in a table, and owns about as much memory again.
        let locals = self.locals.len() * (size_of::<Local<A>>() * 3 + 16);
        let letters = self.letters.len() * (size_of::<StoredMessage<A::Msg>>() * 3 + 16);
        (locals + letters) as u64
    }

    fn picture(&self, locals: &[u32], letters: &[u32]) -> String {
        let cut = self.cut(locals, letters);
        let phases: Vec<Phase> = cut.nodes.iter().map(|node| node.phase()).collect();
        let mut nodes: Vec<A> = cut.nodes.iter().map(|node| node.algorithm().clone()).collect();
        nodes.iter_mut().for_each(Hints::forget);
        let mut flying: Vec<(NodeId, NodeId, A::Msg)> =
            cut.in_flight.iter().map(|letter| (letter.from, letter.to, letter.msg.clone())).collect();
        flying.iter_mut().for_each(|(_, _, msg)| A::forget_in(msg));
        let mut all = |show: &mut dyn FnMut(Group, &mut u64)| {
            let shown = nodes.iter_mut().map(|node| node.counters(show)).fold(true, |all, one| all & one);
            flying.iter_mut().for_each(|(from, to, msg)| A::counters_in(*from, *to, msg, show));
            shown
        };
        let mut floors = vec![NO_COUNTER; locals.len() + 1];
        if all(&mut |group, counter| floors[place(group)] = floors[place(group)].min(*counter)) {
            all(&mut |group, counter| *counter -= floors[place(group)]);
        }
        flying.sort();
        format!("{nodes:?} {phases:?} {flying:?}")
    }
}
