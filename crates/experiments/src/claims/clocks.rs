//! Claims about logical clocks. The events of a recorded run have their scalar and vector times from [`doorway_trace::clocks`], and both are held
//! against what happened before what, which is read off the run itself.

use doorway_catalog::Trial;
use doorway_core::{Channels, Refusal, Stamp, Ticks};
use doorway_simulator::Load;
use doorway_trace::clocks::{Vector, times};
use doorway_trace::{ClockKind, Event, Header, LogicalTime, What};

use super::bench::{Bench, Seen, longer, seeds, shaken};
use super::{Check, Claim, Evidence, Verdict, source};

pub(super) const CLAIMS: &[Claim] = &[Claim {
    id: "C57",
    source: source::CLOCKS,
    claim: "Logical clocks detect violated causality; scalar ones give, with the node, a total order, but neither equal nor real \
            time; vector clocks are larger, give a partial order, and decide whether one event can have caused another.",
    formula: "e → f ⇒ C(e) < C(f); e → f ⇔ V(e) < V(f)",
    expected: Verdict::Holds,
    test: clocks,
}];

/// An event of a run with both of its stamps.
struct Stamped {
    time: Ticks,
    scalar: Stamp,
    vector: Vector,
    /// The places of all events that happened before it.
    past: Vec<bool>,
}

/// Every event with its logical times, and with its past: what its node did before and, if it is a delivery, its sending, each with its own past.
fn stamped(events: &[Event], nodes: usize) -> Result<Vec<Stamped>, Refusal> {
    let times = times(&Header::new("recorded", nodes, 1), events, ClockKind::Both)?;
    let mut latest: Vec<Option<usize>> = vec![None; nodes];
    let mut stamped: Vec<Stamped> = Vec::with_capacity(events.len());
    for (place, (event, time)) in events.iter().zip(times).enumerate() {
        let sending = event.cause.filter(|_| matches!(event.what, What::Deliver { .. }));
        let sending = sending.and_then(|id| events[..place].iter().position(|other| other.id == id));
        let mut past = vec![false; place];
        for before in [latest[event.node.index()], sending].into_iter().flatten() {
            past[before] = true;
            stamped[before].past.iter().enumerate().for_each(|(place, is_past)| past[place] |= is_past);
        }
        latest[event.node.index()] = Some(place);
        let LogicalTime { lamport, vector } = time.unwrap_or_default();
        let scalar = Stamp { counter: lamport, node: event.node };
        stamped.push(Stamped { time: event.time, scalar, vector, past });
    }
    Ok(stamped)
}

/// Every two events, the one that was recorded first first, and whether it happened before the other.
fn pairs(events: &[Stamped]) -> impl Iterator<Item = (&Stamped, &Stamped, bool)> {
    events.iter().flat_map(move |later| {
        later.past.iter().zip(events).map(move |(&is_past, earlier)| (earlier, later, is_past))
    })
}

/// The algorithms and numbers of nodes whose runs are recorded, each with several seeds.
const RECORDED: [(&str, usize); 3] = [("ricart-agrawala", 4), ("lamport", 3), ("maekawa", 5)];
const SEEDS: u64 = 5;

fn recorded(channels: Channels) -> impl Iterator<Item = Trial> {
    RECORDED.into_iter().flat_map(move |(algorithm, nodes)| {
        let mut trial = longer(shaken(algorithm, nodes, Load::Light(60)), 12);
        trial.settings.channels = channels;
        trial.settings.trace = true;
        // Lamport's algorithm breaks without fifo channels; here it is only a source of events.
        trial.settings.invariants = false;
        seeds(trial, SEEDS)
    })
}

fn clocks(bench: &Bench<'_>) -> Result<Evidence, Refusal> {
    let mut evidence = Evidence::default();
    for statement in STATEMENTS {
        evidence = evidence.and(bench.all(recorded(Channels::Fifo), |trial, outcome| {
            let events = stamped(&outcome.events(), trial.settings.nodes);
            let holds = events.is_ok_and(|events| (statement.holds)(&events));
            Seen { holds, told: statement.told.to_owned() }
        })?);
    }
    Ok(evidence.and(detection(bench)?))
}

/// Something that is said about clocks, and whether it is so in a run.
struct Statement {
    told: &'static str,
    holds: fn(&[Stamped]) -> bool,
}

const STATEMENTS: [Statement; 7] = [
    Statement {
        told: "cause before effect: the smaller scalar",
        holds: |events| {
            pairs(events).all(|(one, other, before)| !before || one.scalar.counter < other.scalar.counter)
        },
    },
    Statement {
        told: "with the node no two scalars are equal: a total order",
        holds: |events| pairs(events).all(|(one, other, _)| one.scalar != other.scalar),
    },
    Statement {
        told: "equal counters at different times",
        holds: |events| {
            pairs(events)
                .any(|(one, other, _)| one.scalar.counter == other.scalar.counter && one.time != other.time)
        },
    },
    Statement {
        told: "a later event with a smaller scalar",
        holds: |events| {
            pairs(events).any(|(one, other, _)| one.time < other.time && one.scalar > other.scalar)
        },
    },
    Statement {
        told: "ordered scalars of events that have nothing to do with each other",
        holds: |events| {
            pairs(events).any(|(one, other, before)| !before && one.scalar.counter < other.scalar.counter)
        },
    },
    Statement {
        told: "vectors in order exactly if the one can have caused the other",
        holds: |events| {
            pairs(events).all(|(one, other, before)| one.vector.happened_before(&other.vector) == before)
        },
    },
    Statement {
        told: "vectors without order: it is partial",
        holds: |events| pairs(events).any(|(one, other, _)| one.vector.is_concurrent_with(&other.vector)),
    },
];

/// A message that arrives although its receiver has already heard of something sent after it has been overtaken: its vector
/// shows it. On causal channels that never happens.
fn detection(bench: &Bench<'_>) -> Result<Check, Refusal> {
    let [mut seen, mut real, mut causal, mut runs] = [0; 4];
    let mut command = String::new();
    for trial in recorded(Channels::Any) {
        let (events, stamps) = run(bench, &trial)?;
        let found = (detected(&events, &stamps), violated(&events, &stamps));
        if found.0 != found.1 {
            let measured = format!("{} of {} overtaken messages detected", found.0, found.1);
            return Ok(Check { holds: false, measured, command: trial.command(bench.program()) });
        }
        (seen, real, runs) = (seen + found.0, real + found.1, runs + 1);
        command = trial.command(bench.program());
    }
    for trial in recorded(Channels::Causal) {
        let (events, stamps) = run(bench, &trial)?;
        causal += detected(&events, &stamps);
    }
    let measured = format!(
        "{seen} of {real} overtaken messages detected in {runs} runs, {causal} on causal channels; N numbers a stamp instead of one"
    );
    Ok(Check { holds: real > 0 && causal == 0, measured, command })
}

/// The events of a run with their stamps.
fn run(bench: &Bench<'_>, trial: &Trial) -> Result<(Vec<Event>, Vec<Stamped>), Refusal> {
    let events = bench.run(trial)?.events();
    let stamps = stamped(&events, trial.settings.nodes)?;
    Ok((events, stamps))
}

/// The place of the sending of each delivery, with the place of the delivery.
fn deliveries(events: &[Event]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let delivered = |event: &Event| matches!(event.what, What::Deliver { .. });
    let places = events.iter().enumerate().filter(move |(_, event)| delivered(event));
    places.filter_map(|(place, event)| {
        Some((events.iter().position(|other| Some(other.id) == event.cause)?, place))
    })
}

/// What the receivers notice: the message was sent before something of its sender that they know of already.
fn detected(events: &[Event], stamps: &[Stamped]) -> usize {
    let knows_more = |(sent, arrived): (usize, usize)| {
        let before = events[..arrived].iter().rposition(|event| event.node == events[arrived].node);
        let known = before.map_or(0, |before| stamps[before].vector.count(events[sent].node));
        known >= stamps[sent].vector.count(events[sent].node)
    };
    deliveries(events).filter(|delivery| knows_more(*delivery)).count()
}

/// What really happened: the sending was in the past of its receiver before the message arrived.
fn violated(events: &[Event], stamps: &[Stamped]) -> usize {
    let is_past = |(sent, arrived): (usize, usize)| {
        let before = events[..arrived].iter().rposition(|event| event.node == events[arrived].node);
        before.is_some_and(|before| stamps[before].past.get(sent).copied().unwrap_or(false))
    };
    deliveries(events).filter(|delivery| is_past(*delivery)).count()
}
