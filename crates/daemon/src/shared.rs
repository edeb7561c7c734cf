//! What the parts of a daemon share: the known nodes, the configuration, the state of the node.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{Refusal, Ticks};
use rustls::CommonState;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::Config;
use crate::budget::Budget;
use crate::clients::Places;
use crate::config::Peer;
use crate::driver::NodeEvent;
use crate::inbox::Inbox;
use crate::peers::peer_msg::{Lane, PeerGreeting};
use crate::peers::{Link, Peers, Roster, dial};
use crate::revocation::Revoked;
use crate::throttle::Throttle;
use crate::tls::Credentials;

/// What all threads and tasks of a daemon can reach.
pub(crate) struct DaemonState {
    pub(crate) config: Config,
    pub(crate) runtime: Handle,
    pub(crate) peers: Peers,
    pub(crate) roster: Roster,
    pub(crate) revoked: Revoked,
    credentials: Mutex<Arc<Credentials>>,
    pub(crate) inbox: Inbox,
    /// The number of the next client.
    pub(crate) next_client: AtomicU64,
    /// How many connections of each kind there may be.
    pub(crate) budget: Budget,
    /// The connected clients.
    pub(crate) places: Arc<Places>,
    /// How often the log tells that a client was turned away.
    pub(crate) turned_away: Mutex<Throttle>,
    /// Room for messages of clients that the node has not handled yet.
    pub(crate) asks: Arc<Semaphore>,
    /// Until when the node may let clients in, as it knows itself.
    ready_until: AtomicU64,
    /// When the node's thread last showed that it is alive.
    alive_at: AtomicU64,
    /// Whether the node is leaving its cluster.
    is_leaving: AtomicBool,
    /// How many bytes of messages clients have not read yet.
    pub(crate) unread: Arc<AtomicUsize>,
    /// Whether the disk takes nothing at present.
    pub(crate) is_disk_failing: AtomicBool,
    /// Whether the disk's thread is to give up.
    pub(crate) is_ending: AtomicBool,
    outcome: Mutex<Option<Result<(), Refusal>>>,
    ended: Condvar,
}

/// How many questions of clients may wait for the node.
const MOST_ASKS: usize = 1_024;

/// How long the node's thread may be silent and still counts as alive.
const ALIVE: Ticks = Ticks(2_000_000);

impl DaemonState {
    pub(crate) fn new(config: Config, runtime: Handle, roster: Roster, credentials: Credentials) -> Self {
        let budget = Budget::of(&config.limits, roster.all().len());
        Self {
            config,
            runtime,
            peers: Peers::default(),
            roster,
            revoked: Revoked::default(),
            credentials: Mutex::new(Arc::new(credentials)),
            inbox: Inbox::default(),
            next_client: AtomicU64::new(1),
            budget,
            places: Arc::default(),
            turned_away: Mutex::new(Throttle::new(1)),
            asks: Arc::new(Semaphore::new(MOST_ASKS)),
            ready_until: AtomicU64::new(0),
            alive_at: AtomicU64::new(clock::now().0),
            is_leaving: AtomicBool::new(false),
            unread: Arc::default(),
            is_disk_failing: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            outcome: Mutex::new(None),
            ended: Condvar::new(),
        }
    }

    /// Sends an event to the node's thread. If that has ended, the event is dropped.
    pub(crate) fn tell(&self, event: NodeEvent) {
        self.inbox.push(event);
    }

    pub(crate) fn credentials(&self) -> Arc<Credentials> {
        lock(&self.credentials).clone()
    }

    /// Begins to talk to every node that is known and not talked to yet.
    pub(crate) fn dial_all(self: &Arc<Self>) {
        let me = self.config.me().name.as_str();
        self.roster.all().iter().filter(|peer| peer.name != me).for_each(|peer| {
            self.dial(peer);
        });
    }

    fn dial(self: &Arc<Self>, peer: &Peer) {
        let Some(link) = self.peers.add(peer) else { return };
        for lane in [Lane::Life, Lane::Load] {
            let task = self.runtime.spawn(dial::keep_dialing(self.clone(), link.clone(), lane));
            lock(&link.dialers).push(task.abort_handle());
        }
        // Asked last: a reload that took it away meanwhile has found its dialers, or they are found here.
        if !self.peers.has(&link) {
            lock(&link.dialers).drain(..).for_each(|dialer| dialer.abort());
        }
    }

    /// A node has proved its name: the daemon dials it from now on, if it did not before.
    ///
    /// # Errors
    /// If its greeting contradicts what is known.
    pub(crate) fn admit(self: &Arc<Self>, greeting: &PeerGreeting) -> Result<Arc<Link>, Refusal> {
        let peer = self.roster.admit(greeting)?;
        self.dial(&peer);
        self.peers.get(peer.id()).ok_or_else(|| Refusal::new(format!("there is no node {:?}", peer.name)))
    }

    /// Revokes these certificates: for each name the last revoked time of issue. Connections that use one are closed.
    pub(crate) fn revoke(self: &Arc<Self>, void: &BTreeMap<String, u64>) {
        let names = self.revoked.extend(void);
        if names.is_empty() {
            return;
        }
        tracing::warn!(nodes = names.join(","), "certificates revoked: connections that use them are closed");
        let mut others = self.roster.all();
        others.retain(|peer| !names.contains(&peer.name));
        self.peers.keep_only(&others);
        // A node with a newer certificate is dialed again.
        self.dial_all();
    }

    /// Refuses the other side of a connection if the certificate that it has shown was revoked.
    ///
    /// # Errors
    /// Whose it is, and how to renew it.
    pub(crate) fn check_revoked(&self, connection: &CommonState) -> Result<(), Refusal> {
        self.revoked.check(connection, &self.config.cluster)
    }

    /// Reads certificates again, and the nodes of the configuration if it came from a file. A mistake changes nothing.
    ///
    /// # Errors
    /// If something of it cannot be read.
    pub(crate) fn reload(self: &Arc<Self>) -> Result<(), Refusal> {
        let config = match &self.config.source {
            Some(path) => Config::load(path)?,
            None => self.config.clone(),
        };
        let me = self.config.me();
        if config.cluster != self.config.cluster || config.me() != me {
            return Err(Refusal::new(
                "the cluster, the name, the number or the address of a node cannot change while it runs",
            ));
        }
        let credentials = Arc::new(Credentials::load(&config)?);
        let earlier = std::mem::replace(&mut *lock(&self.credentials), credentials.clone());
        self.roster.configure(&config);
        if credentials.believes_all_of(&earlier) {
            self.peers.keep_only(&self.roster.all());
        } else {
            // Connected nodes may no longer be trusted: all have to show their certificates again.
            self.peers.keep_only(&[]);
        }
        self.dial_all();
        for key in self.config.fixed_changes(&config) {
            tracing::warn!(key, "this change of the configuration takes effect at the next start");
        }
        tracing::info!("configuration and certificates reloaded");
        Ok(())
    }

    /// The node's thread has looked around: until when may clients be let in?
    pub(crate) fn note_alive(&self, ready_until: Ticks, is_leaving: bool) {
        self.is_leaving.store(is_leaving, Ordering::Relaxed);
        self.alive_at.store(clock::now().0, Ordering::Relaxed);
        self.ready_until.store(ready_until.0, Ordering::Relaxed);
    }

    pub(crate) fn is_ready(&self) -> bool {
        clock::now().0 < self.ready_until.load(Ordering::Relaxed)
    }

    /// Why the node grants no locks, if so.
    pub(crate) fn why_not_ready(&self) -> Option<&'static str> {
        if self.is_leaving.load(Ordering::Relaxed) {
            Some("the node is leaving its cluster")
        } else if self.is_ready() {
            None
        } else if self.is_disk_failing.load(Ordering::Relaxed) {
            Some("cannot write to the disk of this node")
        } else {
            Some("the node has no lease: it does not hear from a majority of the voters")
        }
    }

    /// The refusal of an administrators' command at the users' socket.
    pub(crate) fn for_administrators(&self, order: &str) -> String {
        let socket = self.config.admin_socket();
        let who = match rustix::process::geteuid() {
            root if root.is_root() => "root".to_owned(),
            user => format!("the user of uid {} and root", user.as_raw()),
        };
        format!("only administrators may {order}: ask at {}, which {who} can open", socket.display())
    }

    pub(crate) fn is_alive(&self) -> bool {
        clock::now() < Ticks(self.alive_at.load(Ordering::Relaxed)) + ALIVE && lock(&self.outcome).is_none()
    }

    /// Whether the daemon has ended.
    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.outcome).is_some()
    }

    /// The daemon has ended.
    pub(crate) fn end(&self, outcome: Result<(), Refusal>) {
        self.ready_until.store(0, Ordering::Relaxed);
        lock(&self.outcome).get_or_insert(outcome);
        self.ended.notify_all();
    }

    /// Waits until the daemon has ended.
    pub(crate) fn wait(&self) -> Result<(), Refusal> {
        let mut outcome = lock(&self.outcome);
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            let (next, _) = self
                .ended
                .wait_timeout(outcome, Duration::from_secs(1))
                .unwrap_or_else(PoisonError::into_inner);
            outcome = next;
        }
    }
}

/// Locks a mutex even if a thread has panicked with it: everything behind these mutexes is consistent between any two steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
