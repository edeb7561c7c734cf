//! The daemon on this machine, for verbs that ask it something, and a line to it for the one that holds a lock.
//!
//! What must not wait does not: a verb that runs a command looks for words between other events. Deadlines are told by the
//! daemon's own clock, which goes on while the machine is suspended.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_client::protocol::{self, Ask, LONGEST_ASK, LONGEST_TOLD, Told, VERSION};
use doorway_client::{Client, Error, Question, clock, place};
use doorway_core::{Refusal, Ticks};
use rustix::net::{RecvFlags, recv};

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

    /// What it answers to a question that anybody may ask. Those who can open the administrators' socket are answered there if it has no
    /// place for another user.
    ///
    /// # Errors
    /// As for [`Where::ask`].
    pub(crate) fn look<T>(&self, question: impl Fn(&Client) -> Question<T>) -> Result<T, Refusal> {
        let path = self.path()?;
        let admin = place::admin_socket_of(&path);
        match answer_at(&path, &question) {
            Err(Error::TurnedAway(_)) if admin != path && can_open(&admin) => ask(&admin, question),
            answered => answered.map_err(|error| in_words(&path, error)),
        }
    }

    /// What it answers at its administrators' socket, which stands beside the other one.
    ///
    /// # Errors
    /// If this user may not open that socket, and as for [`Where::ask`].
    pub(crate) fn administer<T>(&self, question: impl FnOnce(&Client) -> Question<T>) -> Result<T, Refusal> {
        let users = self.path()?;
        let path = place::admin_socket_of(&users);
        if may_not_open(&path) { Err(refused(&users, &path, question)) } else { ask(&path, question) }
    }

    /// Whether this user may administer; if not, it asks for this nevertheless, so that the daemon writes it down.
    ///
    /// # Errors
    /// If it may not, or there is no daemon.
    pub(crate) fn check_administers<T>(
        &self,
        question: impl FnOnce(&Client) -> Question<T>,
    ) -> Result<(), Refusal> {
        let users = self.path()?;
        let path = place::admin_socket_of(&users);
        if may_not_open(&path) { Err(refused(&users, &path, question)) } else { Ok(()) }
    }
}

/// What is said to somebody who may not administer. It asks at the users' socket, where the daemon refuses it and writes down who asked for
/// what, if it can open that one at least.
fn refused<T>(users: &Path, admin: &Path, question: impl FnOnce(&Client) -> Question<T>) -> Refusal {
    if can_open(users) {
        let _ = answer_at(users, question);
    }
    not_allowed(admin)
}

/// Whether the system keeps this user from a socket, by the mode of its file or of a folder.
fn may_not_open(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK) == Err(rustix::io::Errno::ACCESS)
}

fn can_open(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// What is said to somebody who may use locks and may not administer them.
fn not_allowed(path: &Path) -> Refusal {
    let owner = path.metadata().map(|found| found.uid()).ok().filter(|uid| *uid != 0);
    let who = owner.map_or_else(|| "root".to_owned(), |uid| format!("root and the user of uid {uid}"));
    Refusal::new(format!(
        "only administrators may do this: {} can be opened by {who}, so run it with sudo",
        path.display()
    ))
}

/// What the daemon at a socket answers to a question.
///
/// # Errors
/// If there is none, or it does not answer or says why it cannot.
pub(crate) fn ask<T>(path: &Path, question: impl FnOnce(&Client) -> Question<T>) -> Result<T, Refusal> {
    answer_at(path, question).map_err(|error| in_words(path, error))
}

fn answer_at<T>(path: &Path, question: impl FnOnce(&Client) -> Question<T>) -> Result<T, Error> {
    question(&Client::open(path)?).answer_blocking()
}

fn in_words(path: &Path, error: Error) -> Refusal {
    match error {
        Error::Unreachable(why) => nobody_at(&why),
        Error::Silent => silent(path),
        other => Refusal::new(other.to_string()),
    }
}

fn nobody_at(where_and_why: &str) -> Refusal {
    Refusal::new(format!("no daemon listens at {where_and_why}; `doorway node --dev` starts one"))
}

/// What the system refused to this process, and what to do about it where that is known.
pub(crate) fn refused_by_system(error: &io::Error) -> Refusal {
    if is_out_of_files(error) {
        return Refusal::new(
            "this process may open too few files: raise its limit, as with `ulimit -n 64`, or start it with fewer open",
        );
    }
    Refusal::new(error.to_string())
}

fn is_out_of_files(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

/// What is said of a daemon that is there and lets nobody in, or says nothing.
pub(crate) fn silent(path: &Path) -> Refusal {
    Refusal::new(format!("the daemon at {} does not answer: is it stopped?", path.display()))
}

/// A connection to a daemon, whose first word is its welcome. Nobody ever waits for it.
pub(crate) struct Line {
    stream: UnixStream,
    path: PathBuf,
    received: Vec<u8>,
    /// When the connection was asked for: what the daemon says of the time is of no earlier moment.
    since: Ticks,
    is_welcome: bool,
    is_turned_away: bool,
    /// The welcome, while it is not certain that the daemon's clock is this program's.
    held: Option<Told>,
}

impl Line {
    /// Connects to a daemon, if it lets anybody in at this moment.
    ///
    /// # Errors
    /// If nobody listens there.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, Refusal> {
        let since = clock::now();
        let (path, received) = (path.to_owned(), Vec::new());
        match doorway_client::connect(&path) {
            Ok(stream) => Ok(Some(Self {
                stream,
                path,
                received,
                since,
                is_welcome: false,
                is_turned_away: false,
                held: None,
            })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(place::closed_socket(&path)),
            Err(error) if is_out_of_files(&error) => Err(refused_by_system(&error)),
            Err(error) => Err(nobody_at(&format!("{}: {error}", path.display()))),
        }
    }

    /// Whether the daemon has said its welcome; before that it is asked nothing.
    pub(crate) fn is_welcome(&self) -> bool {
        self.is_welcome
    }

    /// Whether the daemon has said, instead of a welcome, why it does not serve this client now.
    pub(crate) fn is_turned_away(&self) -> bool {
        self.is_turned_away
    }

    /// The welcome, once it is certain that the daemon's clock is this program's; it is asked again if it was heard too late to tell.
    ///
    /// # Errors
    /// If no daemon of this version, or none with the clock of this program, is at the other end, or it lets nobody else in.
    fn check_first(&mut self, told: Told) -> Result<Option<Told>, Refusal> {
        let heard = clock::now();
        let (time, name) = match (&told, &self.held) {
            (Told::Welcome { version: VERSION, now, clock, .. }, None) => (*now, clock.as_deref()),
            (Told::Clock { now }, Some(_)) => (*now, None),
            _ => return self.refuse_first(&told).map(|()| None),
        };
        let useless = |why| format!("the daemon at {} cannot be used: {why}", self.path.display());
        clock::check_same(time, self.since, heard).map_err(|why| Refusal::new(useless(why)))?;
        self.is_welcome = clock::is_certain(name, self.since, heard);
        let welcome = self.held.take().unwrap_or(told);
        if self.is_welcome {
            return Ok(Some(welcome));
        }
        self.held = Some(welcome);
        self.since = clock::now();
        self.say(&Ask::Clock).map(|()| None)
    }

    fn refuse_first(&self, told: &Told) -> Result<(), Refusal> {
        match told {
            Told::Goodbye { sentence } => Err(Refusal::new(format!(
                "the daemon at {} turned this client away: {sentence}",
                self.path.display()
            ))),
            Told::Welcome { version, .. } if *version != VERSION => Err(Refusal::new(format!(
                "the daemon at {} speaks version {version} of the protocol and this program {VERSION}: use the same release of both",
                self.path.display()
            ))),
            _ => Err(self.nonsense()),
        }
    }

    /// # Errors
    /// If the daemon is gone, or has left more unread than anybody says.
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
    /// If it is none of the protocol, or the first and no welcome of a daemon that can be used.
    pub(crate) fn next(&mut self) -> Result<Option<Told>, Refusal> {
        let Some(head) = self.received.first_chunk::<4>() else { return Ok(None) };
        let length = protocol::length(*head, LONGEST_TOLD).map_err(|error| self.broken(&error))?;
        let Some(body) = self.received.get(4..4 + length) else { return Ok(None) };
        let told = protocol::read(body).map_err(|error| self.broken(&error))?;
        self.received.drain(..4 + length);
        self.is_turned_away |= !self.is_welcome && matches!(told, Told::Goodbye { .. });
        match told {
            told if !self.is_welcome => match self.check_first(told)? {
                Some(welcome) => Ok(Some(welcome)),
                None => self.next(),
            },
            // An answer that is late.
            Told::Clock { .. } => self.next(),
            told => Ok(Some(told)),
        }
    }

    /// What is said when nothing more can come.
    pub(crate) fn gone(&self) -> Refusal {
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
