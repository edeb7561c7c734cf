//! A flood of handshakes: the number that run at once is limited, for one address and in all, and addresses take turns.
//!
//! A stranger here says hello and then nothing: the daemon answers when the handshake has its slot, and closes the connection when the
//! handshake has had its time. These tests count answers, and measure no time.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use crate::addresses::from_elsewhere;
use crate::cluster::{Cluster, wait_for};
use crate::strangers::over;

/// The most handshakes of one address, and of all addresses, as docs/guarantees.md promises.
const MOST_OF_ONE: usize = 8;
const MOST: usize = 32;

/// A connection that said hello.
struct Stranger {
    stream: StreamOwned<ClientConnection, TcpStream>,
    is_answered: bool,
    is_closed: bool,
}

impl Stranger {
    /// Connects from 127.0.0.`last` and says hello. None where this machine has no such address.
    fn new(cluster: &Cluster, last: u8) -> Option<Self> {
        let stream = from_elsewhere(&cluster.config("a").me().address, last).ok()?;
        let mut stream = over(stream, cluster, "a", None);
        stream.conn.write_tls(&mut stream.sock).expect("the node listens");
        stream.sock.set_nonblocking(true).expect("a socket");
        Some(Self { stream, is_answered: false, is_closed: false })
    }

    /// Reads what has arrived, and answers nothing.
    fn look(&mut self) {
        let mut bytes = [0; 4_096];
        while !self.is_closed {
            match self.stream.sock.read(&mut bytes) {
                Ok(0) => self.is_closed = true,
                Ok(_) => self.is_answered = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.is_closed = true,
            }
        }
    }

    fn is_in_handshake(&self) -> bool {
        self.is_answered && !self.is_closed
    }
}

/// The strangers of each of these addresses, as many as one may have in a handshake and half as many again.
fn crowd(cluster: &Cluster, addresses: std::ops::Range<u8>) -> Option<Vec<Stranger>> {
    let places = (0..MOST_OF_ONE * 3 / 2).flat_map(|_| addresses.clone());
    let strangers: Option<Vec<Stranger>> = places.map(|last| Stranger::new(cluster, last)).collect();
    if strangers.is_none() {
        eprintln!("skipped: this machine's loopback has one address only");
    }
    strangers
}

/// The most strangers that were seen in a handshake at once, until each was closed or answered.
///
/// The daemon closes a connection before it gives its slot away. So a connection that still looks open when all have been looked at again
/// after the newest answer really shared the time with it, however late this process looks.
fn most_at_once(mut strangers: Vec<Stranger>) -> usize {
    let (mut most, mut answered) = (0, 0);
    wait_for("every handshake has had its turn, or was closed", || {
        strangers.iter_mut().for_each(Stranger::look);
        let now_answered = strangers.iter().filter(|stranger| stranger.is_answered).count();
        if now_answered > answered {
            answered = now_answered;
            let before: Vec<bool> = strangers.iter().map(|stranger| stranger.is_answered).collect();
            // The ends of connections may be delivered a moment after the answers that followed them.
            std::thread::sleep(Duration::from_millis(5));
            strangers.iter_mut().for_each(Stranger::look);
            let at_once = strangers.iter().zip(before).filter(|(now, was)| *was && now.is_in_handshake());
            most = most.max(at_once.count());
        }
        strangers.iter().all(|stranger| stranger.is_answered || stranger.is_closed)
    });
    assert!(answered > 0, "no stranger was answered");
    most
}

#[test]
fn one_address_has_few_handshakes_at_once() {
    let cluster = Cluster::running(1);
    let Some(strangers) = crowd(&cluster, 2..3) else { return };
    let most = most_at_once(strangers);
    assert!(most <= MOST_OF_ONE, "{most} of one address");
}

#[test]
fn all_addresses_together_have_few_handshakes_at_once() {
    let cluster = Cluster::running(1);
    let Some(strangers) = crowd(&cluster, 2..8) else { return };
    let most = most_at_once(strangers);
    assert!(most <= MOST, "{most} of six addresses");
}

#[test]
fn a_handshake_of_another_address_overtakes_those_that_wait() {
    const WAITING: usize = 200;
    let cluster = Cluster::running(1);
    let flood: Option<Vec<Stranger>> = (0..WAITING).map(|_| Stranger::new(&cluster, 2)).collect();
    let (Some(mut flood), Some(mut other)) = (flood, Stranger::new(&cluster, 3)) else {
        eprintln!("skipped: this machine's loopback has one address only");
        return;
    };
    wait_for("the other address is answered", || {
        other.look();
        other.is_answered
    });
    flood.iter_mut().for_each(Stranger::look);
    let answered = flood.iter().filter(|stranger| stranger.is_answered).count();
    // Of those that came before it. Each that is answered has a slot for two seconds, so a slow machine may let some more in.
    assert!(answered < WAITING / 2, "{answered} of {WAITING} were answered before it");
    cluster.client("a").pass("door");
}
