//! Traces in the forms that other tools read.
//!
//! Every form is written event by event, with no more in memory than the nodes and the messages in flight, so that a
//! file of any length can be converted.
//!
//! ```
//! use doorway_core::{NodeId, Ticks};
//! use doorway_trace::export::{ExportFormat, export};
//! use doorway_trace::{Event, Header, What};
//!
//! let asks = Event { id: 1, time: Ticks(0), node: NodeId::new(1), what: What::Request, rule: None, cause: None };
//! let mut log = Vec::new();
//! export(ExportFormat::ShiViz, &Header::new("central", 2, 1), &[asks], &mut log)?;
//! assert!(log.ends_with(b"node2 {\"node2\":1}\n0 node 2 asks to enter\n"));
//! # Ok::<(), doorway_trace::TraceError>(())
//! ```

mod perfetto;
mod shiviz;

use std::borrow::Borrow;
use std::io::{BufRead, Write};
use std::str::FromStr;

use doorway_core::Refusal;

use crate::lines::{write_first, write_line};
use crate::{Event, Events, Header, TraceError};
use perfetto::Perfetto;
use shiviz::ShiViz;

pub use shiviz::PARSER;

/// A form in which a trace can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Doorway's own: one event a line, as JSON.
    JsonLines,
    /// The log that ShiViz draws: each event with its vector clock.
    ShiViz,
    /// The JSON that Perfetto and Chrome's own viewer show: phases as slices, messages as flows.
    Perfetto,
}

impl ExportFormat {
    /// Every form by the word that people type.
    pub const LIST: [(&'static str, ExportFormat); 3] = [
        ("jsonl", ExportFormat::JsonLines),
        ("shiviz", ExportFormat::ShiViz),
        ("perfetto", ExportFormat::Perfetto),
    ];

    fn exporter<'a>(self, header: &'a Header, count: Option<u64>) -> Box<dyn Exporter + 'a> {
        match self {
            ExportFormat::JsonLines => Box::new(JsonLines { header, count }),
            ExportFormat::ShiViz => Box::new(ShiViz::new(header)),
            ExportFormat::Perfetto => Box::new(Perfetto::new(header)),
        }
    }
}

impl FromStr for ExportFormat {
    type Err = Refusal;

    fn from_str(word: &str) -> Result<Self, Refusal> {
        let known = Self::LIST.iter().find(|(name, _)| *name == word);
        known.map(|&(_, form)| form).ok_or_else(|| {
            Refusal::new(format!(
                "{word:?} is not a form of traces: the forms are jsonl, shiviz and perfetto"
            ))
        })
    }
}

/// Writes a run in a form.
///
/// # Errors
/// If the writer fails, or the events cannot be told in this form.
pub fn export(
    form: ExportFormat,
    header: &Header,
    events: &[Event],
    to: impl Write,
) -> Result<(), TraceError> {
    let exporter = form.exporter(header, Some(events.len() as u64));
    run(exporter, events.iter().map(Ok), to, &mut |_| ())
}

/// Writes the events of a file in a form while they are read; `watch` is told after each how many there were.
///
/// # Errors
/// If the reader or the writer fails, a line is not what it should be, or the events cannot be told in this form.
pub fn convert<R: BufRead>(
    form: ExportFormat,
    header: &Header,
    events: Events<R>,
    to: impl Write,
    watch: &mut dyn FnMut(u64),
) -> Result<(), TraceError> {
    run(form.exporter(header, events.declared()), events, to, watch)
}

fn run<E: Borrow<Event>>(
    mut exporter: Box<dyn Exporter + '_>,
    events: impl Iterator<Item = Result<E, TraceError>>,
    mut to: impl Write,
    watch: &mut dyn FnMut(u64),
) -> Result<(), TraceError> {
    exporter.begin(&mut to)?;
    for (count, event) in (1..).zip(events) {
        exporter.event(event?.borrow(), &mut to)?;
        watch(count);
    }
    exporter.end(&mut to)?;
    to.flush().map_err(TraceError::Io)
}

/// Writes one form.
trait Exporter {
    fn begin(&mut self, to: &mut dyn Write) -> Result<(), TraceError>;
    fn event(&mut self, event: &Event, to: &mut dyn Write) -> Result<(), TraceError>;
    fn end(&mut self, to: &mut dyn Write) -> Result<(), TraceError>;
}

struct JsonLines<'a> {
    header: &'a Header,
    count: Option<u64>,
}

impl Exporter for JsonLines<'_> {
    fn begin(&mut self, to: &mut dyn Write) -> Result<(), TraceError> {
        write_first(to, self.header, self.count)
    }

    fn event(&mut self, event: &Event, to: &mut dyn Write) -> Result<(), TraceError> {
        write_line(to, event)
    }

    fn end(&mut self, _: &mut dyn Write) -> Result<(), TraceError> {
        Ok(())
    }
}
