//! What came of a sweep, or would come of it, as a page and as JSON.

use std::fmt::Write;
use std::path::Path;

use doorway_experiments::sweep::{Points, Shard, Swept};
use doorway_terminal::text::{counted, item, prose_width, wrap};
use serde_json::{Map, Value, json};

use crate::typed::Typed;
use crate::{Answer, Exit};

/// How many of its runs a plan shows.
const SHOWN: u64 = 3;

/// What would be run.
pub(super) fn plan(points: &Points, shard: Shard, typed: &Typed, as_json: bool) -> Answer {
    let runs = shard.size(points.count());
    let shown = (0..runs.min(SHOWN)).map(|row| points.command(shard.point(row), &typed.program));
    let commands: Vec<String> = shown.collect();
    let axes = points.grid().normal();
    if as_json {
        let axes: Map<String, Value> = axes.into_iter().map(|(axis, values)| (axis, values.into())).collect();
        let plan = json!({
            "version": 1,
            "dry_run": true,
            "points": points.count(),
            "shard": shard.to_string(),
            "runs": runs,
            "axes": axes,
            "commands": commands,
        });
        return Answer::holds(format!("{plan}\n"));
    }
    let mut text = format!("{}{}\n\n", counted(runs, "run"), of_the_whole(shard, points.count()));
    for (axis, values) in axes {
        let told = format!("{}{}", how_many(&axis, &values, points), shortened(&values));
        let _ = writeln!(text, "{}", item(&axis, &told, 16, prose_width()));
    }
    let _ = writeln!(text, "\nThe first of them");
    for command in commands {
        let _ = writeln!(text, "  {command}");
    }
    Answer::holds(text)
}

fn of_the_whole(shard: Shard, points: u64) -> String {
    if shard == Shard::WHOLE { String::new() } else { format!(", shard {shard} of {points}") }
}

/// How many values an axis has, if more than one.
fn how_many(axis: &str, values: &[String], points: &Points) -> String {
    let combinations = points.combinations();
    match values.len() {
        many if axis == "algorithms" && combinations != many => {
            format!("{many}, with their choices {combinations}: ")
        }
        1 => String::new(),
        many => format!("{many}: "),
    }
}

/// The values, if they are not too many to read.
fn shortened(values: &[String]) -> String {
    const SHOWN: usize = 12;
    if values.len() <= SHOWN {
        return values.join(", ");
    }
    let last = values.last().map_or("", String::as_str);
    format!("{}, …, {last}", values[..SHOWN - 1].join(", "))
}

/// What was run.
pub(super) fn swept(swept: &Swept, folder: &Path, shard: Shard, as_json: bool) -> Answer {
    let exit = if swept.is_complete() { Exit::Holds } else { Exit::Undecided };
    let (rows, runs) = (swept.tally.rows, swept.runs);
    if as_json {
        return Answer { text: json(swept, folder, &shard.to_string()), notes: Vec::new(), exit };
    }
    let told = match (swept.made, swept.found) {
        (0, _) if swept.is_complete() && runs > 0 => {
            format!("nothing to do: all {runs} rows are there already")
        }
        (made, 0) => format!("{} made", counted(made, "run")),
        (made, found) => format!("{} made, {} there already", counted(made, "run"), counted(found, "row")),
    };
    let mut text = if shard == Shard::WHOLE { told } else { format!("shard {shard}: {told}") };
    text.push('\n');
    if !swept.is_complete() {
        let _ = writeln!(text, "{} missing: the same command continues", counted(runs - rows, "row"));
    }
    page(&mut text, swept, folder);
    Answer { text, notes: Vec::new(), exit }
}

/// What was joined.
pub(super) fn merged(swept: &Swept, shards: usize, folder: &Path, as_json: bool) -> Answer {
    if as_json {
        return Answer::holds(json(swept, folder, &Shard::WHOLE.to_string()));
    }
    let mut text =
        format!("{} of {} merged\n", counted(swept.tally.rows, "row"), counted(shards as u64, "shard"));
    page(&mut text, swept, folder);
    Answer::holds(text)
}

/// What went wrong in runs, and where the files are.
fn page(text: &mut String, swept: &Swept, folder: &Path) {
    let tally = swept.tally;
    let troubles = [
        (tally.stalled, "stalled"),
        (tally.violated, "violated something"),
        (tally.refused, "could not be made: the column error of their rows says why"),
    ];
    let all = counted(tally.rows, "run");
    for (count, what) in troubles.into_iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "{}", wrap(&format!("{count} of {all} {what}"), prose_width(), 2));
    }
    let _ = writeln!(text, "\n  rows      {}", swept.file.display());
    let _ = writeln!(text, "  manifest  {}", folder.join("manifest.json").display());
}

fn json(swept: &Swept, folder: &Path, shard: &str) -> String {
    let told = json!({
        "version": 1,
        "shard": shard,
        "runs": swept.runs,
        "made": swept.made,
        "resumed": swept.found,
        "complete": swept.is_complete(),
        "stalled": swept.tally.stalled,
        "violated": swept.tally.violated,
        "refused": swept.tally.refused,
        "rows": swept.file.display().to_string(),
        "manifest": folder.join("manifest.json").display().to_string(),
    });
    format!("{told}\n")
}
