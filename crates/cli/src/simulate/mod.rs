//! `doorway simulate`: run an algorithm in virtual time and print its measurements.

mod memory;
mod plan;
mod replay;
mod runs;
mod summary;

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_catalog::settings::RunSpec;
use doorway_core::Refusal;
use doorway_picture::{self as picture, Spacing, Theme};
use doorway_simulator::Report;
use doorway_terminal::whole;
use doorway_trace::ClockKind;
use serde::Serialize;
use serde_json::json;

use crate::flags::{Choices, Flags};
use crate::records::Records;
use crate::typed::Typed;
use crate::{Answer, Exit};
use plan::SimulationPlan;
use runs::{Pool, Stopped, Unmet};

/// Run an algorithm in virtual time and measure it
///
/// Runs an algorithm among N nodes in virtual time, counted in ticks, and prints its messages, delays and fairness. A
/// run is a seed: the same command gives the same run on every machine. At every step it is checked that at most one node
/// is inside, that the algorithm keeps its contract, and that the fence increases.
///
/// Exits 0 if all is well, 1 if the run stalls, violates something or does not come as its script expects.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway simulate ricart-agrawala --nodes 16
  doorway simulate maekawa --nodes 13 --quorum plane --latency uniform:5:15
  doorway simulate raymond --nodes 1000 --tree star --load isolated --json
  doorway simulate suzuki-kasami --loss 0.05 --retransmit --runs 100
  doorway simulate central --crash 1@500
  doorway simulate lamport --partition \"1,2|3,4,5@100..200\" --retransmit
  doorway simulate ricart-agrawala --entries 3 --message 2@45 --message 5:lost
  doorway simulate naimi-trehel --entries 20 --trace run.jsonl
  doorway simulate ricart-agrawala --nodes 3 --entries 4 --svg run.svg
  doorway simulate --script scenario.script
  doorway simulate --script example:clocks/jump --svg jump.svg --clocks lamport
  doorway simulate --script example:thirteen-nodes-deadlock")]
pub(crate) struct Arguments {
    /// The algorithm, as `doorway algorithms` lists it; may be left out if the script names it
    algorithm: Option<String>,

    #[command(flatten)]
    run: Flags<RunSpec>,
    #[command(flatten)]
    choices: Choices,
    /// Run the actions of a file, whose heading gives defaults for algorithm, nodes, channels, start and choices
    ///
    /// example:NAME runs a script that ships with Doorway. Its lines are request, release, deliver, lose, duplicate, crash, report,
    /// clock, tell, loop and expect (see docs/scripts.md); for a program over shared memory they are step, run, reach, loop and expect.
    /// The script decides who requests, which message arrives and what goes wrong, so load, times, faults, --warmup and --runs
    /// cannot be given with it.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Number of runs, with the seeds S, S + 1, …
    #[arg(
        long,
        value_name = "R",
        default_value = "1",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    runs: u64,
    /// Number of threads, one per processor unless given; the output does not depend on it
    #[arg(
        long,
        value_name = "T",
        value_parser = whole::<usize>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    threads: Option<usize>,

    /// Write the trace to a file, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    trace: Option<PathBuf>,
    /// Draw a space-time diagram of the run, to a file that ends in .svg or .png
    ///
    /// Time goes to the right, each node has a lane (thin outside, hatched waiting, black inside, with the fence of the entry in
    /// it), each message an arrow whose colour, dash and head tell its kind. A cross is a loss, a crossed circle a crash, a red
    /// triangle a violation; what is shaded repeats for ever, as a script with a loop says. Draw short runs: --entries 10 is much already.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    svg: Option<PathBuf>,
    /// How the drawing shows time: true, so that lengths can be compared, or with events evenly spaced
    #[arg(long, value_name = "time|even", default_value = "time", requires = "svg", help_heading = OUTPUT)]
    spacing: Spacing,
    /// The colours of the drawing; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto", requires = "svg", help_heading = OUTPUT)]
    theme: Theme,
    /// Write the logical time of its first and its last event beside each step of the drawing
    #[arg(long, value_name = "lamport|vector|both", requires = "svg", help_heading = OUTPUT)]
    clocks: Option<ClockKind>,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const RUNS: &str = "Runs and checks";
const OUTPUT: &str = "Output";

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let Arguments { spacing, theme, clocks, .. } = *arguments;
    let looks = picture::DiagramOptions { spacing, theme, clocks };
    let records = Records::new(arguments.trace.as_deref(), arguments.svg.as_deref(), looks)?;
    if let Some(answer) = memory::answer(catalog, arguments, typed, &records)? {
        return Ok(answer);
    }
    let plan = SimulationPlan::new(catalog, arguments, typed)?;
    let notes = plan.notes();
    let pool = match runs::all(catalog, &plan) {
        Ok(pool) => pool,
        Err(Stopped::BadInput(refusal)) => return Err(refusal),
        Err(Stopped::Unmet(unmet)) => {
            let text = if arguments.json { unmet.as_json() } else { String::new() };
            let notes = notes.into_iter().chain([unmet.to_string()]).collect();
            return Ok(Answer { text, notes, exit: Exit::Fails });
        }
    };
    records.write_log(plan.trial.header(), &pool.outcome.log)?;
    let exit = if pool.failures.is_empty() { Exit::Holds } else { Exit::Fails };
    let text =
        if arguments.json { as_json(&plan, pool) } else { summary::page(&plan, arguments, &pool, typed) };
    Ok(Answer { text, notes, exit })
}

impl Unmet {
    fn as_json(&self) -> String {
        let Self { script, line, what } = self;
        format!("{}\n", json!({"version": 1, "script": script, "line": line, "unmet": what}))
    }
}

/// The numbers of several runs together, and of each.
#[derive(Serialize)]
struct Pooled {
    #[serde(flatten)]
    together: Report,
    runs: Vec<Report>,
}

fn as_json(plan: &SimulationPlan<'_>, pool: Pool) -> String {
    let together = plan.report(&pool.outcome, *plan.seeds.start());
    let text = match pool.reports {
        Some(runs) => serde_json::to_string(&Pooled { together, runs }),
        None => serde_json::to_string(&together),
    };
    text.expect("a report has nothing that JSON cannot say") + "\n"
}
