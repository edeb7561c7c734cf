//! `doorway algorithms`: the list.

use doorway_core::{About, Catalog, Refusal};
use serde_json::{Value, json};

use crate::typed::Typed;
use crate::{Answer, table, text};

/// List the algorithms
///
/// Lists every algorithm with how it excludes, its messages per entry, its synchronisation delay (T is the delay of one
/// message, N the number of nodes, K the size of a quorum, d the diameter of a tree), the weakest order of channels under
/// which it is right, and what can be chosen for it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway algorithms            those that are right
  doorway algorithms --all      and those that are wrong on purpose
  doorway algorithms --json     everything, for programs")]
pub(crate) struct Arguments {
    /// Tell also what is wrong with the specimens, which are kept because they are wrong
    #[arg(long)]
    all: bool,
    /// Print JSON: all algorithms and specimens
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(
    catalog: &impl Catalog,
    arguments: &Arguments,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    let list = catalog.list();
    if arguments.json {
        let algorithms: Vec<Value> = list.iter().map(|about| described(about)).collect();
        return Ok(Answer::holds(format!("{}\n", json!({"version": 1, "algorithms": algorithms}))));
    }
    let (specimens, right): (Vec<&About>, Vec<&About>) =
        list.into_iter().partition(|about| about.specimen.is_some());
    let mut page = algorithms(&right);
    if !specimens.is_empty() {
        page.push_str("\nSpecimens, wrong on purpose:");
        page.push_str(&if arguments.all { with_faults(&specimens) } else { names(&specimens) });
    }
    let program = &typed.program;
    page.push_str(&format!("\n`{program} explain NAME` tells more, `{program} simulate NAME` runs it.\n"));
    Ok(Answer::holds(page))
}

fn algorithms(list: &[&About]) -> String {
    let headings = ["name", "excludes by", "messages per entry", "delay", "needs", "parameters"];
    let row = |about: &&About| {
        let parameters: Vec<&str> = about.parameters.iter().map(|parameter| parameter.name).collect();
        let (family, needs) = (about.family.name(), about.needs.name());
        let cells = [about.name, family, about.messages, about.delay, needs, &parameters.join(", ")];
        cells.map(str::to_owned).to_vec()
    };
    table::of_words(&headings, &list.iter().map(row).collect::<Vec<_>>())
}

fn names(specimens: &[&About]) -> String {
    let names: Vec<&str> = specimens.iter().map(|about| about.name).collect();
    let sentence = format!("{} (--all tells what is wrong).", names.join(", "));
    format!("\n  {}\n", text::wrap(&sentence, text::prose_width() - 2, 2))
}

fn with_faults(specimens: &[&About]) -> String {
    let column = specimens.iter().map(|about| about.name.len()).max().unwrap_or(0) + 4;
    let line = |about: &&About| {
        let specimen = about.specimen?;
        let told = format!("{} of {}: {}; {}.", specimen.id, specimen.of, specimen.wrong, specimen.verdict);
        Some(format!("\n{}", text::item(about.name, &told, column, text::width())))
    };
    specimens.iter().filter_map(line).collect::<String>() + "\n"
}

/// What is told about an algorithm, for programs.
pub(crate) fn described(about: &About) -> Value {
    let parameters: Vec<Value> = about
        .parameters
        .iter()
        .map(
            |parameter| json!({"name": parameter.name, "default": parameter.default, "help": parameter.help}),
        )
        .collect();
    let specimen = about.specimen.map(|specimen| {
        json!({"id": specimen.id, "of": specimen.of, "wrong": specimen.wrong, "verdict": specimen.verdict})
    });
    json!({
        "name": about.name,
        "title": about.title,
        "family": about.family,
        "messages": about.messages,
        "delay": about.delay,
        "needs": about.needs,
        "parameters": parameters,
        "specimen": specimen,
    })
}
