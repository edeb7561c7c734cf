//! Claims about Lamport's algorithm, Ricart and Agrawala's, and Carvalho and Roucairol's.

use doorway_catalog::invariants::OLDEST_INSIDE;
use doorway_checker::Property;
use doorway_core::{Channels, NodeId, Refusal, Ticks};
use doorway_simulator::{Crash, Load};

use super::bench::{Bench, E, Seen, T, all_loads, exact, holding, longer, per_entry, short};
use super::{Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C1",
        source: source::LAMPORT,
        claim: "Lamport's algorithm needs fifo channels.",
        formula: "exclusion with fifo, none without",
        expected: Verdict::Holds,
        test: lamport_needs_fifo,
    },
    Claim {
        id: "C2",
        source: source::LAMPORT,
        claim: "Lamport's algorithm costs 3(N−1) messages per entry, at every load.",
        formula: "3(N−1)",
        expected: Verdict::Holds,
        test: |bench| costs(bench, "lamport", |n| 3 * (n - 1)),
    },
    Claim {
        id: "C3",
        source: source::ANSWERING,
        claim: "Lamport, Ricart–Agrawala, Maekawa, Suzuki–Kasami: the response time is 2T+E.",
        formula: "2T+E",
        expected: Verdict::HoldsIf("nobody else wants in"),
        test: response_time,
    },
    Claim {
        id: "C4",
        source: source::ANSWERING,
        claim: "Lamport, Ricart–Agrawala, Suzuki–Kasami: the synchronisation delay is T.",
        formula: "T",
        expected: Verdict::HoldsIf("the next node already waits"),
        test: synchronisation_delay,
    },
    Claim {
        id: "C5",
        source: source::LAMPORT,
        claim: "In Lamport's algorithm the crash of any node blocks all.",
        formula: "after any crash everybody waits",
        expected: Verdict::Holds,
        test: any_crash_blocks_lamport,
    },
    Claim {
        id: "C6",
        source: source::LAMPORT,
        claim: "In Lamport's algorithm a node may enter when its own request is the oldest that it knows of and it has a younger \
                message from everybody.",
        formula: "inside ⇒ the oldest of all live requests",
        expected: Verdict::HoldsIf("channels are fifo"),
        test: lamport_may_enter,
    },
    Claim {
        id: "C7",
        source: source::RICART_AGRAWALA,
        claim: "Ricart and Agrawala's algorithm does not need fifo channels.",
        formula: "exclusion, and nobody starves, on channels of any order",
        expected: Verdict::Holds,
        test: ricart_agrawala_without_fifo,
    },
    Claim {
        id: "C8",
        source: source::RICART_AGRAWALA,
        claim: "Ricart and Agrawala's algorithm costs 2(N−1) messages per entry, at every load.",
        formula: "2(N−1)",
        expected: Verdict::Holds,
        test: |bench| costs(bench, "ricart-agrawala", |n| 2 * (n - 1)),
    },
    Claim {
        id: "C9",
        source: source::RICART_AGRAWALA,
        claim: "Ricart and Agrawala's algorithm keeps exclusion, liveness and happened-before order.",
        formula: "in no run two inside, somebody starving, or an entry out of order",
        expected: Verdict::HoldsIf("stamp, state change and sending are one step"),
        test: ricart_agrawala_in_one_step,
    },
    Claim {
        id: "C10",
        source: source::CARVALHO_ROUCAIROL,
        claim: "Carvalho and Roucairol's algorithm costs 0 to 2(N−1) messages per entry, 0 for a lone repeated user.",
        formula: "0 … 2(N−1)",
        expected: Verdict::Holds,
        test: carvalho_roucairol_costs,
    },
    Claim {
        id: "C11",
        source: source::CARVALHO_ROUCAIROL,
        claim: "Carvalho and Roucairol's is the cheapest permission algorithm when few nodes re-enter, and gives up \
                happened-before order for it.",
        formula: "fewest messages per entry with two of N active",
        expected: Verdict::Holds,
        test: carvalho_roucairol_is_cheapest,
    },
];

/// The instances of Lamport's algorithm, with and without what it needs.
fn lamport(requests: &[u32], channels: Channels) -> Instance {
    Instance::new("lamport", requests, channels)
}

fn lamport_needs_fifo(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let wanted = [Property::MutualExclusion, Property::StarvationFreedom];
    let without = bench.breaks(&lamport(&[1, 1], Channels::Any), Property::MutualExclusion)?;
    let many = bench.holds(&lamport(&[3, 3], Channels::Fifo).deciding(&wanted))?;
    let three = bench.holds(&lamport(&[1, 1, 1], Channels::Fifo).deciding(&wanted))?;
    Ok(Evidence::of(without).and(many).and(three))
}

fn lamport_may_enter(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for requests in [&[1, 1, 1][..], &[3, 3]] {
        let instance = lamport(requests, Channels::Fifo);
        let safe = bench.holds(&instance.clone().deciding(&[Property::MutualExclusion]))?;
        evidence = evidence.and(safe).and(bench.keeps(&instance, OLDEST_INSIDE)?);
    }
    let unordered = lamport(&[1, 1], Channels::Any);
    let oldest = bench.holds(&unordered.clone().deciding(&[Property::Invariants]))?;
    let excluded = bench.breaks(&unordered, Property::MutualExclusion)?.reversed();
    Ok(evidence.but(excluded).but(oldest))
}

/// Every entry costs exactly this number of messages, at every load.
fn costs(bench: &Bench<'_>, algorithm: &str, cost: fn(u64) -> u64) -> Result<Evidence, Refusal> {
    let sizes = bench.sizes().iter();
    let trials = sizes.flat_map(|&n| all_loads(n).map(|load| exact(algorithm, n, load)));
    let check = bench.all(trials, |trial, outcome| {
        let expected = cost(trial.settings.nodes as u64);
        let is_exact = outcome.measures.traffic.messages == trial.settings.entries * expected;
        let sign = if is_exact { "=" } else { "≠" };
        Seen {
            holds: is_exact,
            told: format!("{} {sign} {expected} at every load", short(per_entry(outcome))),
        }
    })?;
    Ok(Evidence::of(check))
}

const ANSWERED: [&str; 4] = ["lamport", "ricart-agrawala", "maekawa", "suzuki-kasami"];

fn response_time(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let trials = |load: Load| {
        let sizes = bench.sizes().iter();
        let trials = sizes.flat_map(move |&n| ANSWERED.map(|name| (name, n)));
        trials.map(move |(name, n)| exact(name, n, load.clone())).collect::<Vec<_>>()
    };
    let alone = bench.all(trials(Load::Isolated), |trial, outcome| {
        let response = &outcome.measures.response_time;
        // Only who has the token already need not wait for it.
        let at_once = if trial.algorithm == "suzuki-kasami" { response.occurrences(E) } else { 0 };
        let holds = response.occurrences(2 * T + E) + at_once == response.count();
        let slowest = response.max().unwrap_or(0);
        Seen { holds, told: format!("up to {slowest} ticks when nobody else wants in, 2T+E = {}", 2 * T + E) }
    })?;
    let together = bench.all(trials(Load::Saturated), |_, outcome| {
        let slowest = outcome.measures.response_time.max().unwrap_or(0);
        Seen { holds: slowest <= 2 * T + E, told: format!("up to {slowest} ticks when all want in") }
    })?;
    Ok(Evidence::of(alone).but(together))
}

const HANDED_OVER: [&str; 3] = ["lamport", "ricart-agrawala", "suzuki-kasami"];

fn synchronisation_delay(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let sizes = bench.sizes().iter();
    // Under a hold longer than 2T every request has arrived everywhere when its predecessor leaves.
    let waiting =
        sizes.flat_map(|&n| HANDED_OVER.map(|name| holding(exact(name, n, Load::Saturated), 3 * T)));
    let delay = |outcome: &doorway_simulator::Outcome| outcome.measures.sync_delay.max().unwrap_or(0);
    let known = bench.all(waiting, |_, outcome| {
        let all = &outcome.measures.sync_delay;
        let holds = all.occurrences(T) == all.count();
        Seen { holds, told: format!("up to {} ticks when the next one is known, T = {T}", delay(outcome)) }
    })?;
    let late = HANDED_OVER.map(|name| exact(name, 5, Load::Light(40)));
    let unknown = bench.all(late, |_, outcome| Seen {
        holds: delay(outcome) == T,
        told: format!("up to {} ticks when the next request is still on its way", delay(outcome)),
    })?;
    Ok(Evidence::of(known).but(unknown))
}

fn any_crash_blocks_lamport(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let n = 5;
    let mut waiting = Vec::new();
    let mut command = String::new();
    for node in NodeId::first(n) {
        let mut trial = exact("lamport", n, Load::Saturated);
        trial.settings.faults.crashes.push(Crash { node, at: Ticks(100) });
        waiting.push(bench.run(&trial)?.stall.map_or(0, |stall| stall.waiting.len()));
        command = trial.command(bench.program());
    }
    let told: Vec<String> = waiting.iter().map(usize::to_string).collect();
    let measured = format!("after the crash of each of {n} nodes {} wait for ever", told.join(", "));
    Ok(Evidence::of(Check { holds: waiting.iter().all(|waiting| *waiting == n - 1), measured, command }))
}

fn ricart_agrawala(requests: &[u32], properties: &[Property]) -> Instance {
    Instance::new("ricart-agrawala", requests, Channels::Any).deciding(properties)
}

fn ricart_agrawala_without_fifo(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let wanted = [Property::MutualExclusion, Property::StarvationFreedom, Property::Invariants];
    Ok(Evidence::of(bench.holds(&ricart_agrawala(&[2, 2, 1], &wanted))?))
}

fn ricart_agrawala_in_one_step(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let lock = [Property::MutualExclusion, Property::StarvationFreedom];
    let order = [Property::HappenedBeforeOrder];
    let evidence = Evidence::of(bench.holds(&ricart_agrawala(&[2, 2, 1], &lock))?)
        .and(bench.holds(&ricart_agrawala(&[1, 1, 1], &order))?)
        .and(bench.holds(&ricart_agrawala(&[3, 3], &order))?);
    let early = Instance::new("ricart-agrawala/stamped-early", &[1, 1], Channels::Any);
    let excluded = bench.breaks(&early, Property::MutualExclusion)?.reversed();
    let ordered = bench.breaks(&early, Property::HappenedBeforeOrder)?.reversed();
    Ok(evidence.but(excluded).but(ordered))
}

fn carvalho_roucairol_costs(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let name = "carvalho-roucairol";
    let alone =
        bench.all(bench.sizes().iter().map(|&n| exact(name, n, Load::Active(1))), |trial, outcome| {
            let first = 2 * (trial.settings.nodes as u64 - 1);
            let entries = trial.settings.entries;
            let messages = outcome.measures.traffic.messages;
            let told = format!("alone: {messages} messages for {entries} entries, all for the first");
            Seen { holds: messages == first, told }
        })?;
    let trials = bench.sizes().iter().flat_map(|&n| all_loads(n).map(|load| exact(name, n, load)));
    let bounded = bench.all(trials, |trial, outcome| {
        let most = 2 * (trial.settings.nodes as u64 - 1);
        let holds = outcome.measures.traffic.messages <= trial.settings.entries * most;
        Seen { holds, told: format!("{} ≤ {most} per entry at every load", short(per_entry(outcome))) }
    })?;
    Ok(Evidence::of(alone).and(bounded))
}

fn carvalho_roucairol_is_cheapest(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let n = 13;
    let cost = |name: &str| -> Result<(f64, String), Refusal> {
        let trial = longer(exact(name, n, Load::Active(2)), 200);
        Ok((per_entry(&bench.run(&trial)?), trial.command(bench.program())))
    };
    let (mine, command) = cost("carvalho-roucairol")?;
    let mut holds = true;
    let mut others = Vec::new();
    for name in ["lamport", "ricart-agrawala", "maekawa", "cao-singhal"] {
        let (theirs, _) = cost(name)?;
        holds &= mine < theirs;
        others.push(format!("{name} {}", short(theirs)));
    }
    let measured = format!("2 of {n} active: {} messages per entry; {}", short(mine), others.join(", "));
    let order = bench.example("carvalho-roucairol-told", "1 entry out of order with a cached permission");
    Ok(Evidence::of(Check { holds, measured, command }).and(order))
}
