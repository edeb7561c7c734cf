//! What a daemon writes down about itself, on stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::LevelFilter;

/// How a log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Look {
    /// Lines for people
    Text,
    /// An object a line, for programs
    Json,
}

/// What is logged, and all that is graver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Level {
    /// What must not happen
    Error,
    /// What somebody should look at
    Warn,
    /// What changes: members, connections
    Info,
    /// Every grant, release and loss of a lock: its fence, client, uid and why
    Debug,
    /// Every message, between nodes and with clients
    Trace,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        }
    }
}

/// Begins to log. A program that has begun already keeps its own way.
pub(super) fn begin(look: Look, level: Level) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(LevelFilter::from(level));
    let _ = match look {
        Look::Json => log.json().flatten_event(true).try_init(),
        Look::Text => log.with_ansi(io::stderr().is_terminal()).with_target(false).try_init(),
    };
}
