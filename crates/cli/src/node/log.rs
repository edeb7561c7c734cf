//! The log of a daemon, on stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::LevelFilter;

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// Lines of text for people
    Text,
    /// One JSON object per line, for programs
    Json,
}

/// The most detailed level that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Level {
    /// Failures and protocol violations
    Error,
    /// Conditions that an administrator should look at
    Warn,
    /// Changes of members and connections
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

/// Starts logging, unless the program has set up a logger already.
pub(super) fn begin(look: LogFormat, level: Level) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(LevelFilter::from(level));
    let _ = match look {
        LogFormat::Json => log.json().flatten_event(true).try_init(),
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).with_target(false).try_init(),
    };
}
