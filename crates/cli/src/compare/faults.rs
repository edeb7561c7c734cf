//! `doorway compare --faults`: what one lost message, one duplicate or one crash does to each algorithm.

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_experiments::compare::{FaultKind, FaultRow, Suffered, Traits};
use doorway_simulator::parallel::processors;
use doorway_terminal::table;
use doorway_terminal::text::{prose_width, wrap};
use serde_json::json;

use super::{Arguments, compared};
use crate::Answer;
use crate::typed::Typed;

/// What can be given together with `--faults`.
const OURS: [&str; 3] = ["algorithms", "faults", "json"];

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    if let Some(other) = typed.other_than(&OURS) {
        let other = other.replace('_', "-");
        return Err(Refusal::new(format!(
            "--{other} cannot be used with --faults, which chooses its own small systems"
        )));
    }
    let names = compared(catalog, arguments, typed)?;
    let rows = FaultRow::of_all(&names, catalog, &typed.program, processors())?;
    Ok(Answer::holds(match arguments.json {
        true => format!("{}\n", json!({"version": 1, "faults": rows})),
        false => page(&rows, &typed.program),
    }))
}

fn page(rows: &[FaultRow], program: &str) -> String {
    let title = "One fault in every run of two nodes that ask twice each, and of three that ask once each";
    let faults = FaultKind::ALL.map(|fault| fault.to_string());
    let headings: Vec<&str> =
        std::iter::once("algorithm").chain(faults.iter().map(String::as_str)).chain(["searched"]).collect();
    let line = |row: &FaultRow| {
        let systems: Vec<String> = row.systems().into_iter().map(requests).collect();
        let systems = if systems.is_empty() { "–".to_owned() } else { systems.join(" ") };
        std::iter::once(row.algorithm.to_owned())
            .chain(row.suffered.iter().map(effect))
            .chain([systems])
            .collect::<Vec<_>>()
    };
    let table = table::of_words(&headings, &rows.iter().map(line).collect::<Vec<_>>());
    let legend = format!(
        "unaffected: at most one node is inside, and every live node that waits enters. stalls: a live node waits for ever. loses \
         exclusion: two nodes are inside together. The number is the length of a shortest run, the fault included. Searched: the requests \
         of each node in the systems of which every run was explored. `{program} check NAME --requests 2,2 --lose 1`, or --duplicate 1 or \
         --crash 1, shows a run; --json has the command of each cell."
    );
    format!("{}\n\n{table}\n{}\n", wrap(title, prose_width(), 0), wrap(&legend, prose_width(), 0))
}

/// Order and faults beside the numbers of a comparison.
pub(super) fn traits(all: &[Traits]) -> String {
    let line = |traits: &Traits| {
        vec![traits.faults.algorithm.to_owned(), traits.order.to_string(), traits.faults.survives()]
    };
    table::of_words(&["algorithm", "order", "survives"], &all.iter().map(line).collect::<Vec<_>>())
}

/// `stalls 2`: an effect with the length of a shortest run.
fn effect(suffered: &Suffered) -> String {
    let steps = suffered.steps.map_or_else(String::new, |steps| format!(" {steps}"));
    format!("{}{steps}", suffered.effect)
}

fn requests(system: &[u32]) -> String {
    system.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
