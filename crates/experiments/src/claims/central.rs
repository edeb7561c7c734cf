//! Claims about the central server, the ring and throughput.

use doorway_catalog::Trial;
use doorway_checker::Property;
use doorway_core::{Channels, Refusal};
use doorway_simulator::{Load, Outcome};

use super::bench::{Bench, Seen, T, exact, holding, longer, per_entry, short};
use super::{Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C12",
        source: source::CENTRAL,
        claim: "With a central server an entry costs 3 messages, and the synchronisation delay is 2T.",
        formula: "3 and 2T",
        expected: Verdict::HoldsIf("the client is not the server"),
        test: central_costs,
    },
    Claim {
        id: "C13",
        source: source::CENTRAL,
        claim: "A central server does not keep happened-before order.",
        formula: "an entry out of order exists",
        expected: Verdict::Holds,
        test: central_order,
    },
    Claim {
        id: "C14",
        source: source::RING,
        claim: "A ring does not keep the order of requests.",
        formula: "a bypass exists",
        expected: Verdict::Holds,
        test: ring_bypasses,
    },
    Claim {
        id: "C15",
        source: source::RING,
        claim: "A ring costs about 1 message per entry when all want in; when it is idle, a request waits N/2·T on average, and \
                the number of messages has no bound.",
        formula: "1; N/2·T; ∞",
        expected: Verdict::Holds,
        test: ring_costs,
    },
    Claim {
        id: "C16",
        source: source::THROUGHPUT,
        claim: "The throughput is 1/(synchronisation delay + E).",
        formula: "1/(delay+E)",
        expected: Verdict::HoldsIf("somebody always waits"),
        test: throughput,
    },
];

fn central_costs(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let sizes = || bench.sizes_from(3).into_iter();
    let clients =
        |n: usize| Load::Only((2..=n as u32).filter_map(doorway_core::NodeId::from_number).collect());
    let inside = bench.all(sizes().map(|n| exact("central", n, clients(n))), |trial, outcome| {
        let delay = &outcome.measures.sync_delay;
        let holds = outcome.measures.traffic.messages == 3 * trial.settings.entries
            && delay.occurrences(2 * T) == delay.count();
        let told = format!(
            "{} messages per entry, delay up to {}, 2T = {}",
            short(per_entry(outcome)),
            delay.max().unwrap_or(0),
            2 * T
        );
        Seen { holds, told }
    })?;
    let server = bench.all(sizes().map(|n| exact("central", n, Load::Active(1))), |_, outcome| Seen {
        holds: outcome.measures.traffic.messages > 0,
        told: format!("the server itself enters with {} messages", short(per_entry(outcome))),
    })?;
    Ok(Evidence::of(inside).but(server))
}

fn central_order(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let central = Instance::new("central", &[1, 1, 1], Channels::Any);
    let found = bench.breaks(&central, Property::HappenedBeforeOrder)?;
    let lock = bench.holds(&central.deciding(&[Property::MutualExclusion, Property::StarvationFreedom]))?;
    let told = bench.example("central-told", "1 entry out of order: the server serves as it hears");
    Ok(Evidence::of(found).and(told).and(lock))
}

fn ring_bypasses(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let trial = exact("token-ring", 5, Load::Light(50));
    let found = bench.any([trial], |_, outcome| {
        let most = outcome.measures.bypasses.max().unwrap_or(0);
        (most > 0).then(|| format!("a request is bypassed {most} times"))
    })?;
    Ok(Evidence::of(bench.example("token-ring-told", "1 entry out of order: the token passes by")).and(found))
}

fn ring_costs(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let n = 13;
    let busy = bench.all([longer(exact("token-ring", n, Load::Saturated), 1_000)], |_, outcome| {
        let cost = per_entry(outcome);
        Seen {
            holds: (cost - 1.0).abs() < 0.01,
            told: format!("all want in: {} messages per entry", short(cost)),
        }
    })?;
    let idle = |mean: u64| longer(exact("token-ring", n, Load::Light(mean)), 4_000);
    let wait = bench.all([without_invariants(idle(100_000))], |_, outcome| {
        // The wait is uniform from 0 to N·T, so its standard deviation is N·T/√12.
        let (expected, spread) = (n as f64 / 2.0 * T as f64, n as f64 * T as f64 / 12f64.sqrt());
        let mean = outcome.measures.waiting_time.mean().unwrap_or(0.0);
        let margin = 2.58 * spread / (outcome.measures.entries as f64).sqrt();
        let told =
            format!("idle: mean wait {} ± {} (99 %) against {}", short(mean), short(margin), short(expected));
        Seen { holds: (mean - expected).abs() <= margin, told }
    })?;
    let rare = per_entry(&bench.run(&without_invariants(idle(1_000)))?);
    let bound = bench.all([without_invariants(idle(100_000))], |_, outcome| {
        let cost = per_entry(outcome);
        let told = format!("messages per entry grow with idleness: {} and {}", short(rare), short(cost));
        Seen { holds: cost > 50.0 * rare, told }
    })?;
    Ok(Evidence::of(busy).and(wait).and(bound))
}

/// Long runs are for their averages, not for their states.
fn without_invariants(mut trial: Trial) -> Trial {
    trial.settings.invariants = false;
    trial
}

/// Entries per tick, and one divided by delay and time inside.
fn rates(trial: &Trial, outcome: &Outcome) -> Option<(f64, f64)> {
    let (entries, ticks) = outcome.measures.throughput;
    let delay = outcome.measures.sync_delay.mean()?;
    Some((entries as f64 / ticks as f64, 1.0 / (delay + trial.settings.hold.mean() as f64)))
}

fn throughput(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let judge = |trial: &Trial, outcome: &Outcome| {
        let Some((measured, expected)) = rates(trial, outcome) else {
            return Seen { holds: false, told: "nobody ever followed another".to_owned() };
        };
        let holds = (measured - expected).abs() < 1e-9;
        let sign = if holds { "=" } else { "≠" };
        Seen { holds, told: format!("{measured:.4} {sign} {expected:.4} entries per tick") }
    };
    // Under a hold longer than 2T the successor is known, so no node follows itself; at a central server one could.
    let names =
        ["lamport", "ricart-agrawala", "maekawa", "suzuki-kasami", "singhal", "naimi-trehel", "token-ring"];
    let sizes = bench.sizes().iter();
    let trials = sizes.flat_map(|&n| names.map(|name| holding(exact(name, n, Load::Saturated), 3 * T)));
    let busy = bench.all(trials, judge)?;
    let idle = bench.all([exact("ricart-agrawala", 5, Load::Light(500))], judge)?;
    Ok(Evidence::of(busy).but(idle))
}
