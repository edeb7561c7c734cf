//! Claims about Maekawa's algorithm and Cao and Singhal's.

use doorway_catalog::Trial;
use doorway_catalog::invariants::OLDER_HEAD_INQUIRES;
use doorway_checker::Property;
use doorway_core::{Channels, NodeId, NodeSet, Refusal};
use doorway_quorums::{Construction, QuorumSystem};
use doorway_simulator::{Load, Outcome};
use doorway_trace::What;

use super::bench::{Bench, Seen, T, exact, holding, longer, per_entry, short};
use super::{Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C25",
        source: source::MAEKAWA,
        claim: "Maekawa's algorithm costs 3(K−1) messages per entry without conflict.",
        formula: "3(K−1)",
        expected: Verdict::Holds,
        test: cost_without_conflict,
    },
    Claim {
        id: "C26",
        source: source::MAEKAWA,
        claim: "Maekawa's algorithm typically costs 4(K−1) messages per entry in conflict.",
        formula: "≈ 4(K−1); two active nodes, N = 13: 3.33(K−1)",
        expected: Verdict::HoldsIf("all nodes want in, not just two"),
        test: cost_in_conflict,
    },
    Claim {
        id: "C28",
        source: source::MAEKAWA,
        claim: "Maekawa's algorithm has a synchronisation delay of at most 2T, of T where the quorums of leaver and enterer \
                have no third node in common, and costs O(√N) messages.",
        formula: "≤ 2T; 3(K−1) ≤ 3√N",
        expected: Verdict::Holds,
        test: delay_and_growth,
    },
    Claim {
        id: "C29",
        source: source::MAEKAWA,
        claim: "Maekawa's basic algorithm is safe and can deadlock.",
        formula: "never two inside; 1 → 2 → 3 → 1, and 7 → 8 → 11 → 7",
        expected: Verdict::Holds,
        test: basic_deadlocks,
    },
    Claim {
        id: "C30",
        source: source::MAEKAWA,
        claim: "Maekawa's algorithm as printed resolves every deadlock.",
        formula: "no deadlock",
        expected: Verdict::Refuted,
        test: as_printed,
    },
    Claim {
        id: "C31",
        source: source::MAEKAWA,
        claim: "The older request has precedence unless the other already has all permissions; so entries are not in the \
                order of the stamps.",
        formula: "an older request makes its arbiter inquire; 8 enters before 7",
        expected: Verdict::Holds,
        test: precedence,
    },
    Claim {
        id: "C61",
        source: source::CAO_SINGHAL,
        claim: "Cao and Singhal's algorithm has a delay of T instead of Maekawa's 2T, and costs 3(K−1) messages at light load.",
        formula: "T where the successor was announced; 3(K−1)",
        expected: Verdict::Holds,
        test: cao_singhal,
    },
];

/// Systems whose quorums are all of one size: N, kind and K.
const PLANES: [(usize, usize); 7] = [(7, 3), (13, 4), (21, 5), (31, 6), (57, 8), (73, 9), (91, 10)];

fn on_plane(algorithm: &str, n: usize, load: Load) -> Trial {
    exact(algorithm, n, load).with("quorum", "plane")
}

fn cost_without_conflict(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let others = [(9, "grid", 5), (5, "all", 5), (6, "cyclic", 3), (31, "cyclic", 6)];
    let planes = PLANES.map(|(n, k)| (n, "plane", k));
    let mut evidence = Evidence::default();
    for (n, quorum, k) in planes.into_iter().chain(others) {
        let trial = exact("maekawa", n, Load::Isolated).with("quorum", quorum);
        evidence = evidence.and(bench.all([trial], |trial, outcome| {
            let holds = outcome.measures.traffic.messages == trial.settings.entries * 3 * (k as u64 - 1);
            let sign = if holds { "=" } else { "≠" };
            Seen { holds, told: format!("{quorum}: {} {sign} 3·{}", short(per_entry(outcome)), k - 1) }
        })?);
    }
    Ok(evidence)
}

fn cost_in_conflict(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for (n, k) in [(7, 3), (13, 4), (21, 5), (31, 6)] {
        let trial = longer(on_plane("maekawa", n, Load::Saturated), 500);
        evidence = evidence.and(bench.all([trial], |_, outcome| {
            let factor = per_entry(outcome) / (k - 1) as f64;
            Seen { holds: (factor - 4.0).abs() < 0.1, told: format!("{}·(K−1)", short(factor)) }
        })?);
    }
    Ok(evidence.but(two_in_conflict(bench)?))
}

/// Two active nodes of 13: the one node that both ask refuses the younger request with a FAILED, and nothing else is added.
fn two_in_conflict(bench: &Bench<'_>) -> Result<Check, Refusal> {
    let k = 4;
    let trial = longer(on_plane("maekawa", 13, Load::Active(2)), 500);
    let check = bench.all([trial], |_, outcome| {
        // The first entry meets nobody.
        let expected = outcome.measures.entries * (3 * (k - 1) + 1) - 1;
        let factor = short(per_entry(outcome) / (k - 1) as f64);
        let told = format!("two active nodes: {factor}·(K−1), one FAILED more than without conflict");
        Seen { holds: outcome.measures.traffic.messages == expected, told }
    })?;
    Ok(check.reversed())
}

fn delay_and_growth(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for n in [7, 13, 21] {
        // Everybody waits, and the hold is long enough for all that is to be settled before the next release.
        let mut trial = longer(holding(on_plane("maekawa", n, Load::Saturated), 100 * T), 300);
        trial.settings.trace = true;
        let system = QuorumSystem::build(&Construction::Plane, n)?;
        evidence = evidence.and(bench.all([trial], |_, outcome| delays_by_common_nodes(outcome, &system))?);
    }
    let growth =
        bench.all(PLANES.map(|(n, _)| on_plane("maekawa", n, Load::Isolated)), |trial, outcome| {
            let root = (trial.settings.nodes as f64).sqrt();
            let told = format!("{} messages ≤ 3√N = {}", short(per_entry(outcome)), short(3.0 * root));
            Seen { holds: per_entry(outcome) <= 3.0 * root, told }
        })?;
    Ok(evidence.and(growth))
}

/// Every change of hands takes T if no third node is in both quorums, and 2T otherwise.
fn delays_by_common_nodes(outcome: &Outcome, system: &QuorumSystem) -> Seen {
    let handovers = handovers(outcome);
    let expected = |from: NodeId, to: NodeId| {
        let (its, theirs) = (system.quorum_of(from), system.quorum_of(to));
        let common: NodeSet = its.iter().filter(|node| theirs.contains(*node)).collect();
        if common.without(from).without(to).is_empty() { T } else { 2 * T }
    };
    let wrong = handovers.iter().find(|(from, to, delay)| *delay != expected(*from, *to));
    let short_ones = handovers.iter().filter(|(_, _, delay)| *delay == T).count();
    match wrong {
        Some((from, to, delay)) => Seen { holds: false, told: format!("{delay} ticks from {from} to {to}") },
        None => {
            Seen { holds: true, told: format!("{short_ones} of {} delays T, the others 2T", handovers.len()) }
        }
    }
}

/// Who left, who entered next, and how long it took.
fn handovers(outcome: &Outcome) -> Vec<(NodeId, NodeId, u64)> {
    let mut left = None;
    let mut handovers = Vec::new();
    for event in outcome.log.iter() {
        match event.what {
            What::Release => left = Some((event.node, event.time)),
            What::Enter { .. } => {
                handovers.extend(left.take().map(|(from, at)| (from, event.node, (event.time - at).0)));
            }
            _ => {}
        }
    }
    handovers
}

/// An instance of Maekawa's algorithm, or of a variant.
fn maekawa(variant: &str, quorum: &str, requests: &[u32], channels: Channels) -> Instance {
    Instance::new(variant, requests, channels).with("quorum", quorum)
}

fn basic_deadlocks(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let basic = maekawa("maekawa/basic", "cyclic", &[2, 2, 2], Channels::Any);
    let stuck = bench.breaks(&basic, Property::DeadlockFreedom)?;
    let safe = bench.holds(&basic.deciding(&[Property::MutualExclusion]))?;
    let scenario = bench.example("thirteen-nodes-deadlock", "of 13 nodes 7, 8 and 11 wait for each other");
    Ok(Evidence::of(stuck).and(safe).and(scenario))
}

/// What is wrong with the algorithm as printed in one place or another, and the smallest instance that shows it.
struct Fault {
    number: &'static str,
    variant: &'static str,
    quorum: &'static str,
    requests: &'static [u32],
    channels: Channels,
    breaks: Property,
}

const PRINTED: [Fault; 5] = [
    Fault {
        number: "E3",
        variant: "maekawa/no-failed-when-overtaken",
        quorum: "grid",
        requests: &[0, 1, 1, 1],
        channels: Channels::Fifo,
        breaks: Property::DeadlockFreedom,
    },
    Fault {
        number: "E4",
        variant: "maekawa/failed-remembered",
        quorum: "cyclic",
        requests: &[2, 2, 0],
        channels: Channels::Fifo,
        breaks: Property::MutualExclusion,
    },
    Fault {
        number: "E5",
        variant: "maekawa/inquire-before-locked",
        quorum: "grid",
        requests: &[1, 1, 1],
        channels: Channels::Any,
        breaks: Property::MutualExclusion,
    },
    Fault {
        number: "E7",
        variant: "maekawa/never-free",
        quorum: "cyclic",
        requests: &[1, 1, 1],
        channels: Channels::Fifo,
        breaks: Property::DeadlockFreedom,
    },
    Fault {
        number: "E8",
        variant: "maekawa/one-inquire-answered",
        quorum: "all",
        requests: &[1, 1, 0],
        channels: Channels::Fifo,
        breaks: Property::DeadlockFreedom,
    },
];

/// Each variant fails where the algorithm as it should be does not.
fn as_printed(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let (mut told, mut command) = (Vec::new(), None);
    let mut is_so = true;
    for fault in &PRINTED {
        let instance = |variant| maekawa(variant, fault.quorum, fault.requests, fault.channels);
        let found = bench.breaks(&instance(fault.variant), fault.breaks)?;
        let wanted = [Property::MutualExclusion, Property::DeadlockFreedom];
        is_so &= found.holds && bench.holds(&instance("maekawa").deciding(&wanted))?.holds;
        told.push(format!("{}: {}", fault.number, found.measured));
        command.get_or_insert(found.command);
    }
    told.push("as it should be, maekawa holds on all of these".to_owned());
    let command = command.unwrap_or_default();
    Ok(Evidence::of(Check { holds: !is_so, measured: told.join("; "), command }))
}

fn precedence(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let run = "8 enters, then 7, then 11, with stamps (1, 8), (1, 7), (1, 11)";
    let mut evidence = Evidence::of(bench.example("thirteen-nodes-resolved", run));
    for (quorum, requests) in [("all", [1, 1, 1]), ("cyclic", [2, 2, 2])] {
        let instance = maekawa("maekawa", quorum, &requests, Channels::Any);
        evidence = evidence.and(bench.keeps(&instance, OLDER_HEAD_INQUIRES)?);
    }
    Ok(evidence)
}

fn cao_singhal(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for (n, k) in [(7, 3), (13, 4), (21, 5)] {
        evidence = evidence.and(bench.all([on_plane("cao-singhal", n, Load::Isolated)], |_, outcome| {
            let holds = per_entry(outcome) == 3.0 * (k - 1) as f64;
            Seen {
                holds, told: format!("{} messages, 3(K−1) = {}", short(per_entry(outcome)), 3 * (k - 1))
            }
        })?);
    }
    for n in [7, 13, 21] {
        let mean = |outcome: &Outcome| outcome.measures.sync_delay.mean().unwrap_or(f64::NAN);
        let trial = |name, hold| longer(holding(on_plane(name, n, Load::Saturated), hold), 500);
        let announced = bench.all([trial("cao-singhal", 100 * T)], |_, outcome| {
            let delay = &outcome.measures.sync_delay;
            Seen {
                holds: delay.occurrences(T) == delay.count(),
                told: format!("announced in time: delays up to {}, T = {T}", delay.max().unwrap_or(0)),
            }
        })?;
        let theirs = mean(&bench.run(&trial("maekawa", 5))?);
        let between = bench.all([trial("cao-singhal", 5)], |_, outcome| {
            let mine = mean(outcome);
            let told = format!("mean delay {} from T = {T} to Maekawa's {}", short(mine), short(theirs));
            Seen { holds: (T as f64..theirs).contains(&mine), told }
        })?;
        evidence = evidence.and(announced).and(between);
    }
    Ok(evidence)
}
