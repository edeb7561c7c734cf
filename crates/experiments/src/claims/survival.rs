//! The claim about faults: every run of small systems with one lost message, one duplicate or one crash.

use doorway_core::Refusal;

use super::bench::Bench;
use super::{Check, Claim, Evidence, Verdict, source};
use crate::compare::{Effect, FaultKind, FaultRow};

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "C58",
    source: source::FAULTS,
    claim: "None of the textbook algorithms survives a lost message or the crash of a node that is needed; only the replicated \
            coordinator, which an oracle tells of crashes, survives a crash. One lost message stalls all but Lamport's, which lets two in; \
            a duplicate leaves those of Lamport, Ricart and Agrawala, Carvalho and Roucairol, and the replicated coordinator unaffected.",
    formula: "one fault each, in every run",
    expected: Verdict::Holds,
    test: nobody_survives,
}];

/// The algorithms that one lost message brings to let two in.
const LET_TWO_IN: [&str; 1] = ["lamport"];

/// The algorithms that a crash does not affect, because they are told of it.
const SURVIVE_CRASHES: [&str; 1] = ["replicated"];

/// The algorithms that a duplicate does not affect.
const IGNORE_DUPLICATES: [&str; 4] = ["replicated", "lamport", "ricart-agrawala", "carvalho-roucairol"];

fn nobody_survives(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let rows: Vec<FaultRow> = bench.correct().map(|about| bench.faults(about)).collect::<Result<_, _>>()?;
    let names = |fault: FaultKind, effect: Effect| -> Vec<&str> {
        let is_so = |row: &&FaultRow| row.of_fault(fault).effect == effect;
        rows.iter().filter(is_so).map(|row| row.algorithm).collect()
    };
    let is_fatal = |fault: FaultKind| {
        rows.iter().all(|row| matches!(row.of_fault(fault).effect, Effect::Stalls | Effect::LosesExclusion))
    };
    let lost = is_fatal(FaultKind::Loss) && names(FaultKind::Loss, Effect::LosesExclusion) == LET_TWO_IN;
    let duplicated = names(FaultKind::Duplicate, Effect::Unaffected) == IGNORE_DUPLICATES;
    let (crash, others) = (FaultKind::Crash, |row: &&FaultRow| !SURVIVE_CRASHES.contains(&row.algorithm));
    let crashed = names(crash, Effect::Unaffected) == SURVIVE_CRASHES
        && rows.iter().filter(others).all(|row| row.of_fault(crash).effect == Effect::Stalls);
    let check = |fault: FaultKind, holds: bool| Check {
        holds,
        measured: told(fault, &rows),
        command: format!("{} compare --faults", bench.program()),
    };
    Ok(Evidence::of(check(FaultKind::Loss, lost))
        .and(check(FaultKind::Duplicate, duplicated))
        .and(check(FaultKind::Crash, crashed)))
}

/// What a fault does to all algorithms: `one lost message: lamport loses exclusion (5); central (2), … stall`.
fn told(fault: FaultKind, rows: &[FaultRow]) -> String {
    let of_effect = |effect: Effect| {
        let suffered = rows.iter().map(|row| (row.algorithm, row.of_fault(fault)));
        let named = suffered.filter(|(_, suffered)| suffered.effect == effect).map(|(name, suffered)| {
            let steps = suffered.steps.map_or_else(String::new, |steps| format!(" {steps}"));
            format!("{name}{steps}")
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("{effect}: {}", named.join(", ")))
    };
    let effects: Vec<String> = Effect::ALL.into_iter().rev().filter_map(of_effect).collect();
    format!("{fault}, with the steps of a shortest run: {}", effects.join("; "))
}
