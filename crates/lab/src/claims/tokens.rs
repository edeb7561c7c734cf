//! Claims about algorithms with a token: Suzuki and Kasami's, Singhal's, Raymond's, Naimi and Tréhel's.

use doorway_core::{Channels, NodeId, Refusal, Ticks};
use doorway_simulator::{Crash, Load, Outcome};

use super::bench::{
    Bench, Seen, T, all_loads, equals, exact, holding, longer, per_entry, seeds, shaken, short,
};
use super::{Check, Claim, Evidence, Verdict};
use crate::Trial;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C38",
        claim: "In algorithms with a token there is always exactly one.",
        formula: "tokens held + tokens in flight = 1",
        expected: Verdict::Holds,
        test: one_token,
    },
    Claim {
        id: "C39",
        claim: "Suzuki and Kasami's algorithm costs N messages per entry.",
        formula: "N",
        expected: Verdict::HoldsIf("the requester does not hold the idle token"),
        test: suzuki_kasami_costs,
    },
    Claim {
        id: "C40",
        claim: "In Suzuki and Kasami's algorithm only requesters and the holder of the token must not crash.",
        formula: "a bystander's crash stops nobody",
        expected: Verdict::Holds,
        test: suzuki_kasami_crashes,
    },
    Claim {
        id: "C42",
        claim: "Singhal's algorithm as printed is free of deadlock on fifo channels.",
        formula: "no stall",
        expected: Verdict::Refuted,
        test: singhal_as_printed,
    },
    Claim {
        id: "C43",
        claim: "Singhal's algorithm has a delay of T and needs fewer messages than Suzuki and Kasami's.",
        formula: "delay T; fewer messages",
        expected: Verdict::HoldsIf("the load is light and N is not small"),
        test: singhal_saves,
    },
    Claim {
        id: "C44",
        claim: "Singhal's algorithm with nearest-first arbitration is fair.",
        formula: "bypasses bounded",
        expected: Verdict::Refuted,
        test: nearest_starves,
    },
    Claim {
        id: "C46",
        claim: "Raymond's algorithm costs O(log N) messages on a balanced tree, and 4(N−1)/N when all want in.",
        formula: "≤ 2·diameter; 4(N−1)/N",
        expected: Verdict::Holds,
        test: raymond_costs,
    },
    Claim {
        id: "C47",
        claim: "Raymond's tree can come from an election.",
        formula: "any spanning tree will do",
        expected: Verdict::Holds,
        test: elected_trees,
    },
    Claim {
        id: "C60",
        claim: "Naimi and Tréhel's algorithm costs H(N−1) messages per isolated request on average (counted with the token, not without \
                it as the claim has come down).",
        formula: "H(N−1) = 1 + 1/2 + … + 1/(N−1)",
        expected: Verdict::Holds,
        test: naimi_trehel_average,
    },
];

fn one_token(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for name in ["token-ring", "suzuki-kasami", "singhal", "raymond", "naimi-trehel"] {
        let trials = all_loads(5).into_iter().flat_map(|load| {
            let mut trial = shaken(name, 5, load);
            trial.settings.channels = Channels::Any;
            seeds(trial, 20)
        });
        evidence =
            evidence.and(bench.all(trials, |_, _| Seen { holds: true, told: "one token".to_owned() })?);
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
    let alone = bench.all(sizes().map(|&n| exact("suzuki-kasami", n, Load::Active(1))), |_, outcome| {
        Seen { holds: outcome.measures.traffic.messages > 0, told: "0 messages for who has it".to_owned() }
    })?;
    Ok(Evidence::of(inside).but(alone))
}

fn suzuki_kasami_crashes(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let crash = |node: u32, at: u64| {
        let mut trial = exact("suzuki-kasami", 5, Load::Active(2));
        trial.settings.invariants = false;
        trial
            .settings
            .faults
            .crashes
            .extend(NodeId::from_number(node).map(|node| Crash { node, at: Ticks(at) }));
        trial
    };
    let bystanders = [3, 4, 5].map(|node| crash(node, 100));
    let harmless = bench.all(bystanders, |trial, outcome| {
        equals("entries after the crash of a bystander", outcome.measures.entries, trial.settings.entries)
    })?;
    let needed = [("the requester or holder 1", 1), ("the requester or holder 2", 2)];
    let mut evidence = Evidence::of(harmless);
    for (who, node) in needed {
        let moments = (0..40).map(|moment| crash(node, 100 + moment));
        evidence = evidence.and(bench.any(moments, |_, outcome| {
            outcome.stall.is_some().then(|| format!("the crash of {who} stops the other"))
        })?);
    }
    Ok(evidence)
}

fn singhal_as_printed(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let trials = |name: &str, channels: Channels| {
        let mut trial = longer(shaken(name, 3, Load::Light(30)), 20);
        trial.settings.channels = channels;
        seeds(trial, 300)
    };
    let served = |told: &str| Seen { holds: true, told: told.to_owned() };
    let causal = bench.all(trials("singhal/no-chase", Channels::Causal), |_, _| {
        served("on causal channels nobody waits for ever")
    })?;
    let chased = bench
        .all(trials("singhal", Channels::Any), |_, _| served("with the chase: nobody waits for ever"))?;
    let stuck = bench.example("specimens/singhal-no-chase", "a deadlock after 15 steps");
    let measured = format!("{}; {}; {}", stuck.measured, causal.measured, chased.measured);
    let is_so = stuck.holds && causal.holds && chased.holds;
    Ok(Evidence::of(Check { holds: !is_so, measured, command: stuck.command }))
}

/// The messages per entry of Singhal's algorithm and of Suzuki and Kasami's.
fn beside_broadcast(bench: &Bench<'_>, n: usize, load: &Load) -> Result<(f64, f64, Trial), Refusal> {
    let trial = |name: &str| {
        let mut trial = longer(exact(name, n, load.clone()), 2_000);
        trial.settings.invariants = false;
        trial
    };
    let mine = trial("singhal");
    Ok((per_entry(&bench.run(&mine)?), per_entry(&bench.run(&trial("suzuki-kasami"))?), mine))
}

fn singhal_saves(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let sizes = bench.sizes().iter();
    let delay =
        bench.all(sizes.map(|&n| holding(exact("singhal", n, Load::Saturated), 3 * T)), |_, outcome| {
            let delay = &outcome.measures.sync_delay;
            Seen {
                holds: delay.occurrences(T) == delay.count(),
                told: "delay T after every release".to_owned(),
            }
        })?;
    const SIZES: [usize; 11] = [2, 3, 4, 5, 6, 8, 10, 13, 16, 24, 32];
    let mut rows = Vec::new();
    for n in SIZES {
        rows.push((n, beside_broadcast(bench, n, &Load::Isolated)?));
    }
    let saves = |(mine, theirs, _): &(f64, f64, Trial)| mine < theirs;
    let from = rows.iter().rposition(|(_, row)| !saves(row)).map_or(0, |place| place + 1);
    let Some((least, (_, _, trial))) = rows.get(from) else {
        let told = "no N at which Singhal's needs fewer messages".to_owned();
        return Ok(Evidence::of(Check { holds: false, measured: told, command: String::new() }));
    };
    let told =
        rows.iter().map(|(n, (mine, theirs, _))| format!("{n}: {} and {}", short(*mine), short(*theirs)));
    let inside = Check {
        holds: from < rows.len(),
        measured: format!(
            "one at a time, fewer from N = {least} on: {}",
            told.collect::<Vec<_>>().join(", ")
        ),
        command: trial.command(bench.program()),
    };
    let chase = cost_of_chase(bench, 13)?;
    let outside = |n: usize, load: Load| -> Result<Check, Refusal> {
        let (mine, theirs, trial) = beside_broadcast(bench, n, &load)?;
        let measured = format!("{load}, N = {n}: {} and {}", short(mine), short(theirs));
        Ok(Check { holds: mine < theirs, measured, command: trial.command(bench.program()) })
    };
    let (crowded, small) = (outside(5, Load::Saturated)?, outside(2, Load::Isolated)?);
    Ok(Evidence::of(inside).and(delay).and(chase).but(crowded).but(small))
}

/// What the chase adds: without it, on causal channels, an entry costs about N/2.
fn cost_of_chase(bench: &Bench<'_>, n: usize) -> Result<Check, Refusal> {
    let mut plain = longer(exact("singhal/no-chase", n, Load::Isolated), 2_000);
    plain.settings.channels = Channels::Causal;
    plain.settings.invariants = false;
    let (with, _, _) = beside_broadcast(bench, n, &Load::Isolated)?;
    bench.all([plain], |_, outcome| {
        let (without, half) = (per_entry(outcome), n as f64 / 2.0);
        let told = format!("without the chase {} ≈ N/2, with it {}", short(without), short(with));
        Seen { holds: (without - half).abs() < 1.0 && with > without, told }
    })
}

fn nearest_starves(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let bypasses = |entries: u64| -> Result<(u64, Trial), Refusal> {
        let mut trial = longer(exact("singhal", 5, Load::Saturated), entries).with("arbitration", "nearest");
        trial.settings.invariants = false;
        Ok((bench.run(&trial)?.measures.bypasses.max().unwrap_or(0), trial))
    };
    let ((few, _), (many, trial)) = (bypasses(200)?, bypasses(2_000)?);
    let measured = format!("a request is bypassed {few} times in 200 entries and {many} times in 2000");
    let is_bounded = many < 5 * few.max(1);
    Ok(Evidence::of(Check { holds: is_bounded, measured, command: trial.command(bench.program()) }))
}

/// The messages of so many whole rounds in which everybody enters once.
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
    let large = [7, 15, 31, 63, 127, 255, 511, 1023];
    let trials = large.map(|n| {
        let mut trial = longer(exact("raymond", n, Load::Isolated).with("tree", "binary"), 500);
        trial.settings.invariants = false;
        trial
    });
    let light = bench.all(trials, |trial, outcome| {
        let levels = ((trial.settings.nodes + 1) as f64).log2();
        let most = 4.0 * (levels - 1.0);
        let told = format!("one at a time: {} ≤ 2·diameter = {most} ", short(per_entry(outcome)));
        Seen { holds: per_entry(outcome) <= most, told: told.trim_end().to_owned() }
    })?;
    Ok(Evidence::of(light).and(busy))
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
