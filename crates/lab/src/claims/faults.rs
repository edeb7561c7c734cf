//! Claims about all algorithms: what a lost message or a crash does to them, and that the fence increases.

use doorway_core::{NodeId, Refusal, Ticks};
use doorway_simulator::{Crash, Load, Probability};

use super::bench::{Bench, Seen, all_loads, exact, longer, seeds, shaken};
use super::{Claim, Evidence, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C58",
        claim: "None of the textbook algorithms survives a lost message or the crash of a node that is needed.",
        formula: "one of each stalls it",
        expected: Verdict::Holds,
        test: nobody_survives,
    },
    Claim {
        id: "C62",
        claim: "A clock that is merged on every receipt and ticks on entry strictly increases from entry to entry, with every \
                algorithm; the stamps of requests do not.",
        formula: "fence(next) > fence",
        expected: Verdict::Holds,
        test: fences_increase,
    },
];

fn nobody_survives(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let loss: Probability = "0.002".parse()?;
    let mut evidence = Evidence::default();
    for name in bench.correct().map(|about| about.name) {
        let mut lossy = longer(exact(name, 5, Load::Saturated), 200);
        lossy.settings.invariants = false;
        let mut crashing = lossy.clone();
        lossy.settings.faults.loss = loss;
        let lost = bench.any(seeds(lossy, 200), |_, outcome| {
            let is_one = outcome.measures.traffic.lost == 1;
            (is_one && outcome.stall.is_some()).then(|| format!("one lost message stalls {name}"))
        })?;
        let crashes =
            NodeId::first(5).flat_map(|node| [95, 100, 105].map(|at| Crash { node, at: Ticks(at) }));
        let crashed = bench.any(
            crashes.map(|crash| {
                crashing.settings.faults.crashes = vec![crash];
                crashing.clone()
            }),
            |_, outcome| outcome.stall.is_some().then(|| format!("a crash stalls {name}")),
        )?;
        evidence = evidence.and(lost).and(crashed);
    }
    Ok(evidence)
}

fn fences_increase(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for about in bench.correct() {
        let trials = all_loads(5).into_iter().flat_map(|load| {
            let mut trial = shaken(about.name, 5, load);
            trial.settings.channels = about.needs;
            seeds(trial, 10)
        });
        evidence = evidence.and(bench.all(trials, |_, outcome| Seen {
            holds: true,
            told: format!("strictly increasing over {} entries", outcome.measures.entries),
        })?);
    }
    let stamps = "stamps fall: (1, 8) enters before (1, 7)";
    let cached = "and a younger request enters on a cached permission before an older one";
    let evidence = evidence.and(bench.example("carvalho-roucairol-told", cached));
    Ok(evidence.and(bench.example("thirteen-nodes-resolved", stamps)))
}
