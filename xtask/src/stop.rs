//! Why a chore stopped, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// Why a chore stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A check failed: exit 1.
    Failed(String),
    /// Bad usage: exit 2.
    Usage(String),
}

impl Stop {
    /// The exit code.
    pub fn code(&self) -> ExitCode {
        match self {
            Stop::Failed(_) => ExitCode::from(1),
            Stop::Usage(_) => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Failed(sentence) | Stop::Usage(sentence) => f.write_str(sentence),
        }
    }
}
