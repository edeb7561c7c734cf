//! Claims about all algorithms: what a lost message or a crash does to them, and that the fence increases.

use doorway_checker::Property;
use doorway_core::{About, Channels, NodeId, Refusal, Ticks};
use doorway_simulator::{Crash, Load, Probability};

use super::bench::{Bench, exact, longer, seeds};
use super::{Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C58",
        source: source::FAULTS,
        claim: "None of the textbook algorithms survives a lost message or the crash of a node that is needed.",
        formula: "one of each stalls it",
        expected: Verdict::Holds,
        test: nobody_survives,
    },
    Claim {
        id: "C62",
        source: source::FENCES,
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
        evidence = evidence.and(lost);
        // The replicated coordinator is there to go on after a crash.
        if name != "replicated" {
            evidence = evidence.and(crashed);
        }
    }
    Ok(evidence)
}

/// Where fences are compared from entry to entry: the instance of each algorithm, else three nodes that ask once.
fn fence_instance(about: &About) -> Instance {
    let (requests, option): (&[u32], Option<(&str, &str)>) = match about.name {
        "lamport" => (&[2, 2], None),
        "carvalho-roucairol" => (&[2, 1, 1], None),
        "singhal" => (&[2, 1, 1], None),
        "suzuki-kasami" => (&[2, 2, 1], None),
        "central" | "token-ring" | "raymond" | "naimi-trehel" => (&[2, 2, 2], None),
        "maekawa" => (&[2, 1, 1], Some(("quorum", "cyclic"))),
        "cao-singhal" => (&[1, 1, 1], Some(("quorum", "cyclic"))),
        "sanders" => (&[1, 1, 1, 0], Some(("structure", "four-node"))),
        _ => (&[1, 1, 1], None),
    };
    let instance = Instance::new(about.name, requests, about.needs);
    let instance = option.into_iter().fold(instance, |instance, (name, word)| instance.with(name, word));
    instance.deciding(&[Property::Fence])
}

fn fences_increase(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut checks = Vec::new();
    for about in bench.correct() {
        checks.push(bench.holds(&fence_instance(about))?);
    }
    let two = Instance::new("ricart-agrawala", &[3, 3], Channels::Any);
    checks.push(bench.holds(&two.deciding(&[Property::Fence]))?);
    let stamps = "stamps fall: (1, 8) enters before (1, 7)";
    let cached = "and a younger request enters on a cached permission before an older one";
    Ok(Evidence::of(fences(&checks))
        .and(bench.example("thirteen-nodes-resolved", stamps))
        .and(bench.example("carvalho-roucairol-told", cached)))
}

/// The checks of all algorithms as one: the first that failed, or how many there were.
fn fences(checks: &[Check]) -> Check {
    if let Some(failed) = checks.iter().find(|check| !check.holds) {
        return failed.clone();
    }
    let told: Vec<&str> = checks.iter().map(|check| check.measured.as_str()).collect();
    let measured = told.join("; ").replace("fence holds in every run, ", "");
    let command = checks.first().map(|check| check.command.clone()).unwrap_or_default();
    Check {
        holds: !checks.is_empty(),
        measured: format!("every fence is larger than the last: {measured}"),
        command,
    }
}
