//! The system of an algorithm: its nodes, the channels between them, and so many requests of each node.

use std::cell::RefCell;
use std::collections::HashMap;

use doorway_core::{
    Channels, Cut, Explain, Factory, Letter as Flying, Members, Node, NodeId, Out, Phase, Refusal, Start, To,
    kind,
};

use crate::intern::Interner;
use crate::{Property, Step, System};

/// How often each node asks.
pub type Requests = Vec<u32>;

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The application of this node asks.
    Request(NodeId),
    /// The application of this node leaves.
    Release(NodeId),
    /// A message arrives.
    Deliver {
        /// From whom.
        from: NodeId,
        /// At whom.
        to: NodeId,
        /// Of what kind.
        kind: &'static str,
    },
}

/// All nodes of an algorithm, and what is in flight between them.
pub struct Messages<A: Explain> {
    channels: Channels,
    requests: Requests,
    nodes: Vec<Node<A>>,
    watches: Watches,
    tables: RefCell<Tables<A>>,
}

/// What is watched besides exclusion and deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// The algorithm's own invariants, in every state.
    pub invariants: bool,
    /// Fences. They are part of the states then, of which there are more.
    pub fences: bool,
}

/// The numbers of all states of single nodes and of all messages that were met.
struct Tables<A: Explain> {
    locals: Interner<Local<A>>,
    letters: Interner<Letter<A>>,
}

/// A node and how often it will still ask.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local<A> {
    node: Node<A>,
    left: u32,
    /// The largest fence that it knows of; 0 if nobody watches.
    fence: u32,
}

/// A message on its way.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Letter<A: Explain> {
    from: NodeId,
    to: NodeId,
    /// The largest fence that its sender knew of; 0 if nobody watches.
    fence: u32,
    msg: A::Msg,
}

/// What comes of a local step: looked up by the numbers of a node's state and of what it is told.
#[derive(Clone)]
struct Outcome {
    local: u32,
    sends: Box<[u32]>,
    broken: Option<&'static str>,
    /// The fence of the entry, if it is one and somebody watches.
    entered: Option<u32>,
}

/// What is known without asking the tables.
#[derive(Default)]
pub struct Memory {
    outcomes: HashMap<(u32, u32), Outcome>,
    /// The phase of each state of a node, and whether it will still ask.
    phases: Vec<(Phase, bool)>,
    /// Between whom each message travels.
    routes: Vec<(u32, u32)>,
    /// The state that is being made.
    word: Vec<u32>,
}

/// In place of the number of a message: the application asks, or leaves.
const REQUEST: u32 = u32::MAX;
const RELEASE: u32 = u32::MAX - 1;

impl<A: Explain> Messages<A> {
    /// The system of an algorithm among as many nodes as there are numbers of requests.
    ///
    /// # Errors
    /// If the algorithm cannot run among so many, or the channels are causal, which are not explored yet.
    pub fn new(
        factory: &Factory<A>,
        requests: Requests,
        channels: Channels,
        start: Start,
        watches: Watches,
    ) -> Result<Self, Refusal> {
        if channels == Channels::Causal {
            return Err(Refusal::new("causal channels are not explored yet: fifo and any are"));
        }
        let members = Members::new(requests.len())?;
        let plan = factory.plan(&members)?;
        let nodes = members.iter().map(|node| plan.node(node, start)).collect();
        let tables = Tables { locals: Interner::default(), letters: Interner::default() };
        Ok(Self { channels, requests, nodes, watches, tables: RefCell::new(tables) })
    }

    fn n(&self) -> usize {
        self.requests.len()
    }

    /// Where the messages in flight begin: behind the nodes and, if it is watched, the last fence that was handed out.
    fn head(&self) -> usize {
        self.n() + usize::from(self.watches.fences)
    }

    /// What a step does.
    #[must_use]
    pub fn act(&self, step: &Step) -> Act {
        let node = NodeId::new(step.process as usize);
        match step.action {
            REQUEST => Act::Request(node),
            RELEASE => Act::Release(node),
            number => {
                let tables = self.tables.borrow();
                let Letter { from, to, msg, .. } = tables.letters.thing(number);
                Act::Deliver { from: *from, to: *to, kind: kind(msg).name }
            }
        }
    }

    /// Numbers what a step sends.
    fn post(&self, memory: &mut Memory, from: NodeId, fence: u32, out: &mut Out<A::Msg>) -> Box<[u32]> {
        let mut tables = self.tables.borrow_mut();
        let mut sends = Vec::new();
        for sent in out.drain() {
            let to: Vec<NodeId> = match &sent.to {
                To::One(to) => vec![*to],
                To::Set(nodes) => nodes.iter().collect(),
            };
            sends.extend(
                to.into_iter()
                    .map(|to| tables.letters.number(Letter { from, to, fence, msg: sent.msg.clone() })),
            );
        }
        for number in memory.routes.len()..tables.letters.len() {
            let letter = tables.letters.thing(number as u32);
            memory.routes.push((letter.from.index() as u32, letter.to.index() as u32));
        }
        sends.into_boxed_slice()
    }

    fn number(&self, memory: &mut Memory, local: Local<A>) -> u32 {
        let mut tables = self.tables.borrow_mut();
        let number = tables.locals.number(local);
        for number in memory.phases.len()..tables.locals.len() {
            let local = tables.locals.thing(number as u32);
            memory.phases.push((local.node.phase(), local.left > 0));
        }
        number
    }

    /// What comes of it if the node in this state is told this.
    fn outcome<'m>(&self, memory: &'m mut Memory, process: u32, local: u32, input: u32) -> &'m Outcome {
        if !memory.outcomes.contains_key(&(local, input)) {
            let outcome = self.run(memory, NodeId::new(process as usize), local, input);
            memory.outcomes.insert((local, input), outcome);
        }
        &memory.outcomes[&(local, input)]
    }

    /// Runs the algorithm's own code.
    #[cold]
    fn run(&self, memory: &mut Memory, me: NodeId, local: u32, input: u32) -> Outcome {
        let (mut after, letter) = {
            let tables = self.tables.borrow();
            let letter = (input < RELEASE).then(|| tables.letters.thing(input).clone());
            (tables.locals.thing(local).clone(), letter)
        };
        let before = after.node.phase();
        let mut out = Out::default();
        match letter {
            Some(letter) => {
                after.fence = after.fence.max(letter.fence);
                after.node.message(letter.from, letter.msg, &mut out);
            }
            None if input == REQUEST => {
                after.left -= 1;
                after.node.request(&mut out);
            }
            None => after.node.release(&mut out),
        }
        let enters = self.watches.fences && before != Phase::Inside && after.node.phase() == Phase::Inside;
        after.fence += u32::from(enters);
        let (broken, fence) = (out.breach(), after.fence);
        let sends = self.post(memory, me, fence, &mut out);
        Outcome { local: self.number(memory, after), sends, broken, entered: enters.then_some(fence) }
    }

    /// Visits the state after a step in which the message at `place`, if there is one, is gone.
    fn take(
        &self,
        memory: &mut Memory,
        state: &[u32],
        place: Option<usize>,
        (process, input): (u32, u32),
        visit: &mut impl FnMut(Step, &[u32]),
    ) {
        let mut word = std::mem::take(&mut memory.word);
        word.clear();
        word.extend_from_slice(state);
        if let Some(place) = place {
            word.remove(place);
        }
        let Outcome { local, sends, broken, entered } =
            self.outcome(memory, process, state[process as usize], input).clone();
        word[process as usize] = local;
        for &letter in &sends {
            self.put(memory, &mut word, letter);
        }
        let mut broken = broken.map(|what| (Property::Invariants, what));
        if let Some(fence) = entered {
            if fence <= word[self.n()] {
                broken = Some((Property::Fence, "an entry has no larger fence than the one before"));
            }
            word[self.n()] = fence;
        }
        let is_request = input == REQUEST;
        let step = Step { process, action: input, is_request, sends: sends.len() as u32, broken };
        visit(step, &word);
        memory.word = word;
    }

    /// Puts a message in flight: in the order of numbers where any may come next, else behind those of its channel.
    fn put(&self, memory: &Memory, word: &mut Vec<u32>, letter: u32) {
        let in_flight = &word[self.head()..];
        let place = match self.channels {
            Channels::Any => in_flight.partition_point(|other| *other < letter),
            Channels::Fifo | Channels::Causal => {
                let route = memory.routes[letter as usize];
                in_flight.partition_point(|other| memory.routes[*other as usize] <= route)
            }
        };
        word.insert(self.head() + place, letter);
    }

    /// Whether the message at this place can arrive next, and is not the same as the one before it.
    fn can_arrive(&self, memory: &Memory, state: &[u32], place: usize) -> bool {
        if place == self.head() {
            return true;
        }
        let (before, letter) = (state[place - 1], state[place]);
        match self.channels {
            Channels::Any => before != letter,
            Channels::Fifo | Channels::Causal => {
                memory.routes[before as usize] != memory.routes[letter as usize]
            }
        }
    }
}

impl<A: Explain> System for Messages<A> {
    type Memory = Memory;

    fn processes(&self) -> usize {
        self.n()
    }

    fn initial(&self, memory: &mut Memory) -> Vec<Vec<u32>> {
        let mut word = Vec::new();
        let mut sent = Vec::new();
        for (process, node) in self.nodes.iter().enumerate() {
            let (mut node, mut out) = (node.clone(), Out::default());
            node.start(&mut out);
            sent.push(self.post(memory, NodeId::new(process), 0, &mut out));
            word.push(self.number(memory, Local { node, left: self.requests[process], fence: 0 }));
        }
        if self.watches.fences {
            word.push(0);
        }
        for &letter in sent.iter().flatten() {
            self.put(memory, &mut word, letter);
        }
        vec![word]
    }

    fn steps(&self, memory: &mut Memory, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) {
        let n = self.n();
        for (process, &local) in (0..).zip(&state[..n]) {
            match memory.phases[local as usize] {
                (Phase::Outside, true) => self.take(memory, state, None, (process, REQUEST), visit),
                (Phase::Inside, _) => self.take(memory, state, None, (process, RELEASE), visit),
                (Phase::Outside, false) | (Phase::Waiting, _) => {}
            }
        }
        for place in self.head()..state.len() {
            if self.can_arrive(memory, state, place) {
                let (_, to) = memory.routes[state[place] as usize];
                self.take(memory, state, Some(place), (to, state[place]), visit);
            }
        }
    }

    fn phase(&self, memory: &mut Memory, state: &[u32], process: usize) -> Phase {
        memory.phases[state[process] as usize].0
    }

    fn flaw(&self, _: &mut Memory, state: &[u32]) -> Option<String> {
        if !self.watches.invariants {
            return None;
        }
        let tables = self.tables.borrow();
        let (locals, letters) = (&state[..self.n()], &state[self.head()..]);
        let cut: Cut<'_, A> = Cut {
            nodes: locals.iter().map(|&number| &tables.locals.thing(number).node).collect(),
            in_flight: letters
                .iter()
                .map(|&number| tables.letters.thing(number))
                .map(|letter| Flying { from: letter.from, to: letter.to, msg: &letter.msg })
                .collect(),
        };
        let broken = A::invariants().iter().find(|invariant| !(invariant.holds)(&cut));
        broken.map(|invariant| format!("it does not hold that {}", invariant.name))
    }

    fn describe(&self, _: &mut Memory, step: &Step) -> String {
        match self.act(step) {
            Act::Request(node) => format!("node {node} asks"),
            Act::Release(node) => format!("node {node} leaves"),
            Act::Deliver { from, to, kind } => format!("{kind} from {from} arrives at {to}"),
        }
    }
}
