//! The log that ShiViz draws.
//!
//! I. Beschastnikh, P. Wang, Y. Brun, M. Ernst: "Debugging distributed systems", Communications of the ACM 59(8), 2016. Its first line is the regular
//! expression that reads it, the second is empty, and then each event has two lines: its node with its vector clock, and its
//! time with what happened.

use std::io::Write;

use doorway_core::Refusal;

use super::Exporter;
use crate::sentence::one_line;
use crate::{ClockKind, Clocks, Event, Header, TraceError};

/// The regular expression that reads the log.
pub const PARSER: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<time>\d*) (?<event>.*)";

pub(super) struct ShiViz {
    clocks: Clocks,
    /// The line of the trace that is being told.
    line: u64,
}

impl ShiViz {
    pub(super) fn new(header: &Header) -> Self {
        Self { clocks: Clocks::new(header, ClockKind::Vector), line: 1 }
    }
}

impl Exporter for ShiViz {
    fn begin(&mut self, to: &mut dyn Write) -> Result<(), TraceError> {
        write!(to, "{PARSER}\n\n").map_err(TraceError::Io)
    }

    fn event(&mut self, event: &Event, to: &mut dyn Write) -> Result<(), TraceError> {
        self.line += 1;
        let (node, number) = (event.node, self.line);
        let wrong = |refusal: Refusal| TraceError::Line { number, what: refusal.to_string() };
        // That a run repeats itself is no step of any node, so it has no time.
        let Some(time) = self.clocks.tell(event).map_err(wrong)? else { return Ok(()) };
        let mut written = write!(to, "node{node} {{");
        for (place, (node, count)) in time.vector.iter().enumerate() {
            let between = if place == 0 { "" } else { "," };
            written = written.and_then(|()| write!(to, "{between}\"node{node}\":{count}"));
        }
        let rule = event.rule.as_ref().map_or(String::new(), |rule| format!(" [{}]", one_line(rule)));
        let line = written.and_then(|()| writeln!(to, "}}\n{} {}{rule}", event.time, event.sentence()));
        line.map_err(TraceError::Io)
    }

    fn end(&mut self, _: &mut dyn Write) -> Result<(), TraceError> {
        Ok(())
    }
}
