//! Many runs on several threads, merged in the order of their seeds, so that the number of threads changes nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use doorway_core::{About, Catalog, Explain, Factory, Hints, Members, Refusal, Visitor};
use doorway_simulator::{Outcome, Report, ScriptError, Settings, Stall, simulate};

use super::plan::Plan;
use super::progress::Progress;

/// What all runs came to.
pub(super) struct Pool {
    /// All together.
    pub(super) outcome: Outcome,
    /// Each by itself, if wanted.
    pub(super) reports: Option<Vec<Report>>,
    /// The runs that did not come as expected.
    pub(super) failures: Vec<Failure>,
}

/// A run in which something went wrong.
pub(super) struct Failure {
    pub(super) seed: u64,
    /// Entries that were measured.
    pub(super) entries: u64,
    pub(super) stall: Option<Stall>,
    pub(super) violations: Vec<String>,
    /// Requests that nobody was left to make.
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
pub(super) fn all(catalog: &(impl Catalog + Sync), plan: &Plan<'_>) -> Result<Pool, Stopped> {
    try_files(catalog, plan)?;
    let mut pool: Option<Pool> = None;
    let add = |seed, outcome: Result<Outcome, Stopped>| -> Result<(), Stopped> {
        let outcome = outcome?;
        match &mut pool {
            Some(pool) => pool.add(plan, seed, outcome),
            None => pool = Some(Pool::new(plan, seed, outcome)),
        }
        Ok(())
    };
    in_order(plan.seeds.clone(), plan.threads, |seed| one(catalog, plan, seed), add)?;
    pool.ok_or_else(|| Stopped::BadInput(Refusal::new("there was nothing to run")))
}

/// Makes what the files of a plan describe, so that whoever wrote them is told which one is wrong.
fn try_files(catalog: &impl Catalog, plan: &Plan<'_>) -> Result<(), Refusal> {
    if plan.files.is_empty() {
        return Ok(());
    }
    let (options, members) = (plan.options_of(*plan.seeds.start())?, Members::new(plan.settings.nodes)?);
    let made = catalog.visit(plan.about.name, &options, MakePlan(members)).transpose();
    let refused = made.and_then(|made| made.unwrap_or(Ok(())));
    refused.map_err(|refusal| Refusal::new(format!("{}: {refusal}", plan.files.join(", "))))
}

struct MakePlan(Members);

impl Visitor for MakePlan {
    type Output = Result<(), Refusal>;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Self::Output {
        factory.plan(&self.0).map(drop)
    }
}

fn one(catalog: &impl Catalog, plan: &Plan<'_>, seed: u64) -> Result<Outcome, Stopped> {
    let (options, settings) = (plan.options_of(seed)?, plan.settings_of(seed));
    let ran = catalog.visit(plan.about.name, &options, Run { plan, settings: &settings });
    ran.transpose()?.unwrap_or_else(|| Err(Refusal::new("the catalog does not hold what it lists").into()))
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    settings: &'a Settings,
}

impl Visitor for Run<'_> {
    type Output = Result<Outcome, Stopped>;

    fn visit<A: Explain + Hints>(self, _: &About, factory: Factory<A>) -> Self::Output {
        match &self.plan.script {
            None => Ok(simulate(&factory, self.settings)?),
            Some((path, script)) => script.run(&factory, self.settings).map_err(|error| {
                let script = path.display().to_string();
                match error {
                    ScriptError::Unmet { line, what } => Stopped::Unmet(Unmet { script, line, what }),
                    ScriptError::Impossible { .. } => {
                        Stopped::BadInput(Refusal::new(format!("{script}: {error}")))
                    }
                }
            }),
        }
    }
}

impl Pool {
    fn new(plan: &Plan<'_>, seed: u64, outcome: Outcome) -> Self {
        let reports = plan.keeps_reports.then(|| vec![plan.report(&outcome, seed)]);
        Self { failures: Failure::of(seed, &outcome).into_iter().collect(), reports, outcome }
    }

    fn add(&mut self, plan: &Plan<'_>, seed: u64, outcome: Outcome) {
        self.failures.extend(Failure::of(seed, &outcome));
        if let Some(reports) = &mut self.reports {
            reports.push(plan.report(&outcome, seed));
        }
        self.outcome.merge(outcome);
    }
}

impl Failure {
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

/// Does `job` for every seed on so many threads and hands the results to `take` in the order of the seeds. The first
/// error ends it: the threads notice when nobody takes what they have done.
fn in_order<T: Send, E>(
    seeds: RangeInclusive<u64>,
    threads: usize,
    job: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> Result<(), E>,
) -> Result<(), E> {
    let (first, runs) = (*seeds.start(), (seeds.end() - seeds.start()).saturating_add(1));
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let (done, results) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads {
            let (done, next, job) = (done.clone(), &next, &job);
            scope.spawn(move || {
                let next_run = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|run| *run < runs);
                while let Some(run) = next_run() {
                    if done.send((run, job(first + run))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let mut progress = Progress::new(runs);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        loop {
            match results.recv_timeout(Progress::PATIENCE) {
                Ok((run, result)) => early.insert(run, result),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            while let Some(result) = early.remove(&wanted) {
                take(first + wanted, result)?;
                wanted += 1;
            }
            progress.show(wanted);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_seeds_whatever_the_number_of_threads() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let slow_first =
                |seed: u64| (0..(100 - seed) * 1_000).fold(seed, |sum, step| sum ^ (step * seed));
            let ended = in_order(3..=99, threads, slow_first, |seed, _| {
                taken.push(seed);
                Ok::<(), ()>(())
            });
            assert_eq!((ended, taken), (Ok(()), (3..100).collect()));
        }
    }

    #[test]
    fn the_first_error_in_the_order_of_the_seeds_ends_it() {
        let ended =
            in_order(0..=u64::MAX, 2, |seed| seed, |seed, _| if seed == 7 { Err(seed) } else { Ok(()) });
        assert_eq!(ended, Err(7));
    }
}
