//! Claims about programs over shared memory: Peterson's, the tournament, Lamport's fast algorithm and the bakeries.
//!
//! Each is held against every interleaving of a small system, access by access. Where tickets have no limit, the search has one, and
//! says so.

use doorway_catalog::{Catalog, examples};
use doorway_checker::{Property, RegisterModel};
use doorway_core::shared::Accesses;
use doorway_core::{Options, Refusal};
use doorway_simulator::{ScriptError, shell};

use super::exhaustive::{decision, listed, told_of};
use super::{Bench, Check, Claim, Evidence, Verdict, source};
use crate::check::Decision;
use crate::memory::{ProgramInstance, Replay};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C48",
        source: source::TOURNAMENT,
        claim: "The tournament is safe, free of deadlock and free of starvation if the two-process algorithm at its nodes is, and takes \
                ⌈log2 n⌉ levels even when one is alone.",
        formula: "for each property and two-process algorithm: the tournament has it ⇔ the algorithm has it; 3⌈log2 n⌉ writes when alone",
        expected: Verdict::HoldsIf("it is released from the root to the leaf"),
        test: tournament,
    },
    Claim {
        id: "C49",
        source: source::TOURNAMENT,
        claim: "The tournament has bounded waiting.",
        formula: "r-bounded for some r",
        expected: Verdict::Refuted,
        test: tournament_waiting,
    },
    Claim {
        id: "C50",
        source: source::FAST,
        claim: "Lamport's fast algorithm takes 7 accesses when one is alone, is safe and free of deadlock, but one can starve, and waiting \
                is not bounded.",
        formula: "7, whatever n",
        expected: Verdict::Holds,
        test: lamport_fast,
    },
    Claim {
        id: "C51",
        source: source::BAKERY,
        claim: "The simple bakery with an atomic maximum is safe, free of starvation, and serves first come, first served.",
        formula: "r = 0",
        expected: Verdict::Holds,
        test: simple_bakery,
    },
    Claim {
        id: "C52",
        source: source::BAKERY,
        claim: "The bakery is safe, free of starvation, and serves first come, first served, with regular and with safe registers too.",
        formula: "r = 0",
        expected: Verdict::Holds,
        test: bakery,
    },
    Claim {
        id: "C53",
        source: source::BAKERY,
        claim: "The tickets of the bakery have no bound.",
        formula: "for every k a run with a ticket above k",
        expected: Verdict::Holds,
        test: bakery_tickets,
    },
    Claim {
        id: "C54",
        source: source::BAKERY,
        claim: "The bakery takes O(n) steps when one is alone.",
        formula: "3n + 1 accesses",
        expected: Verdict::Holds,
        test: bakery_alone,
    },
    Claim {
        id: "C55",
        source: source::BLACK_WHITE,
        claim: "The tickets of the black-white bakery are at most n.",
        formula: "number ≤ n",
        expected: Verdict::HoldsIf("colour and number are one register"),
        test: black_white_tickets,
    },
    Claim {
        id: "C56",
        source: source::DEFINITIONS,
        claim: "Bounded waiting does not imply freedom from deadlock.",
        formula: "Peterson's algorithm without its turn: r = 0, and a deadlock",
        expected: Verdict::Holds,
        test: waiting_without_progress,
    },
];

const PROGRESS: [Property; 3] =
    [Property::MutualExclusion, Property::DeadlockFreedom, Property::StarvationFreedom];

fn tournament(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for lock in &LOCKS {
        evidence = evidence.and(inherited(bench, lock)?);
    }
    evidence = evidence.and(bench.costs("tournament", 9, |n, used| {
        let levels = n.next_power_of_two().trailing_zeros() as usize;
        used.stores == 3 * levels && used.loads == levels
    })?);
    let leaf_first = ProgramInstance::new("tournament/leaf-first", 4).deciding(&[Property::MutualExclusion]);
    Ok(evidence.but(bench.holds_for(&leaf_first)?))
}

/// A two-process algorithm over which a tournament can be played.
struct Lock {
    /// Its name as a choice for the tournament.
    choice: &'static str,
    /// Its name as a program.
    program: &'static str,
    /// The size of the tournament: two levels, and more processes where the states are few.
    n: usize,
}

const LOCKS: [Lock; 3] = [
    Lock { choice: "peterson", program: "peterson", n: 4 },
    Lock { choice: "unless-alone", program: "peterson/unless-alone", n: 4 },
    Lock { choice: "lamport-fast", program: "lamport-fast", n: 3 },
];

/// One check: a tournament has each property exactly if its two-process algorithm has it.
fn inherited(bench: &Bench<'_>, lock: &Lock) -> Result<Check, Refusal> {
    let two = bench.check_program(&ProgramInstance::new(lock.program, 2).deciding(&PROGRESS))?;
    let tournament = ProgramInstance::new("tournament", lock.n).with("lock", lock.choice).deciding(&PROGRESS);
    let tree = bench.check_program(&tournament)?;
    let decisions = PROGRESS.map(|property| (decision(&two, property), decision(&tree, property)));
    let holds = decisions.iter().all(|(two, tree)| two == tree && *two != Decision::NotExhausted);
    let told = PROGRESS
        .iter()
        .zip(decisions)
        .map(|(property, (two, tree))| format!("{property} {two} for two and {tree} for {}", lock.n));
    let told = told.collect::<Vec<_>>().join(", ");
    let check = bench.told_of(&tournament, holds, &told);
    Ok(Check { measured: format!("{}: {told}", lock.choice), ..check })
}

fn tournament_waiting(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let waiting = ProgramInstance::new("tournament", 4).deciding(&[Property::BoundedWaiting]);
    let fifo = ProgramInstance::new("tournament", 4).deciding(&[Property::Fifo]);
    Ok(Evidence::of(bench.holds_for(&waiting)?).and(bench.holds_for(&fifo)?))
}

fn lamport_fast(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let fast = || ProgramInstance::new("lamport-fast", 3);
    let safe = fast().deciding(&[Property::MutualExclusion, Property::DeadlockFreedom]);
    Ok(Evidence::of(bench.breaks_for(&fast(), Property::StarvationFreedom)?)
        .and(bench.holds_for(&safe)?)
        .and(bench.costs("lamport-fast", 64, |_, used| used.total() == 7)?)
        .and(bench.breaks_for(&fast(), Property::BoundedWaiting)?))
}

const SERVED: [Property; 4] =
    [Property::MutualExclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::Fifo];

fn simple_bakery(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    Ok(Evidence::of(bench.holds_for(&ProgramInstance::new("simple-bakery", 3).deciding(&SERVED))?))
}

fn bakery(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for registers in RegisterModel::ALL.into_iter().rev() {
        let two = ProgramInstance::new("bakery", 2).registers(registers).deciding(&SERVED);
        let three = ProgramInstance::new("bakery", 3).registers(registers).tickets(3).deciding(&SERVED);
        evidence = evidence.and(bench.holds_for(&three)?).and(bench.holds_for(&two)?);
    }
    Ok(evidence)
}

fn bakery_tickets(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let growing = bench.follows("memory/bakery-tickets-grow")?;
    let mut evidence = Evidence::of(growing);
    for tickets in [4, 16, 64] {
        let instance =
            ProgramInstance::new("bakery", 2).tickets(tickets).deciding(&[Property::MutualExclusion]);
        let checked = bench.check_program(&instance)?;
        let holds = checked.beyond == Some(tickets);
        let told = if holds { "a run takes" } else { "no run takes" };
        evidence = evidence.and(bench.told_of(&instance, holds, &format!("{told} a ticket above {tickets}")));
    }
    Ok(evidence)
}

fn bakery_alone(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    Ok(Evidence::of(bench.costs("bakery", 64, |n, used| used.total() == 3 * n + 1)?))
}

fn black_white_tickets(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let invariants = |name: &str, n: usize| ProgramInstance::new(name, n).deciding(&[Property::Invariants]);
    let mut evidence = Evidence::default();
    for name in ["black-white", "black-white/one-word"] {
        for n in [2, 3] {
            evidence = evidence.and(bench.holds_for(&invariants(name, n))?);
        }
    }
    for name in ["black-white/two-registers", "black-white/number-first"] {
        evidence = evidence.but(bench.holds_for(&invariants(name, 2))?);
    }
    Ok(evidence)
}

fn waiting_without_progress(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let model = || ProgramInstance::new("peterson/no-turn", 2);
    let waiting = model().deciding(&[Property::MutualExclusion, Property::Fifo, Property::BoundedWaiting]);
    Ok(Evidence::of(bench.holds_for(&waiting)?).and(bench.breaks_for(&model(), Property::DeadlockFreedom)?))
}

impl Bench<'_> {
    /// One check: all that is to be decided about a program holds, in every run.
    pub(super) fn holds_for(&self, instance: &ProgramInstance) -> Result<Check, Refusal> {
        let checked = self.check_program(instance)?;
        let wrong =
            instance.properties.iter().find(|property| decision(&checked, **property) != Decision::Holds);
        let told = match wrong {
            Some(property) => told_of(&checked, *property),
            None => {
                let states = checked.numbers.states;
                let limit =
                    checked.beyond.map_or_else(String::new, |most| format!(" with tickets up to {most}"));
                format!("{} in every run{limit}, {states} states", listed(&instance.properties))
            }
        };
        Ok(self.told_of(instance, wrong.is_none(), &told))
    }

    /// One check: a property of a program does *not* hold, and here is a run.
    pub(super) fn breaks_for(
        &self,
        instance: &ProgramInstance,
        property: Property,
    ) -> Result<Check, Refusal> {
        let instance = instance.clone().deciding(&[property]);
        let checked = self.check_program(&instance)?;
        let holds = decision(&checked, property) == Decision::Violated;
        Ok(self.told_of(&instance, holds, &told_of(&checked, property)))
    }

    /// One check: an entry costs a node that is alone what it should, for all numbers of nodes from 2 up to `most`.
    fn costs(
        &self,
        program: &str,
        most: usize,
        judge: impl Fn(usize, Accesses) -> bool,
    ) -> Result<Check, Refusal> {
        let mut last = Check { holds: true, measured: String::new(), command: String::new() };
        for n in 2..=most {
            let used = self.alone(program, n)?;
            let holds = used.is_some_and(|used| judge(n, used));
            let told = match used {
                Some(used) => {
                    format!("{} accesses alone, {} of them writes", used.total(), used.total() - used.loads)
                }
                None => "it does not enter alone".to_owned(),
            };
            let measured = format!("{told} ({program}, n = {n})");
            last = Check { holds, measured, command: format!("{} explain {program}", self.program()) };
            if !holds {
                break;
            }
        }
        Ok(last)
    }

    /// One check: a script that ships comes as it says.
    fn follows(&self, name: &str) -> Result<Check, Refusal> {
        let command = examples::command(self.program(), name);
        match self.replay(name) {
            Ok(replay) => {
                let measured = format!("{} steps that repeat with larger tickets", replay.steps.len());
                Ok(Check { holds: replay.violation.is_none(), measured, command })
            }
            Err(error @ ScriptError::Unmet { .. }) => {
                Ok(Check { holds: false, measured: error.to_string(), command })
            }
            Err(error) => Err(Refusal::new(error.to_string())),
        }
    }

    pub(super) fn told_of(&self, instance: &ProgramInstance, holds: bool, told: &str) -> Check {
        let ProgramInstance { program, n, setting, .. } = instance;
        let measured = format!("{told} ({program}, n = {n}, {})", setting.registers.phrase());
        Check { holds, measured, command: command(self.program(), instance) }
    }
}

/// The command that explores it.
pub(super) fn command(program: &str, instance: &ProgramInstance) -> String {
    let properties: Vec<&str> = instance.properties.iter().map(|property| property.name()).collect();
    let setting = &instance.setting;
    let mut words: Vec<String> = [program, "check", &instance.program].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    flag("nodes", instance.n.to_string());
    for (name, choice) in instance.options.iter() {
        flag("set", format!("{name}={}", choice.word));
    }
    if setting.registers != RegisterModel::Atomic {
        flag("registers", setting.registers.to_string());
    }
    if setting.tickets != ProgramInstance::new("", 1).setting.tickets {
        flag("tickets", setting.tickets.to_string());
    }
    flag("property", properties.join(","));
    shell::joined(&words)
}

/// What an entry costs a node that is alone among `n`.
pub(super) fn alone(catalog: &Catalog, program: &str, n: usize) -> Result<Option<Accesses>, Refusal> {
    Ok(catalog.program_subject(program, &Options::none(), n)?.accesses_alone())
}

/// Follows an example by its name.
pub(super) fn replay(catalog: &Catalog, name: &str) -> Result<Replay, ScriptError> {
    let refused = |refusal: Refusal| ScriptError::Impossible { line: 0, what: refusal.to_string() };
    Replay::of_script(examples::script(name).map_err(refused)?, &Options::none(), catalog)
}
