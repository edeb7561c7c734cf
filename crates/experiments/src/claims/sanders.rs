//! Claims about Sanders' generic algorithm and the lecture's example of four nodes.

use doorway_catalog::Trial;
use doorway_catalog::structures::{Structure, structures};
use doorway_checker::Property;
use doorway_core::{Channels, Members, NodeId, NodeSet, Options, Refusal, Start};
use doorway_simulator::{Load, Measures, Outcome};

use super::bench::{
    Bench, Seen, T, all_loads, exact, holding, longer, only, per_entry, seeds, shaken, short,
};
use super::{Check, Claim, Evidence, Verdict};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C32",
        claim: "Sanders' theorem: a structure in which every two nodes share one to inform, or ask each other, excludes.",
        formula: "I_i ∩ I_j ≠ ∅, or i ∈ R_j and j ∈ R_i",
        expected: Verdict::HoldsIf("the own arbiter is part of the step and clocks are merged"),
        test: theorem,
    },
    Claim {
        id: "C33",
        claim: "The generic algorithm can deadlock without Maekawa's remedy.",
        formula: "a deadlock exists without it, none with it",
        expected: Verdict::Holds,
        test: without_remedy,
    },
    Claim {
        id: "C34",
        claim: "Sanders' algorithm costs from |I−{i}|+2|R−{i}| messages per entry to that plus the sum of r_j over R, and the \
                lower bound is attained.",
        formula: "|I−{i}|+2|R−{i}| … + Σ r_j",
        expected: Verdict::Holds,
        test: bounds_of_all_structures,
    },
    Claim {
        id: "C35",
        claim: "The generic algorithm costs 3(N−1) to 3(N−1)+4N messages on Lamport's structure and 2(N−1) to 2(N−1)+N on \
                Ricart and Agrawala's; it is not their own algorithm.",
        formula: "3(N−1) … +4N; 2(N−1) … +N",
        expected: Verdict::Holds,
        test: structures_of_others,
    },
    Claim {
        id: "C36",
        claim: "In the example of four nodes an entry costs 2 to 10 messages for nodes 1 and 2, and 6 to 15 for 3 and 4.",
        formula: "2 … 10; 6 … 15 (without the FAILED to oneself 2 … 6; 6 … 14)",
        expected: Verdict::Holds,
        test: bounds_of_four_nodes,
    },
    Claim {
        id: "C37",
        claim: "In the example of four nodes the delay from one node to another is that of the way back. (The lecture's own table, \
                of which four entries are wrong, is not at hand.)",
        formula: "D_ij = D_ji; right is: 2T if some k ∉ {i,j} is in I_i ∩ R_j, else T",
        expected: Verdict::Refuted,
        test: delays_of_four_nodes,
    },
];

fn generic(structure: &str, nodes: usize, load: Load) -> Trial {
    exact("sanders", nodes, load).with("structure", structure)
}

fn built(structure: &str, nodes: usize) -> Result<Structure, Refusal> {
    structures(&Options::none().with("structure", structure))?(&Members::new(nodes)?)
}

/// What an entry of a node costs at least, and at most as the lecture counts and without the FAILED to oneself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    least: u64,
    of_lecture: u64,
    tight: u64,
}

impl Bounds {
    fn of(structure: &Structure, i: NodeId) -> Self {
        let (asks, others) = (&structure.asks[i], structure.asks[i].clone().without(i));
        let least = (structure.informs[i].clone().without(i).len() + 2 * others.len()) as u64;
        let extra = |nodes: &NodeSet| nodes.iter().map(|j| conflict_cost(structure, i, j)).sum::<u64>();
        Self { least, of_lecture: least + extra(asks), tight: least + extra(&others) }
    }
}

/// r_j: what a conflict at node j can cost. If it reserves its permission for no other node, just a FAILED.
fn conflict_cost(structure: &Structure, i: NodeId, j: NodeId) -> u64 {
    let reserves_for = structure.informs.iter().filter(|(_, informed)| informed.contains(j)).map(|(k, _)| k);
    if reserves_for.into_iter().all(|k| k == i || k == j) { 1 } else { 4 }
}

/// What the entries of a run cost at least and at most.
fn sum_of_bounds(structure: &Structure, measures: &Measures) -> (u64, u64) {
    let entries =
        measures.entries_by_node.iter().map(|&count| if count == Measures::NEVER_ASKED { 0 } else { count });
    let each = NodeId::first(measures.entries_by_node.len()).zip(entries);
    each.fold((0, 0), |(least, most), (node, count)| {
        let bounds = Bounds::of(structure, node);
        (least + u64::from(count) * bounds.least, most + u64::from(count) * bounds.tight)
    })
}

fn within(structure: &Structure, outcome: &Outcome) -> Seen {
    let (least, most) = sum_of_bounds(structure, &outcome.measures);
    let messages = outcome.measures.traffic.messages;
    let told = format!("in conflict {messages} messages of all nodes together, bounds {least} and {most}");
    Seen { holds: (least..=most).contains(&messages), told }
}

/// An instance of the generic algorithm, or of a variant, on a structure.
fn instance(variant: &str, structure: &str, requests: &[u32], channels: Channels) -> Instance {
    let (structure, quorum) = structure.split_once(' ').unwrap_or((structure, ""));
    let instance = Instance::new(variant, requests, channels).with("structure", structure);
    let instance = if quorum.is_empty() { instance } else { instance.with("quorum", quorum) };
    instance.deciding(&[Property::MutualExclusion, Property::DeadlockFreedom])
}

fn theorem(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let structures: [(&str, &[u32]); 5] = [
        ("lamport", &[1, 1, 1]),
        ("ricart-agrawala", &[1, 1, 1]),
        ("maekawa cyclic", &[2, 2, 2]),
        ("central", &[2, 2, 2]),
        ("four-node", &[1, 1, 1, 1]),
    ];
    let mut evidence = Evidence::default();
    for (structure, requests) in structures {
        evidence = evidence.and(bench.holds(&instance("sanders", structure, requests, Channels::Any))?);
    }
    let outside: [(&str, &[u32]); 2] =
        [("sanders/own-request-travels", &[1, 1]), ("sanders/clocks-not-merged", &[2, 1, 1])];
    for (variant, requests) in outside {
        let instance = instance(variant, "ricart-agrawala", requests, Channels::Fifo);
        evidence = evidence.but(bench.breaks(&instance, Property::MutualExclusion)?.reversed());
    }
    Ok(evidence)
}

fn without_remedy(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let two = |variant| instance(variant, "ricart-agrawala", &[1, 1], Channels::Any);
    let stuck = bench.breaks(&two("sanders/no-remedy"), Property::DeadlockFreedom)?;
    let safe = bench.holds(&two("sanders/no-remedy").deciding(&[Property::MutualExclusion]))?;
    Ok(Evidence::of(stuck).and(safe).and(bench.holds(&two("sanders"))?))
}

const STRUCTURES: [(&str, usize); 6] = [
    ("lamport", 5),
    ("ricart-agrawala", 5),
    ("maekawa", 7),
    ("central", 5),
    ("four-node", 4),
    ("maekawa", 13),
];

fn bounds_of_all_structures(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for (name, n) in STRUCTURES {
        let structure = built(name, n)?;
        let alone = NodeId::first(n).map(|node| generic(name, n, only(node)));
        let attained = bench.all(alone, |trial, outcome| {
            let expected: u64 = sum_of_bounds(&structure, &outcome.measures).0;
            let holds = outcome.measures.traffic.messages == expected;
            let told = format!("{name}: {} per entry, the lower bound", short(per_entry(outcome)));
            Seen { holds: holds && trial.settings.entries == outcome.measures.entries, told }
        })?;
        let trials = all_loads(n).into_iter().flat_map(|load| {
            let mut trial = shaken("sanders", n, load).with("structure", name);
            trial.settings.channels = Channels::Any;
            seeds(trial, 25)
        });
        evidence = evidence.and(attained).and(bench.all(trials, |_, outcome| within(&structure, outcome))?);
    }
    Ok(evidence)
}

fn structures_of_others(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for (name, factor, per_node) in [("lamport", 3, 4), ("ricart-agrawala", 2, 1)] {
        let sizes = bench.sizes().iter();
        let trials = sizes.flat_map(|&n| all_loads(n).map(|load| generic(name, n, load)));
        evidence = evidence.and(bench.all(trials, |trial, outcome| {
            let n = trial.settings.nodes as f64;
            let least = f64::from(factor) * (n - 1.0);
            let most = least + f64::from(per_node) * n;
            let cost = per_entry(outcome);
            let told = format!("{name}'s structure: {} from {least} to {most}", short(cost));
            Seen { holds: (least..=most).contains(&cost), told }
        })?);
        evidence = evidence.and(beside_its_own(bench, name)?);
    }
    Ok(evidence)
}

/// The generic algorithm on a structure beside the algorithm that the structure is named after.
fn beside_its_own(bench: &Bench<'_>, name: &str) -> Result<Check, Refusal> {
    let own = bench.run(&exact(name, 5, Load::Saturated))?;
    bench.all([generic(name, 5, Load::Saturated)], |_, outcome| {
        let delay = |outcome: &Outcome| outcome.measures.sync_delay.mean().unwrap_or(f64::NAN);
        let told = format!(
            "saturated: {} messages and delay {}, {name} itself {} and {}",
            short(per_entry(outcome)),
            short(delay(outcome)),
            short(per_entry(&own)),
            short(delay(&own))
        );
        let is_other = per_entry(outcome) != per_entry(&own) || delay(outcome) != delay(&own);
        Seen { holds: is_other, told }
    })
}

fn bounds_of_four_nodes(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let structure = built("four-node", 4)?;
    let expected = [(2, 10, 6), (2, 10, 6), (6, 15, 14), (6, 15, 14)];
    let mut evidence = Evidence::default();
    for (node, (least, of_lecture, tight)) in NodeId::first(4).zip(expected) {
        let bounds = Bounds::of(&structure, node);
        let alone = bench.all([generic("four-node", 4, only(node))], |_, outcome| {
            let cost = per_entry(outcome);
            let holds = bounds == Bounds { least, of_lecture, tight } && cost == least as f64;
            Seen {
                holds,
                told: format!("node {node}: {} alone; bounds {of_lecture} as the lecture counts and {tight} without the FAILED to oneself", short(cost)),
            }
        })?;
        evidence = evidence.and(alone);
    }
    let crowded = seeds(shaken("sanders", 4, Load::Saturated).with("structure", "four-node"), 200);
    Ok(evidence.and(bench.all(crowded, |_, outcome| within(&structure, outcome))?))
}

/// One node is inside and another one waits: how long it takes from the release to the entry, in units of T.
fn delay(bench: &Bench<'_>, from: NodeId, to: NodeId) -> Result<(u64, Trial), Refusal> {
    let mut trial = longer(holding(generic("four-node", 4, only(to)), 10 * T), 1);
    trial.settings.start = Start::Inside(from);
    let outcome = bench.run(&trial)?;
    Ok((outcome.measures.sync_delay.max().unwrap_or(0) / T, trial))
}

/// The rule that is right: a third node must learn of the release and pass it on.
fn right_delay(structure: &Structure, i: NodeId, j: NodeId) -> u64 {
    let passes_it_on = |k: NodeId| k != i && k != j && structure.asks[j].contains(k);
    if structure.informs[i].iter().any(passes_it_on) { 2 } else { 1 }
}

fn delays_of_four_nodes(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let structure = built("four-node", 4)?;
    let pairs =
        || NodeId::first(4).flat_map(|i| NodeId::first(4).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let mut measured = Vec::new();
    let (mut one_way, mut is_right) = (Vec::new(), true);
    let mut command = String::new();
    for (i, j) in pairs() {
        let ((there, trial), (back, _)) = (delay(bench, i, j)?, delay(bench, j, i)?);
        is_right &= there == right_delay(&structure, i, j);
        measured.push(format!("D{i}{j}={there}"));
        if there > back {
            one_way.push(format!("D{i}{j}=2 but D{j}{i}=1"));
            command = trial.command(bench.program());
        }
    }
    let rule = if is_right { "as the rule says" } else { "NOT as the rule says" };
    let told = format!("in T, {rule}: {}; {}", measured.join(" "), one_way.join(", "));
    Ok(Evidence::of(Check { holds: one_way.len() != 4 || !is_right, measured: told, command }))
}
