//! Everything that can be run, for pages: algorithms, programs, scripts, quorum systems.

use doorway_core::shared::{AboutProgram, Program, ProgramVisitor, Team};
use doorway_core::{
    About, Catalog, Explain, Factory, Hints, Members, Options, Parameter, Permission, Rule, Specimen, Start,
    Visitor, kinds,
};
use doorway_quorums::Construction;
use doorway_simulator::Script;
use serde_json::{Value, json};

use crate::examples;
use crate::memory::Replay;

/// The whole list as JSON.
#[must_use]
pub fn catalog(catalog: &impl Catalog) -> Value {
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
pub fn pages(catalog: &impl Catalog) -> impl Iterator<Item = (&'static str, String)> {
    let algorithms = catalog.list().into_iter().map(|about| (about.name, about.page().to_string()));
    let programs = catalog.programs().into_iter().map(|about| (about.name, about.page().to_string()));
    algorithms.chain(programs)
}

/// What is told about an algorithm, and what its type knows about itself.
fn algorithm(catalog: &impl Catalog, about: &About) -> Value {
    let told = catalog.visit(about.name, &Options::none(), Ask).and_then(Result::ok);
    let (kinds, rules, has) = told.unwrap_or((Vec::new(), &[], "none"));
    let mut described = described(about);
    described["kinds"] = json!(kinds);
    described["rules"] = rules.iter().map(|rule| json!([rule.name, rule.text])).collect();
    described["has"] = json!(has);
    described
}

/// What is told about an algorithm.
#[must_use]
pub fn described(about: &About) -> Value {
    json!({
        "name": about.name,
        "title": about.title,
        "family": about.family,
        "messages": about.messages,
        "delay": about.delay,
        "needs": about.needs,
        "parameters": parameters(about.parameters),
        "specimen": specimen(about.specimen),
    })
}

/// Asks a type for what it tells about itself: the kinds of its messages, its rules, and what nodes have to give.
struct Ask;

impl Visitor for Ask {
    type Output = (Vec<&'static str>, &'static [Rule], &'static str);

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Self::Output {
        (kinds::<A::Msg>(), A::rules(), permissions(&factory))
    }
}

/// Whether nodes have votes to give, or a token, or both: what they have at the start.
fn permissions<A: Explain>(factory: &Factory<A>) -> &'static str {
    const USUAL: usize = 5;
    let Ok(members) = Members::new(USUAL) else { return "none" };
    let Ok(plan) = factory.plan(&members) else { return "none" };
    let all: Vec<Permission> =
        members.iter().map(|node| plan.node(node, Start::Empty).algorithm().permission()).collect();
    let has_votes = all.iter().any(|has| matches!(has, Permission::Free | Permission::GivenTo(_)));
    match (has_votes, all.contains(&Permission::Token)) {
        (true, true) => "both",
        (true, false) => "votes",
        (false, true) => "token",
        (false, false) => "none",
    }
}

/// What is told about a program over shared memory.
fn program(catalog: &impl Catalog, about: &AboutProgram) -> Value {
    let lines = |n| {
        let members = Members::new(n).ok()?;
        catalog.visit_program(about.name, &Options::none(), &members, AskForLines)?.ok()
    };
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

struct AskForLines;

impl ProgramVisitor for AskForLines {
    type Output = &'static [&'static str];

    fn visit<P: Program>(self, _: &AboutProgram, _: Team<P>) -> Self::Output {
        P::LINES
    }
}

fn script(catalog: &impl Catalog, example: &examples::Example) -> Value {
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

/// What can be chosen.
#[must_use]
pub fn parameters(parameters: &[Parameter]) -> Value {
    let one = |parameter: &Parameter| json!({"name": parameter.name, "default": parameter.default, "help": parameter.help});
    parameters.iter().map(one).collect()
}

/// What is wrong with a specimen.
#[must_use]
pub fn specimen(specimen: Option<Specimen>) -> Option<Value> {
    specimen.map(|specimen| {
        json!({"id": specimen.id, "of": specimen.of, "wrong": specimen.wrong, "verdict": specimen.verdict})
    })
}

fn quorums() -> Value {
    let example = |usage: &str| usage.replace("[:NODE]", "").replace("W1,W2,…", "1,2,3");
    let kinds = Construction::LIST.iter().filter(|kind| kind.name != "file");
    kinds
        .map(|kind| json!({"kind": kind.name, "usage": kind.usage, "help": kind.help, "example": example(kind.usage)}))
        .collect()
}
