//! `doorway structure`: a structure of Sanders' algorithm or a tree of Raymond's, examined and drawn.

mod relations;
mod tree;

use std::path::PathBuf;

use doorway_catalog::{Catalog, Trial};
use doorway_core::{NodeId, Refusal};
use doorway_experiments::structures::Delays;
use doorway_picture::Theme;
use doorway_simulator::{Latency, Settings};
use doorway_terminal::{table, whole};

use crate::usage::node;
use crate::{Answer, files};

/// Examine a structure of Sanders' algorithm or a tree of Raymond's
///
/// For a structure: which nodes each node asks (R), informs (I) and is informed by (St), whether Sanders' theorem holds and which pair of nodes breaks it if
/// not, the bounds on the messages per entry, and the delay from each node to each other, measured in runs. For a tree: parent, children, depth, the
/// bounds on the messages, the same delays, and the election that built it.
///
/// Exits 0 if the nodes exclude each other, 1 if they do not.
#[derive(clap::Args)]
#[command(after_help = "Names:
  sanders     the structure that --structure names; maekawa unless given
  lamport, ricart-agrawala, maekawa, central, four-node, file:PATH
              the structure of this name; a line of a file: `3: ask 1 2 inform 3`
  one-sided, unasked
              structures that break a condition of the theorem
  raymond     the tree that --tree names; binary unless given

Examples:
  doorway structure four-node
  doorway structure maekawa --quorum plane --nodes 7 --json
  doorway structure four-node --svg four.svg
  doorway structure sanders --structure file:mine.structure
  doorway structure one-sided --nodes 3
  doorway structure raymond --tree chain --nodes 6
  doorway structure raymond --tree elected --nodes 7 --trace election.jsonl
  doorway trace show election.jsonl              the messages of the election")]
pub(crate) struct Arguments {
    /// sanders, raymond or a structure; the list is below
    name: String,
    /// Number of nodes; 5 unless NAME or a file implies it
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// The structure, for `sanders`
    #[arg(long, value_name = "KIND|file:PATH")]
    structure: Option<String>,
    /// The quorum system, for the structure maekawa: a kind of `doorway quorum` or file:PATH
    #[arg(long, value_name = "KIND|file:PATH")]
    quorum: Option<String>,
    /// The tree, for `raymond`: star, chain, binary, random[:SEED], elected or file:PATH
    #[arg(long, value_name = "KIND|elected|file:PATH")]
    tree: Option<String>,
    /// Seed of the election
    #[arg(long, default_value = "1", value_parser = whole::<u64>, allow_negative_numbers = true)]
    seed: u64,
    /// Message latency of the election, in ticks: TICKS, uniform:FROM:TO or exponential:MEAN
    #[arg(long, value_name = "SPAN", default_value = "10")]
    latency: Latency,
    /// Write the trace of the election to a file, as JSON lines, for `--tree elected`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw it, to a file that ends in .svg or .png: red arrows ask, green ones inform
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the arrows of this node alone
    #[arg(long, value_name = "NODE", value_parser = node, allow_negative_numbers = true, requires = "svg")]
    of: Option<NodeId>,
    /// The colours of the drawing; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto", requires = "svg")]
    theme: Theme,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// More nodes are refused: every pair of them is looked at.
const MOST_NODES: usize = 512;
/// With more nodes the delays are those of the rule, not measured: a run is made for each pair.
const MOST_MEASURED: usize = 16;
/// The most rows of a table.
const MOST_ROWS: usize = 64;

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    let is_tree = arguments.name == "raymond";
    let flags = [
        ("--structure", arguments.structure.is_some(), arguments.name == "sanders", "sanders"),
        ("--quorum", arguments.quorum.is_some(), !is_tree, "structures"),
        ("--tree", arguments.tree.is_some(), is_tree, "raymond"),
        (
            "--trace",
            arguments.trace.is_some(),
            arguments.tree.as_deref() == Some("elected"),
            "--tree elected",
        ),
        ("--of", arguments.of.is_some(), !is_tree, "structures"),
    ];
    if let Some((flag, .., taker)) = flags.into_iter().find(|(_, is_given, fits, _)| *is_given && !fits) {
        return Err(Refusal::new(format!("{flag} is only for {taker}: leave it out")));
    }
    if is_tree { tree::answer(catalog, arguments) } else { relations::answer(catalog, arguments) }
}

impl Arguments {
    /// The number of nodes, if it is not too large.
    fn node_count(&self, implied: Option<usize>) -> Result<usize, Refusal> {
        let nodes = self.nodes.or(implied).unwrap_or(Settings::default().nodes);
        match nodes {
            0 => Err(Refusal::new("--nodes must be at least 1")),
            1..=MOST_NODES => Ok(nodes),
            _ => Err(Refusal::new(format!("{nodes} nodes are too many: at most {MOST_NODES} are examined"))),
        }
    }

    /// A trial of an algorithm with these choices.
    fn trial(&self, algorithm: &str, choices: &[(&str, &str)], nodes: usize) -> Result<Trial, Refusal> {
        let settings =
            Settings { nodes, seed: self.seed, latency: self.latency.clone(), ..Settings::default() };
        let options = files::choices(choices.iter().copied())?;
        Ok(Trial { algorithm: algorithm.to_owned(), options, settings })
    }
}

/// The lines of a file that say something.
fn lines(text: &str) -> usize {
    text.lines().filter(|line| !line.split('#').next().unwrap_or_default().trim().is_empty()).count()
}

/// Numbers with blanks between them; a dash for none.
fn listed(nodes: impl IntoIterator<Item = NodeId>) -> String {
    let numbers: Vec<String> = nodes.into_iter().map(|node| node.to_string()).collect();
    if numbers.is_empty() { "–".to_owned() } else { numbers.join(" ") }
}

/// The table of delays, a row for each node from which the permission comes.
fn delay_table(delays: &Delays) -> String {
    let numbers: Vec<String> = NodeId::first(delays.len()).map(|node| node.to_string()).collect();
    let headings: Vec<&str> =
        std::iter::once("from \\ to").chain(numbers.iter().map(String::as_str)).collect();
    let row = |(number, row): (&String, &Vec<u64>)| {
        std::iter::once(number.clone()).chain(row.iter().map(u64::to_string)).collect()
    };
    table::of_numbers(&headings, &numbers.iter().zip(delays).map(row).collect::<Vec<_>>())
}

/// The delays that runs show, or nothing if there are too many pairs of nodes.
fn measured(catalog: &Catalog, trial: &Trial) -> Result<Option<Delays>, Refusal> {
    if trial.settings.nodes > MOST_MEASURED {
        return Ok(None);
    }
    doorway_experiments::structures::measured_delays(trial, |trial| trial.run(catalog)).map(Some)
}
