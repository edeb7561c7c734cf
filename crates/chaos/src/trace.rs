//! From all events of a cluster to the trace of one section.
//!
//! Most of what whole nodes send are heartbeats, acknowledgements and the consensus, hundreds a second. A trace keeps what the
//! section that it is about is made of (its clients, the messages of its algorithm, reports of views, crashes and pauses) and
//! the chain of events that led to each of these: an acknowledgement is there if it led to a grant. Messages of an algorithm
//! appear in its own format, as in a trace of the simulator; nodes in them are numbered by their place among
//! the members of the view.

use std::borrow::Cow;
use std::collections::BTreeMap;

use doorway_catalog::{Catalog, Subject};
use doorway_core::{Channels, Options, Refusal, SectionName, Ticks, kind};
use doorway_node::{Msg, Parcel};
use doorway_trace::{Event, Header, Log, Recording, What};
use serde_json::{Value, json};

use super::Run;

/// What a trace keeps of a run.
#[derive(Clone, Debug)]
pub struct TraceFilter {
    /// The section that it is about.
    pub section: SectionName,
    /// What happened before is left out.
    pub from: Ticks,
    /// What happened later is left out.
    pub until: Ticks,
    /// Whether the trace also has heartbeats, acknowledgements, the consensus and other sections.
    pub is_whole: bool,
}

impl TraceFilter {
    /// All that matters for a section, from the beginning to the end.
    #[must_use]
    pub fn of(section: SectionName) -> Self {
        Self { section, from: Ticks(0), until: Ticks(u64::MAX), is_whole: false }
    }

    /// The trace of a run of an algorithm of this catalog, from its log.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn recording(
        &self,
        run: &Run,
        log: &Log,
        algorithm: &str,
        catalog: &Catalog,
    ) -> Result<Recording, Refusal> {
        let subject = catalog.subject(algorithm, &Options::none())?;
        Ok(Recording {
            header: self.header(run, algorithm),
            events: self.events(log, &*subject, run.design.nodes),
        })
    }

    fn header(&self, run: &Run, algorithm: &str) -> Header {
        let design = &run.design;
        let mut header =
            Header::new(&format!("{}{algorithm}", Header::LOCK_NODES), design.nodes, design.seed);
        header.channels = Channels::Any;
        let options = [("section", self.section.to_string()), ("virtual", seconds(run.length))];
        let flaw = design.flaw.map(|flaw| ("flaw", flaw.name().to_owned()));
        let options = options.into_iter().chain(flaw);
        header.options = options.map(|(name, word)| (name.to_owned(), word)).collect();
        header
    }

    fn events(&self, log: &Log, subject: &dyn Subject, nodes: usize) -> Vec<Event> {
        let kept = self.kept(log);
        let mut teller =
            TraceRewriter { telling: self, subject, numbers: BTreeMap::new(), kinds: BTreeMap::new() };
        let mut lanes = Lanes::new(nodes);
        let mut events = Vec::new();
        for (event, _) in log.iter().zip(kept).filter(|(_, is_kept)| *is_kept) {
            if event.time > self.until {
                break;
            }
            if event.time < self.from {
                lanes.note(event);
                continue;
            }
            lanes.opening(self.from).for_each(|event| teller.tell(event, &mut events));
            teller.tell(event, &mut events);
        }
        events
    }

    /// Whether the trace has each event: for itself, or because it caused one that the trace has.
    fn kept(&self, log: &Log) -> Vec<bool> {
        let (mut kept, mut causes) = (Vec::new(), Vec::new());
        for event in log {
            let place = event.cause.and_then(|cause| usize::try_from(cause).ok()?.checked_sub(1));
            let of_sending = place.and_then(|place| kept.get(place).copied()).unwrap_or(false);
            kept.push(self.is_whole || self.is_told(&event.what, of_sending));
            causes.push(place);
        }
        for place in (0..kept.len()).rev() {
            if let Some(cause) = causes[place].filter(|_| kept[place]) {
                kept[cause] = true;
            }
        }
        kept
    }

    fn is_told(&self, what: &What, of_sending: bool) -> bool {
        match what {
            What::Send { message, .. } | What::Deliver { message, .. } => self.is_about_section(message),
            What::Lost { .. } => of_sending,
            What::Timer | What::Written => false,
            What::Start | What::Request | What::Enter { .. } | What::Release | What::Violation { .. } => true,
            What::Crash | What::Report { .. } | What::Pause | What::Resume => true,
            What::Access { .. } | What::Clock { .. } | What::Loop => true,
        }
    }

    fn is_about_section(&self, message: &Value) -> bool {
        match read(message) {
            Some(Msg::Report(_) | Msg::Leave(_)) => true,
            Some(Msg::Parcel { parcel: Parcel::Section { section, .. }, .. }) => section == self.section,
            _ => false,
        }
    }
}

/// A number of seconds, as one types them.
fn seconds(time: Ticks) -> String {
    match (time.0 % 1_000_000, time.0 / 1_000) {
        (0, milliseconds) => format!("{}s", milliseconds / 1_000),
        (_, milliseconds) => format!("{milliseconds}ms"),
    }
}

fn read(message: &Value) -> Option<Msg> {
    serde_json::from_value(message.clone()).ok()
}

/// Rewrites events: numbered from 1 without gaps, with the messages of algorithms in their own format.
struct TraceRewriter<'a> {
    telling: &'a TraceFilter,
    subject: &'a dyn Subject,
    /// The new number of each event that the trace has.
    numbers: BTreeMap<u64, u64>,
    /// What each message that was sent is called, if it is not called as its envelope.
    kinds: BTreeMap<u64, String>,
}

impl TraceRewriter<'_> {
    fn tell(&mut self, mut event: Event, events: &mut Vec<Event>) {
        let number = events.len() as u64 + 1;
        self.unwrap(&mut event);
        self.numbers.insert(event.id, number);
        event.id = number;
        event.cause = event.cause.and_then(|cause| self.numbers.get(&cause).copied());
        events.push(event);
    }

    /// Takes a message out of its envelope.
    fn unwrap(&mut self, event: &mut Event) {
        let own = event.id;
        let sending = event.cause.unwrap_or(own);
        match &mut event.what {
            What::Send { kind, message, .. } => {
                if let Some((name, content)) = self.unwrapped(message) {
                    self.kinds.insert(own, name.clone());
                    (*kind, *message) = (Cow::Owned(name), content);
                }
            }
            What::Deliver { kind, message, .. } => {
                if let Some((name, content)) = self.unwrapped(message) {
                    (*kind, *message) = (Cow::Owned(name), content);
                }
            }
            What::Lost { kind, .. } => {
                if let Some(name) = self.kinds.get(&sending) {
                    *kind = Cow::Owned(name.clone());
                }
            }
            _ => {}
        }
    }

    fn unwrapped(&self, message: &Value) -> Option<(String, Value)> {
        let Msg::Parcel { view, parcel, .. } = read(message)? else { return None };
        let Parcel::Section { section, clock, bytes } = &parcel else {
            let content = message["PARCEL"]["parcel"].clone();
            return Some((kind(&parcel).name.to_uppercase(), content));
        };
        let (name, content) = self.subject.read_message(bytes)?;
        let is_here = *section == self.telling.section;
        let name = if is_here { name.to_owned() } else { format!("{name} of {section}") };
        Some((name, json!({"view": view, "clock": clock, "says": content})))
    }
}

/// Where each node stands when the telling begins: the events that brought it there.
struct Lanes(Vec<Lane>);

#[derive(Clone, Default)]
struct Lane {
    life: Option<Event>,
    phase: Vec<Event>,
    pause: Option<Event>,
}

impl Lanes {
    fn new(nodes: usize) -> Self {
        Self(vec![Lane::default(); nodes])
    }

    /// Something happened before the telling begins.
    fn note(&mut self, event: Event) {
        let Some(lane) = self.0.get_mut(event.node.index()) else { return };
        match event.what {
            What::Start | What::Crash => *lane = Lane { life: Some(event), ..Lane::default() },
            What::Request => lane.phase = vec![event],
            What::Enter { .. } => lane.phase.push(event),
            What::Release => lane.phase.clear(),
            What::Pause => lane.pause = Some(event),
            What::Resume => lane.pause = None,
            _ => {}
        }
    }

    /// The state at the start of the trace, as events that happen then.
    fn opening(&mut self, from: Ticks) -> impl Iterator<Item = Event> {
        let lanes = std::mem::take(&mut self.0).into_iter();
        let events = lanes.flat_map(|lane| lane.life.into_iter().chain(lane.phase).chain(lane.pause));
        events.map(move |event| Event { time: from, rule: Some("before".into()), ..event })
    }
}

#[cfg(test)]
mod tests {
    use doorway_core::{Fence, NodeId};

    use super::*;

    fn event(id: u64, node: usize, what: What) -> Event {
        Event { id, time: Ticks(id), node: NodeId::new(node), what, rule: None, cause: None }
    }

    #[test]
    fn a_telling_that_begins_late_begins_with_where_everybody_stands() {
        let mut lanes = Lanes::new(3);
        let fence = Fence(7);
        for event in [
            event(1, 0, What::Start),
            event(2, 0, What::Request),
            event(3, 0, What::Enter { fence }),
            event(4, 1, What::Request),
            event(5, 1, What::Release),
            event(6, 1, What::Pause),
            event(7, 2, What::Request),
            event(8, 2, What::Crash),
        ] {
            lanes.note(event);
        }
        let told: Vec<String> = lanes.opening(Ticks(9)).map(|event| event.sentence()).collect();
        let expected = [
            "node 1 comes to life",
            "node 1 asks to enter",
            "node 1 enters with fence 7",
            "node 2 stands still",
            "node 3 crashes",
        ];
        assert_eq!(told, expected);
        assert_eq!(lanes.opening(Ticks(9)).count(), 0, "it is told once");
    }

    #[test]
    fn times_are_written_as_they_are_typed() {
        assert_eq!(
            (seconds(Ticks(60_000_000)), seconds(Ticks(20_500_000))),
            ("60s".into(), "20500ms".into())
        );
    }
}
