//! A client that speaks the protocol and nothing else.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{
    self as protocol, ClientMsg, DaemonMsg, LONGEST_CLIENT_MSG, LONGEST_DAEMON_MSG, Status,
};

/// How long anything may take that must happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to a daemon.
pub struct Client {
    stream: UnixStream,
    next: u32,
}

impl Client {
    /// A client that has heard nothing yet.
    pub fn stranger(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Self { stream, next: 1 }
    }

    /// A client that has been welcomed.
    pub fn new(stream: UnixStream) -> Self {
        let mut client = Self::stranger(stream);
        assert!(matches!(client.hear(), Ok(DaemonMsg::Welcome { version: protocol::VERSION, .. })));
        client
    }

    /// Sends any message.
    pub fn ask(&mut self, ask: &ClientMsg) {
        self.try_ask(ask).expect("the daemon reads");
    }

    /// Asks, if the daemon still listens.
    pub fn try_ask(&mut self, ask: &ClientMsg) -> io::Result<()> {
        self.stream.write_all(&protocol::frame(ask, LONGEST_CLIENT_MSG)?)
    }

    /// The next word of the daemon.
    pub fn hear(&mut self) -> io::Result<DaemonMsg> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head)?;
        let mut bytes = vec![0; protocol::length(head, LONGEST_DAEMON_MSG)?];
        self.stream.read_exact(&mut bytes)?;
        protocol::read(&bytes)
    }

    /// The next word that is no renewal.
    pub fn hear_news(&mut self) -> DaemonMsg {
        loop {
            match self.hear().expect("the daemon says something in time") {
                DaemonMsg::Renewed { .. } => {}
                told => return told,
            }
        }
    }

    /// Another copy of the same connection, as a process that was started has it.
    pub fn copy(&self) -> UnixStream {
        self.stream.try_clone().expect("a descriptor")
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Wants into a section; tells the number of the request.
    pub fn want(&mut self, name: &str, patience: Option<Ticks>) -> u32 {
        self.want_all(vec![section(name)], patience)
    }

    /// Wants into several sections; tells the number of the request.
    pub fn want_all(&mut self, names: Vec<SectionName>, patience: Option<Ticks>) -> u32 {
        let number = self.number();
        self.ask(&ClientMsg::Lock {
            number,
            names,
            patience,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
        });
        number
    }

    /// Goes into a section, however long that takes; tells the number and the fence.
    pub fn lock(&mut self, name: &str) -> (u32, Fence) {
        let wanted = self.want(name, None);
        match self.hear_news() {
            DaemonMsg::Granted { number, fences, .. } if number == wanted => (number, fences[0].1),
            told => panic!("not let in but told {told:?}"),
        }
    }

    /// Leaves.
    pub fn release(&mut self, number: u32) {
        self.ask(&ClientMsg::Release { number });
    }

    /// Goes in and out again; tells the fence.
    pub fn pass(&mut self, name: &str) -> Fence {
        let (number, fence) = self.lock(name);
        self.release(number);
        fence
    }

    /// How things stand.
    pub fn status(&mut self, everywhere: bool) -> Status {
        let asked = self.number();
        self.ask(&ClientMsg::Status { number: asked, section: None, everywhere });
        match self.hear_news() {
            DaemonMsg::Status { number, status } if number == asked => *status,
            told => panic!("no status but {told:?}"),
        }
    }

    /// Has something done; tells what came of it.
    pub fn administer(&mut self, order: protocol::AdminCommand) -> Result<String, String> {
        let number = self.number();
        self.ask(&ClientMsg::Administer { number, order });
        match self.hear_news() {
            DaemonMsg::Done { sentence, .. } => Ok(sentence),
            DaemonMsg::Failed { sentence, .. } => Err(sentence),
            told => panic!("no answer but {told:?}"),
        }
    }
}

pub fn section(name: &str) -> SectionName {
    SectionName::new(name).expect("a good name")
}
