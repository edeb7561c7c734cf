//! Listening to the other nodes, and to whoever claims to be one.
//!
//! Whoever connects has a few seconds to prove who it is. There is room for so many who have not yet; then the oldest of
//! them has to go, so that idle strangers never keep a peer out.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{Refusal, Ticks};
use doorway_node::timing::milliseconds;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::dial::{check_greeting, greet, hear_greeting};
use super::words::{Frame, LONGEST, Lane, Word, read_frame};
use super::{Link, refuse, tune};
use crate::driver::Event;
use crate::frames;
use crate::shared::{Shared, lock};
use crate::throttle::Respite;
use crate::tls::{self, Credentials};

/// How long an answer may stay without acknowledgement: here nothing is said but a greeting.
const UNHEARD: Duration = Duration::from_secs(5);
/// How long a stranger may take to prove who it is.
const PROVING: Duration = Duration::from_secs(5);
/// After what silence a peer counts as gone.
const SILENCE: Duration = Duration::from_secs(10);
/// How many bytes of messages of each lane may wait for the node.
const WAITING: usize = 32 << 20;

/// Those who have not proved yet who they are, in the order in which they came.
#[derive(Default)]
struct Strangers {
    connections: Mutex<(u64, BTreeMap<u64, AbortHandle>)>,
}

/// What the listener's tasks share.
struct Hall {
    shared: Arc<Shared>,
    strangers: Strangers,
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
pub(crate) async fn listen(shared: Arc<Shared>, listener: TcpListener) {
    let room = [(); 2].map(|()| Arc::new(Semaphore::new(WAITING)));
    let hall =
        Arc::new(Hall { shared, strangers: Strangers::default(), room, quiet_until: Mutex::default() });
    let mut respite = Respite::new("node");
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                respite.over();
                Hall::take_in(&hall, stream, from.to_string());
            }
            Err(error) => respite.rest(&error).await,
        }
    }
}

impl Hall {
    fn take_in(self: &Arc<Self>, stream: TcpStream, from: String) {
        let most = self.shared.budget.strangers;
        let mut connections = lock(&self.strangers.connections);
        connections.0 += 1;
        let number = connections.0;
        let hall = self.clone();
        let task = tokio::spawn(async move {
            if let Err(refusal) = hall.serve(stream, number).await {
                hall.say_refused(&from, &refusal);
            }
            lock(&hall.strangers.connections).1.remove(&number);
        });
        connections.1.insert(number, task.abort_handle());
        if connections.1.len() > most
            && let Some((_, oldest)) = connections.1.pop_first()
        {
            oldest.abort();
        }
    }

    /// Says so, but not so often that strangers could fill the log.
    fn say_refused(&self, from: &str, refusal: &Refusal) {
        let now = clock::now();
        let mut quiet_until = lock(&self.quiet_until);
        if now < *quiet_until {
            tracing::debug!(from, %refusal, "connection ended");
        } else {
            *quiet_until = now + milliseconds(1_000);
            tracing::info!(from, %refusal, "connection ended");
        }
    }

    async fn serve(&self, stream: TcpStream, number: u64) -> Result<(), Refusal> {
        tune(&stream, UNHEARD);
        let Ok(proved) = timeout(PROVING, self.prove(stream)).await else {
            return refuse("it did not say in time who it is");
        };
        let Proof { mut stream, link, lane, credentials } = proved?;
        let handle = lock(&self.strangers.connections).1.remove(&number);
        link.replace_incoming(lane, handle);
        // Asked last: whoever is in its place by now is put out by a reload, and whoever is not finds this.
        let is_believed = Arc::ptr_eq(&credentials, &self.shared.credentials());
        if !is_believed || !self.shared.peers.has(&link) {
            return refuse("certificates were read again while it proved who it is: it may try again");
        }
        self.shared.check_revoked(stream.get_ref().1)?;
        let ended = self.hear(&mut stream, &link, lane).await;
        ended.map_err(|error| {
            Refusal::new(format!("the connection of node {:?} has ended: {error}", link.name))
        })
    }

    /// Who is there? The certificate must be that of the node that it says it is.
    async fn prove(&self, stream: TcpStream) -> Result<Proof, Refusal> {
        let cannot = |error: io::Error| Refusal::new(error.to_string());
        let credentials = self.shared.credentials();
        let mut stream = credentials.acceptor.accept(stream).await.map_err(cannot)?;
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
            return refuse("it says that it is this node");
        }
        let link = self.shared.admit(&greeting)?;
        link.note_certificate(stream.get_ref().1);
        greet(&mut stream, &self.shared, greeting.lane).await.map_err(cannot)?;
        Ok(Proof { stream, link, lane: greeting.lane, credentials })
    }

    /// Takes in what a peer says.
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
                Frame::Word(Word::StillHere) => {}
                Frame::Word(word) => self.shared.tell(Event::Word { from, word, room: permit }),
                Frame::Message(msg) => self.shared.tell(Event::Message { from, msg, room: permit }),
            }
        }
    }
}
