//! `doorway chaos`: whole clusters of lock nodes, with clients, while everything goes wrong.

mod coverage;
mod page;
mod plan;
mod runs;

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_chaos::{Flaw, Telling};
use doorway_core::{Refusal, Ticks};
use doorway_terminal::{Destination, whole};

use crate::typed::Typed;
use crate::{Answer, Exit};
use plan::Plan;
use runs::Tally;

/// Run whole clusters of lock nodes while everything goes wrong
///
/// Makes runs of a cluster in virtual time: whole lock nodes with views, leases, fences and disks, and clients that ask, hold,
/// write, sleep, fall silent, stop as late as they may, and leave. From a seed things go wrong: nodes crash and restart,
/// machines lose power in the middle of a write, disks are lost, damaged and replaced by older copies of themselves, clusters
/// are recovered twice by mistake, nodes and clients stand still and wake up believing, networks are cut one way or both, lose,
/// double and delay, clocks drift, nodes leave and come back, voters change, operators break sections open, remove nodes and
/// hand leadership over. Faults come on top of faults, and some are aimed: at the phase in which two voter sets must agree, at
/// the time after it, at nodes that wait for reports, at snapshots. Every algorithm and seed has faults of its own. Then all
/// is mended, and whoever waits must be served.
///
/// All the while a judge watches that knows the true time: never two inside a section, where a holder counts as inside until it
/// has left or a margin after its deadline, fences that only rise, leases that end in time, one view of each number, nobody
/// waiting for ever. A run is a seed: what must never happen comes with the command that makes it happen again.
///
/// Three to nine nodes show most. Two are both needed for a majority, so that whatever stops one of them stops both until it is
/// over; one alone shows restarts, torn disks, pauses and clients that oversleep.
///
/// Exits 0 if nothing happened that must never happen, 1 if something did, whether a flaw was asked for or not.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Arguments {
    /// How many nodes the cluster has, from 1 to 16
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: usize,
    /// The algorithm that the nodes run, or all that are right
    #[arg(long, value_name = "all|NAME", default_value = "naimi-trehel")]
    algorithm: String,
    /// How many runs of each algorithm, with the seeds S, S + 1, …; 200 unless given, 1 with --trace
    #[arg(long, value_name = "R", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S", default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: u64,
    /// How long a run lasts in virtual time, from 20s to 1h; everything is mended 10 s before its end
    #[arg(
        long = "virtual",
        value_name = "TIME",
        default_value = "60s",
        value_parser = plan::span,
        allow_hyphen_values = true
    )]
    length: Ticks,
    /// Break one rule on purpose, to see it found
    #[arg(long, value_name = "NAME", value_parser = plan::flaw)]
    flaw: Option<Flaw>,
    /// How many threads share the runs, one per processor unless given; the output is the same
    #[arg(long, value_name = "T", value_parser = whole::<usize>, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Write what happened in one run to a file, as JSON lines, for the studio and `doorway trace`
    ///
    /// It is about one section: the first in which something happens that must never happen, else section-1. It has what
    /// clients do there, what the algorithm says there, reports of views, crashes and pauses, and all that led to
    /// these; a tick is a microsecond.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    trace: Option<PathBuf>,
    /// Leave out of the trace what happened before
    #[arg(long, value_name = "TIME", value_parser = plan::span, allow_hyphen_values = true, requires = "trace", help_heading = OUTPUT)]
    from: Option<Ticks>,
    /// Leave out of the trace what happened later
    #[arg(long, value_name = "TIME", value_parser = plan::span, allow_hyphen_values = true, requires = "trace", help_heading = OUTPUT)]
    until: Option<Ticks>,
    /// Keep heartbeats, acknowledgements, the consensus and other sections in the trace
    #[arg(long, requires = "trace", help_heading = OUTPUT)]
    everything: bool,
    /// Show in tables how often each rule was needed and how often each two faults met
    #[arg(long, help_heading = OUTPUT)]
    coverage: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const OUTPUT: &str = "Output";

/// The names of all flaws, for those who type.
pub(crate) fn flaws() -> Vec<&'static str> {
    Flaw::ALL.map(Flaw::name).to_vec()
}

/// The examples, and what can be broken.
fn after_help() -> String {
    let flaws = Flaw::ALL.map(|flaw| format!("  {:<22} {}", flaw.name(), flaw.about()));
    format!(
        "Examples:
  doorway chaos                                200 runs of five nodes
  doorway chaos --algorithm all --nodes 3 --seeds 100
  doorway chaos --seeds 1 --seed 17 --json     one run
  doorway chaos --nodes 9 --virtual 5m --seeds 20
  doorway chaos --nodes 7 --coverage           what was seen and what was missed
  doorway chaos --flaw no-wait                 a mistake that is found
  doorway chaos --seed 3 --virtual 20s --trace run.jsonl
  doorway chaos --trace part.jsonl --from 9s --until 12s

Flaws, each of which breaks one rule:
{}",
        flaws.join("\n")
    )
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let plan = Plan::new(catalog, arguments, typed)?;
    let (tally, notes) = match &arguments.trace {
        Some(path) => traced(catalog, arguments, &plan, &Destination::new(path)?)?,
        None => (runs::all(&plan)?, Vec::new()),
    };
    let exit = if tally.total.violations == 0 { Exit::Holds } else { Exit::Fails };
    let text = if arguments.json { as_json(&tally) } else { page::page(&plan, &tally, arguments.coverage) };
    Ok(Answer { text, notes, exit })
}

fn as_json(tally: &Tally) -> String {
    serde_json::to_string(&tally.total).expect("a summary has nothing that JSON cannot say") + "\n"
}

/// Makes the one run of a plan and keeps what happened.
fn traced(
    catalog: &Catalog,
    arguments: &Arguments,
    plan: &Plan<'_>,
    destination: &Destination,
) -> Result<(Tally, Vec<String>), Refusal> {
    let (algorithm, run) = plan.only()?;
    let (mut outcome, section) = run.record()?;
    let log = outcome.log.take().unwrap_or_default();
    let telling = Telling {
        section,
        from: arguments.from.unwrap_or_default(),
        until: arguments.until.unwrap_or(run.length),
        is_whole: arguments.everything,
    };
    let recording = telling.recording(&run, &log, algorithm, catalog)?;
    destination.write(|file| Ok(recording.write(file)?))?;
    let mut tally = Tally::new(plan);
    tally.add(plan, 0, &outcome);
    Ok((tally, too_long(recording.events.len()).into_iter().collect()))
}

/// That a trace is too long to be looked at, if it is.
fn too_long(events: usize) -> Option<String> {
    const MOST: usize = doorway_picture::MOST_EVENTS;
    let told = || {
        format!("the trace has {events} events, and pictures show at most {MOST}: --from and --until cut it")
    };
    (events > MOST).then(told)
}
