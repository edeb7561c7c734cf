//! All runs of a plan, and their results.

use doorway_chaos::{ChaosSummary, ClusterOutcome};
use doorway_core::Refusal;
use doorway_simulator::parallel::{JobEvent, in_order};
use doorway_terminal::ProgressLine;

use super::plan::ChaosPlan;

/// The results of all runs.
pub(super) struct ChaosTally {
    /// Of all together.
    pub(super) total: ChaosSummary,
    /// Of each algorithm, in the order of the plan.
    pub(super) rows: Vec<ChaosSummary>,
    /// The runs with violations.
    pub(super) failures: Vec<ChaosFailure>,
}

/// A run with violations.
pub(super) struct ChaosFailure {
    /// The place of its algorithm.
    pub(super) place: usize,
    pub(super) seed: u64,
    pub(super) violations: Vec<String>,
    pub(super) replay: String,
}

/// Makes all runs of a plan.
///
/// # Errors
/// If a run cannot be made.
pub(super) fn all(plan: &ChaosPlan<'_>) -> Result<ChaosTally, Refusal> {
    let mut tally = ChaosTally::new(plan);
    let mut progress = ProgressLine::new(plan.runs(), "runs");
    let take = |step: JobEvent<Result<ClusterOutcome, Refusal>>| -> Result<(), Refusal> {
        let (number, outcome) = match step {
            JobEvent::Done(number, outcome) => (number, outcome?),
            JobEvent::Waiting(done) => {
                progress.show(done);
                return Ok(());
            }
        };
        progress.show(number);
        tally.add(plan, number, &outcome);
        Ok(())
    };
    in_order(0..plan.runs(), plan.threads, |number| plan.run(number).1.make(), take)?;
    drop(progress);
    Ok(tally)
}

impl ChaosTally {
    pub(super) fn new(plan: &ChaosPlan<'_>) -> Self {
        let rows = plan.algorithms.iter().map(|_| ChaosSummary::new()).collect();
        Self { total: ChaosSummary::new(), rows, failures: Vec::new() }
    }

    /// Adds the run with this number.
    pub(super) fn add(&mut self, plan: &ChaosPlan<'_>, number: u64, outcome: &ClusterOutcome) {
        let (place, run) = plan.run(number);
        let replay = || plan.replay(plan.algorithms[place].0, &run);
        self.total.add(outcome, replay);
        self.rows[place].add(outcome, replay);
        if !outcome.violations.is_empty() {
            let violations = outcome.violations.iter().map(ToString::to_string).collect();
            let seed = run.design.seed;
            self.failures.push(ChaosFailure { place, seed, violations, replay: replay() });
        }
    }
}
