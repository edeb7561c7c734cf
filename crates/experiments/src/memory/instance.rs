//! A program held against every interleaving.

use doorway_catalog::Catalog;
use doorway_checker::{
    Barriers, Exploration, MemoryModel, MemorySetting, Property, RegisterModel, Runs, SchedulerFairness,
    Search, SharedMemory, Violation, Walks, explore, walk,
};
use doorway_core::{Options, Refusal};

use super::script;
use crate::check::{Checked, Counterexample, Decision, Effort, Numbers, PATIENCE, Verdict, VerdictContext};

/// A small system of processes that share memory, and what to decide about it.
#[derive(Clone, Debug)]
pub struct ProgramInstance {
    /// The program's name.
    pub program: String,
    /// What is chosen for it.
    pub options: Options,
    /// How many nodes there are.
    pub n: usize,
    /// Over which memory they run, and how much of it is explored.
    pub setting: MemorySetting,
    /// What to decide.
    pub properties: Vec<Property>,
    /// What a scheduler is taken to owe; if not given, the least that is needed is found.
    pub fairness: Option<SchedulerFairness>,
    /// How to search, and how far.
    pub effort: Effort,
}

impl ProgramInstance {
    /// What can be decided about programs.
    pub const PROPERTIES: [Property; 6] = [
        Property::MutualExclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::Invariants,
        Property::Fifo,
        Property::BoundedWaiting,
    ];

    /// What a lock must be: all but the orders that only some programs keep.
    pub const OF_A_LOCK: [Property; 4] = [
        Property::MutualExclusion,
        Property::DeadlockFreedom,
        Property::StarvationFreedom,
        Property::Invariants,
    ];

    /// This many nodes that run a program again and again over sequential memory with atomic registers, and all properties of
    /// a lock.
    #[must_use]
    pub fn new(program: &str, n: usize) -> Self {
        Self {
            program: program.to_owned(),
            options: Options::none(),
            n,
            setting: MemorySetting::default(),
            properties: Self::OF_A_LOCK.to_vec(),
            fairness: None,
            effort: Effort::default(),
        }
    }

    /// The same with other properties to decide.
    #[must_use]
    pub fn deciding(mut self, properties: &[Property]) -> Self {
        self.properties = properties.to_vec();
        self
    }

    /// The same with something chosen for the program.
    #[must_use]
    pub fn with(mut self, name: &str, word: &str) -> Self {
        self.options = self.options.with(name, word);
        self
    }

    /// The same with tickets up to this one.
    #[must_use]
    pub fn tickets(mut self, tickets: u32) -> Self {
        self.setting.tickets = tickets;
        self
    }

    /// The same with registers of this kind.
    #[must_use]
    pub fn registers(mut self, registers: RegisterModel) -> Self {
        self.setting.registers = registers;
        self
    }

    /// The same over such memory, with these barriers.
    #[must_use]
    pub fn over(mut self, memory: MemoryModel, barriers: Barriers) -> Self {
        (self.setting.memory, self.setting.barriers) = (memory, barriers);
        self
    }

    /// Its system, to be explored or followed.
    ///
    /// # Errors
    /// If there is no such program, or it cannot run so.
    pub fn system(&self, catalog: &Catalog) -> Result<SharedMemory, Refusal> {
        let (n, most) = (self.n, MemorySetting::MOST_PROCESSES);
        if !(1..=most).contains(&n) {
            return Err(Refusal::new(format!("1 to {most} processes can be explored, not {n}")));
        }
        catalog.program_subject(&self.program, &self.options, n)?.system(self.setting.clone())
    }

    /// Explores it; `watch` is told how many states were found so far.
    ///
    /// # Errors
    /// If there is no such program, or it cannot run so.
    pub fn check(&self, catalog: &Catalog, watch: &mut dyn FnMut(u64)) -> Result<Checked, Refusal> {
        let mut instance = self.clone();
        instance.properties.retain(|property| Self::PROPERTIES.contains(property));
        if instance.properties.is_empty() {
            let names: Vec<&str> = Self::PROPERTIES.iter().map(|property| property.name()).collect();
            return Err(Refusal::new(format!(
                "there is nothing of that kind to decide about a program over shared memory: {}",
                names.join(", ")
            )));
        }
        instance.setting.invariants = instance.properties.contains(&Property::Invariants);
        let mut system = instance.system(catalog)?;
        if system.has_tickets() && instance.setting.tickets < LEAST_TICKETS {
            let asked = instance.setting.tickets;
            return Err(Refusal::new(format!(
                "with tickets up to {asked} nobody would enter: allow at least {LEAST_TICKETS}"
            )));
        }
        Ok(match &instance.effort.walks {
            Some(walks) => instance.walked(&mut system, walks, watch),
            None => instance.explored(&mut system, watch),
        })
    }

    /// Walks at random. They prove nothing: a violation that they miss may exist.
    fn walked(&self, system: &mut SharedMemory, walks: &Walks, watch: &mut dyn FnMut(u64)) -> Checked {
        let mut found: Vec<(Counterexample, u64)> = Vec::new();
        let walked = walk(system, walks, watch, &mut |system, violation, times| {
            found.push((self.counterexample(system, violation), times));
        });
        Checked::of_walks(&self.properties, walked, found)
    }

    fn explored(&self, system: &mut SharedMemory, watch: &mut dyn FnMut(u64)) -> Checked {
        let is_wanted = |some: &[Property]| some.iter().any(|property| self.properties.contains(property));
        let progress = is_wanted(&[Property::DeadlockFreedom, Property::StarvationFreedom]);
        let waiting = is_wanted(&[Property::Fifo, Property::BoundedWaiting]);
        let search = Search {
            limits: self.effort.limits,
            threads: self.effort.threads,
            visited: self.effort.visited,
            runs: Runs { progress: progress.then_some(self.fairness), waiting, messages: false },
            until: if progress || waiting { Vec::new() } else { self.properties.clone() },
            patience: PATIENCE,
            keep_terminals: false,
            stop: self.effort.stop.clone(),
        };
        let explored = explore(system, &search, watch);
        self.judged(system, explored)
    }

    /// The verdicts. A broken contract is always reported, since runs were followed only up to there.
    fn judged(&self, system: &SharedMemory, explored: Exploration) -> Checked {
        let judge = VerdictContext { fairness: self.fairness, is_limited: self.setting.requests.is_some() };
        let mut checked = Checked { numbers: Numbers::of(&explored), ..Checked::default() };
        let mut properties = self.properties.clone();
        if system.broke_contract() && !properties.contains(&Property::Invariants) {
            properties.push(Property::Invariants);
        }
        for property in properties {
            let violation = explored.violations.iter().find(|violation| violation.property == property);
            let mut verdict = judge.verdict(property, violation, &explored);
            self.qualify(system, &mut verdict);
            checked.verdicts.push(verdict);
            let found = violation.map(|violation| self.counterexample(system, violation.clone()));
            checked.counterexamples.extend(found);
        }
        let witness = explored.waiting.and_then(|waiting| waiting.witness);
        checked.beyond = system.reached_limit().then_some(self.setting.tickets);
        checked.most_overtaken = witness.map(|witness| self.counterexample(system, witness));
        checked
    }

    /// States the limits within which the verdicts hold.
    fn qualify(&self, system: &SharedMemory, verdict: &mut Verdict) {
        if verdict.decision != Decision::Holds {
            return;
        }
        if verdict.property == Property::Invariants && !system.has_invariants() {
            verdict.remark = Some("the program states none: its contract was watched".to_owned());
        }
        let mut limits = Vec::new();
        if system.broke_contract() {
            limits.push("runs in which nobody breaks the contract".to_owned());
        }
        if system.reached_limit() {
            limits.push(format!("tickets up to {}", self.setting.tickets));
        }
        if system.reached_capacity() {
            limits.push(format!("at most {} stores of a process on their way", self.setting.capacity));
        }
        if !limits.is_empty() {
            verdict.extent = Some(format!("for {}", limits.join(" and ")));
        }
    }

    fn counterexample(&self, system: &SharedMemory, violation: Violation) -> Counterexample {
        let acts: Vec<_> = violation.steps.iter().map(|step| system.act(step)).collect();
        let script = script::written(self, system, &violation, &acts);
        let steps = acts.iter().map(ToString::to_string).collect();
        let Violation { property, what, loop_start, .. } = violation;
        Counterexample { property, what, steps, loop_start, script }
    }
}

/// With fewer tickets no process can enter a bakery.
const LEAST_TICKETS: u32 = 2;
