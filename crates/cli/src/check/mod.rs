//! `doorway check`: every interleaving of a small system.

mod all;
mod kept;
mod page;
mod programs;
mod words;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use doorway_catalog::Catalog;
use doorway_checker::{
    Barriers, Fairness, Faults, Limits, MemoryModel, Property, RegisterModel, Visited, Walks,
};
use doorway_core::{Channels, NodeId, Options, Refusal};
use doorway_experiments::check::{Checked, Effort, Instance, requests, start};
use doorway_picture::Theme;
use doorway_simulator::parallel::processors;
use doorway_terminal::{Progress, whole};

use crate::names::{self, Named};
use crate::typed::Typed;
use crate::usage::{named, node};
use crate::{Answer, files};
use kept::Kept;
use page::Report;
use words::Wanted;

/// Explore every interleaving of a small system
///
/// Visits every state that the nodes of an algorithm can reach, however messages are delayed and whoever asks when. It decides
/// whether at most one is ever inside, whether everybody who waits enters in the end and what a scheduler must grant for that,
/// whether the algorithm's invariants hold, whether there is one token, and whether fences increase. With --property all it
/// also decides which orders are kept, and how often one can be overtaken.
///
/// Programs over shared memory (bakery, Peterson's and others) are explored access by access, under the registers and the memory
/// that are chosen.
///
/// What it finds wrong it shows by a shortest run, told with few changes from one node to another.
///
/// Exits 0 if all properties hold, 1 if one is violated, 3 if a limit was reached before all states were seen.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway check all
  doorway check ricart-agrawala --requests 2,2,1
  doorway check raymond --requests unbounded --property all
  doorway check maekawa --nodes 4 --quorum grid
  doorway check maekawa/basic --script deadlock.script
  doorway check lamport --nodes 2 --channels any
  doorway check central --lose 1 --property deadlock-freedom
  doorway check bakery --registers safe
  doorway check peterson --memory tso --barrier off --svg run.svg
  doorway check lamport-fast --property all
  doorway check maekawa/basic --nodes 13 --quorum plane --walks 10000")]
pub(crate) struct Arguments {
    /// The algorithm, as `doorway algorithms` lists it; `all` makes a table of all against all properties
    algorithm: String,
    /// How many nodes there are, 3 unless --requests has more numbers, or the program is for two
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// How often each node asks: one number for all, or one for each; `unbounded` is again and again, which is what programs over
    /// shared memory do unless told otherwise
    #[arg(long, value_name = "R,…", value_delimiter = ',', default_value = "1", value_parser = words::request, allow_negative_numbers = true)]
    requests: Vec<u32>,
    /// In what order channels deliver, the weakest that the algorithm needs unless given
    #[arg(long, value_name = "fifo|any|causal")]
    channels: Option<Channels>,
    /// Start with this node inside instead of nobody
    #[arg(long, value_name = "NODE", value_parser = node, allow_negative_numbers = true)]
    start_inside: Option<NodeId>,
    /// How many messages may be lost
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole::<u8>, allow_negative_numbers = true)]
    lose: u8,
    /// How many messages may arrive once more
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole::<u8>, allow_negative_numbers = true)]
    duplicate: u8,
    /// How many nodes may stop for good
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole::<u8>, allow_negative_numbers = true)]
    crash: u8,
    /// What to decide: `lock` (all that a lock must be), `all`, or some of mutual-exclusion, deadlock-freedom,
    /// starvation-freedom, one-token, invariants, fence, happened-before-order, fifo, bounded-waiting
    #[arg(long, value_name = "lock|all|NAME,…", value_delimiter = ',', default_value = "lock", value_parser = words::property)]
    property: Vec<Wanted>,
    /// What a scheduler is taken to owe to those that wait; the least that is needed is found unless given
    #[arg(long, value_name = "none|weak|strong", value_parser = words::fairness)]
    fairness: Option<Fairness>,
    /// Whether to leave out interleavings that, as the algorithm promises, make no difference
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = words::switch, action = clap::ArgAction::Set)]
    reduction: bool,
    /// On how many threads to search; the answer does not depend on it
    #[arg(long, value_name = "T", value_parser = words::threads, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// What to keep of each state: all of it, or a fingerprint of 64 bits, with which a state may be missed
    #[arg(long, value_name = "exact|fingerprints", default_value = "exact", value_parser = words::visited)]
    visited: Visited,
    /// Whom a node asks, for the algorithms with quorums
    #[arg(long, value_name = "KIND|file:PATH")]
    quorum: Option<String>,
    /// Choose any parameter by its name, as `doorway explain` tells; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    set: Vec<(String, String)>,
    /// What a read gives that overlaps a write, in shared memory: the value before or after it with regular registers, any value
    /// with safe ones
    #[arg(long, value_name = "atomic|regular|safe", default_value = "atomic")]
    registers: RegisterModel,
    /// When a write to shared memory is seen by others: at once, later in order (tso, as on x86), or later in any order (pso)
    #[arg(long, value_name = "sequential|tso|pso", default_value = "sequential")]
    memory: MemoryModel,
    /// Which barriers of the program there are under tso and pso: on, off, or the numbers of those that stay
    #[arg(long, value_name = "on|off|NUMBER,…", default_value = "on")]
    barrier: Barriers,
    /// How many writes of a node can be on their way under tso and pso
    #[arg(long, value_name = "N", default_value = "8", value_parser = whole::<usize>, allow_negative_numbers = true)]
    buffer: usize,
    /// The largest ticket of the bakeries: runs are explored up to there
    #[arg(long, value_name = "N", default_value = "4", value_parser = whole::<u32>, allow_negative_numbers = true)]
    tickets: u32,
    /// The most memory for the states
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = words::bytes)]
    max_memory: u64,
    /// The longest time
    #[arg(long, value_name = "SECONDS", default_value = "600s", value_parser = words::seconds)]
    max_time: Duration,
    /// Walk at random so many times instead of visiting every state, for systems that are too large
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    walks: Option<u64>,
    /// From which seed walks draw
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true, requires = "walks")]
    seed: u64,
    /// Write the run that breaks something as a script, which `doorway simulate --script` replays
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Write the trace of that run as JSON lines
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw that run as a space-time diagram, SVG or PNG as the file's name says; what repeats for ever is shaded
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The colours of the diagram
    #[arg(long, value_name = "light|dark", default_value = "light", requires = "svg")]
    theme: Theme,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    if arguments.algorithm == "all" {
        let goes_with = ["algorithm", "threads", "json"];
        if let Some(option) = typed.other_than(&goes_with) {
            let option = option.replace('_', "-");
            return Err(Refusal::new(format!(
                "check all chooses what it explores by itself: it goes with --threads and --json, not with --{option}"
            )));
        }
        return all::answer(catalog, threads(arguments), arguments.json);
    }
    let about = match names::find_any(catalog, typed, &arguments.algorithm)? {
        Named::Algorithm(about) => about,
        Named::Program(about) => return programs::answer(catalog, arguments, typed, about),
    };
    if let Some(option) = programs::OPTIONS.iter().find(|option| typed.has(option)) {
        let name = about.name;
        return Err(Refusal::new(format!("--{option} is about shared memory, and {name} sends messages")));
    }
    let instance = instance(arguments, about.name, about.needs)?;
    let kept = Kept::new(arguments)?;
    let (checked, took) = explored(&instance.effort, |watch| instance.check(catalog, watch))?;
    let notes = kept.write(catalog, &instance.options, &checked)?;
    let report = Report {
        algorithm: &instance.algorithm,
        nodes: instance.requests.len(),
        noun: "node",
        system: page::system(&instance),
        memory: None,
        checked: &checked,
        took,
    };
    Ok(report.answer(notes, arguments.json))
}

/// Explores, and tells how far it is meanwhile; with the time that it took.
fn explored(
    effort: &Effort,
    check: impl FnOnce(&mut dyn FnMut(u64)) -> Result<Checked, Refusal>,
) -> Result<(Checked, Duration), Refusal> {
    let mut progress = Progress::without_end(if effort.walks.is_some() { "walks" } else { "states" });
    let began = Instant::now();
    let checked = check(&mut |count| progress.show(count))?;
    Ok((checked, began.elapsed()))
}

fn instance(arguments: &Arguments, name: &str, needs: Channels) -> Result<Instance, Refusal> {
    let Arguments { lose, duplicate, crash, .. } = *arguments;
    let requests = requests(arguments.nodes, &arguments.requests)?;
    let properties = properties(arguments, &Property::ALL, &Instance::OF_A_LOCK);
    Ok(Instance {
        options: options(arguments)?,
        start: start(arguments.start_inside),
        faults: Faults { losses: lose, duplicates: duplicate, crashes: crash },
        fairness: arguments.fairness,
        reduction: arguments.reduction,
        effort: effort(arguments),
        ..Instance::new(name, &requests, arguments.channels.unwrap_or(needs)).deciding(&properties)
    })
}

fn effort(arguments: &Arguments) -> Effort {
    let (seed, time) = (arguments.seed, arguments.max_time);
    Effort {
        threads: threads(arguments),
        visited: arguments.visited,
        limits: Limits { bytes: arguments.max_memory, time, ..Limits::default() },
        walks: arguments.walks.map(|count| Walks { count, seed, time, ..Walks::default() }),
        ..Effort::default()
    }
}

fn threads(arguments: &Arguments) -> usize {
    arguments.threads.unwrap_or_else(processors)
}

/// What is wanted: of `all` that can be decided, those `of_a_lock`, or some by name.
fn properties(arguments: &Arguments, all: &[Property], of_a_lock: &[Property]) -> Vec<Property> {
    let is_wanted = |property: &&Property| {
        arguments.property.iter().any(|wanted| match wanted {
            Wanted::All => all.contains(property),
            Wanted::Lock => of_a_lock.contains(property),
            Wanted::One(one) => one == *property,
        })
    };
    Property::ALL.iter().filter(is_wanted).copied().collect()
}

fn options(arguments: &Arguments) -> Result<Options, Refusal> {
    let quorum = arguments.quorum.iter().map(|word| ("quorum", word.as_str()));
    let set = arguments.set.iter().map(|(name, word)| (name.as_str(), word.as_str()));
    files::choices(quorum.chain(set))
}
