//! One page of a run that can be mailed: the diagram, stepping forward and back, and what every node knew at each step.
//!
//! The page asks the network for nothing and has all its styles and its script in it. Whatever a trace says comes into it
//! as data or as escaped text, and the script inserts it as text only, so that no name can become markup.

use doorway_core::{Catalog, Channels, NodeId, Permission, Phase, Refusal};
use doorway_trace::draw::{self, Diagram, Spacing, Theme, diagram};
use doorway_trace::{Event, Header, What};
use serde_json::{Value, json};

use crate::Recording;
use crate::states::{NodeState, States};

/// A finished page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The whole of it.
    pub html: String,
    /// Why it does not show the states of all events, as a sentence.
    pub trouble: Option<String>,
    /// How many events it shows the states of.
    pub known: usize,
}

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Page {
    /// Makes the page of a run.
    ///
    /// # Errors
    /// If the run is longer, or has more nodes, than one could look at.
    pub fn new(recording: &Recording, catalog: &impl Catalog, spacing: Spacing) -> Result<Self, Refusal> {
        let Recording { header, events } = recording;
        let diagram = diagram(header, events, &draw::Options { spacing, theme: Theme::Auto })?;
        let states = States::of(recording, catalog);
        let data = data(header, events, &states, &diagram);
        let title = format!("{}, a run", header.algorithm);
        let parts = [
            ("TITLE", escaped(&title)),
            ("NAME", escaped(&header.algorithm)),
            ("ABOUT", escaped(&about(header, events))),
            ("STYLE", STYLE.to_owned()),
            ("DIAGRAM", inlined(&diagram)),
            ("SCRIPT", SCRIPT.to_owned()),
            ("DATA", data.to_string().replace('<', "\\u003c")),
        ];
        let trouble = states.trouble().map(str::to_owned);
        Ok(Self { html: filled(FRAME, &parts), trouble, known: states.known() })
    }
}

/// Fills the places of a frame, `{{NAME}}`, each once and from the front, so that what comes in is never filled again.
fn filled(frame: &str, parts: &[(&str, String)]) -> String {
    let mut html = String::new();
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        html.push_str(before);
        html.extend(parts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str()));
        rest = after;
    }
    html + rest
}

/// The diagram as a part of the page: without the address of its format, which a page needs not, without its heading, which the
/// page has itself, and with a cursor.
fn inlined(diagram: &Diagram) -> String {
    let (wide, high, heading) = (diagram.drawing.width, diagram.drawing.height, diagram.heading);
    let whole = format!("height=\"{high}\" viewBox=\"0 0 {wide} {high}\"");
    let below = format!("height=\"{0}\" viewBox=\"0 {heading} {wide} {0}\"", high - heading);
    let svg = diagram.drawing.svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    let svg = svg.replacen(&whole, &below, 1);
    let (top, bottom) = diagram.lanes;
    let height = bottom - top;
    let cursor = format!(
        "<g id=\"cursor\" aria-hidden=\"true\"><rect id=\"veil\" x=\"0\" y=\"{top}\" width=\"{wide}\" height=\"{height}\"/>\
         <line id=\"now\" x1=\"0\" x2=\"0\" y1=\"{top}\" y2=\"{bottom}\"/><circle id=\"spot\" r=\"11\"/></g>\n</svg>"
    );
    match svg.trim_end().strip_suffix("</svg>") {
        Some(open) => format!("{open}{cursor}"),
        None => svg,
    }
}

fn about(header: &Header, events: &[Event]) -> String {
    let mut parts = vec![match header.nodes {
        1 => "1 node".to_owned(),
        nodes => format!("{nodes} nodes"),
    }];
    if events.iter().any(|event| matches!(event.what, What::Send { .. } | What::Deliver { .. })) {
        parts.push(match header.channels {
            Channels::Any => "channels in any order".to_owned(),
            Channels::Fifo | Channels::Causal => format!("{} channels", header.channels.name()),
        });
    }
    parts.push(format!("seed {}", header.seed));
    parts.extend(header.start_inside.map(|node| format!("node {node} inside at the start")));
    parts.extend(header.options.iter().map(|(name, word)| format!("{name} {word}")));
    parts.push(format!("{} events", events.len()));
    parts.join(" · ")
}

/// All that the script needs.
fn data(header: &Header, events: &[Event], states: &States, diagram: &Diagram) -> Value {
    let nodes: Vec<NodeId> = NodeId::first(header.nodes).collect();
    let fields = field_names(states, &nodes);
    let of_node = |node: &NodeId| {
        let changes = states.changes(*node).iter();
        changes.map(|(count, state)| json!([count, state_of(state, &fields)])).collect::<Vec<_>>()
    };
    let places = diagram.places.iter();
    let told = events.iter().zip(places).map(|(event, place)| told(event, place.x, place.y));
    json!({
        "version": 1,
        "nodes": header.nodes,
        "events": told.collect::<Vec<_>>(),
        "fields": fields,
        "states": nodes.iter().map(of_node).filter(|changes| !changes.is_empty()).collect::<Vec<_>>(),
        "known": states.known(),
        "trouble": states.trouble(),
        "registers": states.registers(),
        "values": states.values(),
        "rules": states.rules(),
        "lines": states.lines(),
    })
}

/// The names of all fields, in the order in which they come up.
fn field_names(states: &States, nodes: &[NodeId]) -> Vec<&'static str> {
    let mut names = Vec::new();
    let all = nodes.iter().flat_map(|node| states.changes(*node)).flat_map(|(_, state)| &state.fields);
    for field in all {
        if !names.contains(&field.name) {
            names.push(field.name);
        }
    }
    names
}

fn state_of(state: &NodeState, names: &[&str]) -> Value {
    let value = |name: &&str| {
        let field = state.fields.iter().find(|field| field.name == *name);
        field.map(|field| field.value.as_str())
    };
    let permission = match state.permission {
        Permission::None => None,
        Permission::Free => Some("vote free".to_owned()),
        Permission::GivenTo(node) => Some(format!("vote given to {node}")),
        Permission::Token => Some("token".to_owned()),
    };
    let phase = match state.phase {
        _ if state.is_crashed => "crashed",
        Phase::Outside => "outside",
        Phase::Waiting => "waiting",
        Phase::Inside => "inside",
    };
    json!({
        "phase": phase,
        "fields": names.iter().map(value).collect::<Vec<_>>(),
        "waits": state.waits_for,
        "permission": permission,
    })
}

/// An event as the script needs it.
fn told(event: &Event, x: f64, y: f64) -> Value {
    let mut told = json!({
        "id": event.id, "time": event.time, "node": event.node, "says": event.sentence(),
        "x": (x * 10.0).round() / 10.0, "y": (y * 10.0).round() / 10.0,
    });
    let mut add = |name: &str, value: Value| told[name] = value;
    match &event.what {
        What::Send { message, .. } | What::Deliver { message, .. } => {
            add("message", json!(message.to_string()))
        }
        What::Enter { .. } => add("enters", json!(true)),
        What::Violation { .. } => add("alarm", json!(true)),
        What::Access { line, .. } => add("line", json!(line)),
        _ => {}
    }
    if let Some(rule) = &event.rule {
        add("rule", json!(rule));
    }
    if let Some(cause) = event.cause {
        add("cause", json!(cause));
    }
    told
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ if letter.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}
