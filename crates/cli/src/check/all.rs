//! `doorway check all`: every algorithm against every property.

use doorway_checker::{Fairness, Property, Setting};
use doorway_core::shared::AboutProgram;
use doorway_core::{About, Catalog, Refusal};
use doorway_lab::check::table::{Asked, Budget, Row};
use doorway_lab::check::{Checked, Decision};
use doorway_lab::memory::table::{Among, ProgramRow};
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
    let right = catalog.programs().into_iter().filter(|about| about.specimen.is_none());
    let programs: Vec<(&AboutProgram, Option<(&str, &str)>)> = right
        .flat_map(|about| {
            let variants = about.variants.iter().copied().map(Some);
            [None].into_iter().chain(variants).map(move |variant| (about, variant))
        })
        .collect();
    let mut progress = Progress::new((abouts.len() + programs.len()) as u64, "algorithms");
    let job = |number: u64| Row::of(abouts[number as usize], catalog, Budget::default());
    let rows = each(abouts.len(), threads, job, |done| progress.show(done))?;
    let job = |number: u64| {
        let (about, variant) = programs[number as usize];
        ProgramRow::of(about, variant, catalog)
    };
    let shared = each(programs.len(), threads, job, |done| progress.show(abouts.len() as u64 + done))?;
    drop(progress);
    let is_broken = rows.iter().any(Row::is_broken) || shared.iter().any(ProgramRow::is_broken);
    let is_decided = rows.iter().all(Row::is_decided) && shared.iter().all(ProgramRow::is_decided);
    let exit = match (is_broken, is_decided) {
        (true, _) => Exit::Fails,
        (false, true) => Exit::Holds,
        (false, false) => Exit::Undecided,
    };
    let text = if is_json { as_json(&rows, &shared) } else { page(&rows) + &page_of_programs(&shared) };
    Ok(Answer { text, notes: Vec::new(), exit })
}

/// Does a number of jobs on some threads; `show` is told how many are done.
fn each<T: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(u64) -> Result<T, Refusal> + Sync,
    mut show: impl FnMut(u64),
) -> Result<Vec<T>, Refusal> {
    let mut rows = Vec::new();
    in_order(0..count as u64, threads, job, |step| -> Result<(), Refusal> {
        match step {
            Step::Done(number, row) => {
                rows.push(row?);
                show(number + 1);
            }
            Step::Waiting(done) => show(done),
        }
        Ok(())
    })?;
    Ok(rows)
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
        "safe registers",
        "tso",
        "no barriers",
    ];
    let line = |row: &ProgramRow| {
        let (Among { n, checked }, exclusion) = (&row.checked, Property::MutualExclusion);
        let variant = row.variant.map_or_else(String::new, |(_, word)| format!(", {word}"));
        let tickets = checked.beyond.map_or_else(String::new, |most| format!(" (≤ {most})"));
        let other = |asked: &Among| match asked.n == *n {
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
            other(&row.buffered),
            other(&row.without_barriers),
        ]
    };
    let table = table::of_words_and_numbers(&headings, &rows.iter().map(line).collect::<Vec<_>>(), 1);
    let legend = "n processes run a program again and again; (≤ 4): runs were followed while tickets were at most so large. Safe registers, tso, no \
                  barriers: whether they exclude each other with registers that give anything while they are written, under total store \
                  order with the program's barriers, and without them.";
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

/// What was decided, for programs.
fn described(checked: &Checked) -> Value {
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
        "states": checked.numbers.states,
        "transitions": checked.numbers.transitions,
        "complete": checked.numbers.is_complete,
        "properties": checked.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        "messages": checked.messages.map(|counts| json!({"min": counts.min, "max": counts.max})),
    })
}

fn as_json(rows: &[Row], programs: &[ProgramRow]) -> String {
    let asked = |asked: &Asked| {
        let number = |asked: &u32| if *asked == Setting::UNBOUNDED { Value::Null } else { json!(asked) };
        let mut told = described(&asked.checked);
        told["requests"] = asked.requests.iter().map(number).collect();
        told
    };
    let program = |row: &ProgramRow| {
        let among = |asked: &Among| {
            let mut told = described(&asked.checked);
            told["nodes"] = json!(asked.n);
            told["tickets"] = json!(asked.checked.beyond);
            told
        };
        let variant = row.variant.map(|(name, word)| json!({"name": name, "value": word}));
        json!({
            "program": row.program,
            "variant": variant,
            "checked": among(&row.checked),
            "safe_registers": row.safe_registers.as_ref().map(among),
            "tso": among(&row.buffered),
            "without_barriers": among(&row.without_barriers),
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
    let programs: Vec<Value> = programs.iter().map(program).collect();
    format!("{}\n", json!({"version": 1, "algorithms": rows, "programs": programs}))
}
