//! One connection to a daemon: bytes in, bytes out, never blocking.
//!
//! Every call passes its own flag not to block, because the mode of the socket belongs to all processes that have copies of it.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use doorway_core::Ticks;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::clock;
use crate::error::{Error, Incompatible};
use crate::policy::Policy;
use crate::session::NodeIdentity;
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg, LONGEST_CLIENT_MSG, LONGEST_DAEMON_MSG};

/// How many bytes may wait for a daemon that does not read.
const MOST_UNSENT: usize = 4 << 20;

/// How many bytes are read at once, and how often in one step: deadlines must not wait for a daemon that never stops sending. Together that
/// is more than the system buffers while this process is stopped.
const BITE: usize = 64 << 10;
const MOST_BITES: usize = 16;

/// A connection.
pub(crate) struct Connection {
    pub(crate) socket: Arc<UnixStream>,
    /// Whether the daemon's welcome was accepted; before that nothing is sent but a question about the time.
    pub(crate) is_welcome: bool,
    bite: Box<[u8]>,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// Since when the daemon owes its welcome, or has not read.
    owes: Option<Ticks>,
    /// When the connection, or the time, was requested: the time that the daemon tells is not earlier.
    pub(crate) since: Ticks,
    /// The daemon's welcome and spare, until it is certain that it has the same clock.
    pub(crate) greeting: Option<(NodeIdentity, Ticks)>,
}

impl Connection {
    pub(crate) fn new(socket: UnixStream, since: Ticks, now: Ticks) -> Self {
        let socket = Arc::new(socket);
        let bite = vec![0; BITE].into();
        let (incoming, outgoing) = (Vec::new(), Vec::new());
        Self { socket, is_welcome: false, bite, incoming, outgoing, owes: Some(now), since, greeting: None }
    }

    /// Reads all messages that have arrived, including those before the end of the connection.
    pub(crate) fn receive(&mut self) -> (Vec<DaemonMsg>, Option<Error>) {
        let fault = self.read();
        let (frames, strange) = self.frames();
        (frames, strange.or(fault))
    }

    /// Appends all bytes that have arrived to the unfinished frame; returns an error if no more can come.
    fn read(&mut self) -> Option<Error> {
        for _ in 0..MOST_BITES {
            match recv(&*self.socket, &mut *self.bite, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Some(Error::Gone),
                Ok((count, _)) => self.incoming.extend_from_slice(&self.bite[..count]),
                Err(Errno::AGAIN) => return None,
                Err(Errno::INTR) => {}
                Err(_) => return Some(Error::Gone),
            }
        }
        None
    }

    /// The whole frames among the bytes that have arrived.
    fn frames(&mut self) -> (Vec<DaemonMsg>, Option<Error>) {
        let (mut frames, mut read, mut fault) = (Vec::new(), 0, None);
        while let Some((head, rest)) = self.incoming[read..].split_first_chunk::<4>() {
            let frame = protocol::length(*head, LONGEST_DAEMON_MSG).and_then(|length| {
                rest.get(..length).map(|bytes| Ok((length, protocol::read(bytes)?))).transpose()
            });
            match frame {
                Ok(Some((length, told))) => {
                    frames.push(told);
                    read += 4 + length;
                }
                Ok(None) => break,
                Err(error) => {
                    fault = Some(Error::Incompatible(Incompatible::Bytes(error.to_string())));
                    break;
                }
            }
        }
        self.incoming.drain(..read);
        (frames, fault)
    }

    /// Queues a message.
    ///
    /// # Errors
    /// If it is too long for a frame, or too many bytes wait already.
    pub(crate) fn push(&mut self, ask: &ClientMsg) -> Result<(), Error> {
        if self.outgoing.len() > MOST_UNSENT {
            return Err(Error::Silent);
        }
        self.outgoing.extend(framed(ask)?);
        Ok(())
    }

    /// Sends as much as the daemon takes now.
    pub(crate) fn flush(&mut self, now: Ticks) -> Result<(), Error> {
        if !self.is_welcome || self.outgoing.is_empty() {
            return Ok(());
        }
        let mut sent = 0;
        while sent < self.outgoing.len() {
            match send(&*self.socket, &self.outgoing[sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return Err(Error::Gone),
            }
        }
        self.outgoing.drain(..sent);
        self.owes = match (self.outgoing.is_empty(), self.owes) {
            (true, _) => None,
            (false, Some(since)) if sent == 0 => Some(since),
            (false, _) => Some(now),
        };
        Ok(())
    }

    /// Accepts the daemon's welcome and returns it.
    pub(crate) fn welcome(&mut self) -> Option<(NodeIdentity, Ticks)> {
        self.is_welcome = true;
        self.owes = None;
        self.greeting.take()
    }

    /// Asks for the daemon's time, ahead of all messages that wait to be sent.
    ///
    /// # Errors
    /// If the daemon does not take the question.
    pub(crate) fn ask_clock(&mut self, now: Ticks) -> Result<(), Error> {
        let frame = framed(&ClientMsg::Clock)?;
        self.since = now;
        match send(&*self.socket, &frame, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) if sent == frame.len() => Ok(()),
            // Nothing else was ever sent, so a message of a few bytes fits.
            Ok(_) | Err(Errno::AGAIN) => Err(Error::Silent),
            Err(_) => Err(Error::Gone),
        }
    }

    /// Whether messages wait for the daemon to read.
    pub(crate) fn is_full(&self) -> bool {
        self.is_welcome && !self.outgoing.is_empty()
    }

    /// When the daemon counts as dead: it may take as long to read as to say welcome.
    pub(crate) fn due(&self) -> Option<Ticks> {
        self.owes.map(|since| Ticks(since.0.saturating_add(clock::ticks(Policy::FIRST_WELCOME).0)))
    }
}

fn framed(ask: &ClientMsg) -> Result<Vec<u8>, Error> {
    protocol::frame(ask, LONGEST_CLIENT_MSG)
        .map_err(|error| Error::Incompatible(Incompatible::Bytes(error.to_string())))
}

/// Connects to a socket without waiting, and without blocking from then on.
///
/// # Errors
/// If no process listens there; of the kind [`io::ErrorKind::WouldBlock`] if one does and accepts no connections, as a stopped daemon.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// Connects, as far as this system can without waiting, and without blocking from then on.
///
/// # Errors
/// If no process listens there.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let socket = UnixStream::connect(path)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_when_its_last_byte_is_there() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut connection = Connection::new(ours, Ticks(0), Ticks(0));
        let told = DaemonMsg::Done { number: 7, sentence: "done".to_owned() };
        let bytes = protocol::frame(&told, LONGEST_DAEMON_MSG).expect("it is short").repeat(2);
        for (place, byte) in bytes.iter().enumerate() {
            io::Write::write_all(&mut &theirs, &[*byte]).expect("there is room");
            let is_last = (place + 1) % (bytes.len() / 2) == 0;
            let expected = if is_last { vec![told.clone()] } else { Vec::new() };
            assert_eq!(connection.receive(), (expected, None), "after byte {place}");
        }
        drop(theirs);
        assert_eq!(connection.receive(), (Vec::new(), Some(Error::Gone)));
    }

    #[test]
    fn a_daemon_that_does_not_read_is_given_up() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut connection = Connection::new(ours, Ticks(0), Ticks(1_000_000));
        assert_eq!(connection.due(), Some(Ticks(6_000_000)), "it owes us a welcome");
        connection.welcome();
        assert_eq!(connection.due(), None);
        let ask = ClientMsg::Introduce { label: "x".repeat(60_000) };
        while !connection.is_full() {
            connection.push(&ask).expect("there is room");
            connection.flush(Ticks(2_000_000)).expect("the daemon is there");
        }
        connection.flush(Ticks(3_000_000)).expect("the daemon is there");
        assert_eq!(connection.due(), Some(Ticks(7_000_000)));
        let mut read = vec![0; 200_000];
        io::Read::read(&mut &theirs, &mut read).expect("there is something to read");
        connection.flush(Ticks(4_000_000)).expect("the daemon is there");
        assert!(connection.due().is_none_or(|due| due == Ticks(9_000_000)));
        let refused = std::iter::repeat_with(|| connection.push(&ask)).take(100).find_map(Result::err);
        assert_eq!(refused, Some(Error::Silent), "not everything is kept for it");
    }
}
