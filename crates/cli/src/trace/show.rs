//! `doorway trace show`: what happened, a line for each event.

use std::fmt::Write;
use std::path::PathBuf;

use doorway_core::{Channels, NodeId, Refusal, Ticks};
use doorway_terminal::text::{self, counted};
use doorway_terminal::whole;
use doorway_trace::{Event, Header};
use serde_json::{Value, json};

use super::source::Source;
use crate::Answer;
use crate::usage::node;

/// List the events of a run, one per line
///
/// Each line has the event's number, its time, its node, what happened, the rule of the algorithm and, after an arrow, the
/// number of the event that caused it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway trace show run.jsonl
  doorway trace show run.jsonl --node 2 --from 100 --to 200
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
    let mut page = format!("{}\n\n", heading(&source.header));
    let _ = writeln!(page, "{:>7} {:>8} {:>5}  {:<40} rule ← cause", "event", "time", "node", "what happens");
    let (mut all, mut shown) = (0_u64, 0_u64);
    source.for_each(|event| {
        all += 1;
        if arguments.wants(&event) {
            shown += 1;
            page.push_str(&line(&event));
        }
    })?;
    let of = if shown == all { String::new() } else { format!(" of {all}") };
    let _ = writeln!(page, "\n{}{of}", counted(shown, "event"));
    Ok(page)
}

fn line(event: &Event) -> String {
    let sentence = event.sentence();
    let told = sentence.strip_prefix(&format!("node {} ", event.node)).unwrap_or(&sentence);
    let rule = event.rule.as_deref().unwrap_or_default().replace(char::is_control, "\u{fffd}");
    let cause = event.cause.map_or(String::new(), |cause| format!("← {cause}"));
    let why = [rule, cause].join(" ");
    let Event { id, time, node, .. } = event;
    let line = format!("{id:>7} {:>8} {:>5}  {told:<40} {}", time.0, node.to_string(), why.trim());
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
    let header = serde_json::to_value(&source.header).unwrap_or_default();
    let mut events: Vec<Value> = Vec::new();
    source.for_each(|event| {
        if arguments.wants(&event) {
            let mut told = serde_json::to_value(&event).unwrap_or_default();
            told["says"] = json!(event.sentence());
            events.push(told);
        }
    })?;
    Ok(format!("{}\n", json!({"version": 1, "header": header, "events": events})))
}
