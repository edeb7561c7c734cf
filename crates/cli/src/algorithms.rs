//! `doorway algorithms`: the list.

use doorway_catalog::Catalog;
use doorway_core::shared::AboutProgram;
use doorway_core::{About, Refusal, Specimen};
use doorway_terminal::{table, text};
use serde_json::{Value, json};

use crate::typed::Typed;
use crate::{Answer, programs};

/// List the algorithms
///
/// Lists every algorithm with how it excludes, its messages per entry, its synchronisation delay (T is the delay of one
/// message, N the number of nodes, K the size of a quorum, d the diameter of a tree), the weakest channel order under which it
/// is correct, and its parameters. Then lists the programs over shared memory, with their registers, the cost of an entry
/// without contention, and the fairness they promise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway algorithms            the correct ones
  doorway algorithms --all      and the specimens, wrong on purpose
  doorway algorithms --json     everything, for programs")]
pub(crate) struct Arguments {
    /// List the specimens as well, which are wrong on purpose, each with its fault
    #[arg(long)]
    all: bool,
    /// Print JSON: all algorithms and specimens
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let list = catalog.list();
    if arguments.json {
        let algorithms: Vec<Value> = list.iter().map(|about| doorway_catalog::described(about)).collect();
        let programs: Result<Vec<Value>, Refusal> = catalog
            .programs()
            .iter()
            .map(|about| Ok(programs::described(about, &programs::facts(catalog, about.name)?)))
            .collect();
        let answer = json!({"version": 1, "algorithms": algorithms, "programs": programs?});
        return Ok(Answer::holds(format!("{answer}\n")));
    }
    let (specimens, right): (Vec<&About>, Vec<&About>) =
        list.into_iter().partition(|about| about.specimen.is_some());
    let specimens: Vec<(&str, Specimen)> =
        specimens.iter().filter_map(|about| Some((about.name, about.specimen?))).collect();
    let mut page = algorithms(&right);
    if !specimens.is_empty() {
        page.push_str("\nSpecimens, wrong on purpose:");
        page.push_str(&if arguments.all { with_faults(&specimens) } else { names(&specimens) });
    }
    page.push_str(&programs(catalog, arguments.all)?);
    let program = &typed.program;
    page.push_str(&format!(
        "\n`{program} explain NAME` tells more, `{program} simulate NAME` runs what sends messages, `{program} check NAME` explores all.\n"
    ));
    Ok(Answer::holds(page))
}

/// The programs over shared memory, and the specimens among them.
fn programs(catalog: &Catalog, with_wrong: bool) -> Result<String, Refusal> {
    let (specimens, right): (Vec<&AboutProgram>, Vec<&AboutProgram>) =
        catalog.programs().into_iter().partition(|about| about.specimen.is_some());
    if right.is_empty() {
        return Ok(String::new());
    }
    let mut page = format!("\nOver shared memory:\n\n{}", programs::table(catalog, &right)?);
    let specimens: Vec<(&str, Specimen)> =
        specimens.iter().filter_map(|about| Some((about.name, about.specimen?))).collect();
    if !specimens.is_empty() {
        page.push_str("\nSpecimens over shared memory:");
        page.push_str(&if with_wrong { with_faults(&specimens) } else { names(&specimens) });
    }
    Ok(page)
}

fn algorithms(list: &[&About]) -> String {
    let headings = ["name", "excludes by", "messages per entry", "delay", "needs", "parameters"];
    let row = |about: &&About| {
        let parameters: Vec<&str> = about.parameters.iter().map(|parameter| parameter.name).collect();
        let (family, needs) = (about.family.name(), about.needs.name());
        let cells = [about.name, family, about.messages.formula, about.delay, needs, &parameters.join(", ")];
        cells.map(str::to_owned).to_vec()
    };
    table::of_words(&headings, &list.iter().map(row).collect::<Vec<_>>())
}

fn names(specimens: &[(&str, Specimen)]) -> String {
    let names: Vec<&str> = specimens.iter().map(|(name, _)| *name).collect();
    let sentence = format!("{} (--all tells what is wrong).", names.join(", "));
    format!("\n  {}\n", text::wrap(&sentence, text::prose_width() - 2, 2))
}

fn with_faults(specimens: &[(&str, Specimen)]) -> String {
    let column = specimens.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 4;
    let line = |(name, specimen): &(&str, Specimen)| {
        let told = format!("{} of {}: {}; {}.", specimen.id, specimen.of, specimen.wrong, specimen.verdict);
        format!("\n{}", text::item(name, &told, column, text::width()))
    };
    specimens.iter().map(line).collect::<String>() + "\n"
}
