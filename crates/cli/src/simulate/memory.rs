//! Scripts of programs over shared memory: each step, and what the registers hold after it.

use std::path::Path;

use doorway_catalog::Catalog;
use doorway_checker::{MemoryModel, ProcessView, SharedView};
use doorway_core::shared::Register;
use doorway_core::{NodeId, Options, Phase, Refusal};
use doorway_experiments::memory::{self, Replay, ReplayedStep};
use doorway_simulator::ScriptError;
use doorway_terminal::table;
use doorway_terminal::text::{counted, prose_width, wrap};
use serde_json::{Value, json};

use super::Arguments;
use super::plan::text_of;
use super::runs::Unmet;
use crate::records::Records;
use crate::typed::Typed;
use crate::{Answer, Exit, files, programs};

/// The options that go with such a script.
const OPTIONS: [&str; 8] = ["algorithm", "script", "set", "trace", "svg", "spacing", "theme", "json"];

/// Follows the script, if it is one of a program over shared memory.
///
/// # Errors
/// If it cannot be read or followed.
pub(super) fn answer(
    catalog: &Catalog,
    arguments: &Arguments,
    typed: &Typed,
    records: &Records,
) -> Result<Option<Answer>, Refusal> {
    let Some(path) = arguments.script.as_deref() else { return Ok(None) };
    let text = text_of(path)?;
    if !Replay::is_for(&text, catalog) {
        return Ok(None);
    }
    if let Some(option) = typed.other_than(&OPTIONS) {
        let option = option.replace('_', "-");
        return Err(Refusal::new(format!(
            "--{option} does not go with a script over shared memory: its heading says all"
        )));
    }
    let replay = match followed(catalog, path, &text, &files::choices(arguments.choices.words())?) {
        Ok(replay) => replay,
        Err(Stop::Refused(refusal)) => return Err(refusal),
        Err(Stop::Unmet(unmet)) => {
            let text = if arguments.json { unmet.as_json() } else { String::new() };
            return Ok(Some(Answer { text, notes: vec![unmet.to_string()], exit: Exit::Fails }));
        }
    };
    if arguments.algorithm.as_ref().is_some_and(|name| *name != replay.instance.program) {
        let name = &replay.instance.program;
        return Err(Refusal::new(format!("this script is for {name}: leave the algorithm's name out")));
    }
    records.write(&replay.recording())?;
    let text = if arguments.json { as_json(&replay) } else { page(&replay) };
    let exit = if replay.is_as_expected() { Exit::Holds } else { Exit::Fails };
    Ok(Some(Answer { text, notes: Vec::new(), exit }))
}

enum Stop {
    Refused(Refusal),
    Unmet(Unmet),
}

fn followed(catalog: &Catalog, path: &Path, text: &str, chosen: &Options) -> Result<Replay, Stop> {
    let script = path.display().to_string();
    Replay::of_script(text, chosen, catalog).map_err(|error| match error {
        ScriptError::Unmet { line, what } => Stop::Unmet(Unmet { script, line, what }),
        ScriptError::Impossible { .. } => Stop::Refused(Refusal::new(format!("{script}: {error}"))),
    })
}

fn page(replay: &Replay) -> String {
    let shown = changing(replay);
    let is_buffered = replay.instance.setting.memory != MemoryModel::Sequential;
    let mut headings = vec!["step", "who", "access", "then"];
    if is_buffered {
        headings.push("on the way");
    }
    let words = headings.len();
    headings.extend(shown.iter().map(|place| replay.registers[*place].as_str()));
    let mut rows = Vec::new();
    for (number, ReplayedStep { act, view }) in replay.steps.iter().enumerate() {
        if replay.loop_start == Some(number) {
            rows.push(vec![String::new(), String::new(), "and again and again:".to_owned()]);
        }
        let line = act.line.map_or_else(String::new, |line| format!(", line {line}"));
        let then = act.then().trim_start_matches(", and ").to_owned();
        let mut row =
            vec![(number + 1).to_string(), format!("{}{line}", act.process + 1), act.access.short(), then];
        if is_buffered {
            row.push(on_the_way(replay, view));
        }
        row.extend(shown.iter().map(|place| view.registers[*place].to_string()));
        rows.push(row);
    }
    let table = table::of_words_and_numbers(&headings, &rows, words);
    format!(
        "{}\n\n{table}\n{}\n",
        wrap(&programs::system(&replay.instance), prose_width(), 2),
        wrap(&summary(replay), prose_width(), 2)
    )
}

/// What each process has written and others do not see yet: `1: flag[0] turn; 2: flag[1]`.
fn on_the_way(replay: &Replay, view: &SharedView) -> String {
    let of = |(number, process): (usize, &ProcessView)| {
        let stores: Vec<String> = process
            .buffered
            .iter()
            .map(|(register, value)| format!("{}={value}", replay.registers[register.index()]))
            .collect();
        (!stores.is_empty()).then(|| format!("{}: {}", number + 1, stores.join(" ")))
    };
    view.processes.iter().enumerate().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// The registers whose values change, in their order.
fn changing(replay: &Replay) -> Vec<usize> {
    let changes = |place: &usize| replay.steps.iter().any(|played| played.view.registers[*place] != 0);
    (0..replay.registers.len()).filter(changes).collect()
}

fn summary(replay: &Replay) -> String {
    let entered = match replay.entries.len() {
        0 => "nobody entered".to_owned(),
        _ => format!("entered in this order: {}", listed(&replay.entries)),
    };
    let mut facts = vec![counted(replay.steps.len() as u64, "step"), entered];
    for (phase, word) in [(Phase::Inside, "inside"), (Phase::Waiting, "waiting")] {
        let nodes = replay.in_phase(phase);
        if !nodes.is_empty() {
            facts.push(format!("{word} at the end: {}", listed(&nodes)));
        }
    }
    facts.extend(replay.violation.as_ref().map(|(_, what)| what.clone()));
    facts.join("; ")
}

fn listed(nodes: &[NodeId]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn as_json(replay: &Replay) -> String {
    let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.index() + 1).collect::<Vec<_>>();
    let store = |(register, value): &(Register, u64)| json!({"register": replay.registers[register.index()], "value": value});
    let buffered = |process: &ProcessView| process.buffered.iter().map(store).collect::<Value>();
    let step = |ReplayedStep { act, view }: &ReplayedStep| {
        json!({
            "node": act.process + 1,
            "line": act.line,
            "what": act.to_string(),
            "registers": view.registers,
            "buffered": view.processes.iter().map(buffered).collect::<Vec<_>>(),
        })
    };
    let answer = json!({
        "version": 1,
        "algorithm": replay.instance.program,
        "nodes": replay.instance.n,
        "memory": memory::described(&replay.instance.setting),
        "registers": replay.registers,
        "steps": replay.steps.iter().map(step).collect::<Vec<_>>(),
        "loop_start": replay.loop_start,
        "entries": numbers(&replay.entries),
        "inside": numbers(&replay.in_phase(Phase::Inside)),
        "waiting": numbers(&replay.in_phase(Phase::Waiting)),
        "violation": replay.violation.as_ref().map(|(_, what)| what),
    });
    format!("{answer}\n")
}
