//! What came of the runs, for people.

use doorway_catalog::settings::Spec;
use doorway_core::Ticks;
use doorway_simulator::{Faults, Outcome, Probability, Repetition, Report, Settings, Stall, Summary};
use doorway_terminal::table;
use doorway_terminal::text::{channels, counted, decimal, item, prose_width, rate, wrap};

use super::plan::SimulationPlan;
use super::runs::{FailedSimulation, Pool};
use super::{Arguments, replay};
use crate::typed::Typed;

/// Where the meanings of all lines begin.
const COLUMN: usize = 14;

pub(super) fn page(plan: &SimulationPlan<'_>, arguments: &Arguments, pool: &Pool, typed: &Typed) -> String {
    let report = plan.report(&pool.outcome, *plan.seeds.start());
    let mut parts = vec![
        heading(plan, arguments),
        traffic(plan, &report).join("\n"),
        times(&report),
        behaviour(&report).join("\n"),
    ];
    parts.extend(pool.outcome.repetition.as_ref().map(repetition));
    match pool.failures.first() {
        Some(first) => parts.push(failure(plan, first, pool.failures.len(), typed)),
        None => parts.extend(expected(&pool.outcome)),
    }
    parts.join("\n\n") + "\n"
}

/// What was run, so that the reader need not scroll back to the command.
fn heading(plan: &SimulationPlan<'_>, arguments: &Arguments) -> String {
    let settings = &plan.trial.settings;
    let mut facts = vec![plan.about.name.to_owned(), counted(settings.nodes as u64, "node")];
    match &plan.script {
        Some((path, _)) => facts.push(format!("script {}", path.display())),
        None => facts.extend([
            arguments.run.0.shown("load").to_owned(),
            format!("hold {}", arguments.run.0.shown("hold")),
            format!("latency {}", arguments.run.0.shown("latency")),
        ]),
    }
    if settings.local_latency > Ticks(0) {
        facts.push(format!("local latency {}", settings.local_latency));
    }
    facts.push(channels(settings.channels));
    facts.extend(faults(settings));
    facts.extend(plan.choices().map(|(name, word)| format!("{name} {word}")));
    facts.extend(settings.start.holder().map(|node| format!("node {node} inside at the start")));
    if settings.warmup > 0 {
        facts.push(format!("warm-up {}", settings.warmup));
    }
    if settings.invariants {
        facts.push("invariants tested".to_owned());
    }
    facts.push(match arguments.runs {
        1 => format!("seed {}", plan.seeds.start()),
        runs => format!("{runs} runs with seeds {} to {}", plan.seeds.start(), plan.seeds.end()),
    });
    let mut lines = wrap(&facts.join(", "), prose_width(), 2);
    if let Some(specimen) = plan.about.specimen {
        let sentence = format!("specimen {}, wrong on purpose: {}", specimen.id, specimen.wrong);
        lines.push('\n');
        lines.push_str(&wrap(&sentence, prose_width(), 2));
    }
    lines
}

/// What goes wrong, as one types it.
fn faults(settings: &Settings) -> Vec<String> {
    let faults = &settings.faults;
    let share = |name, share: Probability| (share.value() > 0.0).then(|| format!("{name} {share}"));
    let shares = [share("loss", faults.loss), share("duplicate", faults.duplicate)];
    let mut told: Vec<String> = shares.into_iter().flatten().collect();
    told.extend(faults.retransmit.then(|| "retransmit".to_owned()));
    told.extend(faults.crashes.iter().map(|crash| format!("crash {crash}")));
    let is_usual = faults.detection == Faults::default().detection;
    told.extend((!faults.crashes.is_empty() && !is_usual).then(|| format!("detection {}", faults.detection)));
    told.extend(faults.suspicions.iter().map(|suspicion| format!("suspect {suspicion}")));
    told.extend(faults.partitions.iter().map(|partition| format!("partition {partition}")));
    told.extend(settings.messages.iter().map(|message| format!("message {message}")));
    told
}

fn line(name: &str, told: &str) -> String {
    item(name, told, COLUMN, prose_width())
}

fn traffic(plan: &SimulationPlan<'_>, report: &Report) -> Vec<String> {
    let per_entry = report.messages_per_entry.map_or_else(|| "–".to_owned(), decimal);
    let claim = plan.about.messages.formula;
    let kinds: Vec<String> =
        report.messages_by_kind.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut lines = vec![
        line("entries", &format!("{} in {}", report.entries, counted(report.time, "tick"))),
        line("messages", &format!("{} in total, {per_entry} per entry (textbook: {claim})", report.messages)),
    ];
    if !kinds.is_empty() {
        lines.push(line("", &kinds.join(", ")));
    }
    lines.push(line("bytes", &report.bytes.to_string()));
    let retransmission = &report.retransmission;
    let (resent, acknowledged) = (retransmission.resent, retransmission.acknowledgements);
    if report.lost > 0 {
        lines.push(line("lost", &counted(report.lost, "message")));
    }
    if report.duplicated > 0 {
        lines.push(line("doubled", &counted(report.duplicated, "message")));
    }
    if resent + acknowledged > 0 {
        let told = format!("{}, {}", counted(resent, "message"), counted(acknowledged, "acknowledgement"));
        lines.push(line("resent", &told));
    }
    lines.extend(never_sent(&report.never_sent));
    lines
}

/// The interventions for messages that were never sent.
fn never_sent(messages: &[u64]) -> Option<String> {
    let numbers: Vec<String> = messages.iter().map(u64::to_string).collect();
    let told = match numbers.as_slice() {
        [] => return None,
        [one] => format!("message {one} was never sent"),
        [first @ .., last] => format!("messages {} and {last} were never sent", first.join(", ")),
    };
    Some(line("unsent", &told))
}

fn times(report: &Report) -> String {
    let rows = [
        ("response time", &report.response_time),
        ("waiting time", &report.waiting_time),
        ("sync delay", &report.sync_delay.summary),
    ];
    let rows = rows.map(|(name, summary)| [vec![name.to_owned()], cells(summary)].concat());
    let table = table::of_numbers(&["times in ticks", "mean", "p50", "p99", "max"], &rows);
    table.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn cells(summary: &Summary) -> Vec<String> {
    let shown = |ticks: Option<u64>| ticks.map_or_else(|| "–".to_owned(), |ticks| ticks.to_string());
    let mean = summary.mean.map_or_else(|| "–".to_owned(), decimal);
    vec![mean, shown(summary.p50), shown(summary.p99), shown(summary.max)]
}

fn behaviour(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(throughput) = report.throughput.filter(|throughput| *throughput > 0.0) {
        let told =
            format!("{} entries per tick, one every {} ticks", rate(throughput), decimal(1.0 / throughput));
        lines.push(line("throughput", &told));
    }
    let fairness = &report.fairness;
    if let (Some(jain), Some(bypasses)) = (fairness.jain, fairness.max_bypass) {
        let told = format!("Jain's index {}, {}", decimal(jain), passed_over(bypasses));
        lines.push(line("fairness", &told));
    }
    if let Some(out_of_order) = report.out_of_order {
        let told = format!("{out_of_order} entries out of happened-before order");
        lines.push(line("order", &told));
    }
    let load = &report.load;
    if let (Some(min), Some(mean), Some(max)) = (load.min, load.mean, load.max) {
        lines.push(line(
            "load",
            &match min == max {
                true => format!("each node sent or received {min} messages"),
                false => {
                    format!("a node sent or received {min} to {max} messages, {} on average", decimal(mean))
                }
            },
        ));
    }
    lines
}

fn passed_over(bypasses: u64) -> String {
    match bypasses {
        0 => "no request was bypassed".to_owned(),
        1 => "a request was bypassed at most once".to_owned(),
        _ => format!("a request was bypassed up to {bypasses} times"),
    }
}

/// That the run never ends, and who waits all the while.
fn repetition(repetition: &Repetition) -> String {
    let waiting: Vec<String> = repetition.starving.iter().map(|node| node.to_string()).collect();
    let starving = match waiting.as_slice() {
        [] => "nobody waits all the while".to_owned(),
        [one] => format!("node {one} waits all the while"),
        [first @ .., last] => format!("nodes {} and {last} wait all the while", first.join(", ")),
    };
    line("repeats", &format!("for ever after time {}: {starving}", repetition.from))
}

/// What went wrong as it should, because a script says so.
fn expected(outcome: &Outcome) -> Option<String> {
    let told = trouble(outcome.stall.as_ref(), &outcome.violations);
    (!told.is_empty()).then(|| format!("as the script expects:\n{}", told.join("\n")))
}

/// What went wrong in the first run that failed, and how to see it again.
fn failure(plan: &SimulationPlan<'_>, first: &FailedSimulation, failures: usize, typed: &Typed) -> String {
    let mut lines = Vec::new();
    let runs = (plan.seeds.end() - plan.seeds.start()).saturating_add(1);
    if runs > 1 {
        lines.push(format!("{failures} of {runs} runs failed, the first with seed {}", first.seed));
    }
    lines.extend(trouble(first.stall.as_ref(), &first.violations));
    lines.extend(stopped(plan, first));
    lines.extend(unissued(plan, first));
    lines.push(format!("replay: {}", replay::command(typed, first.seed)));
    lines.join("\n")
}

/// That a run did not come to its end because too much was wrong.
fn stopped(plan: &SimulationPlan<'_>, failure: &FailedSimulation) -> Option<String> {
    let (violations, entries) = (failure.violations.len(), failure.entries);
    let wanted = plan.trial.settings.entries - plan.trial.settings.warmup;
    let is_early = plan.script.is_none() && violations >= Outcome::MOST_VIOLATIONS && entries < wanted;
    let after = if plan.trial.settings.warmup > 0 { " after the warm-up" } else { "" };
    is_early.then(|| format!("stopped after {violations} violations, {entries} of {wanted} entries{after}"))
}

/// The requests that are missing because no node was left to make them.
fn unissued(plan: &SimulationPlan<'_>, failure: &FailedSimulation) -> Option<String> {
    let (missing, wanted) = (failure.unissued, plan.trial.settings.entries);
    let told = || {
        format!("{missing} of {wanted} requests were never made: the nodes that would have made them crashed")
    };
    (missing > 0).then(|| wrap(&told(), prose_width(), 2))
}

fn trouble(stall: Option<&Stall>, violations: &[String]) -> Vec<String> {
    const SHOWN: usize = 10;
    let stall = stall.map(|stall| format!("stalled: {stall}"));
    let shown = violations.iter().take(SHOWN).map(|what| format!("violation: {what}"));
    let hidden = violations.len().saturating_sub(SHOWN);
    let more = (hidden > 0).then(|| format!("… {}", counted(hidden as u64, "more violation")));
    stall.into_iter().chain(shown).chain(more).map(|told| wrap(&told, prose_width(), 2)).collect()
}
