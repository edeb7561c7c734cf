//! A daemon that says what a test wants it to say, when it wants it.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use doorway_client::clock;
use doorway_core::{Fence, SectionName, Ticks};
use doorway_protocol::{
    self as protocol, ClientMsg, DaemonMsg, LONGEST_CLIENT_MSG, LONGEST_DAEMON_MSG, Status, VERSION,
};
use rustix::net::RecvFlags;
use rustix::process::Pid;

use crate::terminal;

/// Nothing in these tests takes this long.
pub const LONG: Duration = Duration::from_secs(30);

pub const BINARY: &str = env!("CARGO_BIN_EXE_doorway");

/// A command that says when it is asked to stop, and stops when a line is typed.
pub const PATIENT: &[&str] =
    &["sh", "-c", "trap 'echo asked' TERM; echo in; while ! read line; do :; done; exit 3"];

/// A listener in place of a daemon.
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

    /// The same, started by a process that ignores these signals.
    pub fn lock_ignoring(&self, signals: &str, line: &[&str]) -> Child {
        let script = format!("trap '' {signals}; exec \"$@\"");
        self.run(Command::new("bash").args(["-c", &script, "bash", BINARY, "lock"]).args(line))
    }

    /// A command that finds this daemon. Tests that run in the background inherit ignored signals; it does not.
    pub fn run(&self, command: &Command) -> Child {
        Command::new("env")
            .arg("--default-signal")
            .arg(command.get_program())
            .args(command.get_args())
            .env("DOORWAY_SOCKET", &self.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts")
    }

    /// Accepts no connection any more: the backlog of one is full.
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

    /// The next client, with a grant for this many milliseconds from a daemon that announces this spare time.
    pub fn granted_with_spare(&self, spare: u64, milliseconds: u64) -> (Client, Request) {
        let mut client = self.stranger();
        client.welcome_with(clock::now(), Ticks(spare * 1_000));
        let request = client.request();
        client.grant(&request, milliseconds);
        (client, request)
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
        let request = client.request();
        (client, request)
    }

    /// The next client, with a grant for this many milliseconds and fences from 41 on.
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
        self.welcome_with(now, Ticks(60_000_000));
    }

    /// The same of a daemon whose deadlines may be so near.
    pub fn welcome_with(&mut self, now: Ticks, spare: Ticks) {
        let (cluster, node) = ("lab".to_owned(), "a".to_owned());
        let clock = clock::name().map(str::to_owned);
        self.say(&DaemonMsg::Welcome { version: VERSION, cluster, node, now, clock, spare });
    }

    /// Its introduction, and its request for a lock.
    fn request(&mut self) -> Request {
        let introduced = self.hear();
        assert!(matches!(introduced, Some(ClientMsg::Introduce { .. })), "{introduced:?}");
        let Some(ClientMsg::Lock { number, names, patience, max_hold, ttl, .. }) = self.hear() else {
            panic!("a request for a lock")
        };
        Request { number, names, patience, max_hold, ttl }
    }

    pub fn say(&mut self, told: &DaemonMsg) {
        let frame = protocol::frame(told, LONGEST_DAEMON_MSG).expect("a short word");
        self.stream.write_all(&frame).expect("somebody hears it");
    }

    pub fn grant(&mut self, request: &Request, milliseconds: u64) {
        let fences = request.names.iter().cloned().zip((41..).map(Fence)).collect();
        self.say(&DaemonMsg::Granted { number: request.number, fences, until: after(milliseconds) });
    }

    /// The next word, or none if all copies of the connection are closed.
    pub fn hear(&mut self) -> Option<ClientMsg> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).ok()?;
        let mut body = vec![0; protocol::length(head, LONGEST_CLIENT_MSG).expect("a short word")];
        self.stream.read_exact(&mut body).expect("all of it");
        Some(protocol::read(&body).expect("a word of the protocol"))
    }

    /// Whether there is nothing to hear, and the connection is open.
    pub fn has_said_nothing(&self) -> bool {
        let heard = rustix::net::recv(&self.stream, &mut [0_u8; 1], RecvFlags::DONTWAIT | RecvFlags::PEEK);
        heard.is_err_and(|error| error == rustix::io::Errno::AGAIN)
    }

    /// Whether the client leaves by word, and is told that it was heard.
    pub fn hears_release(&mut self) -> bool {
        let released = matches!(self.hear(), Some(ClientMsg::Release { .. }));
        if let Some(ClientMsg::Status { number, .. }) = self.hear() {
            self.say(&DaemonMsg::Status { number, status: Box::new(nothing()) });
        }
        released
    }
}

/// The next line that a command prints.
pub fn line(child: &mut Child) -> String {
    let mut line = Vec::new();
    // Byte by byte, so that nothing of the next line is taken.
    let out = child.stdout.as_mut().expect("a pipe");
    let mut byte = [0];
    while std::io::Read::read(out, &mut byte).expect("it speaks") == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    terminal::text(&line)
}

pub fn process(number: &str) -> Pid {
    number.parse().ok().and_then(Pid::from_raw).expect("the number of a process")
}

pub fn own(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().expect("a small number")).expect("a process")
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
