//! Claims about fairness, starvation and deadlock as such. They are about every lock, so they are held against all locks of a
//! small world ([`Gates`]), against every program of the catalog, and against runs.

use doorway_checker::Property;
use doorway_core::{Channels, Refusal};
use doorway_simulator::Load;

use super::bench::{Bench, Seen, exact, longer};
use super::exhaustive::decision;
use super::gates::Gates;
use super::{Check, Claim, Evidence, Verdict, source};
use crate::check::{Decision, Instance};
use crate::memory::ProgramInstance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C17",
        source: source::FAIRNESS,
        claim: "Fairness implies freedom from starvation.",
        formula: "nobody is bypassed ⇒ everybody enters",
        expected: Verdict::HoldsIf("there is no deadlock"),
        test: fairness,
    },
    Claim {
        id: "C63",
        source: source::FAIRNESS,
        claim: "Fairness in the sense of bounded waiting implies, where there is no deadlock, that nobody starves, and not conversely.",
        formula: "r-bounded for some r ⇒ everybody enters; the tournament: everybody enters, r-bounded for no r",
        expected: Verdict::Holds,
        test: not_conversely,
    },
    Claim {
        id: "C64",
        source: source::DEFINITIONS,
        claim: "A lock that is free of deadlock and serves first come, first served is free of starvation.",
        formula: "deadlock-free and r = 0 ⇒ everybody enters",
        expected: Verdict::Holds,
        test: first_come_first_served,
    },
];

/// A statement about all gates: those with some properties, and how many of them lack another one.
fn of_gates(bench: &Bench<'_>, id: &str, with: &[Property], implied: Property, all: &Gates) -> Check {
    let (premised, exceptions) = (all.count(with, &[]), all.count(with, &[implied]));
    let names: Vec<&str> = with.iter().map(|property| property.name()).collect();
    let measured = format!(
        "of all {} locks for two processes that decide by who waits, who has waited longer and who entered last, {premised} have {}, and \
         {exceptions} of these lack {implied}",
        all.count(&[], &[]),
        names.join(" and ")
    );
    let command = format!("{} claims --only {id}", bench.program());
    Check { holds: premised > 0 && exceptions == 0, measured, command }
}

fn fairness(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let gates = Gates::all();
    let loads = [Load::Saturated, Load::Isolated];
    let served = loads
        .iter()
        .flat_map(|load| bench.sizes().iter().map(|&n| exact("ricart-agrawala", n, load.clone())));
    let inside = bench.all(served, |trial, outcome| {
        let bypasses = outcome.measures.bypasses.max().unwrap_or(0);
        let entries = outcome.measures.entries;
        let told = format!(
            "bypassed at most {bypasses} times, {entries} of {} requests served",
            trial.settings.entries
        );
        Seen { holds: bypasses == 0 && entries == trial.settings.entries, told }
    })?;
    let premises = [Property::Fifo, Property::DeadlockFreedom];
    let models = of_gates(bench, "C17", &premises, Property::StarvationFreedom, &gates);
    let without = of_gates(bench, "C17", &premises[..1], Property::StarvationFreedom, &gates);
    Ok(Evidence::of(inside).and(models).but(deadlocked(bench)?).but(without))
}

/// In a deadlock nobody is bypassed, and all starve.
fn deadlocked(bench: &Bench<'_>) -> Result<Check, Refusal> {
    let stuck = [3, 4, 6].map(|n| {
        let mut trial = longer(exact("maekawa/basic", n, Load::Saturated), n as u64).with("quorum", "cyclic");
        trial.settings.invariants = false;
        trial
    });
    let mut told = Vec::new();
    let mut command = String::new();
    let mut is_so = true;
    for trial in stuck {
        let outcome = bench.run(&trial)?;
        let bypasses = outcome.measures.bypasses.max().unwrap_or(0);
        let waiting = outcome.stall.as_ref().map_or(0, |stall| stall.waiting.len());
        is_so &= bypasses == 0 && waiting > 0;
        told.push(format!("{waiting} of {}", trial.settings.nodes));
        command = trial.command(bench.program());
    }
    let measured =
        format!("in a deadlock nobody is bypassed, and {} nodes starve (maekawa/basic)", told.join(", "));
    Ok(Check { holds: !is_so, measured, command })
}

fn not_conversely(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let gates = Gates::all();
    let premises = [Property::BoundedWaiting, Property::DeadlockFreedom];
    let forward = of_gates(bench, "C63", &premises, Property::StarvationFreedom, &gates);
    let back = [Property::StarvationFreedom];
    let converse = of_gates(bench, "C63", &back, Property::Fifo, &gates).reversed();
    let tournament = ProgramInstance::new("tournament", 4);
    let nobody_starves = bench.holds_for(&tournament.clone().deciding(&back))?;
    let without_bound = bench.breaks_for(&tournament, Property::BoundedWaiting)?;
    let maekawa = Instance::new("maekawa", &[1, 1, 1], Channels::Any);
    let out_of_order = bench.breaks(&maekawa, Property::HappenedBeforeOrder)?;
    let served = bench.holds(&maekawa.deciding(&back))?;
    Ok(Evidence::of(nobody_starves)
        .and(without_bound)
        .and(served)
        .and(out_of_order)
        .and(forward)
        .and(converse))
}

fn first_come_first_served(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let premises = [Property::DeadlockFreedom, Property::Fifo];
    let models = of_gates(bench, "C64", &premises, Property::StarvationFreedom, &Gates::all());
    Ok(Evidence::of(of_programs(bench)?).and(models))
}

/// The same of every program of the catalog, right or wrong, for two processes.
fn of_programs(bench: &Bench<'_>) -> Result<Check, Refusal> {
    let asked = [Property::DeadlockFreedom, Property::Fifo, Property::StarvationFreedom];
    let (mut premised, mut exceptions, mut programs) = (Vec::new(), Vec::new(), 0);
    let mut command = String::new();
    for name in bench.programs() {
        let instance = ProgramInstance::new(name, 2).deciding(&asked);
        let checked = bench.check_program(&instance)?;
        let holds = |property| decision(&checked, property) == Decision::Holds;
        programs += 1;
        if holds(Property::DeadlockFreedom) && holds(Property::Fifo) {
            premised.push(name);
            command = super::memory::command(bench.program(), &instance);
            exceptions.extend((!holds(Property::StarvationFreedom)).then_some(name));
        }
    }
    let measured = format!(
        "with two processes, {} of {programs} programs are free of deadlock and first come, first served ({}); in {} of them a process starves",
        premised.len(),
        premised.join(", "),
        exceptions.len()
    );
    Ok(Check { holds: !premised.is_empty() && exceptions.is_empty(), measured, command })
}
