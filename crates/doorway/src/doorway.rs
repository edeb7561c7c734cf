//! Access to the lock: by a node within this program, or by the daemon of this machine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use doorway_client::{Client, Error, NodeIdentity, PendingQuery, Request, sockets};
use doorway_core::{Fence, Refusal};
use doorway_daemon::{Config, Daemon};
use doorway_node::Recipes;
use doorway_protocol::{AdminCommand, Status};

use crate::aside::aside;

/// A client of the lock.
///
/// Clones are the same client. A client that holds a section, or waits for it, cannot request it again: it is
/// refused at once. Tasks of one program that exclude each other take [`another`](Doorway::another) each.
#[derive(Clone)]
pub struct Doorway {
    client: Client,
    node: Node,
}

/// The node behind the client.
#[derive(Clone)]
enum Node {
    /// A node within this program.
    Own { daemon: Arc<Daemon>, patience: Duration },
    /// The daemon at a socket.
    Socket(PathBuf),
}

impl Doorway {
    /// Takes part in a cluster: runs a node within this program, on threads of its own, until this and all clones are dropped
    /// or [leave](Doorway::leave). Returns when the node listens; requests wait until it takes part.
    ///
    /// # Errors
    /// If the configuration, or a file that it names, is wrong, or the node cannot listen.
    pub async fn join(config: Config) -> Result<Self, Error> {
        aside(move || Self::join_blocking(config)).await.unwrap_or_else(no_thread)
    }

    /// Takes part in a cluster: see [`Doorway::join`]. Blocks this thread meanwhile.
    ///
    /// # Errors
    /// As for [`Doorway::join`].
    pub fn join_blocking(config: Config) -> Result<Self, Error> {
        let patience = config.stop_patience.0;
        let mut recipes = Recipes::default();
        doorway_algorithms::register(&mut recipes);
        let recipe = config.recipe(&recipes)?;
        let node = Node::Own { daemon: Arc::new(Daemon::start(config, recipe)?), patience };
        let client = node.client()?;
        client.welcome_blocking()?;
        Ok(Self { client, node })
    }

    /// Connects to the daemon of this machine: the one that the variable `DOORWAY_SOCKET` names, or the first in the default
    /// folders.
    ///
    /// # Errors
    /// If there is none, or it does not answer.
    pub async fn connect() -> Result<Self, Error> {
        Self::connect_to(sockets::find(None, None)?).await
    }

    /// Connects to the daemon of this machine: see [`Doorway::connect`]. Blocks this thread meanwhile.
    ///
    /// # Errors
    /// As for [`Doorway::connect`].
    pub fn connect_blocking() -> Result<Self, Error> {
        Self::connect_to_blocking(sockets::find(None, None)?)
    }

    /// Connects to the daemon at a socket.
    ///
    /// # Errors
    /// If there is none, or it does not answer.
    pub async fn connect_to(socket: impl AsRef<Path>) -> Result<Self, Error> {
        let node = Node::Socket(socket.as_ref().to_owned());
        let client = node.client()?;
        client.welcome().await?;
        Ok(Self { client, node })
    }

    /// Connects to the daemon at a socket. Blocks this thread meanwhile.
    ///
    /// # Errors
    /// If there is none, or it does not answer.
    pub fn connect_to_blocking(socket: impl AsRef<Path>) -> Result<Self, Error> {
        let node = Node::Socket(socket.as_ref().to_owned());
        let client = node.client()?;
        client.welcome_blocking()?;
        Ok(Self { client, node })
    }

    /// Another client of the same node, for a task that may have to wait for sections that this one holds.
    ///
    /// # Errors
    /// If the node has stopped.
    pub fn another(&self) -> Result<Self, Error> {
        Ok(Self { client: self.node.client()?, node: self.node.clone() })
    }

    /// A request for one section: await it, or [block](Request::enter_blocking) on it.
    pub fn lock(&self, name: impl AsRef<str>) -> Request {
        self.client.section(name)
    }

    /// A request for several sections, all of them or none, in any order: requests for several sections never deadlock with each
    /// other.
    pub fn lock_all<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Request {
        self.client.lock(names)
    }

    /// Labels this client in a few words, for `doorway status`.
    pub fn introduce(&self, label: &str) {
        self.client.introduce(label);
    }

    /// Which cluster and which node this is a client of.
    ///
    /// # Errors
    /// If the node has not told it.
    pub async fn welcome(&self) -> Result<NodeIdentity, Error> {
        self.client.welcome().await
    }

    /// The status of this node, or of all nodes; of one section, or of all.
    pub fn status(&self, section: Option<&str>, everywhere: bool) -> PendingQuery<Status> {
        self.client.status(section, everywhere)
    }

    /// Breaks a lock: tells its holder to stop, and answers with the result. With a fence, as [`Doorway::status`] reports it, only the
    /// holder with that fence is told, none that came later.
    ///
    /// For administrators: with a node of this program, or connected to a daemon's `NAME.admin.sock`. At `NAME.sock` it fails with a
    /// sentence that says so.
    pub fn break_section(&self, name: impl AsRef<str>, fence: Option<Fence>) -> PendingQuery<String> {
        self.client.break_section(name, fence)
    }

    /// A command of the operator, and its result. For administrators, as [`Doorway::break_section`].
    pub fn administer(&self, order: AdminCommand) -> PendingQuery<String> {
        self.client.administer(order)
    }

    /// If the node is within this program, it hands over, leaves the cluster and ends; holders have `stop_patience` of the
    /// configuration to stop. From a daemon the client only disconnects.
    pub async fn leave(self) {
        aside(move || self.leave_blocking()).await;
    }

    /// Leaves: see [`Doorway::leave`]. Blocks this thread meanwhile.
    pub fn leave_blocking(self) {
        if let Node::Own { daemon, patience } = self.node {
            daemon.stop(patience);
        }
    }
}

impl Node {
    fn client(&self) -> Result<Client, Error> {
        match self {
            Node::Own { daemon, .. } => {
                // A client does not keep its node alive: the node lives as long as a `Doorway`.
                let daemon = Arc::downgrade(daemon);
                Client::through(move || match daemon.upgrade() {
                    Some(daemon) if daemon.is_alive() => daemon.connect(),
                    _ => Err(std::io::Error::other("the node of this program has stopped")),
                })
            }
            Node::Socket(path) => Client::open(path),
        }
    }
}

impl fmt::Debug for Doorway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node: &dyn fmt::Debug = match &self.node {
            Node::Own { daemon, .. } => daemon,
            Node::Socket(path) => path,
        };
        f.debug_tuple("Doorway").field(node).finish()
    }
}

fn no_thread<R>() -> Result<R, Error> {
    Err(Error::Bad(Refusal::new("cannot start a thread")))
}
