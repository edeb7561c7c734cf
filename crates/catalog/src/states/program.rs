//! Following a run of a program over shared memory.

use std::borrow::Cow;

use doorway_checker::{Access, MemorySetting, SharedAct, SharedMemory, SharedView, Step, System};
use doorway_core::shared::{Place, Progress};
use doorway_core::{Field, NodeId, Options, Permission, Refusal};
use doorway_trace::{AccessKind, Event, Header, What};

use super::{NodeState, States, options, unfit};
use crate::Catalog;

/// Replays every step of a recorded run and records the processes and registers.
///
/// # Errors
/// If there is no such system, or an event is none of its steps.
pub(super) fn follow(
    states: &mut States,
    header: &Header,
    events: &[Event],
    catalog: &Catalog,
) -> Result<(), Refusal> {
    let (options, setting) = memory(header, events)?;
    let most = MemorySetting::MOST_PROCESSES;
    if !(1..=most).contains(&header.nodes) {
        return Err(Refusal::new(format!("1 to {most} processes can be explored, not {}", header.nodes)));
    }
    let subject = catalog.program_subject(&header.algorithm, &options, header.nodes)?;
    let mut system = subject.system(setting)?;
    states.lines = subject.lines();
    states.registers = system.registers().iter().map(|cell| cell.name.clone()).collect();
    let state = system.initial().into_iter().next().unwrap_or_default();
    let mut player = Player { system, state };
    player.note(states, 0);
    let mut done = 0;
    while let Some(event) = events.get(done) {
        let count = events[done..].iter().take_while(|other| belongs(other, event)).count().max(1);
        let together = &events[done..done + count];
        if !matches!(event.what, What::Loop | What::Violation { .. }) {
            player.step(together)?;
        }
        // A step is one thing, although several events tell of it: after the first all has happened.
        player.note(states, done + 1);
        done += count;
        states.known = done;
    }
    Ok(())
}

/// Whether an event tells of the same step: one step is one tick.
fn belongs(other: &Event, first: &Event) -> bool {
    let is_step = |event: &Event| !matches!(event.what, What::Loop | What::Violation { .. });
    other.time == first.time && other.node == first.node && is_step(other) == is_step(first)
}

/// What was chosen for the program, and the memory it ran over. The heading keeps what is unusual about it among the choices.
fn memory(header: &Header, events: &[Event]) -> Result<(Options, MemorySetting), Refusal> {
    let mut setting = MemorySetting::default();
    let largest = events.iter().map(|event| match event.what {
        What::Access { value, .. } => value,
        _ => 0,
    });
    let largest = u32::try_from(largest.max().unwrap_or(0)).unwrap_or(u32::MAX);
    setting.tickets = setting.tickets.max(largest).min(MemorySetting::LARGEST_VALUE);
    setting.capacity = MemorySetting::MOST_CAPACITY;
    let mut chosen = Options::none();
    for (name, choice) in options(header).iter() {
        match name {
            "registers" => setting.registers = choice.word.parse()?,
            "memory" => setting.memory = choice.word.parse()?,
            "barrier" => setting.barriers = choice.word.parse()?,
            _ => chosen.set(name, choice.clone()),
        }
    }
    Ok((chosen, setting))
}

struct Player {
    system: SharedMemory,
    state: Vec<u32>,
}

impl Player {
    /// Makes the step of which these events tell, and before it those that nothing tells of, as they make no access.
    fn step(&mut self, events: &[Event]) -> Result<(), Refusal> {
        const MOST_SILENT: usize = 1000;
        let Some(first) = events.first() else { return Ok(()) };
        for _ in 0..MOST_SILENT {
            let mut possible = self.system.enabled(&self.state);
            possible.retain(|(step, _)| self.system.act(step).process == first.node.index());
            let tells = |(step, _): &&(Step, Vec<u32>)| is_told(&self.system.act(step), events);
            let is_silent = |(step, _): &&(Step, Vec<u32>)| is_silent(&self.system.act(step));
            if let Some((_, after)) = possible.iter().find(tells) {
                return self.go(first, after.clone());
            }
            match possible.iter().find(is_silent) {
                Some((_, after)) => self.go(first, after.clone())?,
                None => break,
            }
        }
        Err(unfit(
            first,
            format_args!("no step of the program tells that {}", events[events.len() - 1].sentence()),
        ))
    }

    fn go(&mut self, event: &Event, after: Vec<u32>) -> Result<(), Refusal> {
        self.system.learn(&after);
        if self.system.view(&after).is_none() {
            return Err(unfit(event, "it leads beyond what can be followed"));
        }
        self.state = after;
        Ok(())
    }

    fn note(&self, states: &mut States, events: usize) {
        let Some(view) = self.system.view(&self.state) else { return };
        let nodes = (0..view.processes.len()).map(|index| self.node(&view, index));
        if events == 0 {
            states.begin(nodes);
        } else {
            NodeId::first(view.processes.len())
                .zip(nodes)
                .for_each(|(node, state)| states.note(node, events, state));
        }
        if states.values.last().is_none_or(|(_, values)| *values != view.registers) {
            states.values.push((events, view.registers));
        }
    }

    fn node(&self, view: &SharedView, index: usize) -> NodeState {
        let process = &view.processes[index];
        let store = |&(register, value): &(doorway_core::shared::Register, u64)| {
            let name = self.system.registers().get(register.index()).map_or("", |cell| cell.name.as_str());
            format!("{name}:={value}")
        };
        let mut fields =
            vec![Field::new("next line", process.line), Field::new("place", place(process.place))];
        fields.extend(process.fields.iter().cloned());
        if process.begun.is_some() {
            fields.push(Field::list("writes", process.begun.iter().map(store)));
        }
        if !process.buffered.is_empty() {
            fields.push(Field::list("buffer", process.buffered.iter().map(store)));
        }
        NodeState {
            phase: process.place.phase(),
            fields,
            waits_for: Vec::new(),
            permission: Permission::None,
            is_crashed: false,
        }
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Remainder => "remainder",
        Place::Doorway => "doorway",
        Place::Waiting => "waiting",
        Place::Inside => "inside",
        Place::Leaving => "leaving",
    }
}

/// Whether the events of one tick are those that such a step is told by.
fn is_told(act: &SharedAct, events: &[Event]) -> bool {
    let mut told = Vec::new();
    match act.before {
        Some(Place::Remainder) => told.push(What::Request),
        Some(Place::Inside) => told.push(What::Release),
        _ => {}
    }
    told.extend(access_of(act));
    let enters = act.progress == Progress::Enter;
    let is_entry = |event: &Event| matches!(event.what, What::Enter { .. });
    let (entries, rest): (Vec<&Event>, Vec<&Event>) = events.iter().partition(|event| is_entry(event));
    entries.len() == usize::from(enters)
        && rest.into_iter().map(|event| &event.what).eq(&told)
        && !events.is_empty()
}

/// Whether nothing tells of such a step.
fn is_silent(act: &SharedAct) -> bool {
    let is_seen =
        matches!(act.before, Some(Place::Remainder | Place::Inside)) || act.progress == Progress::Enter;
    !is_seen && access_of(act).is_none()
}

/// The access that a step makes, as a trace tells it.
#[must_use]
pub fn access_of(act: &SharedAct) -> Option<What> {
    let line = act.line.unwrap_or(0) as u32;
    let (access, name, value) = match &act.access {
        Access::Load { name, value, .. } => (AccessKind::Read, name, *value),
        Access::Store { name, value, .. } | Access::StoreNext { name, value, .. } => {
            (AccessKind::Write, name, *value)
        }
        Access::BeginStore { name, value, .. } => (AccessKind::Begin, name, *value),
        Access::EndStore { name, value, .. } => (AccessKind::End, name, *value),
        // The trace tells what the register holds now: that is what a reader of it will see.
        Access::EndOverlapped { name, left, .. } => (AccessKind::End, name, *left),
        Access::ReachMemory { name, value, .. } => (AccessKind::Reach, name, *value),
        Access::Barrier => {
            let register = Cow::Borrowed("");
            return Some(What::Access { access: AccessKind::Barrier, register, value: 0, line });
        }
        Access::BeyondLimit { .. } | Access::None => return None,
    };
    Some(What::Access { access, register: Cow::Owned(name.clone()), value, line })
}
