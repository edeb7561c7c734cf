//! The way to the lock: by a node within this program, or by the daemon of this machine.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use doorway_client::{Client, Error, Question, Request, Welcome, place};
use doorway_core::{Fence, Refusal};
use doorway_daemon::{Config, Daemon};
use doorway_node::Recipes;
use doorway_protocol::{Order, Status};

use crate::aside::aside;

/// A way to the lock.
///
/// Copies of it are the same client. A client that is inside a section, or waits for it, cannot ask for it once more: it is
/// refused at once. Tasks of one program that exclude each other take [`another`](Doorway::another) each.
#[derive(Clone)]
pub struct Doorway {
    client: Client,
    node: Node,
}

/// What the client is a client of.
#[derive(Clone)]
enum Node {
    /// A node within this program.
    Own { daemon: Arc<Daemon>, patience: Duration },
    /// The daemon at a socket.
    Socket(PathBuf),
}

impl Doorway {
    /// Takes part in a cluster: runs a node within this program, on threads of its own, until this and all copies are dropped
    /// or [leave](Doorway::leave). Returns when the node listens; requests wait until it takes part.
    ///
    /// # Errors
    /// If the configuration, or a file that it names, is wrong, or nothing can be listened to.
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

    /// Connects to the daemon of this machine: the one that the variable `DOORWAY_SOCKET` names, or the first that is found
    /// where they usually are.
    ///
    /// # Errors
    /// If there is none, or none that answers.
    pub async fn connect() -> Result<Self, Error> {
        Self::connect_to(place::find(None, None)?).await
    }

    /// Connects to the daemon of this machine: see [`Doorway::connect`]. Blocks this thread meanwhile.
    ///
    /// # Errors
    /// As for [`Doorway::connect`].
    pub fn connect_blocking() -> Result<Self, Error> {
        Self::connect_to_blocking(place::find(None, None)?)
    }

    /// Connects to the daemon at a socket.
    ///
    /// # Errors
    /// If there is none, or none that answers.
    pub async fn connect_to(socket: impl AsRef<Path>) -> Result<Self, Error> {
        let node = Node::Socket(socket.as_ref().to_owned());
        let client = node.client()?;
        client.welcome().await?;
        Ok(Self { client, node })
    }

    /// Connects to the daemon at a socket. Blocks this thread meanwhile.
    ///
    /// # Errors
    /// If there is none, or none that answers.
    pub fn connect_to_blocking(socket: impl AsRef<Path>) -> Result<Self, Error> {
        let node = Node::Socket(socket.as_ref().to_owned());
        let client = node.client()?;
        client.welcome_blocking()?;
        Ok(Self { client, node })
    }

    /// Another client of the same node, for a task that may have to wait for what this one is inside of.
    ///
    /// # Errors
    /// If the node is not there any more.
    pub fn another(&self) -> Result<Self, Error> {
        Ok(Self { client: self.node.client()?, node: self.node.clone() })
    }

    /// A request for one section: await it, or [block](Request::enter_blocking) on it.
    pub fn lock(&self, name: impl AsRef<str>) -> Request {
        self.client.section(name)
    }

    /// A request for several sections, all of them or none. Whatever the order, two who ask for several never wait for each
    /// other for ever.
    pub fn lock_all<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Request {
        self.client.lock(names)
    }

    /// Tells those who look at the lock who this is: a few words.
    pub fn introduce(&self, label: &str) {
        self.client.introduce(label);
    }

    /// Which cluster and which node this is a client of.
    ///
    /// # Errors
    /// If the node has not said so.
    pub async fn welcome(&self) -> Result<Welcome, Error> {
        self.client.welcome().await
    }

    /// How things stand: at this node, or everywhere; with one section, or with all.
    pub fn status(&self, section: Option<&str>, everywhere: bool) -> Question<Status> {
        self.client.status(section, everywhere)
    }

    /// Puts whoever is inside a section out of it, and tells what came of it. With a fence, as [`Doorway::status`] tells it, only the
    /// one who has that fence: nobody who came later.
    ///
    /// For administrators: with a node of this program, or connected to a daemon's `NAME.admin.sock`. At `NAME.sock` it fails with a
    /// sentence that says so.
    pub fn break_section(&self, name: impl AsRef<str>, fence: Option<Fence>) -> Question<String> {
        self.client.break_section(name, fence)
    }

    /// A command of the operator, and what came of it. For administrators, as [`Doorway::break_section`].
    pub fn order(&self, order: Order) -> Question<String> {
        self.client.order(order)
    }

    /// Hands over, leaves the cluster and ends, if the node is within this program; those who are inside have as long as the
    /// configuration says. From a daemon it only goes away.
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
                // A client does not keep its node alive: the node is there as long as somebody has a `Doorway`.
                let daemon = Arc::downgrade(daemon);
                Client::through(move || match daemon.upgrade() {
                    Some(daemon) if daemon.is_alive() => daemon.connect(),
                    _ => Err(std::io::Error::other("the node of this program has ended")),
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
    Err(Error::Bad(Refusal::new("no thread can be started")))
}
