//! One page of a run that can be mailed: the diagram, stepping forward and back, and what every node knew at each step.
//!
//! The page asks the network for nothing and has all its styles and its script in it. Whatever a trace says comes into it
//! as data or as escaped text, and the script inserts it as text only, so that no name can become markup.

use doorway_catalog::Catalog;
use doorway_catalog::states::States;
use doorway_core::{Channels, Refusal};
use doorway_picture::{Diagram, DiagramOptions, Theme, diagram, escaped};
use doorway_trace::{ClockKind, Event, Header, Recording, What};
use serde_json::{Value, json};

use crate::view::{ClocksView, DescribedEvent, NodesView};

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
    /// Makes the page of a run. Its diagram has this spacing, and logical times beside the steps if the page is opened with a clock; the reader can
    /// choose another one.
    ///
    /// # Errors
    /// If the run is longer, or has more nodes, than one could look at.
    pub fn new(recording: &Recording, catalog: &Catalog, looks: &DiagramOptions) -> Result<Self, Refusal> {
        let Recording { header, events } = recording;
        // The page writes the times itself, so that its reader can choose them.
        let drawn = DiagramOptions { theme: Theme::Auto, clocks: None, ..*looks };
        let diagram = diagram(header, events, &drawn)?;
        let states = catalog.states(recording);
        let mut data = data(header, events, &states, &diagram);
        data["clock"] = json!(looks.clocks.map(word));
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

/// The word for a clock, as people type it.
fn word(kind: ClockKind) -> &'static str {
    ClockKind::LIST.iter().find(|(_, listed)| *listed == kind).map_or("", |(word, _)| word)
}

/// All that the script needs.
fn data(header: &Header, events: &[Event], states: &States, diagram: &Diagram) -> Value {
    let mut data = json!(NodesView::new(header, states));
    let told = events.iter().zip(&diagram.places).map(|(event, place)| told(event, place.x, place.y));
    data["version"] = json!(1);
    data["nodes"] = json!(header.nodes);
    data["events"] = told.collect();
    data["clocks"] = json!(ClocksView::new(header, events));
    data["trouble"] = json!(states.trouble());
    data
}

/// An event with its sentence and its place in the diagram.
fn told(event: &Event, x: f64, y: f64) -> Value {
    let mut told = json!(DescribedEvent::new(event));
    let rounded = |value: f64| json!((value * 10.0).round() / 10.0);
    (told["x"], told["y"]) = (rounded(x), rounded(y));
    told
}
