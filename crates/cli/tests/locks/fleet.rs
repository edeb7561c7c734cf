//! Real daemons on this machine, each test with its own, ended with it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::ports::free_address;
use crate::terminal::text;

/// Nothing in these tests takes this long, even on a machine that has much else to do.
pub const LONG: Duration = Duration::from_secs(60);

/// A folder of a short name, as the name of a socket must be short; gone with its owner.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dw-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is ended with its owner.
pub struct Process(pub Child);

impl Process {
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id().try_into().expect("a small number")).expect("a process")
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it lives");
    }

    /// Its end, of which all output is told.
    pub fn end(mut self) -> (i32, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        if let Some(mut pipe) = self.0.stdout.take() {
            pipe.read_to_string(&mut out).expect("text");
        }
        if let Some(mut pipe) = self.0.stderr.take() {
            pipe.read_to_string(&mut err).expect("text");
        }
        let status = self.0.wait().expect("it ends");
        (status.code().unwrap_or(-1), out, err)
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> String {
        line_of(self.0.stdout.as_mut().expect("a pipe"))
    }

    /// A line for it to read.
    pub fn type_line(&mut self, line: &str) {
        let mut input = self.0.stdin.take().expect("a pipe");
        writeln!(input, "{line}").expect("it reads");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Byte by byte, so that nothing of the next line is taken.
fn line_of(out: &mut ChildStdout) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while out.read(&mut byte).expect("it speaks") == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    text(&line)
}

/// The command with these words, for daemons whose sockets are in this runtime folder.
pub fn command(runtime: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
    command.args(words).env("XDG_RUNTIME_DIR", runtime).env_remove("DOORWAY_SOCKET");
    // So that nothing is left even of those that are killed.
    command.env("TMPDIR", runtime);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn start(mut command: Command) -> Process {
    Process(command.spawn().expect("the command starts"))
}

/// Waits until something holds, which is looked at again and again.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "{what}: not within {LONG:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `doorway node --dev`, ready.
pub struct Dev {
    pub process: Process,
    pub runtime: Folder,
    /// What it said when it was ready.
    pub greeting: Vec<String>,
}

impl Dev {
    pub fn new(test: &str) -> Self {
        Self::with(test, &[])
    }

    pub fn with(test: &str, words: &[&str]) -> Self {
        let runtime = Folder::new(test);
        let mut process = start(command(&runtime.0, &[&["node", "--dev"], words].concat()));
        let mut lines = BufReader::new(process.0.stdout.take().expect("a pipe")).lines();
        let greeting: Vec<String> = lines.by_ref().take(5).map_while(Result::ok).collect();
        assert!(greeting.len() == 5, "{greeting:?} {:?}", process.end());
        Self { process, runtime, greeting }
    }

    pub fn command(&self, words: &[&str]) -> Command {
        command(&self.runtime.0, words)
    }

    pub fn start(&self, words: &[&str]) -> Process {
        start(self.command(words))
    }

    pub fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().expect("the command starts");
        (status.code().unwrap_or(-1), text(&stdout), text(&stderr))
    }

    /// A holder that stays inside until a line is typed.
    pub fn holder(&self, words: &[&str]) -> Process {
        let command = ["--", "sh", "-c", "echo in; read line"];
        let mut process = self.start(&[&["lock"], words, &command].concat());
        assert_eq!(process.line(), "in");
        process
    }

    pub fn status(&self) -> Value {
        let (code, out, err) = self.run(&["status", "--json"]);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("it prints JSON")
    }
}

/// A cluster of daemons of their own, as its operator sets it up.
pub struct Cluster {
    pub folder: Folder,
    pub nodes: Vec<(String, Option<Process>)>,
}

impl Cluster {
    /// Founded and not started.
    pub fn found(test: &str, names: &[&str]) -> Self {
        let folder = Folder::new(test);
        let mut cluster = Self { folder, nodes: Vec::new() };
        let nodes: Vec<String> = names.iter().map(|name| format!("{name}={}", free_address())).collect();
        let (code, out, err) = cluster.run(&["cluster", "init", &cluster.lab(), "--nodes", &nodes.join(",")]);
        assert_eq!(code, 0, "{out}{err}");
        cluster.nodes = names.iter().map(|name| ((*name).to_owned(), None)).collect();
        cluster
    }

    /// Founded, started and ready.
    pub fn new(test: &str, names: &[&str]) -> Self {
        let mut cluster = Self::found(test, names);
        names.iter().for_each(|name| cluster.start(name));
        names.iter().for_each(|name| cluster.await_ready(name));
        cluster
    }

    pub fn lab(&self) -> String {
        self.folder.0.join("lab").to_string_lossy().into_owned()
    }

    pub fn config(&self, node: &str) -> String {
        format!("{}/{node}/node.toml", self.lab())
    }

    pub fn start(&mut self, node: &str) {
        let config = self.config(node);
        self.start_by(node, command(&self.folder.0, &["node", "--config", &config]));
    }

    /// Starts a daemon by this command, which logs where all do.
    pub fn start_by(&mut self, node: &str, mut command: Command) {
        let log = self.folder.0.join(format!("{node}.log"));
        let log = fs::File::options().create(true).append(true).open(log).expect("a log");
        command.stdout(Stdio::null()).stderr(log);
        let process = Some(start(command));
        match self.nodes.iter_mut().find(|(name, _)| name == node) {
            Some((_, place)) => *place = process,
            None => self.nodes.push((node.to_owned(), process)),
        }
    }

    pub fn process(&self, node: &str) -> &Process {
        self.nodes
            .iter()
            .find_map(|(name, process)| process.as_ref().filter(|_| name == node))
            .expect("it runs")
    }

    /// Ends a daemon without a word.
    pub fn kill(&mut self, node: &str) {
        self.nodes.iter_mut().filter(|(name, _)| name == node).for_each(|(_, process)| *process = None);
    }

    pub fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } =
            command(&self.folder.0, words).output().expect("the command starts");
        (status.code().unwrap_or(-1), text(&stdout), text(&stderr))
    }

    pub fn is_ready(&self, node: &str) -> bool {
        self.run(&["status", "--ready", "--node", node]).0 == 0
    }

    pub fn await_ready(&self, node: &str) {
        until(&format!("{node} is ready"), || self.is_ready(node));
    }

    pub fn status(&self, node: &str) -> Value {
        let (_, out, err) = self.run(&["status", "--json", "--node", node]);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("it prints JSON: {err}"))
    }

    /// The names of the members of a view, as a node sees it.
    pub fn members(&self, node: &str) -> Vec<String> {
        let status = self.status(node);
        let nodes = status["nodes"].as_array().expect("a list").iter();
        let members = nodes.filter(|node| node["is_member"] == true);
        members.filter_map(|node| node["name"].as_str().map(str::to_owned)).collect()
    }

    /// The name of the node that leads, as a node sees it.
    pub fn leader(&self, node: &str) -> Option<String> {
        let status = self.status(node);
        let mut nodes = status["nodes"].as_array().expect("a list").iter();
        nodes.find(|node| node["is_leader"] == true).and_then(|node| node["name"].as_str().map(str::to_owned))
    }

    /// What a daemon has logged, in all of its lives.
    pub fn log(&self, node: &str) -> String {
        fs::read_to_string(self.folder.0.join(format!("{node}.log"))).unwrap_or_default()
    }

    /// Waits until a daemon has ended by itself.
    pub fn await_end(&mut self, node: &str) {
        let process =
            self.nodes.iter_mut().find_map(|(name, process)| process.as_mut().filter(|_| name == node));
        let process = process.expect("it was started");
        until(&format!("{node} ends"), || process.0.try_wait().expect("it can be asked").is_some());
    }

    /// Starts a daemon again that has ended by itself.
    pub fn start_if_ended(&mut self, node: &str) {
        let process =
            self.nodes.iter_mut().find_map(|(name, process)| process.as_mut().filter(|_| name == node));
        if process.is_none_or(|process| process.0.try_wait().expect("it can be asked").is_some()) {
            self.start(node);
        }
    }

    /// The fence of an entry through a node.
    pub fn fence(&self, node: &str) -> u64 {
        let (code, out, err) = self.run(&[
            "lock",
            "x",
            "--wait",
            "30s",
            "--node",
            node,
            "--",
            "sh",
            "-c",
            "echo $DOORWAY_FENCE",
        ]);
        assert_eq!(code, 0, "{err}");
        out.trim().parse().expect("a fence")
    }
}
