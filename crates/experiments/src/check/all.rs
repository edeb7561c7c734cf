//! Every correct algorithm and program of the catalog against every property.

use doorway_catalog::Catalog;
use doorway_checker::{SchedulerFairness, Setting};
use doorway_core::shared::AboutProgram;
use doorway_core::{About, Refusal, Stop};
use doorway_simulator::parallel::{JobEvent, in_order};
use serde_json::{Value, json};

use super::Checked;
use super::table::{Budget, CheckedInstance, Row};
use crate::memory::table::{ProgramRow, SizeResult};

/// What was decided about all of them.
#[derive(Clone, Debug)]
pub struct All {
    /// The algorithms, a row each.
    pub algorithms: Vec<Row>,
    /// The programs over shared memory, a row for each and for each of their variants.
    pub programs: Vec<ProgramRow>,
}

/// A program, as it is usual or with something chosen for it.
type Variant<'a> = (&'a AboutProgram, Option<(&'static str, &'static str)>);

impl All {
    /// How many rows there will be.
    pub fn count(catalog: &Catalog) -> usize {
        right(catalog).len() + variants(catalog).len()
    }

    /// Checks all of them on this many threads; `show` is told how many are done.
    ///
    /// # Errors
    /// If one of them cannot be checked, or it was told to stop.
    pub fn of(
        catalog: &Catalog,
        threads: usize,
        stop: &Stop,
        mut show: impl FnMut(u64),
    ) -> Result<Self, Refusal> {
        let (abouts, variants) = (right(catalog), variants(catalog));
        let job = |number: u64| Row::of(abouts[number as usize], catalog, Budget::default(), stop);
        let algorithms = each(abouts.len(), threads, stop, job, &mut show)?;
        let job = |number: u64| {
            let (about, variant) = variants[number as usize];
            ProgramRow::of(about, variant, catalog, stop)
        };
        let programs = each(variants.len(), threads, stop, job, |done| show(abouts.len() as u64 + done))?;
        Ok(Self { algorithms, programs })
    }

    /// Whether one of them is not what it should be.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.algorithms.iter().any(Row::is_broken) || self.programs.iter().any(ProgramRow::is_broken)
    }

    /// Whether all was decided that should be.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.algorithms.iter().all(Row::is_decided) && self.programs.iter().all(ProgramRow::is_decided)
    }

    /// All of it as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let algorithms: Vec<Value> = self.algorithms.iter().map(row).collect();
        let programs: Vec<Value> = self.programs.iter().map(program).collect();
        json!({"version": 1, "algorithms": algorithms, "programs": programs})
    }
}

fn right(catalog: &Catalog) -> Vec<&About> {
    catalog.list().into_iter().filter(|about| about.specimen.is_none()).collect()
}

fn variants(catalog: &Catalog) -> Vec<Variant<'_>> {
    let right = catalog.programs().into_iter().filter(|about| about.specimen.is_none());
    right
        .flat_map(|about| {
            let variants = about.variants.iter().copied().map(Some);
            [None].into_iter().chain(variants).map(move |variant| (about, variant))
        })
        .collect()
}

/// Does a number of jobs on some threads; `show` is told how many are done.
fn each<T: Send>(
    count: usize,
    threads: usize,
    stop: &Stop,
    job: impl Fn(u64) -> Result<T, Refusal> + Sync,
    mut show: impl FnMut(u64),
) -> Result<Vec<T>, Refusal> {
    let mut rows = Vec::new();
    in_order(0..count as u64, threads, job, |step| -> Result<(), Refusal> {
        if stop.is_said() {
            return Err(Refusal::new("it was told to stop"));
        }
        match step {
            JobEvent::Done(number, row) => {
                rows.push(row?);
                show(number + 1);
            }
            JobEvent::Waiting(done) => show(done),
        }
        Ok(())
    })?;
    Ok(rows)
}

fn row(row: &Row) -> Value {
    let asked = |asked: &CheckedInstance| {
        let number = |asked: &u32| if *asked == Setting::UNBOUNDED { Value::Null } else { json!(asked) };
        let mut told = described(&asked.checked);
        told["requests"] = asked.requests.iter().map(number).collect();
        told
    };
    json!({
        "algorithm": row.algorithm,
        "channels": row.channels.name(),
        "lock": asked(&row.lock),
        "order": asked(&row.order),
        "waiting": asked(&row.waiting),
    })
}

fn program(row: &ProgramRow) -> Value {
    let among = |asked: &SizeResult| {
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
        "safe_any_registers": row.safe_any_registers.as_ref().map(among),
        "tso": among(&row.buffered),
        "without_barriers": among(&row.without_barriers),
    })
}

/// What was decided.
fn described(checked: &Checked) -> Value {
    let verdict = |verdict: &super::Verdict| {
        json!({
            "name": verdict.property.name(),
            "verdict": verdict.decision.name(),
            "fairness": verdict.fairness.map(SchedulerFairness::name),
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
