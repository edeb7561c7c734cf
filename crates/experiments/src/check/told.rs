//! The result of an exploration, as JSON.

use std::time::Duration;

use doorway_checker::SchedulerFairness;
use serde_json::{Value, json};

use super::{Checked, Counterexample, Numbers, Verdict};

/// The report on an exploration.
#[derive(Clone, Debug)]
pub struct CheckReport<'a> {
    /// The name of the algorithm or program.
    pub algorithm: &'a str,
    /// How many nodes there were.
    pub nodes: usize,
    /// The memory, if it is a program that shares one.
    pub memory: Option<Value>,
    /// The result.
    pub checked: &'a Checked,
    /// How long it took.
    pub took: Duration,
}

impl CheckReport<'_> {
    /// All of it as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let Checked { numbers, reduced, walked, verdicts, counterexamples, most_overtaken, messages, .. } =
            self.checked;
        let of_pass = |numbers: &Numbers| json!({"states": numbers.states, "transitions": numbers.transitions, "complete": numbers.is_complete});
        let mut answer = json!({
            "version": 1,
            "algorithm": self.algorithm,
            "nodes": self.nodes,
            "states": numbers.states,
            "transitions": numbers.transitions,
            "depth": numbers.depth,
            "complete": numbers.is_complete,
            "seconds": self.took.as_secs_f64(),
            "properties": verdicts.iter().map(|verdict| self.property(verdict)).collect::<Vec<_>>(),
            "counterexample": counterexamples.first().map_or(Value::Null, run),
            "counterexamples": counterexamples.iter().map(run).collect::<Vec<_>>(),
            "messages": messages.map(|counts| json!({"min": counts.min, "max": counts.max})),
            "most_overtaken": most_overtaken.as_ref().map(run),
            "reduced": reduced.as_ref().map(of_pass),
            "walks": walked.map(|(walks, steps)| json!({"count": walks, "steps": steps})),
            "odds_of_omission": numbers.odds_of_omission,
        });
        if let (Some(memory), Value::Object(answer)) = (&self.memory, &mut answer) {
            answer.insert("memory".to_owned(), memory.clone());
        }
        answer
    }

    fn property(&self, verdict: &Verdict) -> Value {
        let found = self.checked.counterexample(verdict.property);
        json!({
            "name": verdict.property.name(),
            "verdict": verdict.decision.name(),
            "fairness": verdict.fairness.map(SchedulerFairness::name),
            "steps": found.map(|found| found.steps.len()),
            "bound": verdict.bound,
            "extent": verdict.extent,
            "remark": verdict.remark,
            "each": verdict.each.iter().map(|needs| needs.map(SchedulerFairness::name)).collect::<Vec<_>>(),
        })
    }
}

fn run(found: &Counterexample) -> Value {
    json!({
        "property": found.property.name(),
        "what": found.what,
        "steps": found.steps,
        "loop_start": found.loop_start,
        "script": if found.script.is_empty() { None } else { Some(&found.script) },
    })
}
