//! What `doorway check` answers.

use std::time::Duration;

use doorway_checker::{Property, SchedulerFairness, Setting};
use doorway_experiments::check::{
    CheckReport, Checked, Counterexample, Decision, Instance, Numbers, Verdict,
};
use doorway_terminal::text::{channels, counted, item, prose_width, wrap};
use serde_json::Value;

use crate::{Answer, Exit};

/// What came of it, to be told.
pub(super) struct CheckPage<'a> {
    /// What one typed.
    pub(super) algorithm: &'a str,
    pub(super) nodes: usize,
    /// What one of them is called.
    pub(super) noun: &'static str,
    /// What is explored, in words.
    pub(super) system: String,
    /// The memory, if it is a program that shares one.
    pub(super) memory: Option<Value>,
    pub(super) checked: &'a Checked,
    pub(super) took: Duration,
}

impl CheckPage<'_> {
    /// The answer, as JSON or as a page.
    pub(super) fn answer(&self, notes: Vec<String>, is_json: bool) -> Answer {
        let exit = match self.checked.decision() {
            Decision::Holds => Exit::Holds,
            Decision::Violated => Exit::Fails,
            Decision::NotExhausted => Exit::Undecided,
        };
        Answer { text: if is_json { self.as_json() } else { self.page() }, notes, exit }
    }

    fn as_json(&self) -> String {
        let Self { algorithm, nodes, checked, took, .. } = *self;
        let told = CheckReport { algorithm, nodes, memory: self.memory.clone(), checked, took };
        format!("{}\n", told.json())
    }

    fn page(&self) -> String {
        let width = prose_width();
        let mut lines = vec![wrap(&self.system, width, 2), wrap(&self.seen(), width, 2)];
        if let Some(numbers) = self.checked.reduced {
            let how_far = if numbers.is_complete { "" } else { ", and a limit was reached" };
            let told = format!("with the algorithm's promises {}{how_far}", states(&numbers));
            lines.push(wrap(&told, width, 2));
        }
        lines.extend(self.checked.messages.map(|counts| {
            let most = counts.max.map_or("any number".to_owned(), |max| max.to_string());
            let told =
                if counts.max == Some(counts.min) { most } else { format!("{} to {most}", counts.min) };
            wrap(&format!("a whole run takes {told} messages"), width, 2)
        }));
        lines.push(String::new());
        lines.extend(
            self.checked
                .verdicts
                .iter()
                .map(|verdict| item(verdict.property.name(), &self.told(verdict), 25, width)),
        );
        if let Some(found) = self.checked.counterexamples.first() {
            lines.push(format!("\nA run against {}:", found.property));
            lines.push(run(found));
        } else if let Some(found) = &self.checked.most_overtaken {
            lines.push("\nA run in which somebody is overtaken most often:".to_owned());
            lines.push(run(found));
        }
        lines.join("\n") + "\n"
    }

    /// How far the search went.
    fn seen(&self) -> String {
        if let Some((walks, steps)) = self.checked.walked {
            let took = self.took.as_secs_f64();
            return format!("{walks} walks at random, {steps} steps in all; {took:.1} s");
        }
        let numbers = &self.checked.numbers;
        let how_far = if numbers.is_complete {
            "all of them"
        } else if numbers.is_satisfied {
            "as far as to what is violated"
        } else {
            "and a limit was reached: not all of them"
        };
        let odds = numbers.odds_of_omission.map_or_else(String::new, |odds| {
            format!("; the odds that a state was missed are below {odds:.1e}")
        });
        format!(
            "{}, {how_far}; {} deep; {} bytes a state; {:.1} s{odds}",
            states(numbers),
            numbers.depth,
            numbers.bytes / numbers.states.max(1),
            self.took.as_secs_f64()
        )
    }

    fn told(&self, verdict: &Verdict) -> String {
        let found = self.checked.counterexample(verdict.property);
        let mut told = match (verdict.decision, found) {
            (Decision::Violated, Some(found)) => {
                let steps = counted(found.steps.len() as u64, "step");
                match found.loop_start {
                    None => format!("violated after {steps}: {}", found.what),
                    Some(_) => format!("violated for ever: {}", found.what),
                }
            }
            (decision, _) => decision.to_string(),
        };
        told += &verdict.extent.as_ref().map_or_else(String::new, |extent| format!(" {extent}"));
        if verdict.decision == Decision::Violated
            && let Some(fairness) = verdict.fairness
        {
            told += &match fairness {
                SchedulerFairness::None => ", if the scheduler need not be fair".to_owned(),
                _ => format!(", even if the scheduler is {}", fair(fairness)),
            };
        } else if let Some(fairness) = verdict.fairness {
            told += &match fairness {
                SchedulerFairness::None => ", whatever the scheduler does".to_owned(),
                _ => format!(", if the scheduler is {}", fair(fairness)),
            };
        }
        if verdict.property == Property::BoundedWaiting
            && let Some(bound) = verdict.bound
        {
            let least = if verdict.decision == Decision::NotExhausted { "at least " } else { "" };
            told += &format!(", r = {least}{bound}");
        }
        told += &each(verdict, self.noun);
        told += &verdict.remark.as_ref().map_or_else(String::new, |remark| format!("; {remark}"));
        told
    }
}

/// What is explored, in words.
pub(super) fn system(instance: &Instance) -> String {
    let Instance { requests, options, start, faults, .. } = instance;
    let asked = |asked: &u32| match *asked {
        Setting::UNBOUNDED => "unbounded".to_owned(),
        number => number.to_string(),
    };
    let requests: Vec<String> = requests.iter().map(asked).collect();
    let is_even = requests.len() > 8 && requests.iter().all(|one| *one == requests[0]);
    let told = if is_even { format!("{} each", requests[0]) } else { requests.join(",") };
    let mut facts = vec![
        instance.algorithm.clone(),
        counted(requests.len() as u64, "node"),
        format!("requests {told}"),
        channels(instance.channels),
    ];
    facts.extend(options.iter().map(|(name, choice)| format!("{name} {}", choice.word)));
    facts.extend(start.holder().map(|node| format!("node {node} inside at the start")));
    let faults = [
        (faults.losses, "message may be lost", "messages may be lost"),
        (faults.duplicates, "message may arrive twice", "messages may arrive twice"),
        (faults.crashes, "node may stop", "nodes may stop"),
        (faults.suspicions, "crash may be reported wrongly", "crashes may be reported wrongly"),
    ];
    for (count, one, many) in faults {
        match count {
            0 => {}
            1 => facts.push(format!("1 {one}")),
            _ => facts.push(format!("{count} {many}")),
        }
    }
    facts.join(", ")
}

/// Which nodes can starve, if not all of them.
fn each(verdict: &Verdict, noun: &str) -> String {
    let numbered = (1..).zip(&verdict.each);
    let starving: Vec<String> =
        numbered.filter(|(_, needs)| needs.is_none()).map(|(node, _)| node.to_string()).collect();
    match starving.len() {
        0 => String::new(),
        all if all == verdict.each.len() => format!("; so it can be with every {noun}"),
        1 => format!("; only {noun} {} can starve so", starving[0]),
        _ => format!("; those that can starve are {}", starving.join(", ")),
    }
}

fn fair(fairness: SchedulerFairness) -> &'static str {
    match fairness {
        SchedulerFairness::None => "not fair at all",
        SchedulerFairness::Weak => "weakly fair",
        SchedulerFairness::Strong => "strongly fair",
    }
}

fn states(numbers: &Numbers) -> String {
    format!("{}, {} between them", counted(numbers.states, "state"), counted(numbers.transitions, "step"))
}

/// A run as numbered sentences.
fn run(found: &Counterexample) -> String {
    let mut lines = Vec::new();
    for (number, step) in (1..).zip(&found.steps) {
        if found.loop_start == Some(number - 1) {
            lines.push("      and from here on again and again:".to_owned());
        }
        lines.push(format!("{number:>4}  {step}"));
    }
    lines.push(format!("      so that {}", found.what));
    lines.join("\n")
}
