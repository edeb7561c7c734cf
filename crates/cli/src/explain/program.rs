//! The page of a program over shared memory.

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_core::shared::AboutProgram;
use doorway_terminal::text;
use serde_json::json;

use super::{bullets, heading, items, parameters, rewrapped, versioned, without_title, wrong};
use crate::Answer;
use crate::programs::{self, ProgramFacts};
use crate::typed::Typed;

pub(super) fn answer(
    catalog: &Catalog,
    about: &AboutProgram,
    is_json: bool,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    let facts = programs::facts(catalog, about.name)?;
    let to_try = command_to_try(about, &facts, &typed.program);
    if !is_json {
        return Ok(Answer::holds(page(about, &facts, &to_try)));
    }
    let mut told = programs::described(about, &facts);
    told["page"] = json!(about.page());
    told["lines"] = json!(facts.lines);
    told["invariants"] = json!(facts.invariants);
    told["try"] = json!(to_try);
    Ok(Answer::holds(format!("{}\n", versioned(told))))
}

fn page(about: &AboutProgram, facts: &ProgramFacts, to_try: &str) -> String {
    let mut parts = vec![heading(about.title, about.name)];
    parts.extend(about.specimen.map(wrong));
    parts.push(rewrapped(without_title(&about.page(), about.title)));
    parts.push(program(facts.lines));
    let nodes = format!("for {}", text::processes(facts.n));
    let claims = [
        ("registers".to_owned(), format!("{} {nodes}", facts.registers())),
        ("when alone".to_owned(), format!("{} {nodes}", facts.alone())),
        ("who waits".to_owned(), about.promise.to_string()),
    ];
    parts.extend(items("Claims", &claims));
    parts.extend(bullets("Invariants, tested by `check`", &facts.invariants));
    parts.extend(items("Parameters", &parameters("--set ", about.parameters)));
    parts.push(format!("Try\n  {to_try}"));
    parts.join("\n\n") + "\n"
}

/// The lines of the program, with their numbers.
fn program(lines: &[&str]) -> String {
    let numbered = (1..).zip(lines).map(|(number, line)| format!("{number:>4}  {line}"));
    format!("Program\n{}", numbered.collect::<Vec<_>>().join("\n"))
}

/// The number of the specimens that only buffered memory shows to be wrong.
const MISSING_BARRIER: &str = "T1";

fn command_to_try(about: &AboutProgram, facts: &ProgramFacts, program: &str) -> String {
    let nodes = facts.n.min(3);
    match about.specimen {
        Some(specimen) if specimen.id == MISSING_BARRIER => {
            format!("{program} check {} --nodes 4 --memory tso", about.name)
        }
        Some(_) => format!("{program} check {} --property all", about.name),
        None => format!("{program} check {} --nodes {nodes} --memory tso", about.name),
    }
}
