//! What can go wrong between a program and its lock, each in one sentence.

use std::fmt;
use std::io;

use doorway_core::{Refusal, SectionName, Ticks};
use doorway_protocol::{Loss, Reason, VERSION};

use crate::clock;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no daemon where it was looked for, or it lets nobody in.
    Unreachable(String),
    /// This user may not use the daemon's socket.
    Forbidden(Refusal),
    /// The system refuses this process what a client needs, a descriptor or a thread: that says nothing about the daemon.
    System(Refusal),
    /// The daemon is there and does not serve this client: it says why.
    TurnedAway(String),
    /// The daemon went away before it had answered.
    Gone,
    /// The daemon is there and does not answer.
    Silent,
    /// What answers is no daemon that this client understands.
    Strange(Strange),
    /// The deadlines of this daemon may be too near for the holder to stop in time.
    ShortLease {
        /// How near a deadline may be although all is well.
        spare: Ticks,
    },
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

/// What the system refused to this process, and what to do about it where that is known.
#[must_use]
pub fn refused_by_system(error: &io::Error) -> Refusal {
    if is_out_of_files(error) {
        return Refusal::new(
            "this process may open too few files: raise its limit, as with `ulimit -n 64`, or start it with fewer open",
        );
    }
    Refusal::new(error.to_string())
}

/// Whether this process may not open another file.
#[must_use]
pub fn is_out_of_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreachable(why) => write!(f, "the Doorway daemon cannot be reached: {why}"),
            Error::Forbidden(why) | Error::System(why) => write!(f, "{why}"),
            Error::TurnedAway(why) => write!(f, "the Doorway daemon turned this client away: {why}"),
            Error::Gone => f.write_str("the Doorway daemon went away before it answered: ask again"),
            Error::Silent => {
                f.write_str("the Doorway daemon does not answer: look whether its process is stopped")
            }
            Error::Strange(why) => {
                write!(f, "what answers is no Doorway daemon that this client understands: {why}")
            }
            Error::ShortLease { spare } => write!(
                f,
                "the leases of this cluster are too short: a late heartbeat leaves {} ms until a deadline",
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

/// Why what answers is no daemon that this client understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strange {
    /// It speaks another version of the protocol, this one.
    Version(u8),
    /// Its clock is not the clock of this process.
    Clock(Refusal),
    /// Its first message is no welcome.
    NoWelcome,
    /// It says welcome twice.
    SecondWelcome,
    /// Its bytes are no message.
    Bytes(String),
    /// It grants a request that does not wait, or other sections than the request named.
    Grant,
    /// It frees a request that it has not granted.
    Freed,
    /// It refuses a request that it has granted.
    Refused,
    /// It answers a question with the answer to another.
    Answer,
}

impl fmt::Display for Strange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strange::Version(version) => {
                write!(f, "it speaks version {version} and this client version {VERSION}")
            }
            Strange::Clock(why) => why.fmt(f),
            Strange::NoWelcome => f.write_str("it does not say welcome first"),
            Strange::SecondWelcome => f.write_str("it says welcome twice"),
            Strange::Bytes(why) => f.write_str(why),
            Strange::Grant => f.write_str("it grants what was not asked for"),
            Strange::Freed => f.write_str("it frees what it has not granted"),
            Strange::Refused => f.write_str("it refuses what it has granted"),
            Strange::Answer => f.write_str("its answer is to another question"),
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
