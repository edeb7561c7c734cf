//! The listener for other nodes, and for strangers that claim to be one.
//!
//! A connection has a few seconds to authenticate. The number that has not yet is limited; beyond it the oldest of
//! the address that has most of them has to go, so that idle strangers never keep a peer of another address out. Nobody is in a handshake
//! before it has said its first word, and few are at a time.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{Refusal, Ticks};
use doorway_node::timing::milliseconds;
use rustls::server::Acceptor;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::dial::{check_greeting, greet, hear_greeting};
use super::handshakes::Handshakes;
use super::peer_msg::{Frame, LONGEST, Lane, PeerMsg, read_frame};
use super::{Link, refuse, tune};
use crate::driver::NodeEvent;
use crate::frames;
use crate::shared::{DaemonState, lock};
use crate::throttle::AcceptBackoff;
use crate::tls::{self, Credentials};

/// How long an answer may stay without acknowledgement: here nothing is said but a greeting.
const UNHEARD: Duration = Duration::from_secs(5);
/// How long a stranger may take to prove who it is.
const PROVING: Duration = Duration::from_secs(5);
/// How long it may keep others from a handshake.
const HANDSHAKE: Duration = Duration::from_secs(2);
/// After this silence a peer counts as gone.
const SILENCE: Duration = Duration::from_secs(10);
/// How many bytes of messages of each lane may wait for the node.
const WAITING: usize = 32 << 20;

/// The connections that have not authenticated yet, in the order in which they came.
#[derive(Default)]
struct Strangers {
    last: u64,
    all: BTreeMap<u64, (IpAddr, AbortHandle)>,
}

impl Strangers {
    /// Puts out the one that came first of those of the address that has most of them.
    fn put_one_out(&mut self) {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        self.all.values().for_each(|(address, _)| *counts.entry(*address).or_default() += 1);
        let Some((most, _)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return };
        let first = self.all.iter().find(|(_, (address, _))| *address == most).map(|(number, _)| *number);
        if let Some((_, handle)) = first.and_then(|number| self.all.remove(&number)) {
            handle.abort();
        }
    }
}

/// What counts as one address: of IPv6 the first half, because a host has a whole /64 network of addresses.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

/// What the listener's tasks share.
struct Hall {
    shared: Arc<DaemonState>,
    strangers: Mutex<Strangers>,
    /// Room for their connections. One that was put out gives its descriptor back a moment later, and the next is accepted after that.
    places: Arc<Semaphore>,
    handshakes: Arc<Handshakes>,
    /// Room for messages that wait for the node, by lane.
    room: [Arc<Semaphore>; 2],
    /// Before this, nothing more is said about connections that ended.
    quiet_until: Mutex<Ticks>,
}

/// A peer that has proved who it is, and by what.
struct Proof {
    stream: TlsStream<TcpStream>,
    link: Arc<Link>,
    lane: Lane,
    credentials: Arc<Credentials>,
}

/// Accepts connections for as long as this node lives.
pub(crate) async fn listen(shared: Arc<DaemonState>, listener: TcpListener) {
    let room = [(); 2].map(|()| Arc::new(Semaphore::new(WAITING)));
    let (strangers, handshakes) = (Mutex::default(), Arc::default());
    let places = Arc::new(Semaphore::new(shared.budget.strangers + 1));
    let hall = Arc::new(Hall { shared, strangers, places, handshakes, room, quiet_until: Mutex::default() });
    let mut respite = AcceptBackoff::new("node connections");
    loop {
        let Ok(place) = hall.places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, from)) => {
                respite.over();
                Hall::take_in(&hall, stream, from, place);
            }
            Err(error) => respite.rest(&error).await,
        }
    }
}

impl Hall {
    fn take_in(self: &Arc<Self>, stream: TcpStream, from: SocketAddr, place: OwnedSemaphorePermit) {
        let mut strangers = lock(&self.strangers);
        strangers.last += 1;
        let number = strangers.last;
        let (hall, address) = (self.clone(), network(from.ip()));
        let task = tokio::spawn(async move {
            if let Err(refusal) = hall.serve(stream, address, (number, place)).await {
                hall.say_refused(&from.to_string(), &refusal);
            }
            lock(&hall.strangers).all.remove(&number);
        });
        strangers.all.insert(number, (address, task.abort_handle()));
        if strangers.all.len() > self.shared.budget.strangers {
            strangers.put_one_out();
        }
    }

    /// Says so, but not so often that strangers could fill the log.
    fn say_refused(&self, from: &str, refusal: &Refusal) {
        let now = clock::now();
        let mut quiet_until = lock(&self.quiet_until);
        if now < *quiet_until {
            tracing::trace!(from, %refusal, "connection ended");
        } else {
            *quiet_until = now + milliseconds(1_000);
            tracing::info!(from, %refusal, "connection ended");
        }
    }

    async fn serve(
        &self,
        stream: TcpStream,
        from: IpAddr,
        (number, place): (u64, OwnedSemaphorePermit),
    ) -> Result<(), Refusal> {
        tune(&stream, UNHEARD);
        let Ok(proved) = timeout(PROVING, self.prove(stream, from)).await else {
            return refuse("it did not identify itself in time");
        };
        let Proof { mut stream, link, lane, credentials } = proved?;
        let handle = lock(&self.strangers).all.remove(&number).map(|(_, handle)| handle);
        link.replace_incoming(lane, handle);
        drop(place);
        // Checked last: a reload closes connections that are registered by now, and this check catches the others.
        let is_believed = Arc::ptr_eq(&credentials, &self.shared.credentials());
        if !is_believed || !self.shared.peers.has(&link) {
            return refuse("certificates were reloaded during its handshake: it may try again");
        }
        self.shared.check_revoked(stream.get_ref().1)?;
        let ended = self.hear(&mut stream, &link, lane).await;
        ended.map_err(|error| {
            Refusal::new(format!("the connection of node {:?} has ended: {error}", link.name))
        })
    }

    /// Identifies the peer. Its certificate must be that of the node in its greeting.
    async fn prove(&self, stream: TcpStream, from: IpAddr) -> Result<Proof, Refusal> {
        let cannot = |error: io::Error| Refusal::new(error.to_string());
        let credentials = self.shared.credentials();
        let mut stream = self.shake_hands(stream, from, &credentials).await?;
        self.shared.check_revoked(stream.get_ref().1)?;
        let greeting = hear_greeting(&mut stream).await.map_err(cannot)?;
        if !tls::is_peer(stream.get_ref().1, &greeting.name, &self.shared.config.cluster) {
            return refuse(format!(
                "its certificate is not that of node {:?} of this cluster",
                greeting.name
            ));
        }
        check_greeting(&self.shared, &greeting)?;
        if greeting.name == self.shared.config.me().name {
            return refuse("it claims to be this node");
        }
        let link = self.shared.admit(&greeting)?;
        link.note_certificate(stream.get_ref().1);
        greet(&mut stream, &self.shared, greeting.lane).await.map_err(cannot)?;
        Ok(Proof { stream, link, lane: greeting.lane, credentials })
    }

    /// Reads the first word of a stranger, which costs nothing, and does the rest when it is its turn.
    async fn shake_hands(
        &self,
        stream: TcpStream,
        from: IpAddr,
        credentials: &Credentials,
    ) -> Result<TlsStream<TcpStream>, Refusal> {
        let cannot = |error: io::Error| Refusal::new(error.to_string());
        let begun = LazyConfigAcceptor::new(Acceptor::default(), stream).await.map_err(cannot)?;
        let _slot = self.handshakes.enter(from).await;
        let server = credentials.acceptor.config().clone();
        match timeout(HANDSHAKE, begun.into_stream(server)).await {
            Ok(done) => done.map_err(cannot),
            Err(_) => refuse("it did not finish its handshake in time"),
        }
    }

    /// Reads the messages of a peer.
    async fn hear(&self, stream: &mut TlsStream<TcpStream>, link: &Link, lane: Lane) -> io::Result<()> {
        let room = &self.room[usize::from(lane == Lane::Load)];
        loop {
            let Ok(read) = timeout(SILENCE, frames::read(stream, LONGEST)).await else {
                return Err(io::ErrorKind::TimedOut.into());
            };
            let Some(bytes) = read? else { return Ok(()) };
            let weight = bytes.len() as u32;
            let permit = room.clone().acquire_many_owned(weight).await.map_err(io::Error::other)?;
            let from = link.id;
            match read_frame(&bytes)? {
                Frame::PeerMsg(word @ PeerMsg::StillHere) => {
                    tracing::trace!(from = link.name, ?word, "received")
                }
                Frame::PeerMsg(word) => self.shared.tell(NodeEvent::PeerMsg { from, word, room: permit }),
                Frame::Message(msg) => self.shared.tell(NodeEvent::Message { from, msg, room: permit }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_stranger_is_of_the_address_with_the_most() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let mut strangers = Strangers::default();
        let addresses = ["10.0.0.9", "10.0.0.1", "10.0.0.1", "fd00::1:1", "fd00::2:2", "fd00::3:3"];
        for (number, address) in (1..).zip(addresses) {
            let task = runtime.spawn(std::future::pending::<()>());
            let address = network(address.parse().expect("an address"));
            strangers.all.insert(number, (address, task.abort_handle()));
        }
        let mut gone = || {
            let before: Vec<u64> = strangers.all.keys().copied().collect();
            strangers.put_one_out();
            before.into_iter().find(|number| !strangers.all.contains_key(number))
        };
        assert_eq!(gone(), Some(4), "one network has three");
        // Two have two each; the one that is alone is the oldest and stays.
        let next = [gone(), gone()];
        assert!(next.contains(&Some(2)) && next.contains(&Some(5)), "{next:?}");
    }
}
