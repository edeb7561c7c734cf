//! The JSON that Perfetto and Chrome's own viewer show, in the trace event format.
//!
//! Each node has two tracks. In the first, waiting and inside are slices, and between them it is outside. In the second, each
//! sending and each delivery is a short slice, and a flow leads from the one to the other; accesses, losses, crashes and violations
//! are instants. One tick is a millisecond. What happens to a node within one tick is drawn side by side, as no two slices of a
//! track may cross.

use std::collections::BTreeMap;
use std::io::Write;

use doorway_core::{NodeId, Ticks};
use serde_json::{Value, json};

use super::Exporter;
use crate::{Event, Header, TraceError, What};

/// Microseconds of a tick.
const TICK: u128 = 1000;
/// How long a sending or a delivery is shown.
const SLOT: u128 = 20;
/// How many of them there is room for in a tick; all others share the last place.
const SLOTS: u128 = TICK / SLOT;

pub(super) struct Perfetto<'a> {
    header: &'a Header,
    tracks: BTreeMap<NodeId, Track>,
    /// When the last event was.
    last: Ticks,
    is_first: bool,
}

/// What is known of a node.
#[derive(Default)]
struct Track {
    /// The slice that is open in its first track.
    phase: Option<&'static str>,
    /// The time of its last event, and how many there were at that time.
    time: Ticks,
    events: u128,
}

impl<'a> Perfetto<'a> {
    pub(super) fn new(header: &'a Header) -> Self {
        Self { header, tracks: BTreeMap::new(), last: Ticks(0), is_first: true }
    }

    /// Writes one entry of the list.
    fn entry(&mut self, to: &mut dyn Write, entry: &Value) -> Result<(), TraceError> {
        let between = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        write!(to, "{between}{entry}").map_err(TraceError::Io)
    }

    /// Tells the names of a node's tracks when it is met first.
    fn meet(&mut self, node: NodeId, to: &mut dyn Write) -> Result<(), TraceError> {
        if self.tracks.contains_key(&node) {
            return Ok(());
        }
        self.tracks.insert(node, Track::default());
        for (track, name) in
            [(phases(node), format!("node {node}")), (steps(node), format!("node {node}, messages"))]
        {
            let named =
                json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": name}});
            self.entry(to, &named)?;
            let sorted = json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_sort_index", "args": {"sort_index": track}});
            self.entry(to, &sorted)?;
        }
        if self.header.start_inside == Some(node) {
            self.go(node, Ticks(0), Some("inside"), json!({}), to)?;
        }
        Ok(())
    }

    /// A node goes into another phase; outside has no slice.
    fn go(
        &mut self,
        node: NodeId,
        time: Ticks,
        phase: Option<&'static str>,
        args: Value,
        to: &mut dyn Write,
    ) -> Result<(), TraceError> {
        let track = self.tracks.entry(node).or_default();
        let over = std::mem::replace(&mut track.phase, phase);
        let at = json!({"pid": 1, "tid": phases(node), "ts": microseconds(time)});
        if let Some(name) = over {
            self.entry(to, &with(&at, json!({"ph": "E", "name": name})))?;
        }
        match phase {
            Some(name) => {
                self.entry(to, &with(&at, json!({"ph": "B", "cat": "phase", "name": name, "args": args})))
            }
            None => Ok(()),
        }
    }

    /// When an event of a node is shown: a little after those before it at the same time.
    fn moment(&mut self, node: NodeId, time: Ticks) -> u128 {
        let track = self.tracks.entry(node).or_default();
        if track.time != time {
            (track.time, track.events) = (time, 0);
        }
        let slot = track.events.min(SLOTS - 1);
        track.events += 1;
        time.0 as u128 * TICK + slot * SLOT
    }

    /// Writes a sending or a delivery with its end of the flow.
    fn message(
        &mut self,
        event: &Event,
        name: &str,
        flow: Option<(&str, u64, &str)>,
        to: &mut dyn Write,
    ) -> Result<(), TraceError> {
        let moment = number(self.moment(event.node, event.time));
        let at = json!({"pid": 1, "tid": steps(event.node), "ts": moment});
        let slice =
            json!({"ph": "X", "dur": SLOT as u64, "cat": "message", "name": name, "args": arguments(event)});
        self.entry(to, &with(&at, slice))?;
        let Some((phase, id, kind)) = flow else { return Ok(()) };
        let mut flow = json!({"ph": phase, "id": id, "cat": "message", "name": kind});
        if phase == "f" {
            flow["bp"] = json!("e");
        }
        self.entry(to, &with(&at, flow))
    }

    fn instant(&mut self, event: &Event, category: &str, to: &mut dyn Write) -> Result<(), TraceError> {
        let moment = number(self.moment(event.node, event.time));
        // Everybody is concerned by what must never happen, and by what repeats itself.
        let scope = if let What::Violation { .. } | What::Loop = event.what { "g" } else { "t" };
        let instant = json!({
            "ph": "i", "pid": 1, "tid": steps(event.node), "ts": moment, "s": scope, "cat": category,
            "name": event.sentence(), "args": arguments(event),
        });
        self.entry(to, &instant)
    }
}

impl Exporter for Perfetto<'_> {
    fn begin(&mut self, to: &mut dyn Write) -> Result<(), TraceError> {
        let header = serde_json::to_string(self.header).map_err(|error| TraceError::Io(error.into()))?;
        write!(to, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{header},\"traceEvents\":[")
            .map_err(TraceError::Io)?;
        let Header { algorithm, nodes, seed, .. } = self.header;
        let name = format!("{algorithm}, {nodes} nodes, seed {seed}");
        self.entry(to, &json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": name}}))?;
        self.header.start_inside.map_or(Ok(()), |node| self.meet(node, to))
    }

    fn event(&mut self, event: &Event, to: &mut dyn Write) -> Result<(), TraceError> {
        let &Event { id, time, node, .. } = event;
        self.last = time;
        self.meet(node, to)?;
        match &event.what {
            What::Start => Ok(()),
            What::Request => self.go(node, time, Some("waiting"), arguments(event), to),
            What::Enter { .. } => self.go(node, time, Some("inside"), arguments(event), to),
            What::Release => self.go(node, time, None, json!({}), to),
            What::Send { to: receiver, kind, .. } => {
                let name = format!("{kind} to {receiver}");
                self.message(event, &name, Some(("s", id, kind)), to)
            }
            What::Deliver { from, kind, .. } => {
                let name = format!("{kind} from {from}");
                self.message(event, &name, event.cause.map(|cause| ("f", cause, kind.as_ref())), to)
            }
            What::Lost { .. } => self.instant(event, "loss", to),
            What::Access { .. } => self.instant(event, "access", to),
            What::Clock { .. } => self.instant(event, "clock", to),
            What::Crash => {
                self.go(node, time, None, json!({}), to)?;
                self.instant(event, "crash", to)
            }
            What::Timer | What::Written | What::Report { .. } => self.instant(event, "step", to),
            What::Pause | What::Resume => self.instant(event, "pause", to),
            What::Violation { .. } => self.instant(event, "violation", to),
            What::Loop => self.instant(event, "loop", to),
        }
    }

    /// Closes the slices that are still open, one tick after the last event.
    fn end(&mut self, to: &mut dyn Write) -> Result<(), TraceError> {
        let end = self.last + Ticks(1);
        let nodes: Vec<NodeId> = self.tracks.keys().copied().collect();
        for node in nodes {
            self.go(node, end, None, json!({}), to)?;
        }
        to.write_all(b"\n]}\n").map_err(TraceError::Io)
    }
}

/// The two tracks of a node.
fn phases(node: NodeId) -> u64 {
    u64::from(node.number()) * 2 - 1
}

fn steps(node: NodeId) -> u64 {
    u64::from(node.number()) * 2
}

fn microseconds(time: Ticks) -> Value {
    number(u128::from(time.0) * TICK)
}

/// JSON has no numbers beyond 64 bits; a time that far away is shown at the end of all times.
fn number(microseconds: u128) -> Value {
    json!(u64::try_from(microseconds).unwrap_or(u64::MAX))
}

/// What is shown when one looks closer.
fn arguments(event: &Event) -> Value {
    let mut arguments = json!({"event": event.id});
    let mut add = |name: &str, value: Value| arguments[name] = value;
    match &event.what {
        What::Send { message, .. } | What::Deliver { message, .. } => add("message", message.clone()),
        What::Enter { fence } => add("fence", json!(fence)),
        _ => {}
    }
    if let Some(rule) = &event.rule {
        add("rule", json!(rule));
    }
    if let Some(cause) = event.cause {
        add("cause", json!(cause));
    }
    arguments
}

/// One object with what another says added.
fn with(object: &Value, more: Value) -> Value {
    let mut whole = more;
    if let (Value::Object(whole), Value::Object(object)) = (&mut whole, object) {
        whole.extend(object.clone());
    }
    whole
}
