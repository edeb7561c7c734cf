//! The daemon on this machine: where it is, what it answers, and what is said if it cannot be used.
//!
//! All verbs speak to it through `doorway_client`: those that ask something by a `Client`, `doorway lock` by a `Session`.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use doorway_client::{
    Client, Error, Incompatible, PendingQuery, is_out_of_files, refused_by_system, sockets,
};
use doorway_core::Refusal;
use doorway_protocol::VERSION;

/// Which daemon.
#[derive(clap::Args)]
pub(crate) struct Where {
    /// The daemon's socket, instead of the one in DOORWAY_SOCKET or at the usual place
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
        sockets::find(self.socket.as_deref(), self.node.as_deref())
    }

    /// What it answers to a question.
    ///
    /// # Errors
    /// If there is no daemon, or it does not answer or says why it cannot.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Client) -> PendingQuery<T>) -> Result<T, Refusal> {
        ask(&self.path()?, question)
    }

    /// What it answers to a question that anybody may ask. Those who can open the administrators' socket are answered there if it has no
    /// place for another user.
    ///
    /// # Errors
    /// As for [`Where::ask`].
    pub(crate) fn look<T>(&self, question: impl Fn(&Client) -> PendingQuery<T>) -> Result<T, Refusal> {
        let path = self.path()?;
        let admin = sockets::admin_socket_of(&path);
        match answer_at(&path, &question) {
            Err(Error::TurnedAway(_)) if admin != path && can_open(&admin) => ask(&admin, question),
            answered => answered.map_err(|error| in_words(&path, error)),
        }
    }

    /// What it answers at its administrators' socket, which stands beside the other one.
    ///
    /// # Errors
    /// If this user may not open that socket, and as for [`Where::ask`].
    pub(crate) fn administer<T>(
        &self,
        question: impl FnOnce(&Client) -> PendingQuery<T>,
    ) -> Result<T, Refusal> {
        let users = self.path()?;
        let path = sockets::admin_socket_of(&users);
        if may_not_open(&path) { Err(refused(&users, &path, question)) } else { ask(&path, question) }
    }

    /// Whether this user may administer; if not, it asks for this nevertheless, so that the daemon writes it down.
    ///
    /// # Errors
    /// If it may not, or there is no daemon.
    pub(crate) fn check_administers<T>(
        &self,
        question: impl FnOnce(&Client) -> PendingQuery<T>,
    ) -> Result<(), Refusal> {
        let users = self.path()?;
        let path = sockets::admin_socket_of(&users);
        if may_not_open(&path) { Err(refused(&users, &path, question)) } else { Ok(()) }
    }
}

/// The answer to a user who may not administer. It asks at the users' socket, where the daemon refuses it and writes down who asked for
/// what, if it can open that one at least.
fn refused<T>(users: &Path, admin: &Path, question: impl FnOnce(&Client) -> PendingQuery<T>) -> Refusal {
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

/// The error for a user who may use locks, but not administer them.
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
pub(crate) fn ask<T>(path: &Path, question: impl FnOnce(&Client) -> PendingQuery<T>) -> Result<T, Refusal> {
    answer_at(path, question).map_err(|error| in_words(path, error))
}

fn answer_at<T>(path: &Path, question: impl FnOnce(&Client) -> PendingQuery<T>) -> Result<T, Error> {
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

/// The error about a daemon that does not answer.
pub(crate) fn silent(path: &Path) -> Refusal {
    Refusal::new(format!("the daemon at {} does not answer: is it stopped?", path.display()))
}

/// Connects to the daemon at a socket, without waiting. [`sentence`] puts its errors into words.
///
/// # Errors
/// If no daemon listens there, this user may not use it, or it refuses all clients without an answer.
pub(crate) fn dial(path: &Path) -> Result<UnixStream, Error> {
    doorway_client::connect(path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Error::Silent,
        io::ErrorKind::PermissionDenied => Error::Forbidden(sockets::closed_socket(path)),
        _ if is_out_of_files(&error) => Error::System(refused_by_system(&error)),
        _ => Error::Unreachable(format!("{}: {error}", path.display())),
    })
}

/// Why there is no connection to the daemon at a socket that could be used, for a verb that stays connected.
pub(crate) fn sentence(path: &Path, error: &Error) -> Refusal {
    let shown = path.display();
    Refusal::new(match error {
        Error::Gone => format!("the daemon at {shown} has ended"),
        Error::TurnedAway(why) => format!("the daemon at {shown} turned this client away: {why}"),
        Error::Incompatible(Incompatible::Version(version)) => format!(
            "the daemon at {shown} speaks version {version} of the protocol and this program {VERSION}: use the same release of both"
        ),
        Error::Incompatible(Incompatible::Clock(why)) => {
            format!("the daemon at {shown} cannot be used: {why}")
        }
        Error::Incompatible(Incompatible::NoWelcome | Incompatible::SecondWelcome) => {
            format!("what listens at {shown} is no daemon of Doorway")
        }
        Error::Incompatible(why) => format!("the connection to the daemon at {shown} broke: {why}"),
        other => return in_words(path, other.clone()),
    })
}
