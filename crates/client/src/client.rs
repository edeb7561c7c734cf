//! A program's connection to the daemon on its machine.

use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{AdminCommand, BreakTarget, ClientMsg, Status};

use crate::clock;
use crate::connection;
use crate::error::{self, Error};
use crate::question::{self, PendingQuery};
use crate::request::Request;
use crate::session::{Dial, NodeIdentity};
use crate::sockets;
use crate::watchdog::WatchdogState;

/// The default timeout of a status question.
const QUESTION: Duration = Duration::from_secs(10);

/// The default timeout of a command.
const COMMAND: Duration = Duration::from_secs(60);

/// A connection to a daemon. Clones are the same client, which ends when the last clone and the last guard are dropped.
///
/// Locks are not reentrant: a client that holds a section cannot enter it again, not even from another task. Tasks of one program
/// that exclude each other need a client each.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// Closes the client when its last clone and its last guard are dropped.
pub(crate) struct Handle {
    pub(crate) shared: Arc<WatchdogState>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Client {
    /// Connects to the daemon at a Unix socket and waits for its welcome, a few seconds at most. If the connection is lost,
    /// the next request connects again.
    ///
    /// # Errors
    /// If there is no daemon at that socket, or it does not answer.
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, Error> {
        let client = Self::open(path)?;
        client.welcome_blocking()?;
        Ok(client)
    }

    /// Connects to the daemon at a Unix socket and does not wait for its welcome: see [`Client::welcome`].
    ///
    /// # Errors
    /// If there is no daemon at that socket, if this user may [not use it](Error::Forbidden), if it accepts no connections and so is
    /// [silent](Error::Silent), or if the [system](Error::System) has no descriptor or no thread for a client.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let unreachable = |error: io::Error, path: &Path| match error.kind() {
            io::ErrorKind::WouldBlock => Error::Silent,
            io::ErrorKind::PermissionDenied => Error::Forbidden(sockets::closed_socket(path)),
            _ if error::is_out_of_files(&error) => Error::System(error::refused_by_system(&error)),
            _ => Error::Unreachable(format!("{}: {error}", path.display())),
        };
        let since = clock::now();
        let socket = connection::connect(&path).map_err(|error| unreachable(error, &path))?;
        let dial = move || connection::connect(&path).map_err(|error| Error::Unreachable(error.to_string()));
        Self::start(socket, since, Some(Box::new(dial)))
    }

    /// A client over an existing connection, such as one to a daemon in the same process. It does not wait for the daemon's
    /// welcome, and it cannot reconnect.
    ///
    /// # Errors
    /// If the system has no thread for a client.
    pub fn over(socket: UnixStream) -> Result<Self, Error> {
        // The age of the connection is unknown.
        Self::start(socket, Ticks(0), None)
    }

    /// A client that connects by `connect`, now and after each loss of its connection. `connect` must not block.
    ///
    /// # Errors
    /// If it fails now.
    pub fn through(
        mut connect: impl FnMut() -> io::Result<UnixStream> + Send + 'static,
    ) -> Result<Self, Error> {
        let since = clock::now();
        let mut dial = move || connect().map_err(|error| Error::Unreachable(error.to_string()));
        let socket = dial()?;
        Self::start(socket, since, Some(Box::new(dial)))
    }

    fn start(socket: UnixStream, since: Ticks, dial: Option<Dial>) -> Result<Self, Error> {
        let refused = |error: io::Error| Error::System(error::refused_by_system(&error));
        let shared = WatchdogState::start(socket, since, dial).map_err(refused)?;
        Ok(Self { handle: Arc::new(Handle { shared }) })
    }

    /// Waits for the daemon's welcome.
    ///
    /// # Errors
    /// If none comes, or this client cannot use the daemon.
    pub async fn welcome(&self) -> Result<NodeIdentity, Error> {
        self.handle.shared.greeted.until(Clone::clone).await
    }

    /// Blocks this thread until the daemon's welcome is here.
    ///
    /// # Errors
    /// If none comes, or this client cannot use the daemon.
    pub fn welcome_blocking(&self) -> Result<NodeIdentity, Error> {
        self.handle.shared.greeted.wait(None, Clone::clone).unwrap_or(Err(Error::Silent))
    }

    /// Labels this client in a few words, for `doorway status`.
    pub fn introduce(&self, label: &str) {
        // The daemon does not know a forked child of this process: there is nothing to label.
        let _ = self.handle.shared.with_session(|session| session.introduce(label));
    }

    /// A request for sections, all of them or none.
    pub fn lock<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Request {
        Request::new(&self.handle, names)
    }

    /// A request for one section.
    pub fn section(&self, name: impl AsRef<str>) -> Request {
        self.lock([name])
    }

    /// The status of this node, or of all nodes; of one section, or of all.
    pub fn status(&self, section: Option<&str>, everywhere: bool) -> PendingQuery<Status> {
        let section = section.map(SectionName::new).transpose();
        let ask = section.map(|section| ClientMsg::Status { number: 0, section, everywhere });
        PendingQuery::new(&self.handle, ask, QUESTION, question::status)
    }

    /// Breaks a lock: tells its holder, on any node, to stop, and answers with the result. With a fence, as [`Client::status`] reports
    /// it, only the holder with that fence is told, none that came later. A daemon accepts this only at its
    /// [administrators' socket](crate::sockets::admin_socket_of).
    pub fn break_section(&self, name: impl AsRef<str>, fence: Option<Fence>) -> PendingQuery<String> {
        let section = SectionName::new(name.as_ref());
        let ask =
            section.map(|section| ClientMsg::Break { number: 0, target: BreakTarget { section, fence } });
        PendingQuery::new(&self.handle, ask, COMMAND, question::sentence)
    }

    /// A command of the operator, and its result. A daemon accepts it only at its
    /// [administrators' socket](crate::sockets::admin_socket_of).
    pub fn administer(&self, order: AdminCommand) -> PendingQuery<String> {
        let ask = Ok(ClientMsg::Administer { number: 0, order });
        PendingQuery::new(&self.handle, ask, COMMAND, question::sentence)
    }

    /// The socket, if there is a connection now. A process that inherits it keeps the client alive: the daemon releases its
    /// sections only when the last copy is closed.
    #[must_use]
    pub fn socket(&self) -> Option<Arc<UnixStream>> {
        self.handle.shared.socket()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("is_connected", &self.socket().is_some()).finish()
    }
}
