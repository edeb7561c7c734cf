//! `doorway trace convert`: the same run in the form of another tool.

use std::io;
use std::path::PathBuf;

use doorway_core::Refusal;
use doorway_terminal::Destination;
use doorway_trace::TraceError;
use doorway_trace::export::{self, ExportFormat};

use super::source::{Meter, Source};
use crate::Answer;

/// Convert a run to the format of another tool
///
/// jsonl is Doorway's own format; the output is the checked input. shiviz is the log that ShiViz draws: its first line is the
/// regular expression that parses it, and each event has its vector clock. perfetto is the JSON that Perfetto and
/// chrome://tracing show: waiting and inside are slices, messages are flows, accesses and violations are instants, and a tick
/// is a millisecond.
///
/// Converts files of any length in constant memory.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  doorway trace convert run.jsonl --to shiviz -o run.log
  doorway trace convert run.jsonl --to perfetto -o run.json
  zcat run.jsonl.gz | doorway trace convert - --to jsonl -o run.jsonl")]
pub(super) struct Arguments {
    /// The trace, or - for standard input
    file: PathBuf,
    /// The format to write
    #[arg(long, value_name = "jsonl|shiviz|perfetto")]
    to: ExportFormat,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let destination = Destination::new(&arguments.out)?;
    let source = Source::open(&arguments.file)?;
    let name = source.name().to_owned();
    let Source { header, events, .. } = source;
    let mut meter = Meter::new(events.declared());
    let mut broken = None;
    let written = destination.write(|file| {
        let converted = export::convert(arguments.to, &header, events, file, &mut |count| meter.show(count));
        converted.map_err(|error| match error {
            TraceError::Io(error) => error,
            TraceError::Line { .. } => {
                broken = Some(Source::named(&name, &error));
                io::Error::other("the trace is broken")
            }
        })
    });
    match broken {
        Some(refusal) => Err(refusal),
        None => written.map(|()| Answer::holds(String::new())),
    }
}
