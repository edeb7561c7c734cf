//! Claims about algorithms with a token: Suzuki and Kasami's, Raymond's, Naimi and Tréhel's.

use doorway_catalog::Trial;
use doorway_catalog::invariants::TOKEN_ONE_BEHIND;
use doorway_checker::Property;
use doorway_core::{Channels, NodeId, Refusal, Start, Ticks};
use doorway_simulator::{Crash, Load, Outcome};
use doorway_trace::What;

use super::bench::{Bench, Seen, all_loads, equals, exact, longer, only, per_entry, seeds, shaken, short};
use super::{Asked, Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C38",
        source: source::TOKENS,
        claim: "In algorithms with a token there is always exactly one.",
        formula: "tokens held + tokens in flight = 1",
        expected: Verdict::Holds,
        test: one_token,
    },
    Claim {
        id: "C39",
        source: source::SUZUKI_KASAMI,
        claim: "Suzuki and Kasami's algorithm costs N messages per entry.",
        formula: "N",
        expected: Verdict::HoldsIf("the requester does not hold the idle token"),
        test: suzuki_kasami_costs,
    },
    Claim {
        id: "C40",
        source: source::SUZUKI_KASAMI,
        claim: "In Suzuki and Kasami's algorithm only requesters and the holder of the token must not crash.",
        formula: "a bystander's crash stops nobody",
        expected: Verdict::Holds,
        test: suzuki_kasami_crashes,
    },
    Claim {
        id: "C41",
        source: source::SUZUKI_KASAMI,
        claim: "In Suzuki and Kasami's algorithm the token is at most one request behind, and the numbers that are heard never fall.",
        formula: "LN[j] ≤ RN_j[j] ≤ LN[j]+1; RN never falls",
        expected: Verdict::Holds,
        test: suzuki_kasami_numbers,
    },
    Claim {
        id: "C46",
        source: source::RAYMOND,
        claim: "Raymond's algorithm costs, on average, twice the mean distance between two different nodes of the tree when a node without the token \
                asks alone, which is O(log N) on a balanced tree, and 4(N−1)/N when all want in.",
        formula: "2 · mean distance ≤ 4·log2 N; 4(N−1)/N",
        expected: Verdict::Holds,
        test: raymond_costs,
    },
    Claim {
        id: "C47",
        source: source::RAYMOND,
        claim: "Raymond's tree can come from an election.",
        formula: "any spanning tree will do",
        expected: Verdict::Holds,
        test: elected_trees,
    },
    Claim {
        id: "C60",
        source: source::NAIMI_TREHEL,
        claim: "Naimi and Tréhel's algorithm costs H(N−1) messages per isolated request on average (counted with the token, not without \
                it as the claim has come down).",
        formula: "H(N−1) = 1 + 1/2 + … + 1/(N−1)",
        expected: Verdict::Holds,
        test: naimi_trehel_average,
    },
];

fn one_token(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for name in ["singhal", "suzuki-kasami", "raymond", "naimi-trehel", "token-ring"] {
        let instance = Instance::new(name, &[2, 2, 2], Channels::Any).deciding(&[Property::OneToken]);
        evidence = evidence.and(bench.holds(&instance)?);
    }
    Ok(evidence)
}

fn suzuki_kasami_costs(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let sizes = || bench.sizes().iter();
    let trials = sizes().flat_map(|&n| all_loads(n).map(|load| exact("suzuki-kasami", n, load)));
    let inside = bench.all(trials, |trial, outcome| {
        let at_once = outcome.measures.waiting_time.occurrences(0);
        let n = trial.settings.nodes as u64;
        let expected = (trial.settings.entries - at_once) * n;
        let holds = outcome.measures.traffic.messages == expected;
        Seen { holds, told: format!("{n} messages for each entry without the token") }
    })?;
    let alone =
        bench.all(sizes().map(|&n| exact("suzuki-kasami", n, Load::Active(1))), |_, outcome| Seen {
            holds: outcome.measures.traffic.messages > 0,
            told: "0 messages for the node that holds the token".to_owned(),
        })?;
    Ok(Evidence::of(inside).but(alone))
}

fn suzuki_kasami_crashes(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let crash = |n: usize, node: u32, at: u64| {
        let mut trial = exact("suzuki-kasami", n, Load::Active(2));
        trial.settings.invariants = false;
        trial
            .settings
            .faults
            .crashes
            .extend(NodeId::from_number(node).map(|node| Crash { node, at: Ticks(at) }));
        trial
    };
    let bystanders = bench.sizes_from(3).into_iter().flat_map(|n| {
        (3..=n as u32).flat_map(move |node| [0, 100, 105, 110, 200].map(|at| crash(n, node, at)))
    });
    let harmless = bench.all(bystanders, |trial, outcome| {
        equals("entries after the crash of a bystander", outcome.measures.entries, trial.settings.entries)
    })?;
    let mut evidence = Evidence::of(harmless);
    for node in [1, 2] {
        let moments: Vec<Trial> = (0..40).map(|moment| crash(5, node, 100 + moment)).collect();
        evidence = evidence.and(every_one_stalls(bench, &moments, &format!("requester or holder {node}"))?);
    }
    Ok(evidence)
}

/// One check: each of these crashes stops the others.
fn every_one_stalls(bench: &Bench<'_>, crashes: &[Trial], who: &str) -> Result<Check, Refusal> {
    let mut stalls = 0;
    for trial in crashes {
        stalls += usize::from(bench.run(trial)?.stall.is_some());
    }
    let measured = format!("the crash of {who} stops the other at {stalls} of {} moments", crashes.len());
    let command = crashes.first().map(|trial| trial.command(bench.program())).unwrap_or_default();
    Ok(Check { holds: stalls == crashes.len(), measured, command })
}

fn suzuki_kasami_numbers(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let instance = Instance::new("suzuki-kasami", &[2, 2, 2], Channels::Any);
    let behind = bench.keeps(&instance, TOKEN_ONE_BEHIND)?;
    let instance = instance.deciding(&[Property::Invariants]);
    Ok(Evidence::of(behind).and(bench.asks(&instance, Asked::NeverFalls, "RN never falls")?))
}

/// The messages of this many whole rounds, in each of which every node enters once.
fn rounds(bench: &Bench<'_>, tree: &str, n: usize, rounds: u64) -> Result<u64, Refusal> {
    let trial = longer(exact("raymond", n, Load::Saturated).with("tree", tree), rounds * n as u64);
    Ok(bench.run(&trial)?.measures.traffic.messages)
}

/// The first round begins and the last one ends differently; the rounds between them are what is claimed.
fn saturated(bench: &Bench<'_>, trees: &[&str], sizes: &[usize]) -> Result<Check, Refusal> {
    let mut command = String::new();
    let mut measured = String::new();
    for (tree, &n) in trees.iter().flat_map(|tree| sizes.iter().map(move |n| (tree, n))) {
        let ten_rounds = rounds(bench, tree, n, 12)? - rounds(bench, tree, n, 2)?;
        let trial = longer(exact("raymond", n, Load::Saturated).with("tree", tree), 12 * n as u64);
        command = trial.command(bench.program());
        let expected = 10 * 4 * (n as u64 - 1);
        let per_entry = short(ten_rounds as f64 / (10 * n) as f64);
        measured = format!("saturated, {tree}, N = {n}: {per_entry} = 4(N−1)/N per entry");
        if ten_rounds != expected {
            let measured = format!("{tree}, N = {n}: {ten_rounds} messages in ten rounds, not {expected}");
            return Ok(Check { holds: false, measured, command });
        }
    }
    Ok(Check { holds: true, measured, command })
}

fn raymond_costs(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let busy = saturated(bench, &["star", "chain", "binary", "random"], bench.sizes())?;
    let mut evidence = Evidence::default();
    for (tree, n) in [("binary", 31), ("binary", 15), ("binary", 7), ("star", 7), ("chain", 7)] {
        evidence = evidence.and(twice_the_distance(bench, tree, n)?);
    }
    let large = [127, 255, 511, 1023].map(|n| {
        let mut trial = longer(exact("raymond", n, Load::Isolated).with("tree", "binary"), 500);
        trial.settings.invariants = false;
        trial.settings.trace = true;
        trial
    });
    let light = bench.all(large, |trial, outcome| {
        let expected = 2 * way_of_the_token("binary", outcome);
        let messages = outcome.measures.traffic.messages;
        let most = 4.0 * (trial.settings.nodes as f64).log2();
        let told =
            format!("one at a time: {messages} = 2 · all distances, {} per entry", short(per_entry(outcome)));
        Seen { holds: messages == expected && per_entry(outcome) <= most, told }
    })?;
    Ok(evidence.and(light).and(busy))
}

/// The parent of a node of a tree, both as places from 0.
fn parent(tree: &str, node: usize) -> usize {
    match tree {
        "star" => 0,
        "chain" => node - 1,
        _ => (node - 1) / 2,
    }
}

/// How many edges lie between two nodes. Parents have smaller places, so that the larger one climbs until they meet.
fn distance(tree: &str, mut one: usize, mut other: usize) -> u64 {
    let mut edges = 0;
    while one != other {
        (one, other) = (parent(tree, one.max(other)), one.min(other));
        edges += 1;
    }
    edges
}

/// How many edges the token crosses from entry to entry, beginning at the first node.
fn way_of_the_token(tree: &str, outcome: &Outcome) -> u64 {
    let entries = outcome.log.iter().filter(|event| matches!(event.what, What::Enter { .. }));
    let mut at = 0;
    let mut edges = 0;
    for event in entries {
        edges += distance(tree, at, event.node.index());
        at = event.node.index();
    }
    edges
}

/// One check: from every node that has the token to every other one that asks, in a run of its own.
fn twice_the_distance(bench: &Bench<'_>, tree: &str, n: usize) -> Result<Check, Refusal> {
    let pairs =
        || NodeId::first(n).flat_map(|i| NodeId::first(n).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let (mut messages, mut distances, mut exact_pairs) = (0, 0, 0);
    let mut command = String::new();
    for (from, to) in pairs() {
        let mut trial = longer(exact("raymond", n, only(to)).with("tree", tree), 1);
        trial.settings.start = Start::Inside(from);
        let sent = bench.run(&trial)?.measures.traffic.messages;
        let edges = distance(tree, from.index(), to.index());
        exact_pairs += usize::from(sent == 2 * edges);
        (messages, distances) = (messages + sent, distances + edges);
        command = trial.command(bench.program());
    }
    let all = n * (n - 1);
    let mean = |sum: u64| short(sum as f64 / all as f64);
    let measured = format!(
        "{tree}, N = {n}: {} per entry, 2 · mean distance {}, exact for {exact_pairs} of {all} pairs",
        mean(messages),
        mean(2 * distances)
    );
    Ok(Check { holds: exact_pairs == all, measured, command })
}

fn elected_trees(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let elected = saturated(bench, &["elected"], bench.sizes())?;
    let mut trial = shaken("raymond", 13, Load::Light(100)).with("tree", "elected");
    trial.settings.channels = Channels::Any;
    let runs = bench.all(seeds(trial, 50), |_, outcome| Seen {
        holds: true,
        told: format!("{} messages per entry on the elected tree", short(per_entry(outcome))),
    })?;
    Ok(Evidence::of(runs).and(elected))
}

/// How many REQUESTs an entry took on average.
fn requests_per_entry(outcome: &Outcome) -> f64 {
    let requests =
        outcome.measures.traffic.kinds().find(|(kind, _)| *kind == "REQUEST").map_or(0, |(_, count)| count);
    requests as f64 / outcome.measures.entries as f64
}

fn naimi_trehel_average(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    const RUNS: u64 = 60;
    let mut evidence = Evidence::default();
    for n in [100, 50, 20, 10, 5, 2] {
        let mut trial = longer(exact("naimi-trehel", n, Load::Isolated), 4_000);
        trial.settings.invariants = false;
        trial.settings.warmup = 1_000;
        let (mut means, mut requests) = (Vec::new(), 0.0);
        for trial in seeds(trial.clone(), RUNS) {
            let outcome = bench.run(&trial)?;
            means.push(per_entry(&outcome));
            requests += requests_per_entry(&outcome) / RUNS as f64;
        }
        let (mean, margin) = confidence(&means);
        let expected: f64 = (1..n).map(|k| 1.0 / k as f64).sum();
        let measured = format!(
            "N = {n}: {} ± {} (99 %) and H = {}, without the token {}",
            short(mean),
            short(margin),
            short(expected),
            short(requests)
        );
        let holds = (mean - expected).abs() <= margin;
        let command = format!("{} --runs {RUNS}", trial.command(bench.program()));
        evidence = evidence.and(Check { holds, measured, command });
    }
    Ok(evidence)
}

/// The mean of independent runs and the margin of its 99 % confidence interval.
fn confidence(means: &[f64]) -> (f64, f64) {
    /// The quantile of Student's distribution for 59 degrees of freedom, and nearly so for more.
    const QUANTILE: f64 = 2.66;
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, QUANTILE * (variance / count).sqrt())
}
