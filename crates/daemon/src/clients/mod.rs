//! The clients of this machine: a connection is a client.

mod outbox;
pub(crate) mod socket;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use doorway_client::clock;
use doorway_client::protocol::{self, Ask, LONGEST_ASK, LONGEST_TOLD, Told};
use doorway_node::ClientId;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{ReadHalf, WriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;

pub(crate) use self::outbox::Outbox;
use crate::config::times::spare;
use crate::driver::Event;
use crate::frames::{self, race};
use crate::shared::Shared;

/// How long to wait when nobody can be accepted, as when there are no more file descriptors.
const RESPITE: Duration = Duration::from_millis(50);

/// Accepts clients for as long as the node lives.
pub(crate) async fn listen(shared: Arc<Shared>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve(shared.clone(), stream));
            }
            Err(error) => {
                tracing::warn!(%error, "no client can be accepted");
                sleep(RESPITE).await;
            }
        }
    }
}

/// Serves one client until it is gone.
pub(crate) async fn serve(shared: Arc<Shared>, mut stream: UnixStream) {
    let place = Place::take(shared.clone());
    let Some(_place) = place else {
        tracing::warn!(most = shared.config.limits.clients, "client refused: there are too many");
        return;
    };
    let client = ClientId(shared.next_client.fetch_add(1, Ordering::Relaxed));
    let process = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(|pid| u32::try_from(pid).ok());
    let outbox = Arc::new(Outbox::new(shared.unread.clone()));
    outbox.push(&Told::Welcome {
        version: protocol::VERSION,
        cluster: shared.config.cluster.clone(),
        node: shared.config.node.get_ref().clone(),
        now: clock::now(),
        spare: spare(&shared.config.timing.timing()),
    });
    shared.tell(Event::Came { client, outbox: outbox.clone(), process });
    let (mut reading, mut writing) = stream.split();
    let talk = race(hear(&shared, client, &mut reading), speak(&outbox, &mut writing));
    let ended = race(talk, give_up(&outbox)).await;
    outbox.close();
    match ended {
        Err(error) if !is_end(&error) => {
            tracing::warn!(client = client.0, %error, "client refused");
            shared.tell(Event::Forsaken(client));
        }
        Ok(()) | Err(_) => shared.tell(Event::Gone(client)),
    }
}

/// Whether an error means that every copy of the client's socket is closed. After any other the client may still be there and believe
/// that it is inside.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// Takes in what a client asks.
async fn hear(shared: &Shared, client: ClientId, stream: &mut ReadHalf<'_>) -> io::Result<()> {
    while let Some(bytes) = frames::read(stream, LONGEST_ASK).await? {
        let ask: Ask = protocol::read(&bytes)?;
        let room = shared.asks.clone().acquire_owned().await.map_err(io::Error::other)?;
        shared.tell(Event::Asked { client, ask, room });
    }
    Ok(())
}

/// Writes what a client is told.
async fn speak(outbox: &Outbox, stream: &mut WriteHalf<'_>) -> io::Result<()> {
    loop {
        stream.write_all(&outbox.next().await).await?;
        outbox.written();
    }
}

/// Waits until a client has left too much unread.
async fn give_up(outbox: &Outbox) -> io::Result<()> {
    outbox.overflow().await;
    Err(io::Error::other("it does not read what it is told"))
}

/// A place among the clients, given back when it is dropped.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: Arc<Shared>) -> Option<Self> {
        let most = shared.config.limits.clients;
        let place = Self(shared);
        (place.0.clients.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A word as a frame; one that is too long says so instead.
fn told_frame(told: &Told) -> Vec<u8> {
    protocol::frame(told, LONGEST_TOLD).unwrap_or_else(|error| {
        let number = if let Told::Status { number, .. } = told { *number } else { 0 };
        let failed = Told::Failed { number, sentence: error.to_string() };
        protocol::frame(&failed, LONGEST_TOLD).unwrap_or_default()
    })
}
