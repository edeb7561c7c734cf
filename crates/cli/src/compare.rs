//! `doorway compare`: all algorithms on the same work, side by side.

mod faults;

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_catalog::settings::{Definition, RunSpec};
use doorway_core::{Options, Refusal};
use doorway_experiments::compare::{Comparison, ComparisonCell, Metric, Traits, panels};
use doorway_picture::Theme;
use doorway_simulator::parallel::processors;
use doorway_simulator::{Load, Settings};
use doorway_terminal::text::{counted, decimal, prose_width, rate, wrap};
use doorway_terminal::{Picture, ProgressLine, table, whole};
use serde_json::json;

use crate::flags::{Choices, Flags, Lists, Use};
use crate::typed::Typed;
use crate::{Answer, Exit, files, names};

/// Run all algorithms on the same work and compare them
///
/// Every algorithm is run at every size and every load, with the same seed, and what it costs is put beside the formula of the
/// literature. The best value of each column is marked with *, what lies outside the formula with !. Each number is that of
/// `doorway simulate` with the same seed. Quorums are the lines of a projective plane at sizes that have one, unless --quorum says
/// otherwise.
///
/// The last table says in which order an algorithm serves requests, and whether it survives one lost message, one duplicate or one
/// crash. The model checker decides both, on systems of two and three nodes. --faults prints what each fault does, and nothing else.
///
/// Exits 0 if all runs went well, 1 if one stalled or violated something.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway compare                 all algorithms, N = 4 to 25, three loads
  doorway compare lamport ricart-agrawala --nodes 4,8,16
  doorway compare --nodes 7,13,21 --quorum plane --loads saturated
  doorway compare --nodes 4,8,16,32,64 --loads saturated --plot costs.svg
  doorway compare --csv > comparison.csv
  doorway compare --faults        one lost message, one duplicate, one crash")]
pub(crate) struct Arguments {
    /// The algorithms, all that are right unless some are named
    algorithms: Vec<String>,
    #[command(flatten)]
    lists: Lists<Compared>,
    #[command(flatten)]
    run: Flags<RunSpec, Shared>,
    #[command(flatten)]
    choices: Choices,
    /// Instead of runs, say what one lost message, one duplicate or one crash does to each algorithm
    #[arg(long)]
    faults: bool,
    /// Draw a chart of one number over N, one for each load, to a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    plot: Option<PathBuf>,
    /// What the chart shows: messages, bytes, response, delay, throughput, fairness or bypass
    #[arg(long, value_name = "METRIC", default_value = "messages", value_parser = metric, requires = "plot", help_heading = OUTPUT)]
    metric: Metric,
    /// The colours of the chart; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto", requires = "plot", help_heading = OUTPUT)]
    theme: Theme,
    /// Print CSV
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    csv: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

const OUTPUT: &str = "Output";

/// The settings of which a comparison takes a list.
#[derive(Clone, Copy, Debug, Default)]
struct Compared;

impl Use for Compared {
    fn has(definition: &Definition) -> bool {
        ["nodes", "load"].contains(&definition.name)
    }

    fn usual_list(axis: &str) -> &'static str {
        if axis == "nodes" { "4,9,16,25" } else { "isolated,light:200,saturated" }
    }
}

/// The settings that all runs of a comparison share.
#[derive(Clone, Copy, Debug, Default)]
struct Shared;

impl Use for Shared {
    fn has(definition: &Definition) -> bool {
        Comparison::SHARED.contains(&definition.name)
    }
}

fn metric(word: &str) -> Result<Metric, Refusal> {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    let found = Metric::ALL.into_iter().find(|metric| metric.name() == word);
    found.ok_or_else(|| Refusal::new(format!("{word:?} is not compared: {} are", names.join(", "))))
}

/// More runs are refused: the table would be too long to read, and a sweep is the right tool.
const MOST_RUNS: usize = 2_000;

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    if arguments.faults {
        return faults::answer(catalog, arguments, typed);
    }
    let comparison = comparison(catalog, arguments, typed)?;
    let picture = arguments.plot.as_deref().map(Picture::new).transpose()?;
    let mut progress = ProgressLine::new(comparison.runs() as u64, "runs");
    let mut cells = comparison.run(catalog, &typed.program, processors(), |done| progress.show(done))?;
    drop(progress);
    let traits = Traits::of_all(&comparison.algorithms, catalog, &typed.program, processors())?;
    Traits::note(&traits, &mut cells);
    if let Some(picture) = picture {
        picture.write(&panels(&cells, arguments.metric)?.draw(arguments.theme))?;
    }
    let exit = if cells.iter().any(|cell| cell.failed) { Exit::Fails } else { Exit::Holds };
    let text = if arguments.json {
        as_json(&cells, &traits)
    } else if arguments.csv {
        as_csv(&cells)?
    } else {
        page(&comparison, &cells, &traits)
    };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn comparison(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Comparison, Refusal> {
    let flag = |name: &str, refusal: Refusal| Refusal::new(format!("--{name}: {refusal}"));
    let nodes: Result<Vec<usize>, Refusal> = arguments.lists.split("nodes").into_iter().map(whole).collect();
    let loads = arguments.lists.split("loads").into_iter().map(str::parse);
    let loads: Result<Vec<Load>, Refusal> = loads.collect();
    let comparison = Comparison {
        algorithms: compared(catalog, arguments, typed)?,
        nodes: nodes.map_err(|refusal| flag("nodes", refusal))?,
        loads: loads.map_err(|refusal| flag("loads", refusal))?,
        options: options(catalog, arguments)?,
        settings: Comparison::settings(&arguments.run.0)
            .map_err(|refusal| Refusal::new(format!("--{refusal}")))?,
    };
    check(&comparison)?;
    Ok(comparison)
}

/// The algorithms that were named, or all that are right.
fn compared(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Vec<String>, Refusal> {
    for name in &arguments.algorithms {
        names::find(catalog, typed, name)?;
    }
    Ok(match arguments.algorithms[..] {
        [] => Comparison::everybody(catalog),
        [..] => arguments.algorithms.clone(),
    })
}

fn check(comparison: &Comparison) -> Result<(), Refusal> {
    if comparison.settings.entries == 0 {
        return Err(Refusal::new("--entries 0 compares nothing: give 1 or more"));
    }
    let refuse_doubles = |words: Vec<String>, axis: &str| {
        let double = (1..words.len()).find(|&at| words[..at].contains(&words[at]));
        double.map_or(Ok(()), |at| {
            Err(Refusal::new(format!("{} is among the {axis} twice: leave one of them out", words[at])))
        })
    };
    refuse_doubles(comparison.algorithms.clone(), "algorithms")?;
    refuse_doubles(comparison.nodes.iter().map(usize::to_string).collect(), "nodes")?;
    refuse_doubles(comparison.loads.iter().map(Load::to_string).collect(), "loads")?;
    let runs = comparison.runs();
    if runs > MOST_RUNS {
        return Err(Refusal::new(format!(
            "{runs} runs are more than a comparison makes, {MOST_RUNS}: take fewer sizes and loads, or a sweep"
        )));
    }
    for (&nodes, load) in
        comparison.nodes.iter().flat_map(|n| comparison.loads.iter().map(move |load| (n, load)))
    {
        Settings { nodes, load: load.clone(), ..comparison.settings.clone() }.check()?;
    }
    Ok(())
}

/// What was chosen; something that no algorithm of the catalog has to choose is refused.
fn options(catalog: &Catalog, arguments: &Arguments) -> Result<Options, Refusal> {
    let words: Vec<(&str, &str)> = arguments.choices.words().collect();
    let is_nobodys = |name: &str| catalog.list().iter().all(|about| about.parameter(name).is_none());
    match words.iter().find(|(name, _)| is_nobodys(name)) {
        Some((name, _)) => Err(Refusal::new(format!("no algorithm has a {name:?} to choose"))),
        None => files::choices(words),
    }
}

fn as_json(cells: &[ComparisonCell], traits: &[Traits]) -> String {
    format!("{}\n", json!({"version": 1, "cells": cells, "traits": traits}))
}

/// The cells as rows of numbers; the columns are the keys of the JSON.
fn as_csv(cells: &[ComparisonCell]) -> Result<String, Refusal> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: String| Refusal::new(format!("the cells cannot be written: {error}"));
    cells.iter().try_for_each(|cell| writer.serialize(cell)).map_err(|error| failed(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// Two tables for each load: what an entry costs at every size, and all else at the largest. One more for order and faults.
fn page(comparison: &Comparison, cells: &[ComparisonCell], traits: &[Traits]) -> String {
    let mut parts = vec![heading(comparison, cells)];
    for load in &comparison.loads {
        let load = load.to_string();
        let of_load: Vec<&ComparisonCell> = cells.iter().filter(|cell| cell.load == load).collect();
        parts.push(format!("Messages per entry, {load}\n{}", costs(comparison, &of_load)));
        let largest = comparison.nodes.iter().copied().max().unwrap_or(0);
        let of_largest: Vec<&ComparisonCell> =
            of_load.into_iter().filter(|cell| cell.nodes == largest).collect();
        parts.push(format!("All else at N = {largest}, {load}\n{}", behaviour(&of_largest)));
    }
    parts.push(format!("Order and faults, in small systems\n{}", faults::traits(traits)));
    parts.extend(failures(cells));
    parts.push("* best of its column, ! outside the formula; times in ticks, entries per tick\n".to_owned());
    parts.join("\n")
}

fn heading(comparison: &Comparison, cells: &[ComparisonCell]) -> String {
    let settings = &comparison.settings;
    let told = format!(
        "{}, {} entries each, hold {}, latency {}, {} channels, seed {}",
        counted(comparison.algorithms.len() as u64, "algorithm"),
        settings.entries,
        settings.hold,
        settings.latency,
        settings.channels.name(),
        settings.seed
    );
    wrap(&told, prose_width(), 2) + "\n" + &quorums(cells)
}

/// The sizes at which the quorums are those of a plane because nothing else was chosen.
fn quorums(cells: &[ComparisonCell]) -> String {
    let mut sizes: Vec<usize> =
        cells.iter().filter(|cell| cell.command.contains("--quorum plane")).map(|cell| cell.nodes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    if sizes.is_empty() { String::new() } else { format!("plane quorums at N = {}\n", sizes.join(", ")) }
}

fn costs(comparison: &Comparison, cells: &[&ComparisonCell]) -> String {
    let columns: Vec<String> = comparison.nodes.iter().map(|n| format!("N = {n} ")).collect();
    let headings: Vec<&str> =
        ["algorithm", "textbook"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let best: Vec<Option<f64>> = comparison
        .nodes
        .iter()
        .map(|&n| {
            Metric::Messages
                .best(cells.iter().filter(|cell| cell.nodes == n).filter_map(|cell| cell.messages_per_entry))
        })
        .collect();
    let row = |name: &String| {
        let mine = || cells.iter().filter(|cell| cell.algorithm == *name);
        let formula = mine().next().map_or("", |cell| cell.formula);
        let numbers = comparison.nodes.iter().zip(&best).map(|(&n, best)| {
            let cell = mine().find(|cell| cell.nodes == n);
            cell.map_or_else(String::new, |cell| {
                let outside = if cell.is_outside_formula() == Some(true) { "!" } else { "" };
                format!("{outside}{}", marked(cell.messages_per_entry, *best, decimal))
            })
        });
        [name.clone(), formula.to_owned()].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = comparison.algorithms.iter().map(row).collect();
    table::of_words_and_numbers(&headings, &rows, 2)
}

fn behaviour(cells: &[&ComparisonCell]) -> String {
    const METRICS: [(Metric, &str); 6] = [
        (Metric::Bytes, "bytes "),
        (Metric::Response, "response "),
        (Metric::Delay, "delay "),
        (Metric::Throughput, "per tick "),
        (Metric::Fairness, "fairness "),
        (Metric::Bypass, "bypass "),
    ];
    let headings: Vec<&str> =
        std::iter::once("algorithm").chain(METRICS.map(|(_, heading)| heading)).collect();
    let row = |cell: &&ComparisonCell| {
        let numbers = METRICS.map(|(metric, _)| {
            let best = metric.best(cells.iter().filter_map(|cell| metric.of(cell)));
            marked(metric.of(cell), best, if metric == Metric::Throughput { rate } else { decimal })
        });
        std::iter::once(cell.algorithm.clone()).chain(numbers).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = cells.iter().map(row).collect();
    table::of_numbers(&headings, &rows)
}

/// A number, with a star if it is as good as the best once both are rounded for people.
fn marked(value: Option<f64>, best: Option<f64>, shown: fn(f64) -> String) -> String {
    let Some(value) = value else { return "– ".to_owned() };
    let is_best = best.is_some_and(|best| shown(best) == shown(value));
    format!("{}{}", shown(value), if is_best { "*" } else { " " })
}

fn failures(cells: &[ComparisonCell]) -> Option<String> {
    let failed: Vec<String> =
        cells.iter().filter(|cell| cell.failed).map(|cell| format!("  {}", cell.command)).collect();
    (!failed.is_empty()).then(|| format!("Runs that stalled or violated something:\n{}\n", failed.join("\n")))
}
