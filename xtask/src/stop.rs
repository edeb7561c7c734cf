//! Why a chore stopped, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

/// Why a chore stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoreError {
    /// A check failed: exit 1.
    Failed(String),
    /// Bad usage: exit 2.
    Usage(String),
}

impl ChoreError {
    /// The exit code.
    pub fn code(&self) -> ExitCode {
        match self {
            ChoreError::Failed(_) => ExitCode::from(1),
            ChoreError::Usage(_) => ExitCode::from(2),
        }
    }
}

impl fmt::Display for ChoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoreError::Failed(sentence) | ChoreError::Usage(sentence) => f.write_str(sentence),
        }
    }
}
