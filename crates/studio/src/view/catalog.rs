//! Everything that can be run, for pages: algorithms, programs, scripts, quorum systems.

use doorway_catalog::{Catalog, Has, Subject, described, examples, parameters, specimen};
use doorway_core::shared::AboutProgram;
use doorway_core::{About, Options};
use doorway_experiments::memory::Replay;
use doorway_quorums::Construction;
use doorway_simulator::Script;
use serde_json::{Value, json};

/// The whole list as JSON.
#[must_use]
pub fn catalog(catalog: &Catalog) -> Value {
    let algorithms = catalog.list().into_iter().map(|about| algorithm(catalog, about));
    let programs = catalog.programs().into_iter().map(|about| program(catalog, about));
    json!({
        "version": 1,
        "algorithms": algorithms.collect::<Vec<_>>(),
        "programs": programs.collect::<Vec<_>>(),
        "scripts": examples::SCRIPTS.iter().map(|example| script(catalog, example)).collect::<Vec<_>>(),
        "quorums": quorums(),
    })
}

/// The page of each algorithm and each program, by its name: what is to be said about it at length.
pub fn pages(catalog: &Catalog) -> impl Iterator<Item = (&'static str, String)> {
    let algorithms = catalog.list().into_iter().map(|about| (about.name, about.page().to_string()));
    let programs = catalog.programs().into_iter().map(|about| (about.name, about.page().to_string()));
    algorithms.chain(programs)
}

/// What is told about an algorithm, and what its type knows about itself.
fn algorithm(catalog: &Catalog, about: &About) -> Value {
    let subject = catalog.subject(about.name, &Options::none()).ok();
    let subject = subject.as_deref();
    let rules = subject.map_or(&[][..], Subject::rules).iter();
    let mut described = described(about);
    described["kinds"] = json!(subject.map(Subject::kinds).unwrap_or_default());
    described["rules"] = rules.map(|rule| json!([rule.name, rule.text])).collect();
    described["has"] = json!(subject.map_or(Has::Nothing, Subject::has).name());
    described
}

/// What is told about a program over shared memory.
fn program(catalog: &Catalog, about: &AboutProgram) -> Value {
    let lines = |n| Some(catalog.program_subject(about.name, &Options::none(), n).ok()?.lines());
    json!({
        "name": about.name,
        "title": about.title,
        "promise": about.promise.to_string(),
        "parameters": parameters(about.parameters),
        "variants": about.variants,
        "specimen": specimen(about.specimen),
        "most_nodes": if lines(3).is_some() { None } else { Some(2) },
        "lines": lines(3).or_else(|| lines(2)).unwrap_or_default(),
    })
}

fn script(catalog: &Catalog, example: &examples::Example) -> Value {
    let memory = Replay::is_for(example.text, catalog);
    let heading = Script::parse(example.text).ok().and_then(|script| script.heading.algorithm);
    let named = || example.text.lines().find_map(|line| line.strip_prefix("algorithm "));
    let about = example.text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    json!({
        "name": example.name,
        "text": example.text,
        "about": about.collect::<Vec<_>>().join(" "),
        "algorithm": heading.as_deref().or_else(named).map(str::trim),
        "memory": memory,
    })
}

fn quorums() -> Value {
    let example = |usage: &str| usage.replace("[:NODE]", "").replace("W1,W2,…", "1,2,3");
    let kinds = Construction::LIST.iter().filter(|kind| kind.name != "file");
    kinds
        .map(|kind| json!({"kind": kind.name, "usage": kind.usage, "help": kind.help, "example": example(kind.usage)}))
        .collect()
}
