//! A program's connection to the daemon on its machine.

use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{Ask, Order, Status, Stay};

use crate::clock;
use crate::error::{self, Error};
use crate::keeper::Shared;
use crate::link;
use crate::place;
use crate::question::{self, Question};
use crate::request::Request;
use crate::session::{Dial, Welcome};

/// How long a question about how things stand waits for its answer, unless told otherwise.
const QUESTION: Duration = Duration::from_secs(10);

/// How long a command waits for its answer, unless told otherwise.
const COMMAND: Duration = Duration::from_secs(60);

/// A connection to a daemon. Copies of it are the same client, which ends with the last of them and of their guards.
///
/// A client that holds a section cannot enter it once more, not even from another task. Tasks of one program that exclude each
/// other need a client each.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// What ends the client when nobody has it any more.
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Client {
    /// Connects to the daemon at a Unix socket and waits for its welcome, a few seconds at most. Should that daemon go away,
    /// the next request tries it there again.
    ///
    /// # Errors
    /// If there is no daemon there, or none that answers.
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, Error> {
        let client = Self::open(path)?;
        client.welcome_blocking()?;
        Ok(client)
    }

    /// Connects to the daemon at a Unix socket and does not wait for its welcome: see [`Client::welcome`].
    ///
    /// # Errors
    /// If there is no daemon there, or this user may [not use it](Error::Forbidden), or it lets nobody in: then it is [silent](Error::Silent);
    /// or if the [system](Error::System) has no descriptor or no thread for a client.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let unreachable = |error: io::Error, path: &Path| match error.kind() {
            io::ErrorKind::WouldBlock => Error::Silent,
            io::ErrorKind::PermissionDenied => Error::Forbidden(place::closed_socket(path)),
            _ if error::is_out_of_files(&error) => Error::System(error::refused_by_system(&error)),
            _ => Error::Unreachable(format!("{}: {error}", path.display())),
        };
        let since = clock::now();
        let socket = link::connect(&path).map_err(|error| unreachable(error, &path))?;
        let dial = move || link::connect(&path).map_err(|error| Error::Unreachable(error.to_string()));
        Self::start(socket, since, Some(Box::new(dial)))
    }

    /// A client over a connection that is there already, such as one to a daemon in the same process. It does not wait for the
    /// daemon's welcome, and it cannot connect anew.
    ///
    /// # Errors
    /// If the system has no room for another thread.
    pub fn over(socket: UnixStream) -> Result<Self, Error> {
        // How old it is nobody knows.
        Self::start(socket, Ticks(0), None)
    }

    /// A client that gets its connections in this way, now and whenever one was lost. It must not wait for anybody.
    ///
    /// # Errors
    /// If there is none now.
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
        let shared = Shared::start(socket, since, dial).map_err(refused)?;
        Ok(Self { handle: Arc::new(Handle { shared }) })
    }

    /// Waits until the daemon has said who it is.
    ///
    /// # Errors
    /// If it does not, or is none.
    pub async fn welcome(&self) -> Result<Welcome, Error> {
        self.handle.shared.greeted.until(Clone::clone).await
    }

    /// Blocks this thread until the daemon has said who it is.
    ///
    /// # Errors
    /// If it does not, or is none.
    pub fn welcome_blocking(&self) -> Result<Welcome, Error> {
        self.handle.shared.greeted.wait(None, Clone::clone).unwrap_or(Err(Error::Silent))
    }

    /// Tells the daemon who this is, for those who look: a few words.
    pub fn introduce(&self, label: &str) {
        // A child that was forked from this process is nobody to the daemon.
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

    /// How things stand at this node, or everywhere; with one section, or with all.
    pub fn status(&self, section: Option<&str>, everywhere: bool) -> Question<Status> {
        let section = section.map(SectionName::new).transpose();
        let ask = section.map(|section| Ask::Status { number: 0, section, everywhere });
        Question::new(&self.handle, ask, QUESTION, question::status)
    }

    /// Puts whoever is inside a section out of it, at whatever node it is, and tells what came of it. With a fence, as
    /// [`Client::status`] tells it, only the one who has that fence: nobody who came later. A daemon does it only for clients of its
    /// [administrators' socket](crate::place::admin_socket_of).
    pub fn break_section(&self, name: impl AsRef<str>, fence: Option<Fence>) -> Question<String> {
        let section = SectionName::new(name.as_ref());
        let ask = section.map(|section| Ask::Break { number: 0, stay: Stay { section, fence } });
        Question::new(&self.handle, ask, COMMAND, question::sentence)
    }

    /// A command of the operator, and what came of it. A daemon obeys only clients of its
    /// [administrators' socket](crate::place::admin_socket_of).
    pub fn order(&self, order: Order) -> Question<String> {
        let ask = Ok(Ask::Administer { number: 0, order });
        Question::new(&self.handle, ask, COMMAND, question::sentence)
    }

    /// The socket, if there is a connection now. A process that inherits it keeps the client alive: what it is inside of is
    /// given back only when the last copy is closed.
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
