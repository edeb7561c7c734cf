//! Many runs on several threads, merged in the order of their seeds, so that the number of threads changes nothing.

use std::fmt;

use doorway_catalog::Catalog;
use doorway_core::{Members, Refusal};
use doorway_simulator::parallel::{JobEvent, in_order};
use doorway_simulator::{Outcome, Report, ScriptError, Stall};
use doorway_terminal::ProgressLine;

use super::plan::SimulationPlan;

/// What all runs came to.
pub(super) struct Pool {
    /// All together.
    pub(super) outcome: Outcome,
    /// Each by itself, if wanted.
    pub(super) reports: Option<Vec<Report>>,
    /// The runs that did not come as expected.
    pub(super) failures: Vec<FailedSimulation>,
}

/// A run in which something went wrong.
pub(super) struct FailedSimulation {
    pub(super) seed: u64,
    /// Entries that were measured.
    pub(super) entries: u64,
    pub(super) stall: Option<Stall>,
    pub(super) violations: Vec<String>,
    /// Requests that no node was left to make.
    pub(super) unissued: u64,
}

/// Why there is no outcome.
pub(super) enum Stopped {
    /// It cannot be run as asked.
    BadInput(Refusal),
    /// An expectation of the script did not come true.
    Unmet(Unmet),
}

/// An expectation of a script that did not come true.
pub(super) struct Unmet {
    pub(super) script: String,
    pub(super) line: usize,
    /// What is expected, and what is.
    pub(super) what: String,
}

/// The same sentence as that of the script's other errors.
impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, line, what } = self;
        write!(f, "{script}: {}", ScriptError::Unmet { line: *line, what: what.clone() })
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Stopped::BadInput(refusal)
    }
}

/// Makes all runs of a plan.
///
/// # Errors
/// What stopped the first run that was stopped.
pub(super) fn all(catalog: &Catalog, plan: &SimulationPlan<'_>) -> Result<Pool, Stopped> {
    try_files(catalog, plan)?;
    let (first, runs) = (*plan.seeds.start(), (plan.seeds.end() - plan.seeds.start()).saturating_add(1));
    let mut progress = ProgressLine::new(runs, "runs");
    let mut pool: Option<Pool> = None;
    let take = |step| -> Result<(), Stopped> {
        let (run, outcome) = match step {
            JobEvent::Done(run, outcome) => (run, outcome?),
            JobEvent::Waiting(done) => {
                progress.show(done);
                return Ok(());
            }
        };
        progress.show(run);
        match &mut pool {
            Some(pool) => pool.add(plan, first + run, outcome),
            None => pool = Some(Pool::new(plan, first, outcome)),
        }
        Ok(())
    };
    in_order(0..runs, plan.threads, |run| one(catalog, plan, first + run), take)?;
    drop(progress);
    pool.ok_or_else(|| Stopped::BadInput(Refusal::new("there was nothing to run")))
}

/// Makes what the files of a plan describe, so that an error names the file.
fn try_files(catalog: &Catalog, plan: &SimulationPlan<'_>) -> Result<(), Refusal> {
    if plan.files.is_empty() {
        return Ok(());
    }
    let trial = plan.trial.clone().seeded(*plan.seeds.start());
    let (options, members) = (trial.resolved()?, Members::new(trial.settings.nodes)?);
    let made = catalog.subject(plan.about.name, &options).and_then(|subject| subject.check_members(&members));
    made.map_err(|refusal| Refusal::new(format!("{}: {refusal}", plan.files.join(", "))))
}

fn one(catalog: &Catalog, plan: &SimulationPlan<'_>, seed: u64) -> Result<Outcome, Stopped> {
    let trial = plan.trial.clone().seeded(seed);
    let Some((path, script)) = &plan.script else { return Ok(trial.run(catalog)?) };
    trial.run_script(catalog, script).map_err(|error| {
        let script = path.display().to_string();
        match error {
            ScriptError::Unmet { line, what } => Stopped::Unmet(Unmet { script, line, what }),
            ScriptError::Impossible { .. } => Stopped::BadInput(Refusal::new(format!("{script}: {error}"))),
        }
    })
}

impl Pool {
    fn new(plan: &SimulationPlan<'_>, seed: u64, outcome: Outcome) -> Self {
        let reports = plan.keeps_reports.then(|| vec![plan.report(&outcome, seed)]);
        Self { failures: FailedSimulation::of(seed, &outcome).into_iter().collect(), reports, outcome }
    }

    fn add(&mut self, plan: &SimulationPlan<'_>, seed: u64, outcome: Outcome) {
        self.failures.extend(FailedSimulation::of(seed, &outcome));
        if let Some(reports) = &mut self.reports {
            reports.push(plan.report(&outcome, seed));
        }
        self.outcome.merge(outcome);
    }
}

impl FailedSimulation {
    fn of(seed: u64, outcome: &Outcome) -> Option<Self> {
        let failure = || Self {
            seed,
            entries: outcome.measures.entries,
            stall: outcome.stall.clone(),
            violations: outcome.violations.clone(),
            unissued: outcome.unissued,
        };
        (!outcome.as_expected).then(failure)
    }
}
