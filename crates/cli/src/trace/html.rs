//! `doorway trace html`: a page to step through a recorded run.

use std::path::PathBuf;

use doorway_catalog::Catalog;
use doorway_core::Refusal;
use doorway_picture::{DiagramOptions, Spacing};
use doorway_studio::page::Page;
use doorway_terminal::Destination;
use doorway_trace::ClockKind;

use super::source::Source;
use crate::{Answer, Exit};

/// Make a web page to step through a run
///
/// Writes one file that loads nothing else: the space-time diagram, buttons, arrow keys and a slider to step forward and back,
/// and at each step what happened, which rule applied, and the state of every node in the textbook's words. Mail it, or open it
/// in any browser.
///
/// The states come from replaying every step with the algorithm that the trace names. If an event does not fit the algorithm,
/// the page and a sentence on stderr say so, and the page shows no states from there on.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway trace html run.jsonl -o run.html
  doorway trace html run.jsonl -o run.html --spacing even
  doorway trace html run.jsonl -o run.html --clocks lamport
  doorway simulate --script example:thirteen-nodes-deadlock --trace d.jsonl
  doorway trace html d.jsonl -o d.html         the deadlock, step by step")]
pub(super) struct Arguments {
    /// The trace, or - for standard input
    file: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Horizontal scale: true time, so that lengths can be compared, or evenly spaced events
    #[arg(long, value_name = "time|even", default_value = "time")]
    spacing: Spacing,
    /// The logical clock with which the page opens; its reader can choose another one
    #[arg(long, value_name = "lamport|vector|both")]
    clocks: Option<ClockKind>,
}

pub(super) fn answer(catalog: &Catalog, arguments: &Arguments) -> Result<Answer, Refusal> {
    let destination = Destination::new(&arguments.out)?;
    let recording = Source::open(&arguments.file)?.recording()?;
    let looks =
        DiagramOptions { spacing: arguments.spacing, clocks: arguments.clocks, ..DiagramOptions::default() };
    let page = Page::new(&recording, catalog, &looks)?;
    destination.write(|file| file.write_all(page.html.as_bytes()))?;
    let note = |trouble: String| match page.known {
        0 => format!("{trouble}: the page is without states"),
        known => format!("{trouble}: the page has states up to step {known}"),
    };
    Ok(Answer { text: String::new(), notes: page.trouble.map(note).into_iter().collect(), exit: Exit::Holds })
}
