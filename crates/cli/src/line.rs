//! A line to the daemon on this machine, for verbs that ask it something.
//!
//! What must not wait does not: a verb that runs a command looks for words between other events. Deadlines are told by the
//! daemon's own clock, which goes on while the machine is suspended.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_client::protocol::{self, Ask, LONGEST_ASK, LONGEST_TOLD, Order, Status, Told, VERSION};
use doorway_client::{clock, place};
use doorway_core::{Refusal, SectionName, Ticks};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

/// How long a daemon may take to answer.
const PATIENCE: Ticks = Ticks(5_000_000);

/// The number of the only question of a verb that has one.
const QUESTION: u32 = 1;

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

    /// A line to it.
    ///
    /// # Errors
    /// If there is none, or it does not answer.
    pub(crate) fn line(&self) -> Result<Line, Refusal> {
        Line::open(&self.path()?)
    }
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
        let stream = UnixStream::connect(path).map_err(|error| {
            Refusal::new(format!(
                "no daemon listens at {}: {error}; `doorway node --dev` starts one",
                path.display()
            ))
        })?;
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

    /// How things stand.
    ///
    /// # Errors
    /// If the daemon does not say.
    pub(crate) fn status(
        &mut self,
        section: Option<SectionName>,
        everywhere: bool,
    ) -> Result<Status, Refusal> {
        self.say(&Ask::Status { number: QUESTION, section, everywhere })?;
        let by = clock::now() + PATIENCE;
        loop {
            match self.hear(by)? {
                Told::Status { number: QUESTION, status } => return Ok(*status),
                Told::Failed { number: QUESTION, sentence } => return Err(Refusal::new(sentence)),
                _ => {}
            }
        }
    }

    /// What came of an operator's command, in one sentence.
    ///
    /// # Errors
    /// If it cannot be done, or nothing came of it within this time.
    pub(crate) fn command(&mut self, command: Command, patience: Ticks) -> Result<String, Refusal> {
        self.say(&match command {
            Command::Break(section) => Ask::Break { number: QUESTION, section },
            Command::Administer(order) => Ask::Administer { number: QUESTION, order },
        })?;
        let by = clock::now() + patience;
        loop {
            match self.hear(by)? {
                Told::Done { number: QUESTION, sentence } => return Ok(sentence),
                Told::Failed { number: QUESTION, sentence } => return Err(Refusal::new(sentence)),
                _ => {}
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

/// What an operator wants done.
pub(crate) enum Command {
    /// A section freed.
    Break(SectionName),
    /// Something about the cluster or the node.
    Administer(Order),
}
