//! Where a trace comes from: a file, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use doorway_core::Refusal;
use doorway_picture::MOST_EVENTS;
use doorway_terminal::ProgressLine;
use doorway_trace::{Event, Events, Header, Recording, TraceError};

/// A trace whose header has been read, and whose events have not.
pub(super) struct Source {
    /// What people call it.
    name: String,
    pub(super) header: Header,
    pub(super) events: Events<Box<dyn BufRead>>,
}

impl Source {
    /// # Errors
    /// If it cannot be read, or its first line is no header.
    pub(super) fn open(path: &Path) -> Result<Self, Refusal> {
        let (name, from): (String, Box<dyn BufRead>) = if path == Path::new("-") {
            ("standard input".to_owned(), Box::new(BufReader::new(io::stdin())))
        } else {
            let name = path.display().to_string();
            let cannot = |error| Refusal::new(format!("{name} cannot be read: {error}"));
            let file = File::open(path).map_err(cannot)?;
            (name, Box::new(BufReader::with_capacity(1 << 16, file)))
        };
        let (header, events) = doorway_trace::read(from).map_err(|error| named(&name, &error))?;
        Ok(Self { name, header, events })
    }

    /// Does something with each event, and shows how far it is.
    ///
    /// # Errors
    /// If a line is not what it should be.
    pub(super) fn for_each(self, mut each: impl FnMut(Event)) -> Result<(), Refusal> {
        let mut meter = Meter::new(self.events.declared());
        for (count, event) in (1..).zip(self.events) {
            each(event.map_err(|error| named(&self.name, &error))?);
            meter.show(count);
        }
        Ok(())
    }

    /// The whole of it, if it is short enough to be drawn.
    ///
    /// # Errors
    /// If it is not, or a line is not what it should be.
    pub(super) fn recording(self) -> Result<Recording, Refusal> {
        let Self { name, header, events } = self;
        let mut kept = Vec::new();
        for event in events {
            kept.push(event.map_err(|error| named(&name, &error))?);
            if kept.len() > MOST_EVENTS {
                return Err(Refusal::new(format!(
                    "{name} has more than {MOST_EVENTS} events, the most that are drawn: `trace show` lists them, \
                     and `trace convert` writes them for other tools"
                )));
            }
        }
        Ok(Recording { header, events: kept })
    }

    /// The same error with the name of the file.
    pub(super) fn named(name: &str, error: &TraceError) -> Refusal {
        named(name, error)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

fn named(name: &str, error: &TraceError) -> Refusal {
    Refusal::new(format!("{name}: {error}"))
}

/// Shows how many events were read, seldom enough to cost nothing.
pub(super) struct Meter(ProgressLine);

impl Meter {
    const EVERY: u64 = 4096;

    pub(super) fn new(declared: Option<u64>) -> Self {
        Self(match declared {
            Some(events) if events > 1 => ProgressLine::new(events, "events"),
            Some(_) | None => ProgressLine::without_end("events"),
        })
    }

    pub(super) fn show(&mut self, count: u64) {
        if count.is_multiple_of(Self::EVERY) {
            self.0.show(count);
        }
    }
}
