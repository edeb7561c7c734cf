//! The daemon on this machine, for verbs that ask it something, and a line to it for the one that holds a lock.
//!
//! What must not wait does not: a verb that runs a command looks for words between other events. Deadlines are told by the
//! daemon's own clock, which goes on while the machine is suspended.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_client::protocol::{self, Ask, LONGEST_ASK, LONGEST_TOLD, Told, VERSION};
use doorway_client::{Client, Error, Question, clock, place};
use doorway_core::{Refusal, Ticks};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

/// How long a daemon may take to answer.
const PATIENCE: Ticks = Ticks(5_000_000);

/// Which daemon.
#[derive(clap::Args)]
pub(crate) struct Where {
    /// The daemon's socket, if not the one that DOORWAY_SOCKET names or that is found
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The daemon of this node, if several run on this machine
    #[arg(long, value_name = "NAME", conflicts_with = "socket")]
    node: Option<String>,
}

impl Where {
    /// Where it listens.
    ///
    /// # Errors
    /// If none is found.
    pub(crate) fn path(&self) -> Result<PathBuf, Refusal> {
        place::find(self.socket.as_deref(), self.node.as_deref())
    }

    /// What it answers to a question.
    ///
    /// # Errors
    /// If there is no daemon, or it does not answer or says why it cannot.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Client) -> Question<T>) -> Result<T, Refusal> {
        ask(&self.path()?, question)
    }
}

/// What the daemon at a socket answers to a question.
///
/// # Errors
/// If there is none, or it does not answer or says why it cannot.
pub(crate) fn ask<T>(path: &Path, question: impl FnOnce(&Client) -> Question<T>) -> Result<T, Refusal> {
    let sentence = |error: Error| match error {
        Error::Unreachable(why) => nobody_at(&why),
        other => Refusal::new(other.to_string()),
    };
    question(&Client::open(path).map_err(sentence)?).answer_blocking().map_err(sentence)
}

fn nobody_at(where_and_why: &str) -> Refusal {
    Refusal::new(format!("no daemon listens at {where_and_why}; `doorway node --dev` starts one"))
}

/// A connection to a daemon that has said its welcome.
pub(crate) struct Line {
    stream: UnixStream,
    path: PathBuf,
    received: Vec<u8>,
}

impl Line {
    /// # Errors
    /// If nobody listens there, or it is no daemon, or of another version.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        Self::open_by(path, clock::now() + PATIENCE)
    }

    /// The same, where the daemon must have answered by this moment, or in the usual time if that is shorter.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn open_by(path: &Path, by: Ticks) -> Result<Self, Refusal> {
        let since = clock::now();
        let stream =
            UnixStream::connect(path).map_err(|error| nobody_at(&format!("{}: {error}", path.display())))?;
        Self::over(stream, since, path, by.min(clock::now() + PATIENCE))
    }

    /// # Errors
    /// If no daemon of this version, or none with the clock of this program, is at the other end.
    fn over(stream: UnixStream, since: Ticks, path: &Path, by: Ticks) -> Result<Self, Refusal> {
        let mut line = Self { stream, path: path.to_owned(), received: Vec::new() };
        match line.hear(by)? {
            Told::Welcome { version: VERSION, now, .. } => {
                let same = clock::check_same(now, since, clock::now());
                let useless = |why| format!("the daemon at {} cannot be used: {why}", line.path.display());
                same.map_err(|why| Refusal::new(useless(why)))?;
                Ok(line)
            }
            Told::Welcome { version, .. } => Err(Refusal::new(format!(
                "the daemon at {} speaks version {version} of the protocol and this program {VERSION}: use the same release of both",
                line.path.display()
            ))),
            _ => Err(line.nonsense()),
        }
    }

    /// # Errors
    /// If the daemon is gone.
    pub(crate) fn say(&mut self, ask: &Ask) -> Result<(), Refusal> {
        let sent = protocol::frame(ask, LONGEST_ASK).and_then(|frame| self.stream.write_all(&frame));
        sent.map_err(|error| self.broken(&error))
    }

    /// Takes what has arrived, without waiting; tells whether more can come.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn take_in(&mut self) -> Result<bool, Refusal> {
        let mut bytes = [0; 16 << 10];
        loop {
            match recv(&self.stream, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Ok(false),
                Ok((count, _)) => self.received.extend_from_slice(&bytes[..count]),
                Err(rustix::io::Errno::AGAIN) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.broken(&error.into())),
            }
        }
    }

    /// The next word that has arrived whole.
    ///
    /// # Errors
    /// If it is none of the protocol.
    pub(crate) fn next(&mut self) -> Result<Option<Told>, Refusal> {
        let Some(head) = self.received.first_chunk::<4>() else { return Ok(None) };
        let length = protocol::length(*head, LONGEST_TOLD).map_err(|error| self.broken(&error))?;
        let Some(body) = self.received.get(4..4 + length) else { return Ok(None) };
        let told = protocol::read(body).map_err(|error| self.broken(&error))?;
        self.received.drain(..4 + length);
        Ok(Some(told))
    }

    /// The next word, waited for.
    ///
    /// # Errors
    /// If none comes before this moment.
    fn hear(&mut self, by: Ticks) -> Result<Told, Refusal> {
        loop {
            if let Some(told) = self.next()? {
                return Ok(told);
            }
            let left = clock::span(Ticks(by.0.saturating_sub(clock::now().0)));
            let left = Timespec::try_from(left).map_err(|error| Refusal::new(error.to_string()))?;
            let mut wanted = [PollFd::new(&self.stream, PollFlags::IN)];
            match poll(&mut wanted, Some(&left)) {
                Ok(0) => {
                    return Err(Refusal::new(format!(
                        "the daemon at {} does not answer: is it stopped?",
                        self.path.display()
                    )));
                }
                Ok(_) if !self.take_in()? && self.received.is_empty() => return Err(self.gone()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.broken(&error.into())),
            }
        }
    }

    fn gone(&self) -> Refusal {
        Refusal::new(format!("the daemon at {} has ended", self.path.display()))
    }

    fn nonsense(&self) -> Refusal {
        Refusal::new(format!("what listens at {} is no daemon of Doorway", self.path.display()))
    }

    fn broken(&self, error: &io::Error) -> Refusal {
        Refusal::new(format!("the connection to the daemon at {} broke: {error}", self.path.display()))
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
