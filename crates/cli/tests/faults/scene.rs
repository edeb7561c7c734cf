//! A cluster of real daemons on hosts of their own, clients of each, and what may be done to them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use doorway_client::{Client, Guard, clock};
use doorway_protocol::Status;
use rustix::process::{Pid, Signal, kill_process};

use super::history::{self, Event, Line};
use super::linear;
use super::net::Net;
use super::worker::Task;

/// How long anything may take that should happen: far longer than it does.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Times that bear a machine that is busy with other things.
const TIMING: &str = "lease = \"2s\"\nmargin = \"200ms\"\nheartbeat = \"250ms\"\ndetection = \"2500ms\"\nbarrier = \"2s\"\nelection = \"800ms\"\n";

/// Times for those who stay inside all the while and must not lose: a busy machine may keep a daemon waiting for longer than the
/// others bear.
const PATIENT: &str = "lease = \"4s\"\nmargin = \"200ms\"\nheartbeat = \"250ms\"\ndetection = \"5s\"\nbarrier = \"4s\"\nelection = \"800ms\"\n";

/// How long nothing may come of a report, in scenes with a short barrier.
pub const BARRIER: Duration = Duration::from_millis(1_500);

/// The lease in microseconds.
pub const LEASE: u64 = 2_000_000;

/// The longest time in which a cluster with these times leaves a node out and continues.
pub const DETECTION: Duration = Duration::from_millis(2_500 + 2_500);

/// The scene.
#[derive(Debug)]
pub struct Scene {
    pub net: Net,
    pub folder: PathBuf,
    daemons: Vec<Option<Child>>,
    workers: Vec<(Task, Option<Child>)>,
    /// The folder of a node that has a small disk of its own.
    small_disk: Option<PathBuf>,
}

impl Scene {
    /// Starts `nodes` daemons with `clients` clients each and waits until all are ready; `None` where the machine cannot do that.
    pub fn new(nodes: usize, clients: usize, sections: &[&str]) -> Option<Self> {
        Self::prepared(nodes, clients, sections, |_| ())
    }

    /// The same, where something is done before the daemons start.
    pub fn prepared(
        nodes: usize,
        clients: usize,
        sections: &[&str],
        prepare: impl FnOnce(&mut Self),
    ) -> Option<Self> {
        let net = match Net::new(nodes) {
            Ok(net) => net,
            Err(why) => {
                eprintln!("{why}");
                return None;
            }
        };
        let folder = std::env::temp_dir().join(net.host(0));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut scene = Self { net, folder, daemons: Vec::new(), workers: Vec::new(), small_disk: None };
        scene.found(nodes);
        prepare(&mut scene);
        scene.daemons = (0..nodes).map(|node| Some(scene.start(node))).collect();
        (0..nodes).for_each(|node| scene.wait_ready(node));
        for worker in 0..nodes * clients {
            let node = worker % nodes;
            let task = Task {
                name: format!("{}{}", name(node), worker / nodes),
                socket: scene.socket(node),
                folder: scene.folder.clone(),
                sections: sections.iter().map(|section| (*section).to_owned()).collect(),
                hold: 60,
                writes_late: true,
            };
            let child = task.start();
            scene.workers.push((task, Some(child)));
        }
        Some(scene)
    }

    /// The same, where a lease is long.
    pub fn patient(nodes: usize, clients: usize, sections: &[&str]) -> Option<Self> {
        Self::prepared(nodes, clients, sections, |scene| scene.set_times(PATIENT))
    }

    /// Gives all nodes other times.
    fn set_times(&self, times: &str) {
        for node in 0..self.net.hosts() {
            let text = std::fs::read_to_string(self.config(node)).expect("it was written");
            assert!(text.contains(TIMING), "node.toml has a table of times");
            std::fs::write(self.config(node), text.replace(TIMING, times)).expect("it can be changed");
        }
    }

    /// This many daemons, without clients, with long leases and a barrier of [`BARRIER`].
    pub fn with_short_barrier(nodes: usize) -> Option<Self> {
        let barrier = format!("barrier = \"{}ms\"", BARRIER.as_millis());
        let times = PATIENT.replace("barrier = \"4s\"", &barrier);
        assert_ne!(times, PATIENT);
        Self::prepared(nodes, 0, &[], |scene| scene.set_times(&times))
    }

    /// This many daemons, without clients, with the times that a configuration without times has.
    pub fn with_default_times(nodes: usize) -> Option<Self> {
        Self::prepared(nodes, 0, &[], |scene| scene.set_times(""))
    }

    fn found(&self, nodes: usize) {
        let peers = (0..nodes).map(|node| format!("{}={}:7400", name(node), self.net.address(node)));
        let peers = peers.collect::<Vec<_>>().join(",");
        let made = Command::new(doorway())
            .args(["cluster", "init"])
            .arg(self.folder.join("cluster"))
            .args(["--nodes", &peers])
            .output()
            .expect("doorway runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        for node in 0..nodes {
            let path = self.config(node);
            let text = std::fs::read_to_string(&path).expect("it was written");
            let own = format!("socket = {:?}\nstop_patience = \"500ms\"\n", self.socket(node));
            let text = format!("{own}{}", text.replace("[timing]\n", &format!("[timing]\n{TIMING}")));
            assert!(text.contains(TIMING), "node.toml has a table of times");
            std::fs::write(&path, text).expect("it can be changed");
        }
    }

    fn config(&self, node: usize) -> PathBuf {
        self.home(node).join("node.toml")
    }

    /// The folder of a node.
    pub fn home(&self, node: usize) -> PathBuf {
        self.folder.join("cluster").join(name(node))
    }

    fn socket(&self, node: usize) -> PathBuf {
        self.folder.join(format!("{}.sock", name(node)))
    }

    fn start(&self, node: usize) -> Child {
        let path = self.folder.join(format!("{}.log", name(node)));
        let log = std::fs::File::options().create(true).append(true).open(path).expect("a log");
        let mut command = self.net.command(node, doorway());
        command.args(["node", "--config"]).arg(self.config(node)).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log).spawn().expect("a daemon starts")
    }

    /// Gives a node a small disk of its own.
    pub fn make_disk_small(&mut self, node: usize) {
        let folder = self.home(node).join("data");
        std::fs::create_dir_all(&folder).expect("room");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&folder)
            .status()
            .expect("mount runs");
        assert!(mounted.success(), "whoever can make namespaces can mount");
        self.small_disk = Some(folder);
    }

    /// Fills the small disk, so that not a byte more goes there.
    pub fn fill_disk(&self) {
        let mut ballast = std::fs::File::create(self.ballast()).expect("there is room for a name");
        while std::io::Write::write(&mut ballast, &[0; 4_096]).is_ok_and(|written| written > 0) {}
    }

    /// Makes room on it again.
    pub fn free_disk(&self) {
        std::fs::remove_file(self.ballast()).expect("it is there");
    }

    fn ballast(&self) -> PathBuf {
        self.small_disk.as_ref().expect("there is a small disk").join("ballast")
    }

    /// Waits until a node lets clients in.
    pub fn wait_ready(&self, node: usize) {
        wait_until(&format!("node {} is ready", name(node)), || self.is_ready(node).then_some(()));
    }

    /// Whether a node lets clients in.
    pub fn is_ready(&self, node: usize) -> bool {
        let nodes = self.status(node).map_or(Vec::new(), |status| status.nodes);
        let own = nodes.into_iter().find(|other| other.name == name(node)).and_then(|node| node.own);
        own.is_some_and(|own| own.standing == "active" && own.lease_left.0 > 0)
    }

    /// How things stand, as a node tells.
    pub fn status(&self, node: usize) -> Option<Status> {
        Client::connect(self.socket(node)).ok()?.status(None, false).answer_blocking().ok()
    }

    /// The node that leads the consensus.
    pub fn leader(&self) -> usize {
        wait_until("somebody leads", || {
            (0..self.daemons.len()).find(|node| {
                let nodes = self.status(*node).map_or(Vec::new(), |status| status.nodes);
                nodes.iter().any(|other| other.is_leader && other.name == name(*node))
            })
        })
    }

    /// Enters a section of its own through a node, and stays there.
    pub fn hold(&self, node: usize) -> Guard {
        let section = format!("kept-{}", name(node));
        let entered = Client::connect(self.socket(node))
            .and_then(|client| client.section(section).wait(PATIENCE).enter_blocking());
        entered.expect("nobody else wants it")
    }

    /// Acquires this many locks with names of 200 bytes at one node, and holds them.
    pub fn hold_many(&self, node: usize, count: usize) -> Vec<Guard> {
        let client = Client::connect(self.socket(node)).expect("it listens");
        let names: Vec<String> = (0..count).map(|number| format!("many-{number:0195}")).collect();
        let enter = |names: &[String]| client.lock(names).wait(PATIENCE).enter_blocking();
        names.chunks(64).map(|names| enter(names).expect("no other client wants them")).collect()
    }

    /// Acquires and releases a free section through a node; returns how long the acquisition took.
    pub fn pass(&self, node: usize, section: &str) -> Duration {
        let client = Client::connect(self.socket(node)).expect("it listens");
        let began = Instant::now();
        drop(client.section(section).wait(PATIENCE).enter_blocking().expect("it is free"));
        began.elapsed()
    }

    /// Whether a node is a member, as another one knows.
    pub fn is_member(&self, node: usize, by: usize) -> bool {
        let nodes = self.status(by).map_or(Vec::new(), |status| status.nodes);
        nodes.iter().any(|other| other.name == name(node) && other.is_member)
    }

    /// A client that is inside a section now.
    pub fn holder(&self) -> usize {
        wait_until("somebody is inside", || {
            let lines = self.lines();
            let is_in = |line: &&Line| matches!(line.event, Event::Entered { .. });
            let last = lines.iter().rfind(is_in)?;
            // It has written and will stay for a while: in the midst of a write it would keep the resource from all others.
            let mut later = lines.iter().filter(|line| line.client == last.client && line.at > last.at);
            let is_still = matches!(later.next()?.event, Event::Wrote { .. }) && later.next().is_none();
            is_still.then(|| self.workers.iter().position(|(task, _)| task.name == last.client))?
        })
    }

    /// The node of a client.
    pub fn node_of(&self, worker: usize) -> usize {
        worker % self.daemons.len()
    }

    /// Sends a signal to a daemon.
    pub fn signal_daemon(&self, node: usize, signal: Signal) {
        send(self.daemons[node].as_ref(), signal);
    }

    /// Sends a signal to a client.
    pub fn signal_client(&self, worker: usize, signal: Signal) {
        send(self.workers[worker].1.as_ref(), signal);
    }

    /// Kills a daemon at once.
    pub fn kill(&mut self, node: usize) {
        let mut child = self.daemons[node].take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it is over");
    }

    /// Waits until a daemon has stopped that was told to.
    pub fn wait_stopped(&mut self, node: usize) {
        let mut child = self.daemons[node].take().expect("it runs");
        wait_until("a daemon stops when it is told to", || child.try_wait().expect("it is ours"));
    }

    /// Starts a daemon again and waits until it lets clients in.
    pub fn restart(&mut self, node: usize) {
        self.start_again(node);
        self.wait_ready(node);
    }

    /// Starts a daemon again unless it runs.
    pub fn start_again(&mut self, node: usize) {
        if self.daemons[node].is_none() {
            self.daemons[node] = Some(self.start(node));
        }
    }

    /// Kills a client at once, and notes it.
    pub fn kill_client(&mut self, worker: usize) {
        let (task, child) = &mut self.workers[worker];
        let mut child = child.take().expect("it runs");
        let at = clock::now().0;
        child.kill().expect("it can be killed");
        child.wait().expect("it is over");
        let line = Line { at, client: task.name.clone(), section: String::new(), event: Event::Killed };
        // What the client wrote in its last moment is as old as its death at most.
        history::Book::open(&task.folder.join("killed.jsonl")).write(&line);
    }

    /// What all clients have written down so far.
    pub fn lines(&self) -> Vec<Line> {
        let killed = self.folder.join("killed.jsonl");
        let books = self.workers.iter().map(|(task, _)| task.book()).chain([killed]);
        history::read(&books.filter(|book| book.exists()).collect::<Vec<_>>())
    }

    /// Waits until each of these clients has entered again; returns how long that took.
    pub fn wait_served(&self, workers: impl IntoIterator<Item = usize>) -> Duration {
        let (began, since) = (Instant::now(), clock::now().0);
        for worker in workers {
            let client = &self.workers[worker].0.name;
            wait_until(&format!("{client} is served"), || {
                let is_new = |line: &Line| {
                    line.client == *client && line.at > since && matches!(line.event, Event::Entered { .. })
                };
                self.lines().iter().any(is_new).then_some(())
            });
        }
        began.elapsed()
    }

    /// All clients that live.
    pub fn everybody(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|worker| self.workers[*worker].1.is_some()).collect()
    }

    /// The clients of these nodes.
    pub fn clients_of(&self, nodes: &[usize]) -> Vec<usize> {
        self.everybody().into_iter().filter(|worker| nodes.contains(&self.node_of(*worker))).collect()
    }

    /// The clients of all nodes but this one.
    pub fn clients_beside(&self, node: usize) -> Vec<usize> {
        self.everybody().into_iter().filter(|worker| self.node_of(*worker) != node).collect()
    }

    /// Who has lost what it held, so far.
    pub fn losers(&self) -> Vec<String> {
        let lost = self.lines().into_iter().filter(|line| matches!(line.event, Event::Lost { .. }));
        lost.map(|line| line.client).collect()
    }

    /// All is mended: everybody must be served; then the clients end, and what they saw is judged three times.
    pub fn end(mut self) -> Vec<Line> {
        self.net.heal();
        self.wait_served(self.everybody());
        std::fs::write(self.folder.join("stop"), "").expect("a file");
        for (task, child) in &mut self.workers {
            let Some(child) = child else { continue };
            let name = &task.name;
            let ended = wait_until(&format!("{name} ends"), || child.try_wait().expect("it is ours"));
            assert!(ended.success(), "{name} ended with {ended}");
        }
        self.workers.iter_mut().for_each(|(_, child)| *child = None);
        let lines = self.lines();
        assert_eq!(history::judge(&lines), Vec::<String>::new());
        assert!(linear::is_linearizable(&lines));
        let books = self.folder.join("history.jsonl");
        write_all(&books, &lines);
        assert_eq!(python(&books).and_then(Result::err), None);
        lines
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let workers = self.workers.iter_mut().filter_map(|(_, child)| child.as_mut());
        for child in self.daemons.iter_mut().flatten().chain(workers) {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(folder) = &self.small_disk {
            let _ = Command::new("umount").arg(folder).status();
        }
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Writes a history into one file.
pub fn write_all(path: &Path, lines: &[Line]) {
    let _ = std::fs::remove_file(path);
    let mut book = history::Book::open(path);
    lines.iter().for_each(|line| book.write(line));
}

/// What the checker in Python says to a history; nothing where there is no Python.
pub fn python(history: &Path) -> Option<Result<(), String>> {
    let checker = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/check_history.py");
    let Ok(ended) = Command::new("python3").arg(checker).arg(history).output() else {
        eprintln!("the judge in Python is skipped, because there is no python3");
        return None;
    };
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    match ended.status.code() {
        Some(0) => Some(Ok(())),
        Some(1) => Some(Err(told)),
        _ => panic!("the checker failed: {}", String::from_utf8_lossy(&ended.stderr)),
    }
}

fn doorway() -> &'static str {
    env!("CARGO_BIN_EXE_doorway")
}

/// The name of a node.
pub fn name(node: usize) -> String {
    char::from(b'a' + u8::try_from(node).expect("few nodes")).to_string()
}

fn send(child: Option<&Child>, signal: Signal) {
    let id = child.expect("it runs").id();
    let id = Pid::from_raw(i32::try_from(id).expect("a process number")).expect("not nought");
    kill_process(id, signal).expect("it is ours");
}

/// Looks again and again until something is so.
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "it should be that {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
