//! How the command ends.

use std::process::ExitCode;

/// The exit status of every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked holds.
    Holds,
    /// It does not: a violated property, a stall, an expectation of a script that did not come true.
    Fails,
    /// The input was bad.
    BadUsage,
    /// A limit was reached before it could be decided.
    Undecided,
    /// As a command that was run has ended, or what shells say of one that could not be.
    Command(u8),
}

impl Exit {
    /// Its number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Fails => 1,
            Exit::BadUsage => 2,
            Exit::Undecided => 3,
            Exit::Command(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
