//! The other nodes, and the queues of messages to them.
//!
//! A node dials every other with two connections, one for signs of life and one for all else. Nodes speak on connections that
//! they dialed and listen on those that they accepted. The queue for a peer is bounded: its oldest message is dropped, which is
//! safe because nodes resend what must arrive.

pub(crate) mod accept;
pub(crate) mod dial;
mod handshakes;
pub(crate) mod peer_msg;
mod roster;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{NodeId, Refusal};
use doorway_node::{Msg, Timing};
use rustls::CommonState;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use self::peer_msg::{Lane, PeerMsg, message_frame, peer_msg_frame};
pub(crate) use self::roster::Roster;
use crate::config::Peer;
use crate::shared::lock;
use crate::{revocation, tls};

/// All other nodes that are known.
#[derive(Default)]
pub(crate) struct Peers {
    links: Mutex<BTreeMap<NodeId, Arc<Link>>>,
}

/// The connections to one other node.
pub(crate) struct Link {
    /// Its name and number, which never change.
    pub(crate) name: String,
    pub(crate) id: NodeId,
    address: Mutex<String>,
    life: Outgoing,
    load: Outgoing,
    /// The connections that it has dialed, by lane: a new one takes the place of the old.
    incoming: [Mutex<Option<AbortHandle>>; 2],
    /// The task that dials it.
    pub(crate) dialers: Mutex<Vec<AbortHandle>>,
    /// When the newest certificate was issued that it has shown, in microseconds since 1970.
    issued: AtomicU64,
}

impl Link {
    fn new(peer: &Peer) -> Self {
        Self {
            name: peer.name.clone(),
            id: peer.id(),
            address: Mutex::new(peer.address.clone()),
            life: Outgoing::default(),
            load: Outgoing::default(),
            incoming: Default::default(),
            dialers: Mutex::default(),
            issued: AtomicU64::new(0),
        }
    }

    /// Notes when the certificate was issued that the other side of a connection has shown.
    fn note_certificate(&self, connection: &CommonState) {
        let issued = tls::shown(connection).and_then(revocation::issued).unwrap_or_default();
        self.issued.fetch_max(issued, Ordering::Relaxed);
    }

    /// When the newest certificate was issued that it has shown, in microseconds since 1970.
    pub(crate) fn issued(&self) -> u64 {
        self.issued.load(Ordering::Relaxed)
    }

    /// Where it is reached.
    pub(crate) fn address(&self) -> String {
        lock(&self.address).clone()
    }

    fn lane(&self, lane: Lane) -> &Outgoing {
        match lane {
            Lane::Life => &self.life,
            Lane::Load => &self.load,
        }
    }

    /// Whether this node has reached it and it still answers.
    pub(crate) fn is_up(&self) -> bool {
        self.life.is_up.load(Ordering::Relaxed)
    }

    fn replace_incoming(&self, lane: Lane, handle: Option<AbortHandle>) {
        let slot = &self.incoming[usize::from(lane == Lane::Load)];
        if let Some(earlier) = std::mem::replace(&mut *lock(slot), handle) {
            earlier.abort();
        }
    }
}

impl Peers {
    /// Adds a node or changes its address; tells which link is new.
    pub(crate) fn add(&self, peer: &Peer) -> Option<Arc<Link>> {
        let mut links = lock(&self.links);
        if let Some(link) = links.get(&peer.id()) {
            lock(&link.address).clone_from(&peer.address);
            return None;
        }
        let link = Arc::new(Link::new(peer));
        links.insert(peer.id(), link.clone());
        Some(link)
    }

    /// Talks no more to nodes that are not among these.
    pub(crate) fn keep_only(&self, peers: &[Peer]) {
        let is_there = |link: &Link| peers.iter().any(|peer| peer.id() == link.id && peer.name == link.name);
        lock(&self.links).retain(|_, link| {
            if !is_there(link) {
                lock(&link.dialers).drain(..).for_each(|dialer| dialer.abort());
                [Lane::Life, Lane::Load].into_iter().for_each(|lane| link.replace_incoming(lane, None));
            }
            is_there(link)
        });
    }

    /// A node by its number.
    pub(crate) fn get(&self, node: NodeId) -> Option<Arc<Link>> {
        lock(&self.links).get(&node).cloned()
    }

    /// Whether this link is still the one that leads to its node.
    pub(crate) fn has(&self, link: &Arc<Link>) -> bool {
        lock(&self.links).get(&link.id).is_some_and(|found| Arc::ptr_eq(found, link))
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        lock(&self.links).values().cloned().collect()
    }

    /// Sends a message of the node.
    pub(crate) fn send(&self, to: NodeId, msg: &Msg) {
        if let Some(link) = self.get(to) {
            link.lane(lane_of(msg)).push(message_frame(msg));
        }
    }

    /// Sends a word of the daemon; tells whether there is such a node.
    pub(crate) fn tell(&self, to: NodeId, lane: Lane, word: &PeerMsg) -> bool {
        let Some(link) = self.get(to) else { return false };
        tracing::trace!(to = link.name, ?word, "sent");
        link.lane(lane).push(peer_msg_frame(word));
        true
    }
}

/// Which way a message goes.
pub(crate) fn lane_of(msg: &Msg) -> Lane {
    match msg {
        Msg::Heartbeat(_)
        | Msg::Ack(_)
        | Msg::Hello(_)
        | Msg::Welcome(_)
        | Msg::Leave(_)
        | Msg::Ballot(_)
        | Msg::Greeting(_)
        | Msg::Founding(_) => Lane::Life,
        Msg::Report(_) | Msg::Heard { .. } | Msg::Parcel { .. } | Msg::Got { .. } => Lane::Load,
    }
}

/// The queue of one lane.
#[derive(Default)]
struct Outgoing {
    frames: Mutex<Frames>,
    bell: Notify,
    is_up: AtomicBool,
}

#[derive(Default)]
struct Frames {
    queue: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Outgoing {
    const MOST: usize = 8_192;
    const HEAVIEST: usize = 16 << 20;
    /// How much is written at once.
    const BATCH: usize = 64 << 10;

    fn push(&self, frame: Vec<u8>) {
        let mut frames = lock(&self.frames);
        frames.bytes += frame.len();
        frames.queue.push_back(frame);
        while frames.queue.len() > Self::MOST || frames.bytes > Self::HEAVIEST {
            let dropped = frames.queue.pop_front().map_or(0, |frame| frame.len());
            frames.bytes -= dropped;
        }
        drop(frames);
        self.bell.notify_one();
    }

    /// The next bytes to be written, as whole frames.
    fn take(&self) -> Vec<u8> {
        let mut frames = lock(&self.frames);
        let mut batch = frames.queue.pop_front().unwrap_or_default();
        while let Some(next) = frames.queue.front().filter(|next| batch.len() + next.len() <= Self::BATCH) {
            batch.extend_from_slice(next);
            frames.queue.pop_front();
        }
        frames.bytes -= batch.len();
        batch
    }

    /// The peer is not connected: drops the queue.
    fn clear(&self) {
        *lock(&self.frames) = Frames::default();
    }
}

/// How both sides want a connection: small messages at once, a lost one repeated soon, and an end when nothing that was sent
/// has been acknowledged for so long. After several losses in a row TCP waits longer and longer before it tries again, so that a cut
/// of a second would last for two: a new connection is quicker.
fn tune(stream: &TcpStream, unheard: Duration) {
    use rustix::net::sockopt;
    const IDLE: Duration = Duration::from_secs(5);
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(stream, true);
    #[cfg(target_os = "linux")]
    {
        let _ = sockopt::set_tcp_keepidle(stream, IDLE);
        let _ = sockopt::set_tcp_user_timeout(stream, u32::try_from(unheard.as_millis()).unwrap_or(u32::MAX));
        let _ = sockopt::set_tcp_thin_linear_timeouts(stream, true);
    }
}

/// How long something may stay without acknowledgement before a lane is dialed anew: a third of what a lease bears, so that there is
/// time to be heard again before it ends; twice that where much may be under way.
fn unheard(timing: &Timing, lane: Lane) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(300);
    let third = clock::span(timing.lease - timing.margin) / 3;
    third.max(SHORTEST) * if lane == Lane::Life { 1 } else { 2 }
}

/// Why a connection is not used.
fn refuse<T>(sentence: impl Into<Box<str>>) -> Result<T, Refusal> {
    Err(Refusal::new(sentence))
}
