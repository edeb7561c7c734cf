//! `doorway bank --trace`: one run, event by event, with the state and the queue of each section.

use doorway_bank::{Bank, Episode, SectionState, Story, Window};
use doorway_catalog::Catalog;
use doorway_core::{Refusal, Ticks};
use doorway_terminal::text::{counted, prose_width, wrap, wrap_after};
use serde_json::json;

use super::{Arguments, page, real};
use crate::typed::Typed;
use crate::{Answer, Exit};

/// Options that would ask for several runs.
const SEVERAL: [&str; 2] = ["runs", "threads"];

/// A longer listing is not read, and each event reads the log from its beginning.
const MOST_EVENTS: usize = 10_000;

pub(super) fn answer(
    catalog: &Catalog,
    arguments: &Arguments,
    bank: &Bank,
    typed: &Typed,
) -> Result<Answer, Refusal> {
    real::check_virtual(typed)?;
    if let Some(option) = SEVERAL.into_iter().find(|option| typed.has(option)) {
        return Err(Refusal::new(format!("--trace tells one run: leave out --{option}")));
    }
    let story = catalog.trace_bank(bank, window(arguments)?)?;
    let exit = if story.violations.is_empty() { Exit::Holds } else { Exit::Fails };
    let text = match arguments.json {
        true => as_json(&story),
        false => listing(catalog, &story)?,
    };
    Ok(Answer { text, notes: Vec::new(), exit })
}

fn window(arguments: &Arguments) -> Result<Window, Refusal> {
    let Arguments { from, to, events, .. } = *arguments;
    match to {
        Some(to) if from > to => {
            Err(Refusal::new(format!("--from {from} is later than --to {to}: swap them")))
        }
        _ if events > MOST_EVENTS => Err(Refusal::new(format!(
            "--events {events} is more than can be read: at most {MOST_EVENTS}, and --from shows later ones"
        ))),
        _ if events == 0 => Err(Refusal::new("--events 0 tells nothing: give 1 or more")),
        _ => Ok(Window { from: Ticks(from), to: Ticks(to.unwrap_or(u64::MAX)), most: events }),
    }
}

fn listing(catalog: &Catalog, story: &Story) -> Result<String, Refusal> {
    let lock = story.bank.lock(&catalog.list())?;
    let mut text = page::heading(&doorway_bank::BankRuns::one(&story.bank), lock) + "\n\n";
    let width = story.episodes.iter().map(|episode| episode.time.to_string().len()).max().unwrap_or(1);
    for episode in &story.episodes {
        text += &told(episode, width);
    }
    text += &ending(story);
    Ok(text)
}

/// The step and, below it, the sections.
fn told(episode: &Episode, width: usize) -> String {
    let time = format!("{:>width$}  ", episode.time.0);
    let step = format!("{} {}", episode.process, episode.did.join("; "));
    let mut text = wrap_after(&time, &step, prose_width(), 2) + "\n";
    for section in &episode.sections {
        for (bar, line) in ["| ", "|   "].iter().zip(lines(section, &episode.process)) {
            text += &wrap_after(&format!("{:width$}    {bar}", ""), &line, prose_width(), 2);
            text.push('\n');
        }
    }
    text
}

/// What is known of a section, and then, if there is any, the state of the process that acts.
fn lines(section: &SectionState, process: &str) -> Vec<String> {
    let SectionState { section, inside, fence, waiting, state } = section;
    let inside = match (inside.as_slice(), fence) {
        ([], None) => "never entered".to_owned(),
        ([], Some(fence)) => format!("free, last fence {fence}"),
        (holders, fence) => {
            let fence = fence.map_or_else(String::new, |fence| format!(" with fence {fence}"));
            format!("{} inside{fence}", holders.join(" and "))
        }
    };
    let waiting =
        if waiting.is_empty() { String::new() } else { format!("; waiting: {}", waiting.join(", ")) };
    let mut lines = vec![format!("{section}: {inside}{waiting}")];
    if !state.is_empty() {
        let fields: Vec<String> = state.iter().map(|(name, value)| format!("{name} {value}")).collect();
        lines.push(format!("{process}: {}", fields.join(", ")));
    }
    lines
}

fn ending(story: &Story) -> String {
    let mut lines = vec![String::new()];
    let Window { from, to, most } = story.window;
    lines.push(match (story.episodes.last(), story.is_cut) {
        (None, false) => format!("the run ended before time {from}"),
        (None, true) => format!("nothing happened from time {from} to time {to}"),
        (Some(last), true) if story.episodes.len() >= most => {
            let shown = counted(most as u64, "event");
            // More events than are shown may happen at one time: then the same start would show the same events.
            let later = if last.time > from {
                format!(", --from {} continues there", last.time)
            } else {
                String::new()
            };
            format!("{shown} shown; the run goes on: --events N shows more{later}")
        }
        (Some(_), true) => "the run goes on after the window".to_owned(),
        (Some(_), false) => "the run is over".to_owned(),
    });
    lines.extend(story.violations.iter().map(|told| format!("violation: {told}")));
    let wrapped: Vec<String> = lines.iter().map(|line| wrap(line, prose_width(), 2)).collect();
    wrapped.join("\n") + "\n"
}

fn as_json(story: &Story) -> String {
    let value = json!({
        "version": 1,
        "algorithm": story.bank.algorithm,
        "broken": story.bank.broken.to_string(),
        "locks": story.bank.locks,
        "seed": story.bank.seed,
        "events": story.episodes,
        "is_cut": story.is_cut,
        "violations": story.violations,
    });
    value.to_string() + "\n"
}
