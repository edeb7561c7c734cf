//! Following a run of an algorithm that sends messages.

use std::collections::{BTreeMap, VecDeque};

use doorway_core::{
    Explain, Factory, LamportClock, Members, Node, NodeId, NodeSet, Out, Phase, Plan, Refusal, Sent, Start,
    Stop, To, kind,
};
use doorway_trace::{Event, What};
use serde_json::Value;

use super::{NodeState, Recorded, States, rules, unfit};

/// Replays every step of a recorded run and records the state of each node.
///
/// # Errors
/// At the first event that cannot have happened in a run of this algorithm.
pub(crate) fn follow<A: Explain>(
    factory: &Factory<A>,
    recorded: &Recorded<'_>,
    states: &mut States,
) -> Result<(), Refusal> {
    let Recorded { header, events, cancelled } = *recorded;
    let members = Members::new(header.nodes)?;
    let start = header.start_inside.map_or(Start::Empty, Start::Inside);
    if let Some(stranger) = start.holder().filter(|node| !members.contains(*node)) {
        return Err(Refusal::new(format!("there is no node {stranger} that could be inside at the start")));
    }
    let mut system = System::new(&factory.plan(&members)?, &members, start);
    states.rules = rules(A::RULES);
    states.begin(members.iter().map(|node| system.state(node)));
    for (count, event) in (1..).zip(events) {
        if cancelled.is_some_and(Stop::is_said) {
            return Err(Refusal::new("the work was cancelled"));
        }
        if let Some(node) = event.nodes().into_iter().find(|node| !members.contains(*node)) {
            return Err(unfit(event, format_args!("there is no node {node}")));
        }
        if system.take(event)? {
            states.note(event.node, count, system.state(event.node));
        }
        states.known = count;
    }
    Ok(())
}

/// The nodes, and what the algorithm has sent.
struct System<A: Explain> {
    nodes: Vec<Node<A>>,
    /// Where each node stands by what the trace has told: a step that lets its node in is told before the entry is.
    phases: Vec<Phase>,
    lives: Vec<Life>,
    /// What each node's last step sends that the trace has not told yet.
    unsent: Vec<VecDeque<Message<A::Msg>>>,
    /// What was sent, by its event.
    sent: BTreeMap<u64, (NodeId, Message<A::Msg>)>,
    out: Out<A::Msg>,
}

/// Whether a node can make steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Unborn,
    Alive,
    Crashed,
}

/// A message for one node.
struct Message<M> {
    to: NodeId,
    msg: M,
    json: Value,
}

impl<A: Explain> System<A> {
    fn new(plan: &Plan<A>, members: &Members, start: Start) -> Self {
        let n = members.n();
        let nodes: Vec<Node<A>> = members.iter().map(|node| plan.node(node, start)).collect();
        Self {
            phases: nodes.iter().map(Node::phase).collect(),
            nodes,
            lives: vec![Life::Unborn; n],
            unsent: (0..n).map(|_| VecDeque::new()).collect(),
            sent: BTreeMap::new(),
            out: Out::default(),
        }
    }

    fn state(&self, node: NodeId) -> NodeState {
        let is_crashed = self.lives[node.index()] == Life::Crashed;
        let phase = self.phases[node.index()];
        let node = &self.nodes[node.index()];
        let algorithm = node.algorithm();
        // A node that is about to enter waits for nothing any more.
        let missing = if node.phase() == Phase::Waiting { algorithm.waits_for() } else { NodeSet::new() };
        NodeState {
            phase,
            fields: algorithm.fields(),
            waits_for: missing.iter().collect(),
            permission: algorithm.permission(),
            is_crashed,
        }
    }

    /// Lets an event happen; tells whether it changed its node.
    fn take(&mut self, event: &Event) -> Result<bool, Refusal> {
        match &event.what {
            What::Start | What::Request | What::Release => self.step(event)?,
            What::Deliver { .. } | What::Report { .. } => self.step(event)?,
            What::Clock { count } => self.set_clock(event, *count)?,
            What::Crash => self.lives[event.node.index()] = Life::Crashed,
            What::Send { to, message, .. } => {
                self.send(event, *to, message)?;
                return Ok(false);
            }
            What::Enter { .. } => self.enter(event)?,
            What::Access { .. } => {
                return Err(unfit(event, "nodes that send messages share no memory"));
            }
            What::Timer | What::Written => {
                return Err(unfit(event, "an algorithm alone has neither reminders nor a disk"));
            }
            What::Pause | What::Resume => return Ok(false),
            What::Lost { .. } | What::Violation { .. } | What::Loop => return Ok(false),
        }
        Ok(true)
    }

    fn step(&mut self, event: &Event) -> Result<(), Refusal> {
        let index = event.node.index();
        if let Some(message) = self.unsent[index].front() {
            let (kind, to) = (kind(&message.msg).name, message.to);
            return Err(unfit(event, format_args!("node {} sends {kind} to {to} before it", event.node)));
        }
        let wanted = if event.what == What::Start { Life::Unborn } else { Life::Alive };
        if self.lives[index] != wanted {
            return Err(unfit(
                event,
                match self.lives[index] {
                    Life::Unborn => format!("node {} has not come to life yet", event.node),
                    Life::Alive => format!("node {} is alive already", event.node),
                    Life::Crashed => format!("node {} has crashed", event.node),
                },
            ));
        }
        self.out.clear();
        match &event.what {
            What::Start => {
                self.lives[index] = Life::Alive;
                self.nodes[index].start(&mut self.out);
            }
            What::Request if self.nodes[index].phase() == Phase::Outside => {
                self.phases[index] = Phase::Waiting;
                self.nodes[index].request(&mut self.out);
            }
            What::Release if self.nodes[index].phase() == Phase::Inside => {
                self.phases[index] = Phase::Outside;
                self.nodes[index].release(&mut self.out);
            }
            What::Deliver { from, message, .. } => {
                let msg = self.arrived(event, *from, message)?;
                self.nodes[index].message(*from, msg, &mut self.out);
            }
            What::Report { crashed } => self.nodes[index].crashed(*crashed, &mut self.out),
            _ => return Err(unfit(event, "one asks only outside, and leaves only when inside")),
        }
        for Sent { to, msg, .. } in self.out.drain() {
            let json = serde_json::to_value(&msg).unwrap_or_default();
            let mut add = |to| {
                self.unsent[index].push_back(Message { to, msg: msg.clone(), json: json.clone() });
            };
            match to {
                To::One(to) => add(to),
                To::Set(nodes) => nodes.iter().for_each(add),
            }
        }
        Ok(())
    }

    /// The trace tells of an entry: the last step of the node must have let it in.
    fn enter(&mut self, event: &Event) -> Result<(), Refusal> {
        let index = event.node.index();
        if self.nodes[index].phase() != Phase::Inside {
            return Err(unfit(event, format_args!("the algorithm does not let node {} in", event.node)));
        }
        self.phases[index] = Phase::Inside;
        Ok(())
    }

    /// The message that a delivery brings: one that the algorithm has sent.
    fn arrived(&self, event: &Event, from: NodeId, message: &Value) -> Result<A::Msg, Refusal> {
        let sent = event.cause.and_then(|cause| self.sent.get(&cause));
        let (sender, sent) = sent.ok_or_else(|| unfit(event, "it delivers what nobody has sent"))?;
        if (*sender, sent.to) != (from, event.node) || sent.json != *message {
            return Err(unfit(event, "what is delivered is not what was sent"));
        }
        Ok(sent.msg.clone())
    }

    /// The trace tells of a sending: it must be the next one of the last step of its node.
    fn send(&mut self, event: &Event, to: NodeId, message: &Value) -> Result<(), Refusal> {
        let node = event.node;
        match self.unsent[node.index()].pop_front() {
            Some(sent) if sent.to == to && sent.json == *message => {
                self.sent.insert(event.id, (node, sent));
                Ok(())
            }
            Some(sent) => Err(unfit(
                event,
                format_args!("the algorithm lets node {node} send {} to {} here", sent.json, sent.to),
            )),
            None => Err(unfit(event, format_args!("the algorithm lets node {node} send nothing here"))),
        }
    }

    fn set_clock(&mut self, event: &Event, count: u64) -> Result<(), Refusal> {
        match self.nodes[event.node.index()].clock() {
            Some(clock) => *clock = LamportClock::at(count),
            None => return Err(unfit(event, "the algorithm has no logical clock")),
        }
        Ok(())
    }
}
