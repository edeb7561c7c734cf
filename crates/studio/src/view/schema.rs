//! The settings that pages can send, from which they build their forms.

use doorway_catalog::settings::{self, CHOICES, CheckSpec, Definition};
use doorway_experiments::compare::Comparison;
use serde_json::{Value, json};

use crate::limits;
use crate::spec::RunRequest;

/// Every setting of a run and a check, the choices that are flags, and the settings of a run that a comparison shares.
#[must_use]
pub fn schema() -> Value {
    let mut run = settings::schema::<settings::RunSpec>();
    put(&mut run, "nodes", "most", limits::MOST_NODES.into());
    put(&mut run, "entries", "most", limits::MOST_ENTRIES.into());
    // A page shows a run, so its usual run is short.
    put(&mut run, "entries", "usual", RunRequest::USUAL_ENTRIES.to_string().into());
    let mut check = settings::schema::<CheckSpec>();
    put(&mut check, "nodes", "most", limits::MOST_NODES_CHECKED.into());
    json!({
        "version": 1,
        "run": run,
        "check": check,
        "choices": CHOICES.iter().map(Definition::json).collect::<Vec<_>>(),
        "compare": Comparison::SHARED,
    })
}

fn put(settings: &mut Value, name: &str, key: &str, value: Value) {
    let mut all = settings.as_array_mut().into_iter().flatten();
    if let Some(setting) = all.find(|setting| setting["name"] == name) {
        setting[key] = value;
    }
}
