//! `doorway check all`: every algorithm against every property.

use doorway_catalog::Catalog;
use doorway_checker::{Property, SchedulerFairness, Setting};
use doorway_core::{Refusal, Stop};
use doorway_experiments::check::all::All;
use doorway_experiments::check::table::{CheckedInstance, Row};
use doorway_experiments::check::{Checked, Decision};
use doorway_experiments::memory::table::{ProgramRow, SizeResult};
use doorway_terminal::text::{prose_width, wrap};
use doorway_terminal::{ProgressLine, table};

use crate::{Answer, Exit};

/// Checks all correct algorithms of the catalog.
pub(super) fn answer(catalog: &Catalog, threads: usize, is_json: bool) -> Result<Answer, Refusal> {
    let mut progress = ProgressLine::new(All::count(catalog) as u64, "algorithms");
    let all = All::of(catalog, threads, &Stop::default(), |done| progress.show(done))?;
    drop(progress);
    let exit = match (all.is_broken(), all.is_decided()) {
        (true, _) => Exit::Fails,
        (false, true) => Exit::Holds,
        (false, false) => Exit::Undecided,
    };
    let text = match is_json {
        true => format!("{}\n", all.json()),
        false => page(&all.algorithms) + &page_of_programs(&all.programs),
    };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn page_of_programs(rows: &[ProgramRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let headings = [
        "over shared memory",
        "n",
        "states",
        "safe",
        "deadlock",
        "starvation",
        "fifo",
        "overtaken",
        "safe, last",
        "safe, any",
        "tso",
        "no barriers",
    ];
    let line = |row: &ProgramRow| {
        let (SizeResult { n, checked }, exclusion) = (&row.checked, Property::MutualExclusion);
        let variant = row.variant.map_or_else(String::new, |(_, word)| format!(", {word}"));
        let tickets = checked.beyond.map_or_else(String::new, |most| format!(" (≤ {most})"));
        let other = |asked: &SizeResult| match asked.n == *n {
            true => cell(&asked.checked, exclusion),
            false => format!("{} (n = {})", cell(&asked.checked, exclusion), asked.n),
        };
        vec![
            format!("{}{variant}{tickets}", row.program),
            n.to_string(),
            checked.numbers.states.to_string(),
            cell(checked, exclusion),
            cell(checked, Property::DeadlockFreedom),
            cell(checked, Property::StarvationFreedom),
            cell(checked, Property::Fifo),
            overtaken(checked),
            row.safe_registers.as_ref().map_or("–".to_owned(), other),
            row.safe_any_registers.as_ref().map_or("–".to_owned(), other),
            other(&row.buffered),
            other(&row.without_barriers),
        ]
    };
    let table = table::of_words_and_numbers(&headings, &rows.iter().map(line).collect::<Vec<_>>(), 1);
    let legend = "n processes run a program again and again; (≤ 4): runs were followed up to tickets of this size. The last four columns say \
                  whether the processes exclude each other. Safe, last: with safe registers, where a read during a write returns any value and \
                  the last of overlapping writes wins. Safe, any: the same, but overlapping writes leave any value. Tso: under total store order \
                  with the program's barriers. No barriers: without them.";
    format!("\n{table}\n{}\n", wrap(legend, prose_width(), 0))
}

/// How often one is overtaken.
fn overtaken(checked: &Checked) -> String {
    checked.verdict(Property::BoundedWaiting).map_or("–".to_owned(), |verdict| {
        match (verdict.decision, verdict.bound) {
            (Decision::Violated, _) => "without end".to_owned(),
            (Decision::Holds, Some(bound)) => bound.to_string(),
            (Decision::NotExhausted, Some(bound)) => format!("{bound} or more"),
            _ => "?".to_owned(),
        }
    })
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
        vec![
            row.algorithm.to_owned(),
            requests(&row.order),
            cell(&row.order.checked, Property::HappenedBeforeOrder),
            requests(&row.waiting),
            cell(&row.waiting.checked, Property::StarvationFreedom),
            cell(&row.waiting.checked, Property::Fifo),
            overtaken(&row.waiting.checked),
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
        (Decision::Holds, Some(SchedulerFairness::Weak | SchedulerFairness::Strong)) => {
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

fn requests(asked: &CheckedInstance) -> String {
    let one = |asked: &u32| if *asked == Setting::UNBOUNDED { "∞".to_owned() } else { asked.to_string() };
    asked.requests.iter().map(one).collect::<Vec<_>>().join(",")
}
