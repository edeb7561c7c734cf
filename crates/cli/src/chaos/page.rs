//! The results of the runs, for people.

use doorway_chaos::ChaosSummary;
use doorway_core::Ticks;
use doorway_terminal::table;
use doorway_terminal::text::{counted, item, prose_width, wrap};

use super::coverage;
use super::plan::{ChaosPlan, typed_span};
use super::runs::{ChaosFailure, ChaosTally};

/// Most failed runs that are shown.
const SHOWN: usize = 5;
/// Most violations shown of each.
const SENTENCES: usize = 3;
/// Where the meanings of all lines begin.
pub(super) const COLUMN: usize = 11;

/// The whole page, with tables of the coverage if asked for.
pub(super) fn page(plan: &ChaosPlan<'_>, tally: &ChaosTally, has_tables: bool) -> String {
    let seen = &tally.total.coverage;
    let coverage = if has_tables { coverage::whole(seen) } else { coverage::summary(seen) };
    let mut parts = vec![heading(plan), rows(plan, tally), faults(&tally.total), coverage];
    parts.extend(tally.failures.iter().take(SHOWN).map(|failure| trouble(plan, failure)));
    parts.extend(tally.failures.first().map(look));
    parts.push(verdict(plan, tally));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

/// What was run, so that the output can be read without the command.
fn heading(plan: &ChaosPlan<'_>) -> String {
    let Some((name, design)) = plan.algorithms.first() else { return String::new() };
    let name = match plan.algorithms.len() {
        1 => (*name).to_owned(),
        count => format!("{count} algorithms"),
    };
    let (nodes, first) = (counted(design.nodes as u64, "node"), design.seed);
    let length = typed_span(plan.length);
    let seeds = match plan.seeds {
        1 => format!("seed {first}"),
        seeds => format!("seeds {first} to {}", first + (seeds - 1)),
    };
    let told = format!("{name}, {nodes}, {length} of virtual time each, {seeds}");
    let flaw = design.flaw.map(|flaw| format!("flaw {}: {}", flaw.name(), flaw.about()));
    let lines = [Some(told), flaw].into_iter().flatten();
    lines.map(|line| wrap(&line, prose_width(), 2)).collect::<Vec<_>>().join("\n")
}

/// A row for each algorithm, and one for all if there are several.
fn rows(plan: &ChaosPlan<'_>, tally: &ChaosTally) -> String {
    let names = plan.algorithms.iter().map(|(name, _)| *name);
    let mut rows: Vec<Vec<String>> = names.zip(&tally.rows).map(|(name, row)| cells(name, row)).collect();
    if rows.len() > 1 {
        rows.push(cells("all", &tally.total));
    }
    let headings = ["algorithm", "runs", "entries", "views", "faults", "slowest", "violations"];
    table::of_numbers(&headings, &rows).trim_end().to_owned()
}

fn cells(name: &str, row: &ChaosSummary) -> Vec<String> {
    let numbers = [row.runs, row.entries, row.views, row.faults.values().sum()];
    let slowest = format!("{:.3} s", Ticks(row.slowest_recovery).0 as f64 / 1e6);
    let numbers = numbers.map(|number| number.to_string()).into_iter();
    [name.to_owned()].into_iter().chain(numbers).chain([slowest, row.violations.to_string()]).collect()
}

/// What the columns' names do not explain.
fn faults(total: &ChaosSummary) -> String {
    let kinds: Vec<String> = total.faults.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
    let line = |name, told: &str| item(name, told, COLUMN, prose_width());
    let slowest = "the longest wait for a lock after the last fault of a run";
    [line("faults", &kinds), line("slowest", slowest)].join("\n")
}

/// The violations of a run, and the commands that replay and show it.
fn trouble(plan: &ChaosPlan<'_>, failure: &ChaosFailure) -> String {
    let ChaosFailure { place, seed, violations, replay } = failure;
    let name = plan.algorithms[*place].0;
    let count = counted(violations.len() as u64, "violation");
    let told =
        violations.iter().take(SENTENCES).map(|what| format!("  {}", wrap(what, prose_width() - 2, 4)));
    let hidden = violations.len().saturating_sub(SENTENCES);
    let more = (hidden > 0).then(|| format!("  … {hidden} more"));
    let lines = [format!("{name}, seed {seed}: {count}")].into_iter().chain(told).chain(more);
    lines.chain([format!("  replay: {replay}")]).collect::<Vec<_>>().join("\n")
}

/// How to look at the first of them.
fn look(failure: &ChaosFailure) -> String {
    let replay = &failure.replay;
    let window = failure.violations.first().and_then(|what| around(what)).unwrap_or_default();
    format!("to look at it: {replay} --trace run.jsonl{window}")
}

/// The seconds around a violation, which begins with its time.
fn around(violation: &str) -> Option<String> {
    let (time, _) = violation.strip_prefix("at ")?.split_once(" s: ")?;
    let second = time.parse::<f64>().ok()?.floor() as u64;
    Some(format!(" --from {}s --until {}s", second.saturating_sub(4), second + 1))
}

fn verdict(plan: &ChaosPlan<'_>, tally: &ChaosTally) -> String {
    let total = &tally.total;
    let runs = counted(total.runs, "run");
    let has_flaw = plan.algorithms.iter().any(|(_, design)| design.flaw.is_some());
    let told = match (tally.failures.len(), has_flaw) {
        (0, false) => format!("{runs}, {} entries: no violation", total.entries),
        (0, true) => format!("{runs}, {} entries: the flaw was not found; more seeds may", total.entries),
        (failed, false) => format!("violations in {failed} of {runs}"),
        (failed, true) => format!("the flaw was found in {failed} of {runs}"),
    };
    wrap(&told, prose_width(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_of_a_trace_ends_in_the_second_of_the_violation() {
        let window = |what| around(what).unwrap_or_default();
        assert_eq!(window("at 12.345678 s: node 3 granted a lock"), " --from 8s --until 13s");
        assert_eq!(window("at 2.999999 s: x"), " --from 0s --until 3s");
        assert_eq!(window("a client has waited"), "");
    }
}
