//! The two lemmas from which the bakery's correctness follows, decided in every state.
//!
//! The first one is about the past: who entered its doorway when. So the states are extended by what is needed of it: for each
//! process the set of those that had their numbers when it entered its doorway, and still have them.

use doorway_checker::{Property, RegisterModel, Search, SharedMemory, Step, StepsKnown, System, explore};
use doorway_core::{Phase, Refusal};

use super::{Bench, Check, Claim, Evidence, Verdict, source};
use crate::memory::ProgramInstance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C65",
        source: source::BAKERY,
        claim: "Bakery lemma I: if process k enters its doorway after process i has passed its own, and i still has its number, \
                then k gets a larger one.",
        formula: "i has number[i] when k enters its doorway ⇒ number[i] < number[k]",
        expected: Verdict::Holds,
        test: |bench| lemma(bench, Lemma::First),
    },
    Claim {
        id: "C66",
        source: source::BAKERY,
        claim: "Bakery lemma II: if process i is inside and process k ≠ i has a number, then i has the smaller one.",
        formula: "i inside, number[k] ≠ 0 ⇒ (number[i], i) < (number[k], k)",
        expected: Verdict::Holds,
        test: |bench| lemma(bench, Lemma::Second),
    },
];

/// Which lemma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lemma {
    First,
    Second,
}

impl Lemma {
    fn name(self) -> &'static str {
        match self {
            Lemma::First => "lemma I",
            Lemma::Second => "lemma II",
        }
    }
}

fn lemma(bench: &Bench<'_>, lemma: Lemma) -> Result<Evidence, Refusal> {
    let three = ProgramInstance::new("bakery", 3).tickets(4);
    let two = ProgramInstance::new("bakery", 2).tickets(8);
    let mut evidence = Evidence::of(held(bench, &three, lemma)?);
    for registers in RegisterModel::ALL {
        evidence = evidence.and(held(bench, &two.clone().registers(registers), lemma)?);
    }
    Ok(evidence)
}

/// One check: a lemma holds in every state of an instance.
fn held(bench: &Bench<'_>, instance: &ProgramInstance, lemma: Lemma) -> Result<Check, Refusal> {
    let mut system = Doorways::new(bench.program_system(instance)?, lemma)?;
    let search = Search { until: vec![Property::Invariants], ..Search::default() };
    let explored = explore(&mut system, &search, &mut |_| ());
    let violation = explored.violations.iter().find(|violation| violation.property == Property::Invariants);
    let (name, states) = (lemma.name(), explored.states);
    let told = match violation {
        Some(violation) => format!("{name} fails after {} steps", violation.steps.len()),
        None => {
            format!("{name} holds in all {states} states with tickets up to {}", instance.setting.tickets)
        }
    };
    let check = bench.told_of(instance, violation.is_none() && explored.is_complete, &told);
    let id = if lemma == Lemma::First { "C65" } else { "C66" };
    Ok(Check { command: format!("{} claims --only {id}", bench.program()), ..check })
}

/// A bakery whose states know who entered its doorway after whom.
///
/// ```text
/// state of the bakery │ one mask for each process k: those that had their numbers when k entered its doorway, and still do
/// ```
struct Doorways {
    of: SharedMemory,
    lemma: Lemma,
    /// The register of the first process's number.
    first: usize,
}

impl Doorways {
    fn new(of: SharedMemory, lemma: Lemma) -> Result<Self, Refusal> {
        match of.registers().iter().position(|cell| cell.name.starts_with("number")) {
            Some(first) => Ok(Self { of, lemma, first }),
            None => Err(Refusal::new("a program without numbers is no bakery")),
        }
    }

    fn n(&self) -> usize {
        self.of.processes()
    }

    /// The bakery's own state, and the masks.
    fn split<'a>(&self, state: &'a [u32]) -> (&'a [u32], &'a [u32]) {
        state.split_at(state.len() - self.n())
    }

    fn number(&self, state: &[u32], process: usize) -> u32 {
        state[self.n() + self.first + process]
    }

    /// Whether a process has passed its doorway and has not left.
    fn has_passed(&self, state: &[u32], process: usize) -> bool {
        match self.of.phase(state, process) {
            Phase::Outside => false,
            Phase::Waiting => self.of.is_past_doorway(state, process),
            Phase::Inside => true,
        }
    }

    /// The masks after a step.
    fn remember(&self, before: &[u32], after: &[u32], masks: &[u32]) -> Vec<u32> {
        let competes = |state: &[u32], process: usize| self.of.phase(state, process) != Phase::Outside;
        let passed = (0..self.n()).filter(|&process| self.has_passed(after, process));
        let passed: u32 = passed.map(|process| 1 << process).sum();
        let mask = |k: usize| match (competes(before, k), competes(after, k)) {
            (false, true) => passed,
            (true, true) => masks[k] & passed,
            (_, false) => 0,
        };
        (0..self.n()).map(mask).collect()
    }

    fn holds(&self, state: &[u32]) -> bool {
        let (state, masks) = self.split(state);
        let mut pairs =
            (0..self.n()).flat_map(|i| (0..self.n()).map(move |k| (i, k))).filter(|(i, k)| i != k);
        let number = |process: usize| self.number(state, process);
        match self.lemma {
            Lemma::First => pairs
                .all(|(i, k)| masks[k] >> i & 1 == 0 || !self.has_passed(state, k) || number(i) < number(k)),
            // A process that leaves gives its number up, even if a slow write has not yet erased it.
            Lemma::Second => pairs.all(|(i, k)| {
                self.of.phase(state, i) != Phase::Inside
                    || self.of.phase(state, k) == Phase::Outside
                    || number(k) == 0
                    || (number(i), i) < (number(k), k)
            }),
        }
    }
}

impl System for Doorways {
    fn processes(&self) -> usize {
        self.n()
    }

    fn nouns(&self) -> [&'static str; 2] {
        self.of.nouns()
    }

    fn initial(&mut self) -> Vec<Vec<u32>> {
        let masks = vec![0; self.n()];
        self.of.initial().into_iter().map(|state| [state, masks.clone()].concat()).collect()
    }

    fn steps(&self, state: &[u32], visit: &mut impl FnMut(Step, &[u32])) -> StepsKnown {
        let (state, masks) = self.split(state);
        self.of.steps(state, &mut |step, after| {
            visit(step, &[after, &self.remember(state, after, masks)].concat());
        })
    }

    fn learn(&mut self, state: &[u32]) {
        let length = state.len() - self.n();
        self.of.learn(&state[..length]);
    }

    fn phase(&self, state: &[u32], process: usize) -> Phase {
        self.of.phase(self.split(state).0, process)
    }

    fn flaws(&self, state: &[u32]) -> Vec<(Property, String)> {
        match self.holds(state) {
            true => Vec::new(),
            false => vec![(Property::Invariants, format!("{} does not hold", self.lemma.name()))],
        }
    }

    fn is_cut(&self) -> bool {
        self.of.is_cut()
    }

    fn describe(&self, step: &Step) -> String {
        self.of.describe(step)
    }
}
