//! The errors of the client library, each with a message of one sentence.

use std::fmt;
use std::io;

use doorway_core::{Refusal, SectionName, Ticks};
use doorway_protocol::{Loss, Reason, VERSION};

use crate::clock;

/// Why a request, a question or a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no daemon at the socket, or it accepts no connections.
    Unreachable(String),
    /// This user may not use the daemon's socket.
    Forbidden(Refusal),
    /// The system refuses this process a descriptor or a thread. That says nothing about the daemon.
    System(Refusal),
    /// The daemon refuses to serve this client, and says why.
    TurnedAway(String),
    /// The connection was lost before the daemon answered.
    Gone,
    /// The daemon does not answer.
    Silent,
    /// This client cannot use the daemon that answers.
    Incompatible(Incompatible),
    /// The leases of this cluster are too short for the holder to stop before its deadline.
    ShortLease {
        /// The least time to a deadline while the cluster is healthy.
        spare: Ticks,
    },
    /// The request is invalid.
    Bad(Refusal),
    /// The daemon refused a request for sections.
    Refused {
        /// The sections that were requested.
        names: Vec<SectionName>,
        /// Why not.
        why: Reason,
    },
    /// The sections were granted, and lost before the program could enter.
    Lost(Lost),
    /// The daemon could not answer the question or carry out the command, and says why.
    Failed(String),
}

impl Error {
    /// Whether the request timed out waiting for its sections.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Error::Refused { why: Reason::TimedOut, .. })
    }
}

/// The system's refusal as a message, with a remedy where one is known.
#[must_use]
pub fn refused_by_system(error: &io::Error) -> Refusal {
    if is_out_of_files(error) {
        return Refusal::new(
            "this process has reached its limit of open files: raise it, as with `ulimit -n 64`, or start it with fewer open files",
        );
    }
    Refusal::new(error.to_string())
}

/// Whether this process has reached its limit of open files.
#[must_use]
pub fn is_out_of_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreachable(why) => write!(f, "cannot reach the Doorway daemon: {why}"),
            Error::Forbidden(why) | Error::System(why) => write!(f, "{why}"),
            Error::TurnedAway(why) => write!(f, "the Doorway daemon turned this client away: {why}"),
            Error::Gone => {
                f.write_str("the connection to the Doorway daemon was lost before it answered: try again")
            }
            Error::Silent => {
                f.write_str("the Doorway daemon does not answer: check whether its process is stopped")
            }
            Error::Incompatible(why) => {
                write!(f, "this client cannot use the daemon that answers: {why}")
            }
            Error::ShortLease { spare } => write!(
                f,
                "the leases of this cluster are too short: after a late heartbeat only {} ms are left until a deadline",
                clock::span(*spare).as_millis()
            ),
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

/// Why this client cannot use the daemon that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incompatible {
    /// It speaks this other version of the protocol.
    Version(u8),
    /// Its clock is not the clock of this process.
    Clock(Refusal),
    /// Its first message is not a welcome.
    NoWelcome,
    /// It sent a second welcome.
    SecondWelcome,
    /// Its bytes are not a message.
    Bytes(String),
    /// It granted a request that does not wait, or sections other than those requested.
    Grant,
    /// It freed a request that it had not granted.
    Freed,
    /// It refused a request that it had granted.
    Refused,
    /// Its answer does not fit the question.
    Answer,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incompatible::Version(version) => {
                write!(f, "it speaks version {version} of the protocol, this client version {VERSION}")
            }
            Incompatible::Clock(why) => why.fmt(f),
            Incompatible::NoWelcome => f.write_str("its first message is not a welcome"),
            Incompatible::SecondWelcome => f.write_str("it sent a second welcome"),
            Incompatible::Bytes(why) => f.write_str(why),
            Incompatible::Grant => f.write_str("it granted locks that were not requested"),
            Incompatible::Freed => f.write_str("it freed a request that it had not granted"),
            Incompatible::Refused => f.write_str("it refused a request that it had granted"),
            Incompatible::Answer => f.write_str("its answer does not fit the question"),
        }
    }
}

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

/// Why a holder lost its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The daemon told it to stop.
    Notified(Loss),
    /// Its deadline passed and the daemon did not extend it.
    Deadline,
    /// The connection to the daemon was lost.
    Daemon,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Lost::Notified(loss) => loss.sentence(),
            Lost::Deadline => "its deadline passed and the daemon did not extend it",
            Lost::Daemon => "the connection to the daemon was lost",
        };
        write!(f, "the lock is lost: {why}")
    }
}

impl std::error::Error for Lost {}
