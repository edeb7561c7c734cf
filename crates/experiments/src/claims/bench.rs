//! The bench on which claims are tested: it knows an algorithm by its name, and a run by its command.

use doorway_catalog::{Catalog, Trial, examples};
use doorway_checker::SharedMemory;
use doorway_checker::counts::Messages as Counts;
use doorway_core::shared::Accesses;
use doorway_core::{About, NodeId, NodeSet, Refusal};
use doorway_simulator::{Latency, Load, Outcome, ScriptError, Settings, Span};

use super::Check;
use super::charged::{self, Charged};
use super::exhaustive::{self, Asked, Searched};
use super::memory;
use crate::check::{Checked, Instance};
use crate::compare::FaultRow;
use crate::memory::{ProgramInstance, Replay};

/// Runs trials and prints the commands that repeat them.
pub struct Bench<'a> {
    catalog: &'a Catalog,
    sizes: &'a [usize],
    program: &'a str,
}

/// Whether a run was as the claim says, and what was seen.
pub struct Seen {
    /// Whether it was.
    pub holds: bool,
    /// What was seen.
    pub told: String,
}

pub use crate::structures::T;
/// The usual time inside.
pub const E: u64 = 5;

impl<'a> Bench<'a> {
    /// The sizes of systems that are tried where a claim is about every N.
    pub const USUAL_SIZES: [usize; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

    /// A bench for the algorithms of a catalog. `program` is the name of the command in printed lines.
    #[must_use]
    pub fn new(catalog: &'a Catalog, sizes: &'a [usize], program: &'a str) -> Self {
        Self { catalog, sizes, program }
    }

    /// The sizes to try.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        self.sizes
    }

    /// The sizes to try for a claim about systems of at least this many nodes; if none fits, the smallest such system.
    #[must_use]
    pub fn sizes_from(&self, least: usize) -> Vec<usize> {
        let large: Vec<usize> = self.sizes.iter().copied().filter(|n| *n >= least).collect();
        if large.is_empty() { vec![least] } else { large }
    }

    /// The name of the command.
    #[must_use]
    pub fn program(&self) -> &str {
        self.program
    }

    /// All algorithms that are right.
    pub fn correct(&self) -> impl Iterator<Item = &'a About> {
        self.catalog.list().into_iter().filter(|about| about.specimen.is_none())
    }

    /// Runs a trial.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn run(&self, trial: &Trial) -> Result<Outcome, Refusal> {
        trial.run(self.catalog)
    }

    /// Explores an instance.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn check(&self, instance: &Instance) -> Result<Checked, Refusal> {
        instance.check(self.catalog, &mut |_| ())
    }

    /// What one fault of each kind does to an algorithm.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn faults(&self, about: &About) -> Result<FaultRow, Refusal> {
        FaultRow::of(about, self.catalog, self.program)
    }

    /// Decides something else about an instance.
    ///
    /// # Errors
    /// If it cannot be explored, or is not about such an algorithm.
    pub fn ask(&self, instance: &Instance, asked: Asked) -> Result<Searched, Refusal> {
        exhaustive::ask(self.catalog, instance, asked)
    }

    /// The smallest and the largest number of messages of a run of an instance that ends; `None` if none does.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn extremes(&self, instance: &Instance, charged: Charged) -> Result<Option<Counts>, Refusal> {
        charged::extremes(self.catalog, instance, charged)
    }

    /// The names of an algorithm's invariants.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn invariants(&self, algorithm: &str) -> Result<Vec<&'static str>, Refusal> {
        exhaustive::invariants(self.catalog, algorithm)
    }

    /// Explores a program over shared memory.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub fn check_program(&self, instance: &ProgramInstance) -> Result<Checked, Refusal> {
        instance.check(self.catalog, &mut |_| ())
    }

    /// All programs over shared memory, right or wrong.
    pub fn programs(&self) -> impl Iterator<Item = &'static str> {
        self.catalog.programs().into_iter().map(|about| about.name)
    }

    /// The system of a program over shared memory.
    ///
    /// # Errors
    /// If there is none.
    pub fn program_system(&self, instance: &ProgramInstance) -> Result<SharedMemory, Refusal> {
        instance.system(self.catalog)
    }

    /// What an entry costs a node that is alone among `n`; `None` if it does not enter.
    ///
    /// # Errors
    /// If there is no such program for `n` nodes.
    pub fn alone(&self, program: &str, n: usize) -> Result<Option<Accesses>, Refusal> {
        memory::alone(self.catalog, program, n)
    }

    /// Follows an example over shared memory.
    ///
    /// # Errors
    /// If there is none of this name, or an expectation in it fails.
    pub fn replay(&self, name: &str) -> Result<Replay, ScriptError> {
        memory::replay(self.catalog, name)
    }

    /// One check: every run must be sound and pass `judge`. Reports the first run that fails, else the last.
    ///
    /// # Errors
    /// If a trial cannot be run.
    pub fn all(
        &self,
        trials: impl IntoIterator<Item = Trial>,
        judge: impl Fn(&Trial, &Outcome) -> Seen,
    ) -> Result<Check, Refusal> {
        let mut last = None;
        let mut runs = 0;
        for trial in trials {
            let outcome = self.run(&trial)?;
            let Seen { holds, told } = match wrong(&outcome) {
                Some(told) => Seen { holds: false, told },
                None => judge(&trial, &outcome),
            };
            runs += 1;
            let many = if holds && runs > 1 { format!("; all {runs} runs") } else { String::new() };
            let measured = format!("{told} ({}{many})", about(&trial));
            last = Some(Check { holds, measured, command: trial.command(self.program) });
            if !holds {
                break;
            }
        }
        last.ok_or_else(|| Refusal::new("there is nothing to run at these sizes"))
    }

    /// One check: some run, sound or not, passes `judge`.
    ///
    /// # Errors
    /// If a trial cannot be run.
    pub fn any(
        &self,
        trials: impl IntoIterator<Item = Trial>,
        judge: impl Fn(&Trial, &Outcome) -> Option<String>,
    ) -> Result<Check, Refusal> {
        let mut command = String::new();
        let mut runs = 0;
        for trial in trials {
            let outcome = self.run(&trial)?;
            command = trial.command(self.program);
            runs += 1;
            if let Some(told) = judge(&trial, &outcome) {
                return Ok(Check { holds: true, measured: format!("{told} ({})", about(&trial)), command });
            }
        }
        Ok(Check { holds: false, measured: format!("no such run among {runs}"), command })
    }

    /// One check: an example that ships meets its expectations.
    #[must_use]
    pub fn example(&self, name: &str, told: &str) -> Check {
        let command = examples::command(self.program, name);
        match examples::play(name, self.catalog) {
            Ok(outcome) if outcome.as_expected => Check { holds: true, measured: told.to_owned(), command },
            Ok(_) => Check { holds: false, measured: format!("{name} does not end as it says"), command },
            Err(error) => Check { holds: false, measured: format!("{name}: {error}"), command },
        }
    }
}

impl Check {
    /// The negation of this check.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { holds: !self.holds, ..self }
    }
}

/// What went wrong in a run.
fn wrong(outcome: &Outcome) -> Option<String> {
    let stalled = outcome.stall.as_ref().map(|stall| format!("it stalls: {stall}"));
    stalled.or_else(|| outcome.violations.first().cloned())
}

/// A trial in few words.
fn about(trial: &Trial) -> String {
    format!("{}, N = {}", trial.algorithm, trial.settings.nodes)
}

/// A trial with constant latency and hold, a few dozen entries and all invariants on: what is counted in it is exact.
#[must_use]
pub fn exact(algorithm: &str, nodes: usize, load: Load) -> Trial {
    /// In larger systems invariants, which look at every node after every step, would take all of the time.
    const MOST_WATCHED: usize = 20;
    let invariants = nodes <= MOST_WATCHED;
    let settings = Settings { nodes, entries: 60, load, invariants, ..Settings::default() };
    Trial::new(algorithm).under(settings)
}

/// The same trial with another number of entries.
#[must_use]
pub fn longer(mut trial: Trial, entries: u64) -> Trial {
    trial.settings.entries = entries;
    trial
}

/// The same trial with another constant time inside.
#[must_use]
pub fn holding(mut trial: Trial, ticks: u64) -> Trial {
    trial.settings.hold = Span::Constant(ticks);
    trial
}

/// A trial with widely varying latencies, so that messages overtake each other where the channels allow it.
#[must_use]
pub fn shaken(algorithm: &str, nodes: usize, load: Load) -> Trial {
    let mut trial = exact(algorithm, nodes, load);
    trial.settings.latency = Latency::Span(Span::Uniform(1, 40));
    trial
}

/// The same trial with this many seeds.
pub fn seeds(trial: Trial, count: u64) -> impl Iterator<Item = Trial> {
    (1..=count).map(move |seed| trial.clone().seeded(seed))
}

/// The loads under which a claim about every load is tested.
#[must_use]
pub fn all_loads(n: usize) -> [Load; 4] {
    [Load::Saturated, Load::Isolated, Load::Light(100), Load::Active(n.div_ceil(2))]
}

/// Only this node asks.
#[must_use]
pub fn only(node: NodeId) -> Load {
    Load::Only([node].into_iter().collect::<NodeSet>())
}

/// A comparison of two whole numbers.
#[must_use]
pub fn equals(what: &str, measured: u64, expected: u64) -> Seen {
    let sign = if measured == expected { "=" } else { "≠" };
    Seen { holds: measured == expected, told: format!("{what} {measured} {sign} {expected}") }
}

/// Messages divided by entries.
#[must_use]
pub fn per_entry(outcome: &Outcome) -> f64 {
    outcome.measures.traffic.messages as f64 / outcome.measures.entries.max(1) as f64
}

/// A number with at most three decimals.
#[must_use]
pub fn short(number: f64) -> String {
    let digits = format!("{number:.3}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}
