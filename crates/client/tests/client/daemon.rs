//! A daemon that does what a test says, over one end of a pair of sockets.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use doorway_client::{Client, clock};
use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg, LONGEST_CLIENT_MSG, LONGEST_DAEMON_MSG};

/// The daemon's end of a connection.
pub struct Daemon(pub UnixStream);

/// A client and its daemon, which has said welcome.
pub fn pair() -> (Client, Daemon) {
    let (client, daemon) = strangers();
    daemon.welcome();
    (client, daemon)
}

/// A client and its daemon, which has said nothing yet.
pub fn strangers() -> (Client, Daemon) {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    (Client::over(ours).expect("a client"), Daemon::new(theirs))
}

impl Daemon {
    pub fn new(socket: UnixStream) -> Self {
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        Self(socket)
    }

    pub fn welcome(&self) {
        self.welcome_at(clock::now());
    }

    /// Says welcome as a daemon does on whose clock it is this time.
    pub fn welcome_at(&self, now: Ticks) {
        self.welcome_by(now, clock::name());
    }

    /// The same, with the name of that clock if it has one.
    pub fn welcome_by(&self, now: Ticks, clock: Option<&str>) {
        let (cluster, node, clock) = ("test".to_owned(), "a".to_owned(), clock.map(str::to_owned));
        let spare = Ticks(500_000);
        self.tell(&DaemonMsg::Welcome { version: protocol::VERSION, cluster, node, now, clock, spare });
    }

    pub fn tell(&self, told: &DaemonMsg) {
        self.write(&protocol::frame(told, LONGEST_DAEMON_MSG).expect("it is short"));
    }

    pub fn write(&self, bytes: &[u8]) {
        (&self.0).write_all(bytes).expect("the client reads");
    }

    /// What the client says next.
    pub fn next(&self) -> ClientMsg {
        let mut head = [0; 4];
        (&self.0).read_exact(&mut head).expect("the client says something");
        let mut bytes = vec![0; protocol::length(head, LONGEST_CLIENT_MSG).expect("it is short")];
        (&self.0).read_exact(&mut bytes).expect("the client says all of it");
        protocol::read(&bytes).expect("the client knows the protocol")
    }

    /// The number of the request that the client makes next, and its sections.
    pub fn next_lock(&self) -> (u32, Vec<SectionName>) {
        match self.next() {
            ClientMsg::Lock { number, names, .. } => (number, names),
            other => panic!("it does not ask for sections: {other:?}"),
        }
    }

    /// Grants the next request, with fences from 10 on, for this many milliseconds; returns its number and deadline.
    pub fn grant(&self, milliseconds: u64) -> (u32, Ticks) {
        let (number, names) = self.next_lock();
        let until = from_now(milliseconds);
        self.tell(&granted(number, &names, until));
        (number, until)
    }
}

pub fn granted(number: u32, names: &[SectionName], until: Ticks) -> DaemonMsg {
    let fences = names.iter().cloned().zip((10..).map(Fence)).collect();
    DaemonMsg::Granted { number, fences, until }
}

pub fn from_now(milliseconds: u64) -> Ticks {
    clock::now() + clock::ticks(Duration::from_millis(milliseconds))
}

pub fn name(text: &str) -> SectionName {
    SectionName::new(text).expect("a good name")
}
