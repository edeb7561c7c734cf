//! Dialing the other nodes, for as long as this one lives.

use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use doorway_client::backoff::Backoff;
use doorway_core::Refusal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::client::TlsStream;

use super::peer_msg::{LONGEST_GREETING, Lane, PeerGreeting, PeerMsg, VERSION, peer_msg_frame};
use super::{Link, Outgoing, refuse, tune, unheard};
use crate::frames::{self, race};
use crate::shared::DaemonState;
use crate::tls;
use doorway_protocol as protocol;

/// How long it may take to be connected.
const CONNECTING: Duration = Duration::from_secs(2);
/// After this time without an answer another attempt is begun beside those that are under way.
const STAGGER: Duration = Duration::from_millis(150);
/// How long a greeting may take, TLS included.
const GREETING: Duration = Duration::from_secs(2);
/// How long one write may take.
const WRITING: Duration = Duration::from_secs(5);
/// After this silence a daemon sends a keep-alive.
const SILENCE: Duration = Duration::from_secs(1);
/// The pauses between two attempts.
const PAUSES: Backoff = Backoff::between(Duration::from_millis(25), Duration::from_millis(200));

/// Keeps one lane to one peer alive.
pub(crate) async fn keep_dialing(shared: Arc<DaemonState>, link: Arc<Link>, lane: Lane) {
    let mut pauses = PAUSES;
    let mut last_error = String::new();
    loop {
        let outgoing = link.lane(lane);
        match dial(&shared, &link, lane).await {
            Ok(stream) => {
                pauses = PAUSES;
                last_error.clear();
                outgoing.is_up.store(true, Ordering::Relaxed);
                tracing::info!(peer = link.name, lane = ?lane, "peer up");
                let error = speak(stream, outgoing, &link.name).await;
                outgoing.is_up.store(false, Ordering::Relaxed);
                tracing::info!(peer = link.name, lane = ?lane, %error, "peer down");
            }
            Err(refusal) => {
                let error = refusal.to_string();
                if error != last_error {
                    tracing::info!(peer = link.name, lane = ?lane, error, "peer unreachable");
                    last_error = error;
                }
            }
        }
        outgoing.clear();
        sleep(with_chance(pauses.next())).await;
    }
}

/// Between half of a pause and all of it, so that not all nodes try at once.
fn with_chance(pause: Duration) -> Duration {
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    pause / 2 + pause.mul_f64((chance % 1_000) as f64 / 2_000.0)
}

async fn dial(shared: &DaemonState, link: &Link, lane: Lane) -> Result<TlsStream<TcpStream>, Refusal> {
    let cannot = |error: io::Error| Refusal::new(error.to_string());
    let address = link.address();
    let Ok(stream) = timeout(CONNECTING, connect(&address)).await else {
        return refuse(format!("{address} does not answer"));
    };
    let stream = stream.map_err(cannot)?;
    tune(&stream, unheard(&shared.config.timing.timing(), lane));
    let greeted = timeout(GREETING, async {
        let name = tls::server_name(&link.name, &shared.config.cluster)?;
        let connector = shared.credentials().connector.clone();
        let mut stream = connector.connect(name, stream).await.map_err(cannot)?;
        shared.check_revoked(stream.get_ref().1)?;
        link.note_certificate(stream.get_ref().1);
        greet(&mut stream, shared, lane).await.map_err(cannot)?;
        let greeting: PeerGreeting = hear_greeting(&mut stream).await.map_err(cannot)?;
        if greeting.name != link.name || greeting.number != link.id.number() {
            return refuse(format!(
                "the answer is from node {:?}, number {}",
                greeting.name, greeting.number
            ));
        }
        check_greeting(shared, &greeting)?;
        Ok(stream)
    });
    greeted.await.unwrap_or_else(|_| refuse(format!("{address} does not answer")))
}

/// Connects by the first of several staggered attempts that succeeds. If the first packet of a single attempt is lost, TCP resends it
/// after a second, which after a cut is longer than the rest of a lease.
async fn connect(address: &str) -> io::Result<TcpStream> {
    // The name is looked up once: a lookup cannot be given up, and many that hang would be in each other's way.
    let places: Arc<[SocketAddr]> = lookup_host(address).await?.collect();
    let mut attempts = JoinSet::new();
    loop {
        let places = places.clone();
        attempts.spawn(async move { TcpStream::connect(&places[..]).await });
        if let Ok(Some(Ok(connected))) = timeout(STAGGER, attempts.join_next()).await {
            return connected;
        }
    }
}

/// Says who this node is.
pub(super) async fn greet(
    stream: &mut (impl tokio::io::AsyncWrite + Unpin),
    shared: &DaemonState,
    lane: Lane,
) -> io::Result<()> {
    let me = shared.config.me();
    let greeting = PeerGreeting {
        version: VERSION,
        cluster: shared.config.cluster.clone(),
        name: me.name.clone(),
        number: me.id().number(),
        address: me.address.clone(),
        lane,
    };
    stream.write_all(&protocol::frame(&greeting, LONGEST_GREETING)?).await?;
    stream.flush().await
}

/// Hears who the other side is.
pub(super) async fn hear_greeting(
    stream: &mut (impl tokio::io::AsyncRead + Unpin),
) -> io::Result<PeerGreeting> {
    let bytes = frames::read(stream, LONGEST_GREETING).await?;
    protocol::read(&bytes.ok_or(io::ErrorKind::UnexpectedEof)?)
}

/// Checks the version and the cluster in a greeting.
pub(super) fn check_greeting(shared: &DaemonState, greeting: &PeerGreeting) -> Result<(), Refusal> {
    let PeerGreeting { version, cluster, .. } = greeting;
    if *version != VERSION {
        return refuse(format!("it speaks version {version}, and this node version {VERSION}"));
    }
    if *cluster != shared.config.cluster {
        return refuse(format!(
            "it belongs to cluster {cluster:?}, and this node to {:?}",
            shared.config.cluster
        ));
    }
    Ok(())
}

/// Writes queued frames until the connection ends; returns why it did.
async fn speak(stream: TlsStream<TcpStream>, outgoing: &Outgoing, to: &str) -> io::Error {
    let (reading, writing) = tokio::io::split(stream);
    race(write_all(writing, outgoing, to), wait_for_end(reading)).await
}

async fn write_all(mut stream: WriteHalf<TlsStream<TcpStream>>, outgoing: &Outgoing, to: &str) -> io::Error {
    loop {
        let mut batch = outgoing.take();
        if batch.is_empty() && timeout(SILENCE, outgoing.bell.notified()).await.is_err() {
            let word = PeerMsg::StillHere;
            tracing::trace!(to, ?word, "sent");
            batch = peer_msg_frame(&word);
        }
        if batch.is_empty() {
            continue;
        }
        let written = timeout(WRITING, async {
            stream.write_all(&batch).await?;
            stream.flush().await
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            Err(_) => return io::ErrorKind::TimedOut.into(),
        }
    }
}

/// The other side says nothing on this connection; but one hears when it is closed.
async fn wait_for_end(mut stream: ReadHalf<TlsStream<TcpStream>>) -> io::Error {
    match stream.read(&mut [0]).await {
        Ok(0) => io::ErrorKind::UnexpectedEof.into(),
        Ok(_) => io::Error::other("it sent data on a connection on which it only receives"),
        Err(error) => error,
    }
}
