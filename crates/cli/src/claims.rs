//! `doorway claims`: every claim of the literature that runs or a checker can decide, held against them.

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_experiments::claims::{
    Bench, Claim, ClaimListing, Document, Row, Source, by_source, list, test_all,
};
use doorway_simulator::parallel::{JobEvent, processors};
use doorway_terminal::text::{counted, item, prose_width, wrap};
use doorway_terminal::{ProgressLine, whole};

use crate::typed::Typed;
use crate::{Answer, Exit};

/// Test every claim of the literature
///
/// The literature says how many messages an algorithm needs, how long it takes, and what it survives. This verb tests each
/// claim by runs, by every interleaving of a small system, or by building the quorum systems that it is about, and prints the
/// measurement, the verdict, and the command that shows it. A claim that holds under a condition is tested with and without the
/// condition; a refuted claim comes with a run that contradicts it.
///
/// Each claim names its sources: lecture notes by a tag ([H] is Hofmann, Erlangen 2001), with slide, theorem or lemma where the
/// number is known and else with the topic, and papers. --source lists the claims by these sources instead of testing them.
///
/// Exits 0 if every verdict is the one that is known to be right, 1 if one is not.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway claims                           all of them
  doorway claims --only C2,C8,C27          some of them
  doorway claims --only C2 --nodes 50,100  claims about every N, for these N
  doorway claims --source                  list them by source instead
  doorway claims --source H                those of one document, in full
  doorway claims --json                    for programs")]
pub(crate) struct Arguments {
    /// The claims to test, by their numbers
    #[arg(long, value_name = "C2,C8,…", value_delimiter = ',')]
    only: Vec<String>,
    /// List the claims by source instead of testing them: all, or those of a document by its tag, in full
    #[arg(long, value_name = "TAG", num_args = 0..=1, default_missing_value = "")]
    source: Option<String>,
    /// Values of N for claims about every N, 2 to 13 unless given
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = whole::<usize>, allow_negative_numbers = true)]
    nodes: Vec<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Larger systems would take too long for claims that are tried many times.
const MOST_NODES: usize = 200;

pub(crate) fn answer(catalog: &Catalog, arguments: &Arguments, typed: &Typed) -> Result<Answer, Refusal> {
    let claims = chosen(&arguments.only, typed)?;
    if let Some(tag) = &arguments.source {
        let text = sources(&claims, tag, arguments.json)?;
        return Ok(Answer { text, notes: Vec::new(), exit: Exit::Holds });
    }
    let sizes = sizes(&arguments.nodes)?;
    let mut progress = ProgressLine::new(claims.len() as u64, "claims");
    let mut rows = Vec::new();
    test_all(&claims, catalog, &sizes, &typed.program, processors(), |step| {
        progress.show(rows.len() as u64);
        if let JobEvent::Done(_, row) = step {
            rows.push(row);
        }
        Ok(())
    })?;
    drop(progress);
    let exit = if rows.iter().all(Row::is_as_expected) { Exit::Holds } else { Exit::Fails };
    let text = if arguments.json { written(&rows)? } else { page(&rows) };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn chosen(only: &[String], typed: &Typed) -> Result<Vec<Claim>, Refusal> {
    let all = list();
    if only.is_empty() {
        return Ok(all);
    }
    let wanted: Vec<String> = only.iter().map(|id| normal(id)).collect();
    match wanted.iter().find(|id| !all.iter().any(|claim| is_meant(claim, id))) {
        Some(unknown) => Err(unknown_claim(unknown, &all, typed)),
        None => Ok(all.into_iter().filter(|claim| wanted.iter().any(|id| is_meant(claim, id))).collect()),
    }
}

/// Whether this number means the claim: its own, or without the letter of its part, so that C20 means C20a and C20b.
fn is_meant(claim: &Claim, id: &str) -> bool {
    let whole = claim.id.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    claim.id.eq_ignore_ascii_case(id) || whole.eq_ignore_ascii_case(id)
}

/// The number of a claim as the list has it: `c02` and `2` are C2.
fn normal(id: &str) -> String {
    let digits = id.trim().trim_start_matches(['C', 'c']);
    digits.parse::<u32>().map_or_else(|_| id.trim().to_owned(), |number| format!("C{number}"))
}

fn unknown_claim(id: &str, all: &[Claim], typed: &Typed) -> Refusal {
    const SHOWN: usize = 4;
    let number = |id: &str| {
        id.trim_start_matches('C')
            .trim_end_matches(|letter: char| letter.is_ascii_lowercase())
            .parse::<i64>()
            .ok()
    };
    let program = &typed.program;
    let Some(wanted) = number(id) else {
        let first = all.first().map_or("C1", |claim| claim.id);
        return Refusal::new(format!(
            "{id:?} is not the number of a claim, such as {first}: `{program} claims` lists them"
        ));
    };
    let mut near: Vec<&str> = all.iter().map(|claim| claim.id).collect();
    near.sort_by_key(|id| number(id).map_or(i64::MAX, |number| (number - wanted).abs()));
    near.truncate(SHOWN);
    near.sort_by_key(|id| number(id));
    Refusal::new(format!("there is no claim {id} to test; near it are {}", near.join(", ")))
}

fn sizes(nodes: &[usize]) -> Result<Vec<usize>, Refusal> {
    match nodes.iter().find(|n| !(2..=MOST_NODES).contains(*n)) {
        Some(n) => Err(Refusal::new(format!("claims are tried for 2 to {MOST_NODES} nodes, not for {n}"))),
        None if nodes.is_empty() => Ok(Bench::USUAL_SIZES.to_vec()),
        None => Ok(nodes.to_vec()),
    }
}

fn written(rows: &impl serde::Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(rows);
    text.map(|text| text + "\n").map_err(|error| Refusal::new(format!("the rows cannot be written: {error}")))
}

/// The claims by their sources: all of them in short, or those of one document in full.
fn sources(claims: &[Claim], tag: &str, json: bool) -> Result<String, Refusal> {
    let mut listed = by_source(claims);
    if !tag.is_empty() {
        let document = Document::tagged(tag).ok_or_else(|| unknown_document(tag))?;
        listed.retain(|listed| listed.source.document == document);
    }
    if json {
        return sources_as_json(&listed);
    }
    let paragraph = if tag.is_empty() { in_short } else { in_full };
    let documents = Document::ALL.into_iter().filter_map(|document| {
        let here = listed.iter().filter(|listed| listed.source.document == document);
        let lines: Vec<String> = here.map(paragraph).collect();
        let heading = format!("[{}] {}", document.tag(), document.title());
        (!lines.is_empty()).then(|| format!("{heading}\n{}\n", lines.join("\n")))
    });
    Ok(documents.collect::<Vec<_>>().join("\n"))
}

fn unknown_document(tag: &str) -> Refusal {
    let known: Vec<String> =
        Document::ALL.iter().map(|document| format!("{} ({})", document.tag(), document.title())).collect();
    Refusal::new(format!("there is no document {tag:?}: {}", known.join(", ")))
}

/// A place and the numbers of its claims.
fn in_short(listed: &ClaimListing) -> String {
    let ids: Vec<&str> = listed.claims.iter().map(|claim| claim.id).collect();
    wrap(&format!("- {}: {}", listed.source.place, ids.join(", ")), prose_width(), 4).replacen("- ", "  ", 1)
}

/// A place and its claims.
fn in_full(listed: &ClaimListing) -> String {
    let claims = listed.claims.iter().map(|claim| item(claim.id, claim.claim, COLUMN, prose_width()));
    let place = wrap(listed.source.place, prose_width(), 0);
    [place].into_iter().chain(claims).collect::<Vec<_>>().join("\n")
}

fn sources_as_json(listed: &[ClaimListing]) -> Result<String, Refusal> {
    let place = |listed: &ClaimListing| {
        let Source { document, place } = listed.source;
        let ids: Vec<&str> = listed.claims.iter().map(|claim| claim.id).collect();
        serde_json::json!({"document": document.tag(), "title": document.title(), "place": place, "claims": ids})
    };
    written(&listed.iter().map(place).collect::<Vec<_>>())
}

/// Where what is told about a claim begins.
const COLUMN: usize = 12;

/// Where the sentence of a claim begins, unless its number is longer.
const MARGIN: usize = 5;

fn page(rows: &[Row]) -> String {
    let mut text: String = rows.iter().map(paragraph).collect();
    let all = counted(rows.len() as u64, "claim");
    let wrong: Vec<&str> = rows.iter().filter(|row| !row.is_as_expected()).map(|row| row.id).collect();
    text.push_str(&match wrong.len() {
        0 => format!("{all}, every verdict as expected\n"),
        some => format!("{some} of {all}: NOT as expected: {}\n", wrong.join(", ")),
    });
    text
}

fn source(row: &Row) -> String {
    row.source.iter().map(Source::to_string).collect::<Vec<_>>().join("; ")
}

fn paragraph(row: &Row) -> String {
    let width = prose_width();
    let verdict = match row.is_as_expected() {
        true => row.verdict.clone(),
        false => format!("{}, NOT AS EXPECTED: {}", row.verdict, row.expected),
    };
    // Wrapping keeps one blank between words, so the number is padded afterwards.
    let margin = MARGIN.max(row.id.len() + 1);
    let number = format!("{:<margin$}", row.id);
    let mut lines = vec![
        wrap(&format!("{number}{}", row.claim), width, margin).replacen(&format!("{} ", row.id), &number, 1),
        item("source", &source(row), COLUMN, width),
        item("formula", row.formula, COLUMN, width),
        item("measured", &row.measured, COLUMN, width),
        item("verdict", &verdict, COLUMN, width),
        format!("  try       {}", row.command),
    ];
    lines.extend(row.outside.as_ref().map(|command| format!("  outside   {command}")));
    lines.join("\n") + "\n\n"
}
