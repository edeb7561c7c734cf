//! `doorway chaos`: clusters of lock nodes, with clients, under injected faults.

mod coverage;
mod page;
mod plan;
mod runs;

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_chaos::{Flaw, TraceFilter};
use doorway_core::{Refusal, Ticks};
use doorway_terminal::{Destination, whole};

use crate::flags::Choices;
use crate::typed::Typed;
use crate::{Answer, Exit};
use plan::ChaosPlan;
use runs::ChaosTally;

/// Run clusters of lock nodes in virtual time while faults are injected
///
/// Simulates complete lock nodes with views, leases, fences and disks, and clients that acquire locks, write, pause, go silent,
/// stop at the last moment, and leave. A nemesis, driven by the seed, injects faults: nodes crash and restart; machines lose
/// power in the middle of a write; disks are lost, damaged or replaced by older copies; a cluster is recovered twice by
/// mistake; nodes and clients pause and wake up believing that no time has passed; networks are cut in one or both directions,
/// and lose, duplicate and delay messages; clocks drift; nodes leave and come back; voters change; operators break locks,
/// remove nodes and move leadership. Faults overlap, and some are aimed: at the phase in which two voter sets must agree, at
/// the time right after it, at nodes that wait for reports, at snapshots. Each algorithm and seed gets its own faults. At the
/// end everything is repaired, and every waiter must get its lock.
///
/// A judge that knows the true time watches each run: a lock never has two holders (a holder counts until it has left, or until
/// a margin after its deadline), fences only rise, leases end in time, each view number has one content, and no client waits
/// forever. A run is a seed: each violation is printed with the command that replays it.
///
/// Three to nine nodes show most. With two nodes both are needed for a majority, so a fault of one stops both until it is
/// repaired; a single node shows restarts, torn writes, pauses and clients that oversleep.
///
/// Exits 0 if no run had a violation, 1 if one had, whether a flaw was asked for or not.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Arguments {
    /// Number of nodes, 1 to 16
    #[arg(long, value_name = "N", default_value = "5", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: usize,
    /// The algorithm that the nodes run, or `all` correct ones
    #[arg(long, value_name = "all|NAME", default_value = "naimi-trehel")]
    algorithm: String,
    #[command(flatten)]
    choices: Choices,
    /// Runs of each algorithm, with the seeds S, S + 1, …; 200 unless given, 1 with --trace
    #[arg(long, value_name = "R", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S", default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: u64,
    /// Length of a run in virtual time, 20s to 1h; everything is repaired 10 s before its end
    #[arg(
        long = "virtual",
        value_name = "TIME",
        default_value = "60s",
        value_parser = plan::span,
        allow_hyphen_values = true
    )]
    length: Ticks,
    /// Break one rule on purpose, and see whether the judge finds it; the list is below
    #[arg(long, value_name = "NAME", value_parser = plan::flaw)]
    flaw: Option<Flaw>,
    /// Number of threads, one per processor unless given; the output does not depend on it
    #[arg(long, value_name = "T", value_parser = whole::<usize>, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Write the trace of one run to a file, as JSON lines, for the studio and `doorway trace`
    ///
    /// The trace is about one lock: the first with a violation, else section-1. It has the actions of its clients, the messages
    /// of its algorithm, reports of views, crashes and pauses, and everything that caused these; a tick is a microsecond.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    trace: Option<PathBuf>,
    /// Leave out earlier events of the trace
    #[arg(long, value_name = "TIME", value_parser = plan::span, allow_hyphen_values = true, requires = "trace", help_heading = OUTPUT)]
    from: Option<Ticks>,
    /// Leave out later events of the trace
    #[arg(long, value_name = "TIME", value_parser = plan::span, allow_hyphen_values = true, requires = "trace", help_heading = OUTPUT)]
    until: Option<Ticks>,
    /// Keep heartbeats, acknowledgements, consensus and other locks in the trace
    #[arg(long, requires = "trace", help_heading = OUTPUT)]
    everything: bool,
    /// Print how often each rule applied and how often each pair of faults overlapped
    #[arg(long, help_heading = OUTPUT)]
    coverage: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const OUTPUT: &str = "Output";

/// The names of all flaws, for --help.
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
  doorway chaos --algorithm raymond --tree star
  doorway chaos --seeds 1 --seed 17 --json     one run
  doorway chaos --nodes 9 --virtual 5m --seeds 20
  doorway chaos --nodes 7 --coverage           which rules were covered
  doorway chaos --flaw no-wait                 a mistake that the judge finds
  doorway chaos --seed 3 --virtual 20s --trace run.jsonl
  doorway chaos --trace part.jsonl --from 9s --until 12s

Flaws, each of which breaks one rule:
{}",
        flaws.join("\n")
    )
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let plan = ChaosPlan::new(catalog, arguments, typed)?;
    let (tally, notes) = match &arguments.trace {
        Some(path) => traced(catalog, arguments, &plan, &Destination::new(path)?)?,
        None => (runs::all(&plan)?, Vec::new()),
    };
    let exit = if tally.total.violations == 0 { Exit::Holds } else { Exit::Fails };
    let text = if arguments.json { as_json(&tally) } else { page::page(&plan, &tally, arguments.coverage) };
    Ok(Answer { text, notes, exit })
}

fn as_json(tally: &ChaosTally) -> String {
    serde_json::to_string(&tally.total).expect("a summary has nothing that JSON cannot say") + "\n"
}

/// Makes the one run of a plan and keeps what happened.
fn traced(
    catalog: &Catalog,
    arguments: &Arguments,
    plan: &ChaosPlan<'_>,
    destination: &Destination,
) -> Result<(ChaosTally, Vec<String>), Refusal> {
    let (algorithm, run) = plan.only()?;
    let (mut outcome, section) = run.record()?;
    let log = outcome.log.take().unwrap_or_default();
    let telling = TraceFilter {
        section,
        from: arguments.from.unwrap_or_default(),
        until: arguments.until.unwrap_or(run.length),
        is_whole: arguments.everything,
    };
    let recording = telling.recording(&run, &log, algorithm, catalog)?;
    destination.write(|file| Ok(recording.write(file)?))?;
    let mut tally = ChaosTally::new(plan);
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
