//! `doorway check`: every interleaving of a small system.

mod all;
mod kept;
mod page;
mod programs;
mod words;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use doorway_catalog::Catalog;
use doorway_catalog::settings::CheckSpec;
use doorway_checker::{Property, SearchLimits, Visited, Walks};
use doorway_core::{Channels, Options, Refusal};
use doorway_experiments::check::{Checked, Effort, Instance, requests, start};
use doorway_picture::Theme;
use doorway_simulator::parallel::processors;
use doorway_terminal::{ProgressLine, whole};

use crate::flags::{Choices, Flags};
use crate::names::{self, Named};
use crate::typed::Typed;
use crate::{Answer, files};
use kept::OutputFiles;
use page::CheckPage;

/// Explore every interleaving of a small system
///
/// Visits every state that the nodes of an algorithm can reach, for every order of requests and deliveries. It decides
/// whether at most one node is ever inside, whether every waiting node enters eventually and under which fairness,
/// whether the algorithm's invariants hold, whether there is one token, and whether fences increase. With --property all it
/// also decides in which order requests are served, and how often a node can be overtaken.
///
/// Programs over shared memory (bakery, Peterson's and others) are explored access by access, with the chosen registers and
/// memory model.
///
/// Prints a shortest counterexample, with few changes from one node to another.
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
    #[command(flatten)]
    spec: Flags<CheckSpec>,
    #[command(flatten)]
    choices: Choices,
    /// Number of threads; the answer does not depend on it
    #[arg(long, value_name = "T", value_parser = words::threads, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// What to store of each state: all of it, or a fingerprint of 64 bits, with which a state may be missed
    #[arg(long, value_name = "exact|fingerprints", default_value = "exact", value_parser = words::visited)]
    visited: Visited,
    /// Most memory for the states
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = words::bytes)]
    max_memory: u64,
    /// Longest time of the search
    #[arg(long, value_name = "SECONDS", default_value = "600s", value_parser = words::seconds)]
    max_time: Duration,
    /// Make this many random walks instead of visiting every state, for systems that are too large
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    walks: Option<u64>,
    /// Seed of the random walks
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true, requires = "walks")]
    seed: u64,
    /// Write the counterexample as a script, which `doorway simulate --script` replays
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Write the trace of the counterexample as JSON lines
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw the counterexample as a space-time diagram, to a file that ends in .svg or .png; the part that repeats is shaded
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
    if let Some(option) = CheckSpec::names_of(true).find(|option| typed.has(option)) {
        let name = about.name;
        return Err(Refusal::new(format!("--{option} is about shared memory, and {name} sends messages")));
    }
    let instance = instance(arguments, about.name, about.needs)?;
    let kept = OutputFiles::new(arguments)?;
    let (checked, took) = explored(&instance.effort, |watch| instance.check(catalog, watch))?;
    let notes = kept.write(catalog, &instance.options, &checked)?;
    let report = CheckPage {
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
    let mut progress = ProgressLine::without_end(if effort.walks.is_some() { "walks" } else { "states" });
    let began = Instant::now();
    let checked = check(&mut |count| progress.show(count))?;
    Ok((checked, began.elapsed()))
}

fn instance(arguments: &Arguments, name: &str, needs: Channels) -> Result<Instance, Refusal> {
    let spec = &arguments.spec.0;
    let requests = requests(spec.nodes.one()?, &spec.asked(1)?)?;
    let properties = spec.properties(&Property::ALL, &Instance::OF_A_LOCK)?;
    Ok(Instance {
        options: options(arguments)?,
        start: start(spec.start_inside.one()?),
        faults: spec.faults()?,
        fairness: spec.fairness.one()?,
        reduction: spec.reduction.one_or(true)?,
        effort: effort(arguments)?,
        ..Instance::new(name, &requests, spec.channels.one_or(needs)?).deciding(&properties)
    })
}

fn effort(arguments: &Arguments) -> Result<Effort, Refusal> {
    let (seed, time) = (arguments.seed, arguments.max_time);
    let usual = SearchLimits::default();
    let states = arguments.spec.0.max_states.one_or(usual.states)?;
    Ok(Effort {
        threads: threads(arguments),
        visited: arguments.visited,
        limits: SearchLimits { states, bytes: arguments.max_memory, time, ..usual },
        walks: arguments.walks.map(|count| Walks { count, seed, time, ..Walks::default() }),
        ..Effort::default()
    })
}

fn threads(arguments: &Arguments) -> usize {
    arguments.threads.unwrap_or_else(processors)
}

fn options(arguments: &Arguments) -> Result<Options, Refusal> {
    files::choices(arguments.choices.words())
}
