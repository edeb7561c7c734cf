//! `doorway check`: every interleaving of a small system.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use doorway_checker::{Limits, Property, Watches};
use doorway_core::{Catalog, Channels, NodeId, Options, Refusal};
use doorway_lab::check::{Checked, Counterexample, Instance, requests, start};
use serde_json::{Value, json};

use crate::files::Destination;
use crate::progress::Progress;
use crate::text::{channels, counted, item, prose_width, wrap};
use crate::typed::Typed;
use crate::usage::{named, node, whole};
use crate::{Answer, Exit, files, names};

/// Explore every interleaving of a small system
///
/// Visits every state that the nodes of an algorithm can reach, however messages are delayed and whoever asks when, and decides
/// whether at most one is ever inside, whether anybody ever waits in vain for something that can no longer happen, whether the
/// algorithm's invariants hold, and whether fences increase. What it finds wrong it shows by a shortest run.
///
/// Exits 0 if all properties hold, 1 if one is violated, 3 if a limit was reached before all states were seen.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway check ricart-agrawala --requests 2,2,1 --channels any
  doorway check maekawa --nodes 4 --quorum grid
  doorway check maekawa/basic --script deadlock.script
  doorway check lamport --nodes 2 --channels any")]
pub(crate) struct Arguments {
    /// The algorithm, as `doorway algorithms` lists it
    algorithm: String,
    /// How many nodes there are, 3 unless --requests has more numbers
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// How often each node asks: one number for all, or one for each
    #[arg(long, value_name = "R,…", value_delimiter = ',', default_value = "1", value_parser = whole::<u32>, allow_negative_numbers = true)]
    requests: Vec<u32>,
    /// In what order channels deliver, the weakest that the algorithm needs unless given
    #[arg(long, value_name = "fifo|any")]
    channels: Option<Channels>,
    /// Start with this node inside instead of nobody
    #[arg(long, value_name = "NODE", value_parser = node, allow_negative_numbers = true)]
    start_inside: Option<NodeId>,
    /// What to decide: all, or some of mutual-exclusion, deadlock-freedom, invariants, fence
    #[arg(long, value_name = "all|NAME,…", value_delimiter = ',', default_value = "all", value_parser = property)]
    property: Vec<Wanted>,
    /// Whom a node asks, for the algorithms with quorums
    #[arg(long, value_name = "KIND|file:PATH")]
    quorum: Option<String>,
    /// Choose any parameter by its name, as `doorway explain` tells; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    set: Vec<(String, String)>,
    /// The most memory for the states
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = bytes)]
    max_memory: u64,
    /// The longest time
    #[arg(long, value_name = "SECONDS", default_value = "600s", value_parser = seconds)]
    max_time: Duration,
    /// Write the shortest run that breaks something as a script, which `doorway simulate --script` replays
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All that can be decided.
const PROPERTIES: [Property; 4] =
    [Property::MutualExclusion, Property::DeadlockFreedom, Property::Invariants, Property::Fence];

/// A property, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    One(Property),
}

fn property(word: &str) -> Result<Wanted, Refusal> {
    if word == "all" {
        return Ok(Wanted::All);
    }
    let found = PROPERTIES.into_iter().find(|property| property.name() == word);
    found.map(Wanted::One).ok_or_else(|| {
        let names: Vec<&str> = PROPERTIES.iter().map(|property| property.name()).collect();
        Refusal::new(format!("{word:?} cannot be decided: all, {}", names.join(", ")))
    })
}

/// A number of bytes with a unit: `4GiB`.
fn bytes(word: &str) -> Result<u64, Refusal> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let (digits, shift) = units
        .into_iter()
        .find_map(|(unit, shift)| Some((word.strip_suffix(unit)?, shift)))
        .unwrap_or((word, 0));
    let number = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| Refusal::new(format!("{word:?} is not a size, such as 4GiB or 500MiB")))
}

/// A time in seconds: `60s` or `60`.
fn seconds(word: &str) -> Result<Duration, Refusal> {
    let number = word.strip_suffix('s').unwrap_or(word).parse::<u32>();
    number
        .map(|number| Duration::from_secs(number.into()))
        .map_err(|_| Refusal::new(format!("{word:?} is not a time in whole seconds, such as 60s")))
}

pub(crate) fn answer(
    catalog: &(impl Catalog + Sync),
    arguments: &Arguments,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    let about = names::find(catalog, typed, &arguments.algorithm)?;
    let decided: Vec<Property> =
        PROPERTIES.into_iter().filter(|property| is_wanted(arguments, *property)).collect();
    let instance = Instance {
        algorithm: about.name.to_owned(),
        options: options(arguments)?,
        requests: requests(arguments.nodes, &arguments.requests)?,
        channels: arguments.channels.unwrap_or(about.needs),
        start: start(arguments.start_inside),
        watches: Watches {
            invariants: decided.contains(&Property::Invariants),
            fences: decided.contains(&Property::Fence),
        },
        limits: Limits { bytes: arguments.max_memory, time: arguments.max_time, ..Limits::default() },
    };
    let destination = arguments.script.as_deref().map(Destination::new).transpose()?;
    let mut progress = Progress::new(1, "searches");
    let began = Instant::now();
    let mut checked = instance.check(catalog, &mut |_| progress.show(0))?;
    drop(progress);
    let took = began.elapsed();
    checked.counterexamples.retain(|found| decided.contains(&found.property));
    if let Some((destination, found)) = destination.zip(checked.counterexamples.first()) {
        destination.write(|file| file.write_all(found.script.as_bytes()))?;
    }
    let verdict = Verdict { instance: &instance, decided: &decided, checked: &checked, took };
    let text = if arguments.json { verdict.as_json() } else { verdict.page() };
    Ok(Answer { text, notes: Vec::new(), exit: verdict.exit() })
}

fn is_wanted(arguments: &Arguments, property: Property) -> bool {
    arguments.property.iter().any(|wanted| matches!(wanted, Wanted::All) || *wanted == Wanted::One(property))
}

fn options(arguments: &Arguments) -> Result<Options, Refusal> {
    let quorum = arguments.quorum.iter().map(|word| ("quorum", word.as_str()));
    let set = arguments.set.iter().map(|(name, word)| (name.as_str(), word.as_str()));
    files::choices(quorum.chain(set))
}

/// What came of it, to be told.
struct Verdict<'a> {
    instance: &'a Instance,
    decided: &'a [Property],
    checked: &'a Checked,
    took: Duration,
}

impl Verdict<'_> {
    fn found(&self, property: Property) -> Option<&Counterexample> {
        self.checked.counterexamples.iter().find(|found| found.property == property)
    }

    fn word(&self, property: Property) -> &'static str {
        match self.found(property) {
            Some(_) => "violated",
            None if self.checked.exploration.is_complete => "holds",
            None => "not-exhausted",
        }
    }

    fn exit(&self) -> Exit {
        match () {
            () if !self.checked.counterexamples.is_empty() => Exit::Fails,
            () if self.checked.exploration.is_complete => Exit::Holds,
            () => Exit::Undecided,
        }
    }

    fn as_json(&self) -> String {
        let explored = &self.checked.exploration;
        let property = |property: &Property| {
            let found = self.found(*property);
            json!({
                "name": property.name(),
                "verdict": self.word(*property),
                "fairness": Value::Null,
                "steps": found.map(|found| found.steps.len()),
                "bound": Value::Null,
            })
        };
        let shown = self.checked.counterexamples.first();
        let answer = json!({
            "version": 1,
            "algorithm": self.instance.algorithm,
            "nodes": self.instance.requests.len(),
            "states": explored.states,
            "transitions": explored.transitions,
            "depth": explored.depth,
            "complete": explored.is_complete,
            "seconds": self.took.as_secs_f64(),
            "properties": self.decided.iter().map(property).collect::<Vec<_>>(),
            "counterexample": shown.map(|found| json!({"steps": found.steps, "loop_start": Value::Null})),
            "messages": Value::Null,
        });
        format!("{answer}\n")
    }

    fn page(&self) -> String {
        let explored = &self.checked.exploration;
        let requests: Vec<String> = self.instance.requests.iter().map(u32::to_string).collect();
        let mut facts = vec![
            self.instance.algorithm.clone(),
            counted(requests.len() as u64, "node"),
            format!("requests {}", requests.join(",")),
            channels(self.instance.channels),
        ];
        facts.extend(self.instance.options.iter().map(|(name, choice)| format!("{name} {}", choice.word)));
        facts.extend(self.instance.start.holder().map(|node| format!("node {node} inside at the start")));
        let how_far =
            if explored.is_complete { "all of them" } else { "and a limit was reached: not all of them" };
        let seen = format!(
            "{} states, {how_far}; {} steps between them; {} deep; {} bytes a state; {:.1} s",
            explored.states,
            explored.transitions,
            explored.depth,
            explored.bytes / explored.states.max(1),
            self.took.as_secs_f64()
        );
        let mut lines =
            vec![wrap(&facts.join(", "), prose_width(), 2), wrap(&seen, prose_width(), 2), String::new()];
        lines.extend(self.decided.iter().map(|property| {
            let found = self.found(*property);
            let told = found.map_or_else(
                || self.word(*property).replace('-', " "),
                |found| {
                    format!("violated after {}: {}", counted(found.steps.len() as u64, "step"), found.what)
                },
            );
            item(property.name(), &told, 20, prose_width())
        }));
        if let Some(found) = self.checked.counterexamples.first() {
            lines.push(format!("\nA shortest run against {}:", found.property));
            lines.extend((1..).zip(&found.steps).map(|(number, step)| format!("{number:>4}  {step}")));
            lines.push(format!("      so that {}", found.what));
        }
        lines.join("\n") + "\n"
    }
}
