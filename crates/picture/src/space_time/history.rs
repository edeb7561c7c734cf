//! From a list of events to what a picture shows: who was in which phase from when to when, and which message went where.
//!
//! Time is cut into *moments*. A step and its effects are one moment, and so are steps of different nodes at the same
//! tick if none of them is the cause of another. So a moment has at most one step of each node. An access to shared memory
//! is a moment of its own, together with the request or the release of its node with which it comes.

use std::collections::{BTreeMap, BTreeSet};

use doorway_core::{Fence, NodeId, Phase, Refusal, Ticks};
use doorway_trace::{AccessKind, Event, Header, What};

use crate::palette::Look;

/// What happened, in moments.
#[derive(Debug)]
pub(super) struct History<'a> {
    /// The time of each moment.
    pub(super) moments: Vec<Ticks>,
    /// The moment of each event, in the order of the events.
    pub(super) moment_of_event: Vec<usize>,
    /// A lane for each node.
    pub(super) lanes: Vec<Lane>,
    /// The messages in the order in which they were sent.
    pub(super) messages: Vec<Message<'a>>,
    /// The kinds of message in the order in which they appear.
    pub(super) kinds: Vec<&'a str>,
    /// The accesses to shared memory in their order, at most one in each moment.
    pub(super) accesses: Vec<Access<'a>>,
    /// What must never happen, and did.
    pub(super) violations: Vec<Violation<'a>>,
    /// Where it begins to repeat itself.
    pub(super) repetition: Option<Repetition>,
}

/// From where on a run repeats itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetition {
    /// The first moment of it.
    pub(super) moment: usize,
    /// The event that says so, and its time.
    pub(super) event: u64,
    pub(super) time: Ticks,
}

/// One node's part of it.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) stays: Vec<Stay>,
    /// The moments in which it made a step, with the event.
    pub(super) steps: Vec<(usize, u64)>,
    /// When it stopped, with the event.
    pub(super) crashes: Vec<(usize, u64)>,
    /// When it stood still.
    pub(super) pauses: Vec<Pause>,
}

/// A time in which a node makes no step, whatever comes for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) from: usize,
    pub(super) until: usize,
    /// The event with which it began.
    pub(super) event: u64,
}

/// A time in one phase.
#[derive(Debug)]
pub(super) struct Stay {
    pub(super) phase: Phase,
    pub(super) from: usize,
    pub(super) until: usize,
    /// The event with which it began, and the fence if that was an entry.
    pub(super) event: Option<u64>,
    pub(super) fence: Option<Fence>,
}

/// A message and what became of it.
#[derive(Debug)]
pub(super) struct Message<'a> {
    /// The event that tells of it first: its sending, unless the trace begins later.
    pub(super) event: &'a Event,
    /// The number of its kind.
    pub(super) kind: usize,
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The moment of its sending, if the trace has it.
    pub(super) sent: Option<usize>,
    pub(super) ends: Vec<End<'a>>,
}

/// The end of a message. Two deliveries mean that it was duplicated; none, that it is still in flight.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'a> {
    Delivered { moment: usize, event: &'a Event },
    Lost { moment: usize, event: &'a Event, why: &'a str },
}

/// A register that is read or written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'a> {
    pub(super) moment: usize,
    pub(super) event: &'a Event,
    pub(super) kind: AccessKind,
    pub(super) register: &'a str,
    pub(super) value: u64,
    /// The line of the program; 0 if none.
    pub(super) line: u32,
}

/// Something that must never happen.
#[derive(Debug)]
pub(super) struct Violation<'a> {
    pub(super) moment: usize,
    pub(super) event: &'a Event,
    pub(super) what: &'a str,
}

impl<'a> History<'a> {
    /// What a kind of message looks like, by its number.
    pub(super) fn look(&self, kind: usize) -> Look {
        Look::of_kind(self.kinds[kind], kind)
    }

    /// # Errors
    /// If the events are not those of one run of these nodes.
    pub(super) fn new(header: &Header, events: &'a [Event]) -> Result<Self, Refusal> {
        let mut reader = Reader::new(header);
        for event in events {
            reader.check(event)?;
            if let What::Loop = event.what {
                reader.begin_repetition(event);
                continue;
            }
            let moment = reader.moment_of(event);
            reader.history.moment_of_event.push(moment);
            reader.read(event, moment);
        }
        Ok(reader.finish())
    }

    /// Whether a register is read or written in this moment.
    pub(super) fn has_access(&self, moment: usize) -> bool {
        self.accesses.binary_search_by_key(&moment, |access| access.moment).is_ok()
    }
}

/// Reads one event after the other.
struct Reader<'a> {
    history: History<'a>,
    /// The phase in which each node is, since when, with which event and fence; none if it is down.
    now: Vec<Option<Stay>>,
    /// Since when each node stands still, if it does, and with which event.
    paused: Vec<Option<(usize, u64)>>,
    /// The nodes that have made a step in the last moment, who got at a register, and the events in it.
    stepped: BTreeSet<NodeId>,
    accessed: Option<NodeId>,
    in_moment: BTreeSet<u64>,
    /// Whether the last moment is over although its time may not be.
    is_closed: bool,
    /// The places of messages in the list, by the event of their sending.
    sent: BTreeMap<u64, usize>,
    numbers: BTreeMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn new(header: &Header) -> Self {
        let phase = |node: NodeId| match header.start_inside {
            Some(inside) if inside == node => Phase::Inside,
            Some(_) | None => Phase::Outside,
        };
        let stay = |node| Stay { phase: phase(node), from: 0, until: 0, event: None, fence: None };
        let lane = |_| Lane { stays: Vec::new(), steps: Vec::new(), crashes: Vec::new(), pauses: Vec::new() };
        Self {
            history: History {
                moments: Vec::new(),
                moment_of_event: Vec::new(),
                lanes: NodeId::first(header.nodes).map(lane).collect(),
                messages: Vec::new(),
                kinds: Vec::new(),
                accesses: Vec::new(),
                violations: Vec::new(),
                repetition: None,
            },
            now: NodeId::first(header.nodes).map(|node| Some(stay(node))).collect(),
            paused: vec![None; header.nodes],
            stepped: BTreeSet::new(),
            accessed: None,
            in_moment: BTreeSet::new(),
            is_closed: false,
            sent: BTreeMap::new(),
            numbers: BTreeMap::new(),
        }
    }

    fn check(&self, event: &Event) -> Result<(), Refusal> {
        let other = match &event.what {
            What::Send { to, .. } | What::Lost { to, .. } => *to,
            What::Deliver { from, .. } => *from,
            What::Report { crashed } => *crashed,
            What::Start | What::Request | What::Enter { .. } | What::Release | What::Clock { .. } => {
                event.node
            }
            What::Timer | What::Written | What::Pause | What::Resume => event.node,
            What::Access { .. } | What::Crash | What::Violation { .. } | What::Loop => event.node,
        };
        let (id, n) = (event.id, self.history.lanes.len());
        if let Some(stranger) = [event.node, other].iter().find(|node| node.index() >= n) {
            return Err(Refusal::new(format!(
                "event {id} is about node {stranger}, but the run has {n} nodes"
            )));
        }
        match self.history.moments.last() {
            Some(&last) if event.time < last => Err(Refusal::new(format!(
                "event {id} is at time {}, after one at time {last}: events must be in order",
                event.time
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// The moment in which an event is, which may be a new one.
    fn moment_of(&mut self, event: &Event) -> usize {
        let is_now = self.history.moments.last() == Some(&event.time) && !self.is_closed;
        if !(is_now && self.fits(event)) {
            self.history.moments.push(event.time);
            self.is_closed = false;
            self.stepped.clear();
            self.accessed = None;
            self.in_moment.clear();
        }
        match event.what {
            What::Request | What::Deliver { .. } | What::Release | What::Timer | What::Written => {
                self.stepped.insert(event.node);
            }
            What::Crash | What::Report { .. } | What::Pause | What::Resume => {
                self.stepped.insert(event.node);
            }
            What::Start if self.is_down(event.node) => {
                self.stepped.insert(event.node);
            }
            What::Access { .. } => self.accessed = Some(event.node),
            What::Start | What::Send { .. } | What::Enter { .. } | What::Lost { .. } => {}
            What::Clock { .. } | What::Violation { .. } | What::Loop => {}
        }
        self.in_moment.insert(event.id);
        self.history.moments.len() - 1
    }

    /// Whether an event can be in the last moment, with what is there already.
    fn fits(&self, event: &Event) -> bool {
        let is_caused_here = event.cause.is_some_and(|cause| self.in_moment.contains(&cause));
        let has_stepped = self.stepped.contains(&event.node);
        match event.what {
            What::Access { .. } => {
                self.accessed.is_none() && self.stepped.iter().all(|&node| node == event.node)
            }
            What::Request | What::Release if self.accessed == Some(event.node) => !has_stepped,
            What::Request | What::Deliver { .. } | What::Release | What::Timer | What::Written => {
                self.accessed.is_none() && !is_caused_here && !has_stepped
            }
            What::Crash | What::Report { .. } | What::Pause | What::Resume => {
                self.accessed.is_none() && !is_caused_here && !has_stepped
            }
            What::Start if self.is_down(event.node) => !has_stepped,
            What::Start | What::Send { .. } | What::Enter { .. } | What::Lost { .. } => true,
            What::Clock { .. } | What::Violation { .. } | What::Loop => true,
        }
    }

    /// What comes now repeats itself. That is no moment, but it ends one.
    fn begin_repetition(&mut self, event: &Event) {
        let &Event { id, time, .. } = event;
        let moment = self.history.moments.len();
        let repetition = Repetition { moment, event: id, time };
        self.history.moment_of_event.push(moment);
        self.history.repetition.get_or_insert(repetition);
        self.is_closed = true;
    }

    fn read(&mut self, event: &'a Event, moment: usize) {
        match &event.what {
            What::Start if self.is_down(event.node) => self.go(event, moment, Phase::Outside, None),
            What::Start | What::Timer | What::Written | What::Clock { .. } | What::Loop => {}
            What::Report { .. } => {}
            What::Request | What::Enter { .. } | What::Release if self.is_down(event.node) => {}
            What::Request => self.go(event, moment, Phase::Waiting, None),
            What::Enter { fence } => self.go(event, moment, Phase::Inside, Some(*fence)),
            What::Release => self.go(event, moment, Phase::Outside, None),
            What::Send { to, kind, .. } => self.send(event, moment, *to, kind),
            What::Deliver { from, kind, .. } => {
                self.end(event, (*from, event.node), kind, End::Delivered { moment, event });
            }
            What::Lost { to, kind, why } => {
                self.end(event, (event.node, *to), kind, End::Lost { moment, event, why });
            }
            &What::Access { access: kind, ref register, value, line } => {
                self.history.accesses.push(Access { moment, event, kind, register, value, line });
            }
            What::Crash => self.crash(event, moment),
            What::Pause => self.paused[event.node.index()] = Some((moment, event.id)),
            What::Resume => self.end_pause(event.node, moment),
            What::Violation { what } => self.history.violations.push(Violation { moment, event, what }),
        }
        if is_dot(&event.what) {
            self.history.lanes[event.node.index()].steps.push((moment, event.id));
        }
    }

    fn is_down(&self, node: NodeId) -> bool {
        self.now[node.index()].is_none()
    }

    fn crash(&mut self, event: &Event, moment: usize) {
        self.end_pause(event.node, moment);
        let lane = &mut self.history.lanes[event.node.index()];
        lane.crashes.push((moment, event.id));
        lane.stays.extend(self.now[event.node.index()].take().map(|stay| Stay { until: moment, ..stay }));
    }

    fn end_pause(&mut self, node: NodeId, until: usize) {
        let pause = self.paused[node.index()].take().map(|(from, event)| Pause { from, until, event });
        self.history.lanes[node.index()].pauses.extend(pause);
    }

    fn go(&mut self, event: &Event, moment: usize, phase: Phase, fence: Option<Fence>) {
        let index = event.node.index();
        let next = Stay { phase, from: moment, until: moment, event: Some(event.id), fence };
        let over = self.now[index].replace(next);
        self.history.lanes[index].stays.extend(over.map(|over| Stay { until: moment, ..over }));
    }

    fn send(&mut self, event: &'a Event, moment: usize, to: NodeId, kind: &'a str) {
        let kind = self.number(kind);
        self.sent.insert(event.id, self.history.messages.len());
        let message = Message { event, kind, from: event.node, to, sent: Some(moment), ends: Vec::new() };
        self.history.messages.push(message);
    }

    /// A message comes to an end; if its sending is not in the trace, it appears with it.
    fn end(&mut self, event: &'a Event, (from, to): (NodeId, NodeId), kind: &'a str, end: End<'a>) {
        match event.cause.and_then(|cause| self.sent.get(&cause)) {
            Some(&place) => self.history.messages[place].ends.push(end),
            None => {
                let kind = self.number(kind);
                self.history.messages.push(Message { event, kind, from, to, sent: None, ends: vec![end] });
            }
        }
    }

    fn number(&mut self, kind: &'a str) -> usize {
        let kinds = &mut self.history.kinds;
        *self.numbers.entry(kind).or_insert_with(|| {
            kinds.push(kind);
            kinds.len() - 1
        })
    }

    /// What lasts at the end, lasts until after the last moment.
    fn finish(mut self) -> History<'a> {
        let end = self.history.moments.len();
        NodeId::first(self.now.len()).for_each(|node| self.end_pause(node, end));
        let mut history = self.history;
        for (lane, stay) in history.lanes.iter_mut().zip(self.now) {
            lane.stays.extend(stay.map(|stay| Stay { until: end, ..stay }));
        }
        history
    }
}

/// Whether it is a step that a picture shows.
fn is_dot(what: &What) -> bool {
    match what {
        What::Request | What::Release | What::Deliver { .. } | What::Access { .. } => true,
        What::Timer | What::Written | What::Report { .. } => true,
        What::Start | What::Enter { .. } | What::Send { .. } | What::Lost { .. } => false,
        What::Clock { .. } | What::Crash | What::Pause | What::Resume => false,
        What::Violation { .. } | What::Loop => false,
    }
}
