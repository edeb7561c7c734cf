//! A daemon that says what a test wants it to say, when it wants it.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use doorway_client::clock;
use doorway_client::protocol::{self, Ask, LONGEST_ASK, LONGEST_TOLD, Status, Told, VERSION};
use doorway_core::{Fence, SectionName, Ticks};

use crate::terminal;

/// Nothing in these tests takes this long.
pub const LONG: Duration = Duration::from_secs(30);

const BINARY: &str = env!("CARGO_BIN_EXE_doorway");

/// Somebody who listens where a daemon would.
pub struct Daemon {
    pub socket: PathBuf,
    listener: UnixListener,
}

impl Daemon {
    pub fn new(test: &str) -> Self {
        let socket = terminal::folder(test).join("daemon.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        Self { socket, listener }
    }

    /// `doorway lock` with these words.
    pub fn lock(&self, line: &[&str]) -> Child {
        self.run(Command::new(BINARY).arg("lock").args(line))
    }

    /// The same, started by somebody who ignores the ends of its children.
    pub fn lock_ignoring_children(&self, line: &[&str]) -> Child {
        let script = "trap '' CHLD; exec \"$@\"";
        self.run(Command::new("bash").args(["-c", script, "bash", BINARY, "lock"]).args(line))
    }

    fn run(&self, command: &mut Command) -> Child {
        command
            .env("DOORWAY_SOCKET", &self.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts")
    }

    /// Lets nobody in any more: as many wait as may, which is one.
    pub fn fill(&self) -> UnixStream {
        rustix::net::listen(&self.listener, 0).expect("it listens to fewer");
        let first = doorway_client::connect(&self.socket).expect("there is room for one");
        let second = doorway_client::connect(&self.socket).map_err(|error| error.kind());
        assert_eq!(second.err(), Some(std::io::ErrorKind::WouldBlock));
        first
    }

    /// The next client, welcomed.
    pub fn client(&self) -> Client {
        let mut client = self.stranger();
        client.welcome(clock::now());
        client
    }

    /// The next client, to which nothing was said.
    pub fn stranger(&self) -> Client {
        let (stream, _) = self.listener.accept().expect("a client");
        stream.set_read_timeout(Some(LONG)).expect("a limit");
        Client { stream }
    }

    /// The next client, its request for a lock taken.
    pub fn request(&self) -> (Client, Request) {
        let mut client = self.client();
        let introduced = client.hear();
        assert!(matches!(introduced, Some(Ask::Introduce { .. })), "{introduced:?}");
        let Some(Ask::Lock { number, names, patience, max_hold, ttl, .. }) = client.hear() else {
            panic!("a request for a lock")
        };
        (client, Request { number, names, patience, max_hold, ttl })
    }

    /// The next client, let in with fences from 41 on until so many milliseconds from now.
    pub fn granted(&self, milliseconds: u64) -> (Client, Request) {
        let (mut client, request) = self.request();
        client.grant(&request, milliseconds);
        (client, request)
    }
}

/// What a client asked for.
#[derive(Debug)]
pub struct Request {
    pub number: u32,
    pub names: Vec<SectionName>,
    pub patience: Option<Ticks>,
    pub max_hold: Option<Ticks>,
    pub ttl: Option<Ticks>,
}

/// A connection of a client.
pub struct Client {
    stream: UnixStream,
}

impl Client {
    /// Says welcome as a daemon does on whose clock it is this time.
    pub fn welcome(&mut self, now: Ticks) {
        let (cluster, node) = ("lab".to_owned(), "a".to_owned());
        self.say(&Told::Welcome {
            version: VERSION,
            cluster,
            node,
            now,
            clock: clock::name().map(str::to_owned),
        });
    }

    pub fn say(&mut self, told: &Told) {
        let frame = protocol::frame(told, LONGEST_TOLD).expect("a short word");
        self.stream.write_all(&frame).expect("somebody hears it");
    }

    pub fn grant(&mut self, request: &Request, milliseconds: u64) {
        let fences = request.names.iter().cloned().zip((41..).map(Fence)).collect();
        self.say(&Told::Granted { number: request.number, fences, until: after(milliseconds) });
    }

    /// The next word, or none if all copies of the connection are closed.
    pub fn hear(&mut self) -> Option<Ask> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; protocol::length(head, LONGEST_ASK).expect("a short word")];
        self.stream.read_exact(&mut body).expect("all of it");
        Some(protocol::read(&body).expect("a word of the protocol"))
    }

    /// Whether the client leaves by word, and is told that it was heard.
    pub fn hears_release(&mut self) -> bool {
        let released = matches!(self.hear(), Some(Ask::Release { .. }));
        if let Some(Ask::Status { number, .. }) = self.hear() {
            self.say(&Told::Status { number, status: Box::new(nothing()) });
        }
        released
    }
}

/// So many milliseconds from now.
pub fn after(milliseconds: u64) -> Ticks {
    clock::now() + Ticks(milliseconds * 1_000)
}

/// Waits until a moment has passed.
pub fn pass(moment: Ticks) {
    while clock::now() < moment {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The end of a command: its status, what it printed, and what `doorway` said.
pub fn end(child: Child) -> (i32, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    (status.code().unwrap_or(-1), terminal::text(&stdout), terminal::text(&stderr))
}

/// How things stand where nothing happens.
pub fn nothing() -> Status {
    Status {
        cluster: "lab".to_owned(),
        algorithm: "none".to_owned(),
        node: "a".to_owned(),
        nodes: Vec::new(),
        sections: Vec::new(),
        is_cut: false,
    }
}
