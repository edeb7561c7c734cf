//! `doorway check all`: every algorithm against every property.

use doorway_checker::{Fairness, Property, Setting};
use doorway_core::{About, Catalog, Refusal};
use doorway_lab::check::table::{Asked, Budget, Row};
use doorway_lab::check::{Checked, Decision};
use doorway_lab::{Step, in_order};
use serde_json::{Value, json};

use crate::progress::Progress;
use crate::text::{prose_width, wrap};
use crate::{Answer, Exit, table};

/// Checks all correct algorithms of the catalog.
pub(super) fn answer(
    catalog: &(impl Catalog + Sync),
    threads: usize,
    is_json: bool,
) -> Result<Answer, Refusal> {
    let list = catalog.list();
    let abouts: Vec<&About> = list.iter().copied().filter(|about| about.specimen.is_none()).collect();
    let mut progress = Progress::new(abouts.len() as u64, "algorithms");
    let mut rows = Vec::new();
    let job = |number: u64| Row::of(abouts[number as usize], catalog, Budget::default());
    in_order(0..abouts.len() as u64, threads, job, |step| -> Result<(), Refusal> {
        match step {
            Step::Done(number, row) => {
                rows.push(row?);
                progress.show(number + 1);
            }
            Step::Waiting(done) => progress.show(done),
        }
        Ok(())
    })?;
    drop(progress);
    let exit = match () {
        () if rows.iter().any(Row::is_broken) => Exit::Fails,
        () if rows.iter().all(Row::is_decided) => Exit::Holds,
        () => Exit::Undecided,
    };
    let text = if is_json { as_json(&rows) } else { page(&rows) };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn page(rows: &[Row]) -> String {
    let headings = [
        "algorithm",
        "asked",
        "states",
        "safe",
        "deadlock",
        "starvation",
        "token",
        "invariants",
        "fence",
        "messages",
    ];
    let lock = rows.iter().map(|row| {
        let checked = &row.lock.checked;
        let cell = |property| cell(checked, property);
        let messages = checked.messages.map_or("–".to_owned(), |counts| match counts.max {
            Some(max) if max == counts.min => max.to_string(),
            Some(max) => format!("{}…{max}", counts.min),
            None => format!("{}…", counts.min),
        });
        vec![
            row.algorithm.to_owned(),
            requests(&row.lock),
            checked.numbers.states.to_string(),
            cell(Property::MutualExclusion),
            cell(Property::DeadlockFreedom),
            cell(Property::StarvationFreedom),
            cell(Property::OneToken),
            cell(Property::Invariants),
            cell(Property::Fence),
            messages,
        ]
    });
    let lock = table::of_words_and_numbers(&headings, &lock.collect::<Vec<_>>(), 2);
    let headings = ["algorithm", "asked", "happened-before", "asked ", "starvation", "fifo", "overtaken"];
    let orders = rows.iter().map(|row| {
        let bound = row.waiting.checked.verdict(Property::BoundedWaiting);
        let bound = bound.map_or("–".to_owned(), |verdict| match (verdict.decision, verdict.bound) {
            (Decision::Violated, _) => "without end".to_owned(),
            (Decision::Holds, Some(bound)) => bound.to_string(),
            (Decision::NotExhausted, Some(bound)) => format!("{bound} or more"),
            _ => "?".to_owned(),
        });
        vec![
            row.algorithm.to_owned(),
            requests(&row.order),
            cell(&row.order.checked, Property::HappenedBeforeOrder),
            requests(&row.waiting),
            cell(&row.waiting.checked, Property::StarvationFreedom),
            cell(&row.waiting.checked, Property::Fifo),
            bound,
        ]
    });
    let orders = table::of_words(&headings, &orders.collect::<Vec<_>>());
    let legend = "Each algorithm in the channels that it needs; asked: how often each node asks, ∞ again and again. Safe: at most one is inside. yes: in \
                  every run; if weak, if strong: if the scheduler is so fair; no, and after how many steps it shows; ?: a limit was reached. Messages: of a whole run, over all schedules. Overtaken: how often another \
                  node enters that asked after one's own requests had arrived.";
    format!("{lock}\n{orders}\n{}\n", wrap(legend, prose_width(), 0))
}

fn cell(checked: &Checked, property: Property) -> String {
    let Some(verdict) = checked.verdict(property) else { return "–".to_owned() };
    match (verdict.decision, verdict.fairness) {
        (Decision::Holds, Some(Fairness::Weak | Fairness::Strong)) => {
            verdict.fairness.map_or_else(String::new, |fairness| format!("if {fairness}"))
        }
        (Decision::Holds, _) => "yes".to_owned(),
        (Decision::NotExhausted, _) => "?".to_owned(),
        (Decision::Violated, _) => match checked.counterexample(property) {
            Some(found) => format!("no, {}", found.steps.len()),
            None => "no".to_owned(),
        },
    }
}

fn requests(asked: &Asked) -> String {
    let one = |asked: &u32| if *asked == Setting::UNBOUNDED { "∞".to_owned() } else { asked.to_string() };
    asked.requests.iter().map(one).collect::<Vec<_>>().join(",")
}

fn as_json(rows: &[Row]) -> String {
    let asked = |asked: &Asked| {
        let number = |asked: &u32| if *asked == Setting::UNBOUNDED { Value::Null } else { json!(asked) };
        let checked = &asked.checked;
        let verdict = |verdict: &doorway_lab::check::Verdict| {
            json!({
                "name": verdict.property.name(),
                "verdict": verdict.decision.name(),
                "fairness": verdict.fairness.map(Fairness::name),
                "steps": checked.counterexample(verdict.property).map(|found| found.steps.len()),
                "bound": verdict.bound,
            })
        };
        json!({
            "requests": asked.requests.iter().map(number).collect::<Vec<_>>(),
            "states": checked.numbers.states,
            "transitions": checked.numbers.transitions,
            "complete": checked.numbers.is_complete,
            "properties": checked.verdicts.iter().map(verdict).collect::<Vec<_>>(),
            "messages": checked.messages.map(|counts| json!({"min": counts.min, "max": counts.max})),
        })
    };
    let row = |row: &Row| {
        json!({
            "algorithm": row.algorithm,
            "channels": row.channels.name(),
            "lock": asked(&row.lock),
            "order": asked(&row.order),
            "waiting": asked(&row.waiting),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    format!("{}\n", json!({"version": 1, "algorithms": rows}))
}
