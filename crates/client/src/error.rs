//! What can go wrong between a program and its lock, each in one sentence.

use std::fmt;

use doorway_core::{Refusal, SectionName};
use doorway_node::{Loss, Reason};

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no daemon where it was looked for, or it lets nobody in.
    Unreachable(String),
    /// This user may not use the daemon's socket.
    Forbidden(Refusal),
    /// The daemon is there and does not serve this client: it says why.
    TurnedAway(String),
    /// The daemon went away before it had answered.
    Gone,
    /// The daemon is there and does not answer.
    Silent,
    /// What came from the daemon cannot be from a daemon that this client understands.
    Strange(String),
    /// What was asked for cannot be asked for.
    Bad(Refusal),
    /// Sections are not entered.
    Refused {
        /// Which sections were asked for.
        names: Vec<SectionName>,
        /// Why not.
        why: Reason,
    },
    /// The sections were entered, and lost before the program could do anything.
    Lost(Lost),
    /// The daemon says why it did not do what it was told.
    Failed(String),
}

impl Error {
    /// Whether the only trouble is that the sections were not free in time.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Error::Refused { why: Reason::TimedOut, .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreachable(why) => write!(f, "the Doorway daemon cannot be reached: {why}"),
            Error::Forbidden(why) => write!(f, "{why}"),
            Error::TurnedAway(why) => write!(f, "the Doorway daemon turned this client away: {why}"),
            Error::Gone => f.write_str("the Doorway daemon went away before it answered: ask again"),
            Error::Silent => {
                f.write_str("the Doorway daemon does not answer: look whether its process is stopped")
            }
            Error::Strange(why) => {
                write!(f, "what answers is no Doorway daemon that this client understands: {why}")
            }
            Error::Bad(refusal) => refusal.fmt(f),
            Error::Refused { names, why } => {
                let names: Vec<&str> = names.iter().map(SectionName::as_str).collect();
                write!(f, "{} cannot be entered: {}", names.join(", "), why.sentence())
            }
            Error::Lost(lost) => lost.fmt(f),
            Error::Failed(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Bad(refusal)
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Self {
        Error::Lost(lost)
    }
}

/// Why whoever was inside is not any more, although it did not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The daemon said so.
    Told(Loss),
    /// The deadline passed, and the daemon had not moved it.
    Deadline,
    /// The daemon went away.
    Daemon,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Lost::Told(loss) => loss.sentence(),
            Lost::Deadline => "its deadline passed and the daemon did not extend it",
            Lost::Daemon => "the daemon went away",
        };
        write!(f, "the lock is lost: {why}")
    }
}

impl std::error::Error for Lost {}
