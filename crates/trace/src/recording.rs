//! A run as it was recorded.

use std::io::Write;

use crate::{Event, Header, TraceError, write};

/// The header and the events of one run, to be drawn, replayed or written to a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Which run it was.
    pub header: Header,
    /// What happened, in order.
    pub events: Vec<Event>,
}

impl Recording {
    /// Writes it as JSON lines, which [`crate::read`] reads again.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write(&self, to: impl Write) -> Result<(), TraceError> {
        write(to, &self.header, &self.events)
    }
}
