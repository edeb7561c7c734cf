//! `doorway simulate`: run an algorithm in virtual time and print what came of it.

mod memory;
mod plan;
mod replay;
mod runs;
mod summary;

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_core::{Channels, NodeId, Refusal};
use doorway_picture::{self as picture, Spacing, Theme};
use doorway_simulator::{Crash, Intervention, Partition, Probability, Report};
use doorway_terminal::whole;
use serde::Serialize;
use serde_json::json;

use crate::records::Records;
use crate::typed::Typed;
use crate::usage::{named, node};
use crate::{Answer, Exit};
use plan::Plan;
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
  doorway simulate --script example:thirteen-nodes-deadlock")]
pub(crate) struct Arguments {
    /// The algorithm, as `doorway algorithms` lists it; may be left out if the script names it
    algorithm: Option<String>,

    /// How many nodes there are, 5 unless the script says otherwise
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// How many requests are issued
    #[arg(long, value_name = "E", default_value = "1000", value_parser = whole::<u64>, allow_negative_numbers = true)]
    entries: u64,
    /// When nodes ask
    ///
    /// saturated: each node asks again as soon as it has left. isolated: one request at a time, the next when the system is
    /// quiet. light:MEAN: each node thinks for an exponentially distributed time. active:K: only the first K nodes ask,
    /// saturated. only:NODE+…: only these nodes ask, saturated.
    #[arg(
        long,
        value_name = "saturated|isolated|light:MEAN|active:K|only:NODE+…",
        default_value = "saturated"
    )]
    load: String,
    /// How many ticks a node stays inside: TICKS, uniform:FROM:TO or exponential:MEAN
    #[arg(long, value_name = "TICKS", default_value = "5", allow_negative_numbers = true)]
    hold: String,
    /// Start with this node inside instead of nobody
    #[arg(long, value_name = "NODE", value_parser = node, allow_negative_numbers = true)]
    start_inside: Option<NodeId>,
    /// How many entries pass before measuring begins
    #[arg(long, value_name = "W", default_value = "0", value_parser = whole::<u64>, allow_negative_numbers = true)]
    warmup: u64,
    /// Run the actions of a file, whose heading gives defaults for algorithm, nodes, channels, start and choices
    ///
    /// example:NAME runs one that ships with Doorway. Its lines are request, release, deliver, lose, duplicate, crash, clock, tell,
    /// loop and expect, as scripts/README.md tells; for a program over shared memory step, run, reach, loop and expect. A script says itself who asks, which message arrives and what goes wrong, so
    /// that load, times, faults, --warmup and --runs do not go with it.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// How many ticks a message is under way
    ///
    /// A fixed number, drawn by lot with uniform:FROM:TO or exponential:MEAN, senders:TICKS,… with a number per sending node,
    /// or matrix:FILE with a line per sending and a number per receiving node.
    #[arg(
        long,
        value_name = "TICKS|uniform:FROM:TO|exponential:MEAN|senders:…|matrix:FILE",
        default_value = "10",
        allow_negative_numbers = true,
        help_heading = NETWORK
    )]
    latency: String,
    /// How many ticks a word between an application and its node is under way
    #[arg(
        long,
        value_name = "TICKS",
        default_value = "0",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = NETWORK
    )]
    local_latency: u64,
    /// In what order channels deliver, fifo unless the script says otherwise
    #[arg(long, value_name = "fifo|any|causal", help_heading = NETWORK)]
    channels: Option<Channels>,
    /// The share of messages that are lost, from 0 to 1
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true, help_heading = NETWORK)]
    loss: Probability,
    /// The share of messages that arrive twice, from 0 to 1
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true, help_heading = NETWORK)]
    duplicate: Probability,
    /// Put a layer below the algorithm that resends what is lost and removes what is doubled
    #[arg(long, help_heading = NETWORK)]
    retransmit: bool,
    /// Stop a node for good at a time; may be given again
    #[arg(long, value_name = "NODE@TIME", help_heading = NETWORK)]
    crash: Vec<Crash>,
    /// Keep groups of nodes apart for a time; may be given again
    #[arg(long, value_name = "1,2|3,4,5@FROM..UNTIL", help_heading = NETWORK)]
    partition: Vec<Partition>,
    /// Decide what becomes of one message; may be given again
    ///
    /// Messages count from 1 in the order of sending, as in a trace. 12@40: the twelfth arrives at time 40. 12:lost: it never
    /// arrives. 12:twice@60: a second copy arrives at time 60. Up to there the run is the same as without; channels keep their
    /// order, so that on fifo channels what was sent behind a late message waits for it.
    #[arg(long, value_name = "K@TIME|K:lost|K:twice@TIME", help_heading = NETWORK)]
    message: Vec<Intervention>,

    /// Whom a node asks, a kind of `doorway quorum` or file:PATH
    #[arg(long, value_name = "KIND|file:PATH", help_heading = CHOICES)]
    quorum: Option<String>,
    /// Whom a node asks and informs, as `doorway explain sanders` tells
    #[arg(long, value_name = "KIND|file:PATH", help_heading = CHOICES)]
    structure: Option<String>,
    /// Who is whose neighbour, as `doorway explain raymond` tells
    #[arg(long, value_name = "KIND|elected|file:PATH", help_heading = CHOICES)]
    tree: Option<String>,
    /// Who gets the token of those that ask, as `doorway explain singhal` tells
    #[arg(long, value_name = "KIND", help_heading = CHOICES)]
    arbitration: Option<String>,
    /// Choose any parameter by its name, as `doorway explain` tells; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = named, help_heading = CHOICES)]
    set: Vec<(String, String)>,

    /// What chance is drawn from
    #[arg(
        long,
        value_name = "S",
        default_value = "1",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    seed: u64,
    /// How many runs, with the seeds S, S + 1, …
    #[arg(
        long,
        value_name = "R",
        default_value = "1",
        value_parser = whole::<u64>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    runs: u64,
    /// How many threads share the runs, one per processor unless given; the output is the same
    #[arg(
        long,
        value_name = "T",
        value_parser = whole::<usize>,
        allow_negative_numbers = true,
        help_heading = RUNS
    )]
    threads: Option<usize>,
    /// Test the algorithm's own invariants after every step
    #[arg(long, help_heading = RUNS)]
    invariants: bool,
    /// Count entries out of happened-before order, for at most 64 nodes
    #[arg(long, help_heading = RUNS)]
    order: bool,

    /// Write what happened to a file, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    trace: Option<PathBuf>,
    /// Draw what happened as a space-time diagram, to a file that ends in .svg or .png
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
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const NETWORK: &str = "Network and faults";
const CHOICES: &str = "Choices for the algorithm";
const RUNS: &str = "Runs and checks";
const OUTPUT: &str = "Output";

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let looks = picture::Options { spacing: arguments.spacing, theme: arguments.theme };
    let records = Records::new(arguments.trace.as_deref(), arguments.svg.as_deref(), looks)?;
    if let Some(answer) = memory::answer(catalog, arguments, typed, &records)? {
        return Ok(answer);
    }
    let plan = Plan::new(catalog, arguments, typed)?;
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

fn as_json(plan: &Plan<'_>, pool: Pool) -> String {
    let together = plan.report(&pool.outcome, *plan.seeds.start());
    let text = match pool.reports {
        Some(runs) => serde_json::to_string(&Pooled { together, runs }),
        None => serde_json::to_string(&together),
    };
    text.expect("a report has nothing that JSON cannot say") + "\n"
}
