//! `doorway trace show`: what happened, a line for each event.

use std::fmt::Write;
use std::path::PathBuf;

use doorway_core::{Channels, NodeId, Refusal, Ticks};
use doorway_terminal::text::{self, counted};
use doorway_terminal::whole;
use doorway_trace::{ClockKind, Clocks, Event, Header, LogicalTime};
use serde_json::{Value, json};

use super::source::Source;
use crate::Answer;
use crate::usage::node;

/// List the events of a run, one per line
///
/// Each line has the event's number, its time, its node, what happened, the rule of the algorithm and, after an arrow, the
/// number of the event that caused it. With --clocks it also has the logical time of the event, computed from the trace: an ideal clock
/// that ticks at every event, a delivery being later than its sending. An algorithm's own clock may tick less often.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway trace show run.jsonl
  doorway trace show run.jsonl --node 2 --from 100 --to 200
  doorway trace show run.jsonl --clocks both
  doorway trace show run.jsonl --json
  zcat run.jsonl.gz | doorway trace show - | less")]
pub(super) struct Arguments {
    /// The trace, or - for standard input
    file: PathBuf,
    /// Only events of this node; may be repeated
    #[arg(long, value_name = "NODE", value_parser = node, allow_negative_numbers = true)]
    node: Vec<NodeId>,
    /// Only events at this time or later
    #[arg(long, value_name = "TIME", value_parser = whole::<u64>, allow_negative_numbers = true)]
    from: Option<u64>,
    /// Only events at this time or earlier
    #[arg(long, value_name = "TIME", value_parser = whole::<u64>, allow_negative_numbers = true)]
    to: Option<u64>,
    /// Show the logical time of each event: Lamport time, vector time ([3 0 1]: a count for each node) or both
    #[arg(long, value_name = "lamport|vector|both")]
    clocks: Option<ClockKind>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let source = Source::open(&arguments.file)?;
    let nodes = source.header.nodes;
    if let Some(stranger) = arguments.node.iter().find(|node| node.index() >= nodes) {
        return Err(Refusal::new(format!("there is no node {stranger}: the nodes are 1 to {nodes}")));
    }
    if let Some((from, to)) = arguments.from.zip(arguments.to).filter(|(from, to)| from > to) {
        return Err(Refusal::new(format!("--from {from} is later than --to {to}: swap them")));
    }
    Ok(Answer::holds(if arguments.json { as_json(source, arguments)? } else { page(source, arguments)? }))
}

impl Arguments {
    fn wants(&self, event: &Event) -> bool {
        let Ticks(time) = event.time;
        (self.node.is_empty() || self.node.contains(&event.node))
            && self.from.is_none_or(|from| from <= time)
            && self.to.is_none_or(|to| time <= to)
    }
}

fn page(source: Source, arguments: &Arguments) -> Result<String, Refusal> {
    let (heading, nodes) = (heading(&source.header), source.header.nodes);
    let (mut all, mut rows) = (0_u64, Vec::new());
    let mut stamps = Stamps::new(&source, arguments);
    source.for_each(|event| {
        all += 1;
        let time = stamps.time_of(&event);
        if arguments.wants(&event) {
            let label =
                arguments.clocks.zip(time).map_or(String::new(), |(kind, time)| aligned(kind, time, nodes));
            rows.push((label, event));
        }
    })?;
    stamps.trouble()?;
    let title = match arguments.clocks {
        None => "",
        Some(ClockKind::Lamport) => "lamport",
        Some(ClockKind::Vector) => "vector",
        Some(ClockKind::Both) => "lamport vector",
    };
    let width = rows.iter().map(|(label, _)| label.chars().count()).chain([title.len()]).max().unwrap_or(0);
    let column = |text: &str| if title.is_empty() { String::new() } else { format!("{text:<width$}  ") };
    let (begin, rest) = (format!("{:>7} {:>8} {:>5}", "event", "time", "node"), "rule ← cause");
    let mut page = format!("{heading}\n\n{begin}  {}{:<40} {rest}\n", column(title), "what happens");
    page.extend(rows.iter().map(|(label, event)| line(event, &column(label))));
    let shown = rows.len() as u64;
    let of = if shown == all { String::new() } else { format!(" of {all}") };
    let _ = writeln!(page, "\n{}{of}", counted(shown, "event"));
    Ok(page)
}

/// A logical time whose Lamport times stand below each other.
fn aligned(kind: ClockKind, time: &LogicalTime, nodes: usize) -> String {
    let lamport = format!("{:>7}", time.lamport);
    match kind {
        ClockKind::Lamport => lamport,
        ClockKind::Vector => kind.label(time, nodes),
        ClockKind::Both => format!("{lamport} {}", ClockKind::Vector.label(time, nodes)),
    }
}

/// The logical times of the events, if they are wanted.
struct Stamps {
    clocks: Option<Clocks>,
    trouble: Option<Refusal>,
}

impl Stamps {
    fn new(source: &Source, arguments: &Arguments) -> Self {
        Self { clocks: arguments.clocks.map(|kind| Clocks::new(&source.header, kind)), trouble: None }
    }

    /// The time of the next event.
    fn time_of(&mut self, event: &Event) -> Option<&LogicalTime> {
        let clocks = self.clocks.as_mut().filter(|_| self.trouble.is_none())?;
        match clocks.tell(event) {
            Ok(time) => time,
            Err(refusal) => {
                self.trouble = Some(refusal);
                None
            }
        }
    }

    /// # Errors
    /// If a time could not be computed.
    fn trouble(self) -> Result<(), Refusal> {
        self.trouble.map_or(Ok(()), Err)
    }
}

fn line(event: &Event, time_column: &str) -> String {
    let sentence = event.sentence();
    let told = sentence.strip_prefix(&format!("node {} ", event.node)).unwrap_or(&sentence);
    let rule = event.rule.as_deref().unwrap_or_default().replace(char::is_control, "\u{fffd}");
    let cause = event.cause.map_or(String::new(), |cause| format!("← {cause}"));
    let why = [rule, cause].join(" ");
    let Event { id, time, node, .. } = event;
    let begin = format!("{id:>7} {:>8} {:>5}", time.0, node.to_string());
    let line = format!("{begin}  {time_column}{told:<40} {}", why.trim());
    line.trim_end().to_owned() + "\n"
}

fn heading(header: &Header) -> String {
    let mut parts = vec![header.algorithm.clone(), counted(header.nodes as u64, "node")];
    if header.channels != Channels::Fifo {
        parts.push(text::channels(header.channels));
    }
    parts.push(format!("seed {}", header.seed));
    parts.extend(header.start_inside.map(|node| format!("node {node} inside at the start")));
    parts.extend(header.options.iter().map(|(name, word)| format!("{name} {word}")));
    text::wrap(&parts.join(", ").replace(char::is_control, "\u{fffd}"), text::prose_width(), 2)
}

fn as_json(source: Source, arguments: &Arguments) -> Result<String, Refusal> {
    let (header, nodes) = (serde_json::to_value(&source.header).unwrap_or_default(), source.header.nodes);
    let mut events: Vec<Value> = Vec::new();
    let mut stamps = Stamps::new(&source, arguments);
    source.for_each(|event| {
        let time = stamps.time_of(&event);
        if arguments.wants(&event) {
            let mut told = serde_json::to_value(&event).unwrap_or_default();
            told["says"] = json!(event.sentence());
            if let Some((kind, time)) = arguments.clocks.zip(time) {
                if kind.has_lamport() {
                    told["lamport"] = json!(time.lamport);
                }
                if kind.has_vector() {
                    told["vector"] = json!(time.vector.dense(nodes));
                }
            }
            events.push(told);
        }
    })?;
    stamps.trouble()?;
    Ok(format!("{}\n", json!({"version": 1, "header": header, "events": events})))
}
