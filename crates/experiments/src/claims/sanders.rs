//! Claims about Sanders' generic algorithm and the lecture's example of four nodes.

use std::fmt;

use doorway_catalog::Trial;
use doorway_catalog::structures::{Structure, structures};
use doorway_checker::Property;
use doorway_checker::counts::Messages as Counts;
use doorway_core::{Channels, Members, NodeId, Options, Refusal};
use doorway_simulator::{Load, Measures, Outcome};

use super::bench::{Bench, Seen, all_loads, exact, only, per_entry, seeds, shaken, short};
use super::source::{SANDERS_PAPER, hofmann};
use super::{Charged, Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;
use crate::structures::{
    Delays, MessageBounds, correct_delay, delays, differing, handover, measured_delays, printed_delay,
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C32",
        source: source::SANDERS,
        claim: "Sanders' theorem: a structure in which every two nodes share one to inform, or ask each other, excludes.",
        formula: "I_i ∩ I_j ≠ ∅, or i ∈ R_j and j ∈ R_i",
        expected: Verdict::HoldsIf("the own arbiter is part of the step and clocks are merged"),
        test: theorem,
    },
    Claim {
        id: "C33",
        source: source::SANDERS,
        claim: "The generic algorithm can deadlock without Maekawa's remedy.",
        formula: "a deadlock exists without it, none with it",
        expected: Verdict::Holds,
        test: without_remedy,
    },
    Claim {
        id: "C34",
        source: source::SANDERS,
        claim: "Sanders' algorithm costs from |I−{i}|+2|R−{i}| messages per entry to that plus the sum of r_j over R, and the \
                lower bound is attained.",
        formula: "|I−{i}|+2|R−{i}| … + Σ r_j",
        expected: Verdict::Holds,
        test: bounds_of_all_structures,
    },
    Claim {
        id: "C35",
        source: source::SANDERS,
        claim: "The generic algorithm costs 3(N−1) to 3(N−1)+4N messages on Lamport's structure and 2(N−1) to 2(N−1)+N on \
                Ricart and Agrawala's; it is not their own algorithm.",
        formula: "3(N−1) … +4N; 2(N−1) … +N",
        expected: Verdict::Holds,
        test: structures_of_others,
    },
    Claim {
        id: "C36",
        source: source::FOUR_NODES,
        claim: "In the example of four nodes an entry costs 2 to 10 messages for nodes 1 and 2, and 6 to 15 for 3 and 4.",
        formula: "2 … 10; 6 … 15 (without the FAILED to oneself 2 … 6; 6 … 14)",
        expected: Verdict::HoldsIf("what an INQUIRE brings about is charged to the request that caused it"),
        test: bounds_of_four_nodes,
    },
    Claim {
        id: "C37",
        source: &[hofmann("4.2-57")],
        claim: "In the example of four nodes the delay from node i to node j, in T, is 2 if I_i ∩ I_j ≠ ∅, 0 if i = j, else 1: \
                0 1 2 2 / 1 0 2 2 / 2 2 0 2 / 2 2 2 0.",
        formula: "D_ij = 2 if I_i ∩ I_j ≠ ∅, 0 if i = j, else 1; correct is, for i ≠ j: 2 if some k ∉ {i,j} is in I_i ∩ R_j, else 1",
        expected: Verdict::Refuted,
        test: delays_of_four_nodes,
    },
    Claim {
        id: "S4.1",
        source: &[hofmann("theorem 4.1"), SANDERS_PAPER],
        claim: "Theorem 4.1 (Sanders): if i ∈ I_i ⊆ R_i for every node i, and every two nodes i and j have I_i ∩ I_j ≠ ∅ or ask each \
                other, at most one node is inside.",
        formula: "i ∈ I_i ⊆ R_i; I_i ∩ I_j ≠ ∅, or i ∈ R_j and j ∈ R_i",
        expected: Verdict::HoldsIf("the own arbiter is part of the step and clocks are merged"),
        test: printed_theorem,
    },
];

fn generic(structure: &str, nodes: usize, load: Load) -> Trial {
    exact("sanders", nodes, load).with("structure", structure)
}

/// A structure by its name, with its quorums after a blank.
fn built(structure: &str, nodes: usize) -> Result<Structure, Refusal> {
    let (structure, quorum) = structure.split_once(' ').unwrap_or((structure, ""));
    let options = Options::none().with("structure", structure);
    let options = if quorum.is_empty() { options } else { options.with("quorum", quorum) };
    structures(&options)?(&Members::new(nodes)?)
}

/// What the entries of a run cost at least and at most.
fn sum_of_bounds(structure: &Structure, measures: &Measures) -> (u64, u64) {
    let entries =
        measures.entries_by_node.iter().map(|&count| if count == Measures::NEVER_ASKED { 0 } else { count });
    let each = NodeId::first(measures.entries_by_node.len()).zip(entries);
    each.fold((0, 0), |(least, most), (node, count)| {
        let bounds = MessageBounds::of(structure, node);
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

/// The theorem on the printed code, which has no remedy against deadlock; and each of its conditions is needed.
fn printed_theorem(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let structures: [(&str, &[u32]); 5] = [
        ("lamport", &[1, 1, 1]),
        ("ricart-agrawala", &[2, 1, 1]),
        ("maekawa cyclic", &[2, 2, 2]),
        ("central", &[2, 2, 2]),
        ("four-node", &[1, 1, 1, 1]),
    ];
    let mut evidence = Evidence::default();
    for (structure, requests) in structures {
        let instance = instance("sanders/no-remedy", structure, requests, Channels::Any);
        evidence = evidence.and(bench.holds(&instance.deciding(&[Property::MutualExclusion]))?);
    }
    for structure in ["one-sided", "unasked"] {
        let instance = instance("sanders/unchecked-structure", structure, &[1, 1], Channels::Fifo);
        evidence = evidence.and(bench.breaks(&instance, Property::MutualExclusion)?);
    }
    without_what_the_theorem_rests_on(bench, evidence)
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
    without_what_the_theorem_rests_on(bench, evidence)
}

/// Outside the condition: the own request travels through the network, or clocks are not merged.
fn without_what_the_theorem_rests_on(bench: &Bench<'_>, mut evidence: Evidence) -> Result<Evidence, Refusal> {
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

/// More structures of which every run is explored in which each node asks once.
const EXPLORED: [&str; 4] = ["ricart-agrawala", "central", "maekawa cyclic", "lamport"];

fn bounds_of_all_structures(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::of(extremes(bench, "four-node", 4)?);
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
    for name in EXPLORED {
        evidence = evidence.and(extremes(bench, name, 3)?);
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
    let mut evidence = Evidence::of(extremes(bench, "four-node", 4)?).but(named(bench)?);
    for (node, (least, of_lecture, tight)) in NodeId::first(4).zip(expected) {
        let bounds = MessageBounds::of(&structure, node);
        let alone = bench.all([generic("four-node", 4, only(node))], |_, outcome| {
            let cost = per_entry(outcome);
            let holds = bounds == MessageBounds { least, of_lecture, tight } && cost == least as f64;
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

/// One check by every run in which each node asks once: the fewest messages about a node's request are its lower bound, the most
/// are within its upper bound, and so are those of all nodes together.
fn extremes(bench: &Bench<'_>, name: &str, n: usize) -> Result<Check, Refusal> {
    let structure = built(name, n)?;
    let instance = instance("sanders", name, &vec![1; n], Channels::Any);
    let mut told = Vec::new();
    let mut holds = true;
    let mut together = MessageBounds { least: 0, of_lecture: 0, tight: 0 };
    for node in NodeId::first(n) {
        let bounds = MessageBounds::of(&structure, node);
        let found = Extremes::of(bench, &instance, Charged::CausedBy(node))?;
        holds &= found.are_within(bounds);
        told.push(format!("{found} for node {node} (bounds {} and {})", bounds.least, bounds.of_lecture));
        together = together.plus(bounds);
    }
    let found = Extremes::of(bench, &instance, Charged::All)?;
    let (least, most) = (together.least, together.of_lecture);
    told.push(format!("{found} for all together (bounds {least} and {most})"));
    let told = format!("in every run {} messages", told.join(", "));
    Ok(bench.told(&instance, holds && found.are_within(together), &told))
}

/// The messages that name the request of node 4, whatever causes them: the bound does not hold for these.
fn named(bench: &Bench<'_>) -> Result<Check, Refusal> {
    let node = NodeId::new(3);
    let instance = instance("sanders", "four-node", &[1; 4], Channels::Any);
    let bounds = MessageBounds::of(&built("four-node", 4)?, node);
    let found = Extremes::of(bench, &instance, Charged::Naming(node))?;
    let told = format!(
        "{found} messages name the request of node {node} (bounds {} and {})",
        bounds.least, bounds.of_lecture
    );
    let check = bench.told(&instance, found.are_within(bounds), &told);
    Ok(Check { command: format!("{} claims --only C36", bench.program()), ..check })
}

/// The fewest and the most messages over every run; `None` if no run ends.
struct Extremes(Option<Counts>);

impl Extremes {
    fn of(bench: &Bench<'_>, instance: &Instance, charged: Charged) -> Result<Self, Refusal> {
        Ok(Self(bench.extremes(instance, charged)?))
    }

    /// The lower bound is attained, and the upper one is not exceeded.
    fn are_within(&self, bounds: MessageBounds) -> bool {
        let Some(Counts { min, max: Some(max) }) = self.0 else { return false };
        min == bounds.least && max <= bounds.of_lecture
    }
}

impl fmt::Display for Extremes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Counts { min, max: Some(max) }) => write!(f, "{min} to {max}"),
            Some(Counts { min, max: None }) => write!(f, "{min} and more"),
            None => f.write_str("no number of"),
        }
    }
}

/// The printed table of the example of four nodes: the delay from node i to node j in T.
const PRINTED_DELAYS: [[u64; 4]; 4] = [[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 2], [2, 2, 2, 0]];

fn delays_of_four_nodes(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    /// D13, D14, D23 and D24: the waiting node asks nobody but itself and nodes that the leaving one does not inform.
    const WRONG: [(usize, usize); 4] = [(0, 2), (0, 3), (1, 2), (1, 3)];
    let structure = built("four-node", 4)?;
    let trial = generic("four-node", 4, Load::Saturated);
    let measured = measured_delays(&trial, |trial| bench.run(trial))?;
    let printed: Delays = PRINTED_DELAYS.map(Vec::from).into();
    let rule_is_table = delays(4, |i, j| printed_delay(&structure, i, j)) == printed;
    let is_correct = delays(4, |i, j| correct_delay(&structure, i, j)) == measured;
    let wrong = differing(&measured, &printed);
    let refuted =
        rule_is_table && is_correct && wrong == WRONG.map(|(i, j)| (NodeId::new(i), NodeId::new(j)));
    let names: Vec<String> = wrong
        .iter()
        .map(|&(i, j)| {
            let (i, j) = (i.index(), j.index());
            format!("D{}{} = {}, not {}", i + 1, j + 1, measured[i][j], PRINTED_DELAYS[i][j])
        })
        .collect();
    let (rule, fit) =
        (if rule_is_table { "the same" } else { "NOT the same" }, if is_correct { "" } else { "NOT " });
    let told = format!(
        "printed {}, by the printed rule {rule}; measured {}, {fit}as the correct rule says; {}",
        on_a_line(&printed),
        on_a_line(&measured),
        names.join(", ")
    );
    let (from, to) = wrong.first().copied().unwrap_or((NodeId::new(0), NodeId::new(2)));
    let command = handover(&trial, from, to).command(bench.program());
    Ok(Evidence::of(Check { holds: !refuted, measured: told, command }))
}

fn on_a_line(delays: &Delays) -> String {
    let rows = delays.iter().map(|row| row.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    rows.collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use doorway_catalog::Catalog;

    use super::*;

    /// The entries of a structure of four nodes in which the printed rule, and then the correct one, is not what runs show.
    fn wrong(name: &str) -> (usize, usize) {
        let catalog = Catalog::textbook();
        let trial = generic(name, 4, Load::Saturated);
        let measured = measured_delays(&trial, |trial| trial.run(&catalog)).expect("it runs");
        let structure = built(name, 4).expect("there is such a structure");
        let by = |rule: fn(&Structure, NodeId, NodeId) -> u64| delays(4, |i, j| rule(&structure, i, j));
        (differing(&measured, &by(printed_delay)).len(), differing(&measured, &by(correct_delay)).len())
    }

    #[test]
    fn the_printed_rule_on_delays_is_wrong_for_four_entries_of_the_example_alone() {
        assert_eq!(wrong("four-node"), (4, 0));
        assert_eq!([wrong("lamport"), wrong("ricart-agrawala")], [(0, 0); 2]);
    }
}
