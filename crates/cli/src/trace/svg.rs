//! `doorway trace svg`: the space-time diagram of a recorded run.

use std::path::PathBuf;

use doorway_core::Refusal;
use doorway_picture::{DiagramOptions, Spacing, Theme, space_time};
use doorway_terminal::Picture;
use doorway_trace::ClockKind;

use super::source::Source;
use crate::Answer;

/// Draw a run as a space-time diagram
///
/// Time runs to the right. Each node has a lane (thin outside, hatched waiting, black inside), and each message is an arrow
/// whose colour, dash and head tell its kind. The file's extension decides the format: .svg or .png.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway trace svg run.jsonl -o run.svg
  doorway trace svg run.jsonl -o run.png --theme dark --spacing even
  doorway trace svg run.jsonl -o run.svg --clocks lamport")]
pub(super) struct Arguments {
    /// The trace, or - for standard input
    file: PathBuf,
    /// The file to write, which ends in .svg or .png
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Horizontal scale: true time, so that lengths can be compared, or evenly spaced events
    #[arg(long, value_name = "time|even", default_value = "time")]
    spacing: Spacing,
    /// The colours; auto follows what the reader's screen prefers
    #[arg(long, value_name = "auto|light|dark", default_value = "auto")]
    theme: Theme,
    /// Write the logical time of its first and its last event beside each step, which then has a column wide enough for it
    #[arg(long, value_name = "lamport|vector|both")]
    clocks: Option<ClockKind>,
}

pub(super) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let picture = Picture::new(&arguments.out)?;
    let looks =
        DiagramOptions { spacing: arguments.spacing, theme: arguments.theme, clocks: arguments.clocks };
    let recording = Source::open(&arguments.file)?.recording()?;
    picture.write(&space_time(&recording.header, &recording.events, &looks)?)?;
    Ok(Answer::holds(String::new()))
}
