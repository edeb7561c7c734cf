//! The clients of this machine: a connection is a client.
//!
//! There are two sockets. Users of locks come by the one whose group and mode the configuration gives; administrators by the one
//! that only the daemon's own user and root can open. What a client may do depends on its socket.

mod outbox;
mod places;
pub(crate) mod socket;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use doorway_client::clock;
use doorway_node::ClientId;
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg, LONGEST_CLIENT_MSG, LONGEST_DAEMON_MSG};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{ReadHalf, WriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

pub(crate) use self::outbox::Outbox;
use self::places::ClientPermit;
pub(crate) use self::places::Places;
use crate::config::times::spare;
use crate::driver::{NodeEvent, QueuePermit};
use crate::frames::{self, race};
use crate::shared::{DaemonState, lock};
use crate::throttle::AcceptBackoff;

/// How many questions of one connection may wait for the node or for their answer.
const MOST_ASKS: usize = 32;

/// How many unanswered status questions one connection may have: each answer takes a look at many
/// sections, and may be long.
const MOST_SURVEYS: usize = 4;

/// Accepts clients for as long as the node lives.
pub(crate) async fn listen(shared: Arc<DaemonState>, listener: UnixListener, door: SocketKind) {
    let mut respite = AcceptBackoff::new("client connections");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                respite.over();
                // Here and not in a task of its own: refused clients are closed as fast as they come, and take no descriptors
                // that peers need.
                if let Some(admitted) = admit(&shared, stream, door) {
                    tokio::spawn(serve(shared.clone(), admitted));
                }
            }
            Err(error) => respite.rest(&error).await,
        }
    }
}

/// By which way a client came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketKind {
    /// By the socket for users of locks.
    Users,
    /// By the administrators' socket.
    Administrators,
    /// From within the daemon's own process.
    Own,
}

/// The process at the other end of a connection, as the kernel reports it, not as it claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) door: SocketKind,
    pub(crate) uid: Option<u32>,
    pub(crate) process: Option<u32>,
}

impl Caller {
    /// The process that made the connection: one that inherits it is not known.
    fn of(stream: &UnixStream, door: SocketKind) -> Self {
        let peer = stream.peer_cred().ok();
        let process = peer.and_then(|peer| peer.pid()).and_then(|pid| u32::try_from(pid).ok());
        Self { door, uid: peer.map(|peer| peer.uid()), process }
    }

    /// The user whose quotas it counts against. Administrators and this process itself count against none.
    pub(crate) fn quota_uid(&self) -> Option<u32> {
        self.uid.filter(|_| self.door == SocketKind::Users)
    }

    /// Whether it may break locks and change the cluster.
    pub(crate) fn administers(&self) -> bool {
        self.door != SocketKind::Users
    }
}

/// A client that has a place.
pub(crate) struct Admitted {
    stream: UnixStream,
    caller: Caller,
    place: ClientPermit,
}

/// Gives a client a place, or tells it why there is none and closes it.
pub(crate) fn admit(shared: &DaemonState, stream: UnixStream, door: SocketKind) -> Option<Admitted> {
    let caller = Caller::of(&stream, door);
    match shared.places.take(caller, &shared.budget) {
        Ok(place) => Some(Admitted { stream, caller, place }),
        Err(sentence) => {
            turn_away(shared, &stream, caller, sentence);
            None
        }
    }
}

/// Serves one client until it is gone.
pub(crate) async fn serve(shared: Arc<DaemonState>, admitted: Admitted) {
    let Admitted { mut stream, caller, place: _place } = admitted;
    let client = ClientId(shared.next_client.fetch_add(1, Ordering::Relaxed));
    let outbox = Arc::new(Outbox::new(client, shared.unread.clone()));
    outbox.push(&DaemonMsg::Welcome {
        version: protocol::VERSION,
        cluster: shared.config.cluster.clone(),
        node: shared.config.node.get_ref().clone(),
        now: clock::now(),
        clock: clock::name().map(str::to_owned),
        spare: spare(&shared.config.timing.timing()),
    });
    shared.tell(NodeEvent::Came { client, outbox: outbox.clone(), caller });
    let (mut reading, mut writing) = stream.split();
    let hearing = hear(&shared, client, &outbox, &mut reading);
    let talk = race(hearing, speak(&outbox, &mut writing));
    let ended = race(talk, give_up(&outbox)).await;
    outbox.close();
    match ended {
        Err(error) if !is_end(&error) => {
            tracing::warn!(client = client.0, %error, "client refused");
            shared.tell(NodeEvent::Unreachable(client));
        }
        Ok(()) | Err(_) => shared.tell(NodeEvent::Gone(client)),
    }
}

/// Tells a client why it is refused, without waiting: a new connection takes a short message at once.
fn turn_away(shared: &DaemonState, stream: &UnixStream, caller: Caller, sentence: String) {
    if let Some(unlogged) = lock(&shared.turned_away).admit(clock::now()) {
        let Caller { uid, process, .. } = caller;
        tracing::warn!(uid, process, unlogged, "client refused: {sentence}");
    }
    let told = DaemonMsg::Goodbye { sentence };
    tracing::trace!(uid = caller.uid, process = caller.process, ?told, "told");
    let _ = stream.try_write(&told_frame(&told));
}

/// Whether an error means that every copy of the client's socket is closed. After any other the client may still be there and believe
/// that it is inside.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// Reads the messages of a client.
async fn hear(
    shared: &DaemonState,
    client: ClientId,
    outbox: &Outbox,
    stream: &mut ReadHalf<'_>,
) -> io::Result<()> {
    let (asks, surveys) = (Arc::new(Semaphore::new(MOST_ASKS)), Arc::new(Semaphore::new(MOST_SURVEYS)));
    while let Some(bytes) = frames::read(stream, LONGEST_CLIENT_MSG).await? {
        let ask: ClientMsg = protocol::read(&bytes)?;
        if ask == ClientMsg::Clock {
            tracing::trace!(client = client.0, ?ask, "asked");
            outbox.push(&DaemonMsg::Clock { now: clock::now() });
            continue;
        }
        // In this order: a client that asks too much waits for its own room, without holding room that others need.
        let own = if matches!(ask, ClientMsg::Status { .. }) { &surveys } else { &asks };
        let own = own.clone().acquire_owned().await.map_err(io::Error::other)?;
        let all = shared.asks.clone().acquire_owned().await.map_err(io::Error::other)?;
        shared.tell(NodeEvent::Asked { client, ask, room: QueuePermit { all, own } });
    }
    Ok(())
}

/// Writes the messages to a client.
async fn speak(outbox: &Outbox, stream: &mut WriteHalf<'_>) -> io::Result<()> {
    loop {
        stream.write_all(&outbox.next().await).await?;
        outbox.written();
    }
}

/// Waits until a client has left too much unread.
async fn give_up(outbox: &Outbox) -> io::Result<()> {
    outbox.overflow().await;
    Err(io::Error::other("it does not read its messages"))
}

/// A word as a frame; one that is too long says so instead.
fn told_frame(told: &DaemonMsg) -> Vec<u8> {
    protocol::frame(told, LONGEST_DAEMON_MSG).unwrap_or_else(|error| {
        let number = if let DaemonMsg::Status { number, .. } = told { *number } else { 0 };
        let failed = DaemonMsg::Failed { number, sentence: error.to_string() };
        protocol::frame(&failed, LONGEST_DAEMON_MSG).unwrap_or_default()
    })
}
