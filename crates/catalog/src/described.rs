//! What is said about an algorithm, as JSON: the same for the command line and for pages.

use doorway_core::{About, Parameter, Specimen};
use serde_json::{Value, json};

/// An algorithm: names, costs, needs and options.
#[must_use]
pub fn described(about: &About) -> Value {
    json!({
        "name": about.name,
        "title": about.title,
        "family": about.family,
        "messages": about.messages.formula,
        "delay": about.delay,
        "needs": about.needs,
        "parameters": parameters(about.parameters),
        "specimen": specimen(about.specimen),
    })
}

/// The options of an algorithm or a program.
#[must_use]
pub fn parameters(parameters: &[Parameter]) -> Value {
    let one = |parameter: &Parameter| json!({"name": parameter.name, "default": parameter.default, "help": parameter.help});
    parameters.iter().map(one).collect()
}

/// What is wrong with a specimen, and how it fails.
#[must_use]
pub fn specimen(specimen: Option<Specimen>) -> Option<Value> {
    specimen.map(|specimen| {
        json!({"id": specimen.id, "of": specimen.of, "wrong": specimen.wrong, "verdict": specimen.verdict})
    })
}
