//! Claims about Singhal's algorithm, and the lemmas from which its correctness is argued: as printed, as we read those whose
//! wording was not available, and as they are true.

use doorway_catalog::Trial;
use doorway_catalog::lemmas::Form;
use doorway_checker::Property;
use doorway_core::{Channels, Refusal};
use doorway_simulator::Load;

use super::bench::{Bench, Seen, T, exact, holding, longer, per_entry, short};
use super::source::{SINGHAL_PAPER, hofmann};
use super::{Asked, Check, Claim, Evidence, Verdict, source};
use crate::check::Instance;

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "C42",
        source: source::SINGHAL,
        claim: "Singhal's algorithm as printed is free of deadlock on fifo channels, and its vectors order the nodes totally when all \
                is quiet.",
        formula: "no deadlock; when all is quiet, i takes j for requesting or j takes i, without a ring",
        expected: Verdict::Refuted,
        test: as_printed,
    },
    Claim {
        id: "C43",
        source: source::SINGHAL,
        claim: "Singhal's algorithm has a delay of T and needs fewer messages than Suzuki and Kasami's.",
        formula: "delay T; fewer messages",
        expected: Verdict::HoldsIf("the load is light and N is not small"),
        test: singhal_saves,
    },
    Claim {
        id: "C44",
        source: source::SINGHAL,
        claim: "Singhal's algorithm with nearest-first arbitration is fair.",
        formula: "nobody starves",
        expected: Verdict::Refuted,
        test: nearest_starves,
    },
    Claim {
        id: "C45",
        source: source::SINGHAL,
        claim: "In Singhal's algorithm node and token exchange their news case by case with the same result as by the larger number, \
                and the cases that the paper calls impossible never occur.",
        formula: "case by case = the larger number wins",
        expected: Verdict::Holds,
        test: cases,
    },
    Claim {
        id: "C67",
        source: source::SINGHAL,
        claim: "Singhal's algorithm with smallest-number arbitration is fair.",
        formula: "nobody starves",
        expected: Verdict::Holds,
        test: smallest_number_is_fair,
    },
    Claim {
        id: "L4.1.1",
        source: &[hofmann("lemma 4.1.1"), SINGHAL_PAPER],
        claim: "Lemma 4.1.1 on Singhal's algorithm: a node that the token takes for requesting waits.",
        formula: "T[i] = R ⇒ i waits; correct is: waits or is inside",
        expected: Verdict::Refuted,
        test: first_lemma,
    },
    Claim {
        id: "L4.1.2",
        source: &[hofmann("lemma 4.1.2"), SINGHAL_PAPER],
        claim: "Lemma 4.1.2 on Singhal's algorithm (our reading; the printed wording was not available): one node holds the token or is \
                inside with it, or the token is on its way to a node that waits.",
        formula: "nodes in E or H + tokens in flight = 1; E ⇔ inside; the token flies to i ⇒ P_i[i] = R",
        expected: Verdict::Holds,
        test: second_lemma,
    },
    Claim {
        id: "L4.1.3",
        source: &[hofmann("lemma 4.1.3"), SINGHAL_PAPER],
        claim: "Lemma 4.1.3 on Singhal's algorithm (our reading; the printed wording was not available): when no REQUEST is in flight, \
                every request is known where the token is, or to the token.",
        formula: "no REQUEST in flight and P_i[i] = (R, n) ⇒ P_h[i] = (R, n) or T[i] = (R, n), h: where the token is or goes",
        expected: Verdict::HoldsIf("delivery is causal"),
        test: third_lemma,
    },
    Claim {
        id: "L4.1.4",
        source: &[hofmann("lemma 4.1.4"), SINGHAL_PAPER],
        claim: "Lemma 4.1.4 on Singhal's algorithm (our reading; the printed wording was not available): when all is quiet, every node \
                takes the one with the token for requesting.",
        formula: "P_h[h] = H ⇒ P_i[h] = R for all i ≠ h",
        expected: Verdict::HoldsIf("delivery is causal"),
        test: fourth_lemma,
    },
    Claim {
        id: "L4.1.5",
        source: &[hofmann("lemma 4.1.5"), SINGHAL_PAPER],
        claim: "Lemma 4.1.5 on Singhal's algorithm (our reading; the printed wording was not available): when all is quiet, there is no \
                ring of nodes that each take the next for requesting.",
        formula: "no i, j, …, k with P_i[j] = R, …, P_k[i] = R",
        expected: Verdict::Holds,
        test: fifth_lemma,
    },
    Claim {
        id: "S4.2",
        source: &[hofmann("theorem 4.2"), SINGHAL_PAPER],
        claim: "Theorem 4.2 on Singhal's algorithm: when all is quiet, of any two nodes one takes the other for requesting.",
        formula: "P_i[j] = R or P_j[i] = R; correct with the chase is: the track of the token leads to it from everywhere",
        expected: Verdict::HoldsIf("delivery is causal"),
        test: first_theorem_on_vectors,
    },
    Claim {
        id: "S4.3",
        source: &[hofmann("theorem 4.3"), SINGHAL_PAPER],
        claim: "Theorem 4.3 on Singhal's algorithm: when all is quiet, the nodes that each node takes for requesting order the \
                nodes totally.",
        formula: "exactly one of P_i[j] = R and P_j[i] = R, without a ring",
        expected: Verdict::HoldsIf("delivery is causal"),
        test: second_theorem_on_vectors,
    },
];

const PRINTED: &str = "singhal/no-chase";
const REPAIRED: &str = "singhal";
const BOTH: [Property; 2] = [Property::MutualExclusion, Property::DeadlockFreedom];

/// Three nodes that ask so often each.
fn three(algorithm: &str, requests: u32, channels: Channels) -> Instance {
    Instance::new(algorithm, &[requests; 3], channels).deciding(&BOTH)
}

/// A lemma on an instance. `doorway check` does not know lemmas, so that the command is that of a run in which it fails, or of
/// its claim.
fn lemma(
    bench: &Bench<'_>,
    (number, form): (&'static str, Form),
    instance: &Instance,
    run: Option<&str>,
) -> Result<Check, Refusal> {
    let name = match form {
        Form::Printed => format!("{number} as printed"),
        Form::Read => format!("{number} as we read it"),
        Form::Corrected => format!("{number} corrected"),
    };
    let check = bench.asks(instance, Asked::Lemma(number, form), &name)?;
    let Some(run) = run else {
        return Ok(Check { command: format!("{} claims --only {number}", bench.program()), ..check });
    };
    let shown = bench.example(run, "");
    Ok(Check { holds: check.holds || !shown.holds, command: shown.command, ..check })
}

const UNSORTED: &str = "singhal-unsorted";

fn as_printed(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let stuck = bench.breaks(&three(PRINTED, 2, Channels::Fifo), Property::DeadlockFreedom)?;
    let ordered = ("S4.3", Form::Printed);
    let checks = [
        stuck.clone(),
        lemma(bench, ordered, &three(PRINTED, 1, Channels::Fifo), None)?.reversed(),
        bench.holds(&three(PRINTED, 2, Channels::Causal))?,
        lemma(bench, ordered, &three(PRINTED, 2, Channels::Causal), None)?,
        bench.holds(&three(REPAIRED, 2, Channels::Fifo))?,
        bench.holds(&three(REPAIRED, 2, Channels::Any))?,
        lemma(bench, ordered, &three(REPAIRED, 1, Channels::Fifo), Some(UNSORTED))?.reversed(),
    ];
    Ok(Evidence::of(refutation(&checks)))
}

/// A claim is refuted if all of these are so, and just in that way.
fn refutation(checks: &[Check]) -> Check {
    let is_so = checks.iter().all(|check| check.holds);
    let told: Vec<&str> = checks.iter().map(|check| check.measured.as_str()).collect();
    let command = checks.first().map(|check| check.command.clone()).unwrap_or_default();
    Check { holds: !is_so, measured: told.join("; "), command }
}

fn cases(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let asked = Asked::Lemma("C45", Form::Printed);
    let mut evidence = Evidence::default();
    for (algorithm, requests, channels) in
        [(REPAIRED, 2, Channels::Any), (PRINTED, 2, Channels::Causal), (PRINTED, 2, Channels::Fifo)]
    {
        let instance = three(algorithm, requests, channels).deciding(&[Property::Invariants]);
        evidence = evidence.and(bench.asks(&instance, asked, "case by case is by the larger number")?);
    }
    Ok(evidence)
}

fn first_lemma(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let (printed, corrected) = (("L4.1.1", Form::Printed), ("L4.1.1", Form::Corrected));
    let mut checks = vec![
        lemma(bench, printed, &three(PRINTED, 1, Channels::Fifo), None)?.reversed(),
        lemma(bench, printed, &three(REPAIRED, 1, Channels::Fifo), Some("singhal-inside-and-requesting"))?
            .reversed(),
        lemma(bench, printed, &three(PRINTED, 1, Channels::Causal), None)?.reversed(),
    ];
    for (algorithm, channels) in [(REPAIRED, Channels::Any), (PRINTED, Channels::Fifo)] {
        checks.push(lemma(bench, corrected, &three(algorithm, 2, channels), None)?);
    }
    Ok(Evidence::of(refutation(&checks)))
}

fn second_lemma(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    always(bench, ("L4.1.2", Form::Read))
}

/// It needs a node that asks twice: of its second request the node with the token need not hear.
fn third_lemma(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let stated = ("L4.1.3", Form::Read);
    let inside = lemma(bench, stated, &three(PRINTED, 2, Channels::Causal), None)?;
    let once = lemma(bench, stated, &three(PRINTED, 1, Channels::Fifo), None)?;
    let run = Some("specimens/singhal-no-chase");
    let printed = lemma(bench, stated, &three(PRINTED, 2, Channels::Fifo), run)?;
    Ok(Evidence::of(inside).and(once).but(printed))
}

fn fourth_lemma(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    unless_causal(bench, ("L4.1.4", Form::Read))
}

fn fifth_lemma(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    always(bench, ("L4.1.5", Form::Read))
}

/// A lemma that holds whatever the channels do, chase or not, also with four nodes.
fn always(bench: &Bench<'_>, stated: (&'static str, Form)) -> Result<Evidence, Refusal> {
    let four = Instance::new(PRINTED, &[1; 4], Channels::Fifo);
    let mut evidence = Evidence::of(lemma(bench, stated, &four, None)?);
    for (algorithm, channels) in [
        (PRINTED, Channels::Fifo),
        (PRINTED, Channels::Causal),
        (PRINTED, Channels::Any),
        (REPAIRED, Channels::Fifo),
    ] {
        evidence = evidence.and(lemma(bench, stated, &three(algorithm, 2, channels), None)?);
    }
    Ok(evidence)
}

fn first_theorem_on_vectors(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let (printed, corrected) = (("S4.2", Form::Printed), ("S4.2", Form::Corrected));
    Ok(unless_causal(bench, printed)?.and(lemma(bench, corrected, &three(REPAIRED, 2, Channels::Any), None)?))
}

fn second_theorem_on_vectors(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    unless_causal(bench, ("S4.3", Form::Printed))
}

/// A lemma that holds if delivery is causal, and fails without, chase or not.
fn unless_causal(bench: &Bench<'_>, stated: (&'static str, Form)) -> Result<Evidence, Refusal> {
    let inside = lemma(bench, stated, &three(PRINTED, 2, Channels::Causal), None)?;
    let printed = lemma(bench, stated, &three(PRINTED, 1, Channels::Fifo), None)?;
    let repaired = lemma(bench, stated, &three(REPAIRED, 1, Channels::Fifo), Some(UNSORTED))?;
    let chased = lemma(bench, stated, &three(REPAIRED, 2, Channels::Causal), None)?;
    Ok(Evidence::of(inside).and(chased).but(repaired).but(printed))
}

fn nearest_starves(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let all_want_in = |arbitration: &str| {
        let instance = three(REPAIRED, 1, Channels::Fifo).with("arbitration", arbitration);
        bench.asks(&instance, Asked::NobodyStarves, "nobody starves where all want in")
    };
    let run = bench.example("singhal-nearest", "in the run that ships 3 waits while 1 and 2 take turns");
    let starves = Check { command: run.command.clone(), ..all_want_in("nearest")?.reversed() };
    Ok(Evidence::of(refutation(&[starves, run, all_want_in("round-robin")?])))
}

fn smallest_number_is_fair(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for nodes in [3, 4] {
        for channels in [Channels::Any, Channels::Fifo] {
            let instance = Instance::new(REPAIRED, &vec![1; nodes], channels);
            let instance = instance.with("arbitration", "smallest-number");
            let told = format!("nobody of {nodes} starves where all want in");
            let check = bench.asks(&instance, Asked::NobodyStarvesByNumber, &told)?;
            let command = format!("{} claims --only C67", bench.program());
            evidence = evidence.and(Check { command, ..check });
        }
    }
    Ok(evidence)
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
