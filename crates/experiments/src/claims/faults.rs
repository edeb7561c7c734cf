//! A claim about all algorithms: that the fence increases.

use doorway_checker::Property;
use doorway_core::{About, Channels, Refusal};

use super::bench::Bench;
use super::{Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "C62",
    source: source::FENCES,
    claim: "A clock that is merged on every receipt and ticks on entry strictly increases from entry to entry, with every \
                algorithm; the stamps of requests do not.",
    formula: "fence(next) > fence",
    expected: Verdict::Holds,
    test: fences_increase,
}];

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
