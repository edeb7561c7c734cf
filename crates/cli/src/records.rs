//! What a verb keeps of one run besides its answer: the trace and the picture, each in a file of its own.

use std::path::Path;

use doorway_core::Refusal;
use doorway_picture::space_time;
use doorway_terminal::{Destination, Picture};
use doorway_trace::{Event, Header, Log, Recording, write};

/// The files to write, which are checked before the work begins.
#[derive(Debug)]
pub(crate) struct Records {
    trace: Option<Destination>,
    picture: Option<Picture>,
    looks: doorway_picture::DiagramOptions,
}

impl Records {
    /// # Errors
    /// If one of the files cannot be there, or that of the picture says neither SVG nor PNG.
    pub(crate) fn new(
        trace: Option<&Path>,
        svg: Option<&Path>,
        looks: doorway_picture::DiagramOptions,
    ) -> Result<Self, Refusal> {
        let trace = trace.map(Destination::new).transpose()?;
        Ok(Self { trace, picture: svg.map(Picture::new).transpose()?, looks })
    }

    /// # Errors
    /// If the run cannot be drawn, or a file cannot be written.
    pub(crate) fn write(&self, recording: &Recording) -> Result<(), Refusal> {
        // First, because it may be refused, and what is refused leaves nothing behind.
        if let Some(picture) = &self.picture {
            picture.write(&space_time(&recording.header, &recording.events, &self.looks)?)?;
        }
        match &self.trace {
            Some(trace) => trace.write(|file| Ok(recording.write(file)?)),
            None => Ok(()),
        }
    }

    /// The same for a run that is not complete yet: the trace is written as its events are.
    ///
    /// # Errors
    /// If the run cannot be drawn, or a file cannot be written.
    pub(crate) fn write_log(&self, header: Header, log: &Log) -> Result<(), Refusal> {
        if let Some(picture) = &self.picture {
            let events: Vec<Event> = log.iter().collect();
            picture.write(&space_time(&header, &events, &self.looks)?)?;
        }
        match &self.trace {
            Some(trace) => trace.write(|file| Ok(write(file, &header, log.iter())?)),
            None => Ok(()),
        }
    }
}
