//! What one fault does to an algorithm: at most one lost message, one duplicate or one crash in every run of small systems.
//!
//! The systems are two nodes that ask twice each and three that ask once each. A search ends at a number of states, not of seconds,
//! so the table is the same on every machine; it names the systems of which every run was explored.

use std::fmt;

use doorway_catalog::Catalog;
use doorway_checker::{FaultBudget, Property};
use doorway_core::{About, Channels, Refusal};
use serde::Serialize;

use crate::check::{Checked, Decision, Effort, Instance};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// One message is lost.
    Loss,
    /// One message arrives twice.
    Duplicate,
    /// One node stops for good.
    Crash,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 3] = [FaultKind::Loss, FaultKind::Duplicate, FaultKind::Crash];

    fn at_most_one(self) -> FaultBudget {
        let none = FaultBudget::default();
        match self {
            FaultKind::Loss => FaultBudget { losses: 1, ..none },
            FaultKind::Duplicate => FaultBudget { duplicates: 1, ..none },
            FaultKind::Crash => FaultBudget { crashes: 1, ..none },
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::Loss => "one lost message",
            FaultKind::Duplicate => "one duplicate",
            FaultKind::Crash => "one crash",
        })
    }
}

/// What a fault does, the worse the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Too many states: no system was explored completely, and no run is known that goes wrong.
    Undecided,
    /// At most one node is inside, and every live node that waits enters.
    Unaffected,
    /// A live node that waits never enters.
    Stalls,
    /// Two nodes are inside together.
    LosesExclusion,
    /// The same goes wrong without any fault.
    WrongAnyway,
}

impl Effect {
    /// All of them.
    pub const ALL: [Effect; 5] =
        [Effect::Undecided, Effect::Unaffected, Effect::Stalls, Effect::LosesExclusion, Effect::WrongAnyway];
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Effect::Undecided => "undecided",
            Effect::Unaffected => "unaffected",
            Effect::Stalls => "stalls",
            Effect::LosesExclusion => "loses exclusion",
            Effect::WrongAnyway => "wrong anyway",
        })
    }
}

/// What one kind of fault does to an algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Suffered {
    /// The fault.
    pub fault: FaultKind,
    /// Its worst effect.
    pub effect: Effect,
    /// The number of steps of a shortest run with this effect, the fault among them.
    pub steps: Option<usize>,
    /// What is wrong at the end of that run.
    pub what: Option<String>,
    /// The systems of which every run was explored, by the requests of each node.
    pub systems: Vec<Vec<u32>>,
    /// The states of these systems, all together.
    pub states: u64,
    /// The command that shows the run, or that there is none.
    pub command: String,
}

/// What each kind of fault does to an algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct FaultRow {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The channels: the weakest that it needs.
    pub channels: Channels,
    /// One for each kind of fault.
    pub suffered: [Suffered; 3],
}

/// The requests of each node in the systems that are explored.
const SYSTEMS: [&[u32]; 2] = [&[2, 2], &[1, 1, 1]];

/// The most states of a search.
const MOST_STATES: u64 = 120_000;

/// What is asked: that at most one node is inside, and that every node that waits enters.
const ASKED: [Property; 2] = [Property::MutualExclusion, Property::StarvationFreedom];

impl FaultRow {
    /// Explores the systems of one algorithm with each kind of fault.
    ///
    /// # Errors
    /// If it can run neither among two nodes nor among three.
    pub fn of(about: &About, catalog: &Catalog, program: &str) -> Result<Self, Refusal> {
        let wrong = wrong_without_faults(about, catalog)?;
        let suffer = |fault: FaultKind| match wrong {
            false => Suffered::of(about, fault, catalog, program),
            true => Ok(Suffered::anyway(about, fault, program)),
        };
        let [loss, duplicate, crash] = FaultKind::ALL.map(suffer);
        Ok(Self { algorithm: about.name, channels: about.needs, suffered: [loss?, duplicate?, crash?] })
    }

    /// What this kind of fault does.
    #[must_use]
    pub fn of_fault(&self, fault: FaultKind) -> &Suffered {
        &self.suffered[fault as usize]
    }

    /// The faults that it survives: `one duplicate`, or `nothing`.
    #[must_use]
    pub fn survives(&self) -> String {
        let survived = self.suffered.iter().filter(|suffered| suffered.effect == Effect::Unaffected);
        let names: Vec<String> = survived.map(|suffered| suffered.fault.to_string()).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") }
    }

    /// The systems of which every run was explored with every kind of fault.
    #[must_use]
    pub fn systems(&self) -> Vec<&[u32]> {
        let is_complete = |system: &&[u32]| {
            self.suffered.iter().all(|suffered| suffered.systems.iter().any(|other| other == system))
        };
        SYSTEMS.into_iter().filter(is_complete).collect()
    }
}

fn instance(about: &About, requests: &[u32], faults: FaultBudget) -> Instance {
    let effort = Effort::of_states(MOST_STATES);
    // With faults no interleaving can be left out, so a reduced search would only be made twice.
    let reduction = !faults.any();
    Instance { effort, faults, reduction, ..Instance::new(about.name, requests, about.needs) }
        .deciding(&ASKED)
}

fn wrong_without_faults(about: &About, catalog: &Catalog) -> Result<bool, Refusal> {
    for requests in SYSTEMS {
        let checked = instance(about, requests, FaultBudget::default()).check(catalog, &mut |_| ())?;
        if checked.decision() == Decision::Violated {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Suffered {
    fn of(about: &About, fault: FaultKind, catalog: &Catalog, program: &str) -> Result<Self, Refusal> {
        let mut worst = Self::nothing(about, fault, program);
        for requests in SYSTEMS {
            let instance = instance(about, requests, fault.at_most_one());
            let checked = instance.check(catalog, &mut |_| ())?;
            if checked.numbers.is_complete {
                worst.systems.push(requests.to_vec());
                worst.states += checked.numbers.states;
            }
            worst.note(&instance, &checked, program);
        }
        Ok(worst)
    }

    /// Nothing is known yet.
    fn nothing(about: &About, fault: FaultKind, program: &str) -> Self {
        let command = instance(about, SYSTEMS[0], fault.at_most_one()).command(program);
        let (effect, steps, what) = (Effect::Undecided, None, None);
        Self { fault, effect, steps, what, systems: Vec::new(), states: 0, command }
    }

    /// The algorithm is wrong without any fault.
    fn anyway(about: &About, fault: FaultKind, program: &str) -> Self {
        let command = instance(about, SYSTEMS[0], FaultBudget::default()).command(program);
        Self { effect: Effect::WrongAnyway, command, ..Self::nothing(about, fault, program) }
    }

    /// Takes note of what was decided about one system, if that is worse, or as bad after fewer steps.
    fn note(&mut self, instance: &Instance, checked: &Checked, program: &str) {
        let effects = [Effect::LosesExclusion, Effect::Stalls].into_iter().zip(ASKED);
        let mut found = effects.filter_map(|(effect, property)| {
            checked.counterexample(property).map(|run| (effect, property, run))
        });
        let Some((effect, property, run)) = found.next() else {
            if checked.decision() == Decision::Holds && self.effect <= Effect::Unaffected {
                (self.effect, self.command) = (Effect::Unaffected, instance.command(program));
            }
            return;
        };
        let steps = run.steps.len();
        if effect > self.effect || effect == self.effect && self.steps.is_none_or(|known| steps < known) {
            self.command = instance.clone().deciding(&[property]).command(program);
            (self.effect, self.steps, self.what) = (effect, Some(steps), Some(run.what.clone()));
        }
    }
}
