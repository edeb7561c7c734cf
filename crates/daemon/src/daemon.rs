//! A daemon: a lock node with its threads, its files and its connections.

use std::io;
use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use doorway_client::sockets;
use doorway_core::Refusal;
use doorway_node::disk::FileDisk;
use doorway_node::{Damping, LockNode, Recipe, Setup};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::Runtime;

use crate::Config;
use crate::clients::SocketKind;
use crate::clients::socket::{self, SocketAccess, SocketFile};
use crate::config::{Peer, UserGroup};
use crate::disk::DiskCheck;
use crate::driver::{Driver, NodeEvent};
use crate::identity::new_nonce;
use crate::peers::{Roster, accept};
use crate::shared::{DaemonState, lock};
use crate::tls::Credentials;
use crate::{clients, disk, health};

/// A daemon that runs, on threads of its own. When it is dropped it ends at once, as if its process did, and the drop does not wait for
/// that, so that it blocks no task of a runtime: [`Daemon::end`] waits, and [`Daemon::stop`] hands over first.
pub struct Daemon {
    shared: Arc<DaemonState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Daemons of this process that were dropped and may not have ended yet.
static ENDING: Mutex<Vec<Arc<DaemonState>>> = Mutex::new(Vec::new());

/// The listeners of a daemon, before it serves any client.
struct Listeners {
    users: std::os::unix::net::UnixListener,
    administrators: std::os::unix::net::UnixListener,
    files: [SocketFile; 2],
    peers: TcpListener,
    health: Option<TcpListener>,
}

impl Daemon {
    /// Starts a node. It listens when this returns, and takes part as soon as the others let it.
    ///
    /// # Errors
    /// If its files cannot be read, or it cannot listen.
    ///
    /// A daemon of the same data folder that this process has just dropped is waited for.
    pub fn start(config: Config, recipe: Recipe) -> Result<Self, Refusal> {
        wait_for_predecessor(&config);
        let (credentials, roster) = look(&config)?;
        let (disk, bytes) = disk::open(&config)?;
        let whole = disk::read(&config, &bytes)?.whole;
        if whole < bytes.len() {
            let cut = bytes.len() - whole;
            tracing::warn!(
                at = whole,
                cut,
                "the last write to the disk was unfinished: its bytes are discarded"
            );
        }
        let node = LockNode::new(setup(&config, &roster, recipe), &bytes)?;
        let doors = Listeners::open(&config)?;
        let runtime = runtime()?;
        let shared = Arc::new(DaemonState::new(config, runtime.handle().clone(), roster, credentials));
        let (wanted, clients) = (shared.config.limits.clients, shared.budget.clients);
        if clients < wanted {
            tracing::warn!(
                wanted,
                clients,
                "the limit of open files is too low for limits.clients: raise it (ulimit -n, LimitNOFILE)"
            );
        }
        // Before any connection is accepted: revocations survive a restart.
        shared.revoked.extend(&node.void_certificates());
        tracing::info!(
            cluster = shared.config.cluster,
            node = shared.config.node.get_ref(),
            address = shared.config.me().address,
            socket = %shared.config.socket().display(),
            admin_socket = %shared.config.admin_socket().display(),
            "started"
        );
        let files = match doors.serve(&shared) {
            Ok(files) => files,
            Err(error) => {
                // The caller may be on an async runtime of its own, which must not block on another.
                runtime.shutdown_background();
                return Err(cannot_listen(&"clients or nodes", &error));
            }
        };
        shared.dial_all();
        let thread = run(shared.clone(), node, disk, whole, runtime, files)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Looks at all that [`Daemon::start`] looks at before it changes anything: the configuration, and on this machine the files and
    /// folders that it names.
    ///
    /// # Errors
    /// What prevents a node from starting with it.
    pub fn check(config: &Config) -> Result<(), Refusal> {
        look(config).map(drop)
    }

    /// Reads the disk of a node that is not running and changes nothing.
    ///
    /// # Errors
    /// If its file is damaged or cannot be read.
    pub fn examine_disk(config: &Config) -> Result<DiskCheck, Refusal> {
        disk::examine(config)
    }

    /// Lets this process have as many connections as its system allows: the usual limit of a shell is far below
    /// [`crate::config::NodeLimits`]. It is up to the program, which may have reasons of its own.
    pub fn raise_file_limit() {
        let limits = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits });
    }

    /// A client's connection within this process, served like one of the Unix sockets. A program with the daemon in its own process
    /// administers it: such a connection may do everything, and no quota of a user counts it.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let _entered = self.shared.runtime.enter();
        let ours = tokio::net::UnixStream::from_std(ours)?;
        if let Some(admitted) = clients::admit(&self.shared, ours, SocketKind::Own) {
            self.shared.runtime.spawn(clients::serve(self.shared.clone(), admitted));
        }
        Ok(theirs)
    }

    /// Whether clients are let in: the node is a member of a view and has a lease.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.shared.is_ready()
    }

    /// Whether the node's thread is alive, for watchdogs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.shared.is_alive()
    }

    /// Reads certificates again, and the nodes of the configuration if it was read from a file.
    ///
    /// # Errors
    /// If something of it cannot be read; then nothing changes.
    pub fn reload(&self) -> Result<(), Refusal> {
        self.shared.reload()
    }

    /// Hands over, leaves the cluster and ends: it grants nothing any more, and holders have `patience` to stop. Returns when it has ended.
    pub fn stop(&self, patience: Duration) {
        self.shared.tell(NodeEvent::Stop { patience });
        let _ = self.wait();
    }

    /// Ends at once, as if its process did, and returns when it has ended.
    pub fn end(&self) {
        self.shared.tell(NodeEvent::End);
        let _ = self.wait();
    }

    /// Waits until it has ended, by itself or by a command.
    ///
    /// # Errors
    /// If it had to stop because of an error.
    pub fn wait(&self) -> Result<(), Refusal> {
        let outcome = self.shared.wait();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
        outcome
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.shared.has_ended() {
            return;
        }
        self.shared.tell(NodeEvent::End);
        let mut ending = lock(&ENDING);
        ending.retain(|shared| !shared.has_ended());
        ending.push(self.shared.clone());
    }
}

/// Waits for a daemon of the same data folder that was dropped in this process: it still has the folder and its sockets.
fn wait_for_predecessor(config: &Config) {
    let is_it = |shared: &&Arc<DaemonState>| shared.config.data == config.data;
    let before: Vec<Arc<DaemonState>> = lock(&ENDING).iter().filter(is_it).cloned().collect();
    before.iter().for_each(|shared| {
        let _ = shared.wait();
    });
    lock(&ENDING).retain(|shared| !shared.has_ended());
}

impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon").field("node", self.shared.config.node.get_ref()).finish_non_exhaustive()
    }
}

impl Listeners {
    fn open(config: &Config) -> Result<Self, Refusal> {
        let address = config.listen.as_ref().unwrap_or(&config.me().address);
        let peers = listen(address)?;
        let health = config.health.map(|address| listen(&address.to_string())).transpose()?;
        if config.socket.is_none() {
            sockets::make_folder()?;
        }
        let (users, file) = socket::bind(&config.socket(), access(config)?)?;
        let (administrators, other) = socket::bind(&config.admin_socket(), SocketAccess::OWNER)?;
        Ok(Self { users, administrators, files: [file, other], peers, health })
    }

    /// Accepts connections from now on.
    fn serve(self, shared: &Arc<DaemonState>) -> io::Result<[SocketFile; 2]> {
        let _entered = shared.runtime.enter();
        let peers = tokio::net::TcpListener::from_std(self.peers)?;
        shared.runtime.spawn(accept::listen(shared.clone(), peers));
        for (listener, door) in
            [(self.users, SocketKind::Users), (self.administrators, SocketKind::Administrators)]
        {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            shared.runtime.spawn(clients::listen(shared.clone(), listener, door));
        }
        if let Some(health) = self.health {
            let health = tokio::net::TcpListener::from_std(health)?;
            shared.runtime.spawn(health::listen(shared.clone(), health));
        }
        Ok(self.files)
    }
}

/// Reads the certificates and files that a node needs, and refuses those it could not work with. Changes nothing.
fn look(config: &Config) -> Result<(Credentials, Roster), Refusal> {
    config.check()?;
    check_socket(config)?;
    disk::check(config)?;
    Ok((Credentials::load(config)?, Roster::load(config)?))
}

/// Refuses a socket whose path is too long for the system or is taken by another file, and one in a folder of another user.
fn check_socket(config: &Config) -> Result<(), Refusal> {
    const LONGEST: usize = 107;
    let paths = [config.socket(), config.admin_socket()];
    if paths[0] == paths[1] {
        return Err(config.refuse(
            "socket",
            &"a name that ends with .admin.sock is reserved for the administrators' socket",
        ));
    }
    for path in paths {
        // It is made under another name beside its own.
        let bytes = path.as_os_str().len().max(path.with_extension("new").as_os_str().len());
        if bytes > LONGEST {
            return Err(config.refuse(
                "socket",
                &format_args!(
                    "the path of the socket, {}, has {bytes} bytes, and the system takes {LONGEST}: write a shorter one as `socket`",
                    path.display()
                ),
            ));
        }
        if path == config.data {
            return Err(config.refuse("socket", &"the socket cannot have the path of the data folder"));
        }
        if path.symlink_metadata().is_ok_and(|found| !found.file_type().is_socket()) {
            let sentence = format!("{} exists and is not a socket", path.display());
            return Err(config.refuse("socket", &sentence));
        }
    }
    access(config)?;
    if config.socket.is_none() { sockets::check_folder(&sockets::folder()) } else { Ok(()) }
}

/// Who may use locks, by the file of the users' socket.
fn access(config: &Config) -> Result<SocketAccess, Refusal> {
    let group = config.socket_group.as_ref().map(UserGroup::number).transpose();
    let group = group.map_err(|refusal| config.refuse("socket_group", &refusal))?;
    Ok(SocketAccess { mode: config.socket_mode, group })
}

fn listen(address: &str) -> Result<TcpListener, Refusal> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| cannot_listen(&address, &error))
}

fn cannot_listen(what: &dyn std::fmt::Display, error: &io::Error) -> Refusal {
    Refusal::new(format!("cannot listen for {what}: {error}"))
}

/// The runtime of the connections. It has threads to spare for looking up names of hosts, so that one that no server answers for keeps
/// no other waiting; they are made when they are needed.
fn runtime() -> Result<Runtime, Refusal> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime =
        builder.worker_threads(2).max_blocking_threads(64).thread_name("doorway-net").enable_all().build();
    runtime.map_err(|error| Refusal::new(format!("cannot start threads: {error}")))
}

fn setup(config: &Config, roster: &Roster, recipe: Recipe) -> Setup {
    Setup {
        me: config.me().id(),
        peers: roster.all().iter().map(|peer| peer.id()).collect(),
        founders: config.founders().map(Peer::id).collect(),
        nonce: new_nonce(),
        recipe,
        timing: config.timing.timing(),
        longest_log: Setup::LONGEST_LOG,
        most_open: config.limits.open.unwrap_or(Setup::MOST_OPEN),
        damping: Damping::of(&config.timing.timing()),
    }
}

/// Starts the node's thread and the disk's. The node's thread ends everything else when it ends.
fn run(
    shared: Arc<DaemonState>,
    node: LockNode,
    disk: FileDisk,
    whole: usize,
    runtime: Runtime,
    files: [SocketFile; 2],
) -> Result<JoinHandle<()>, Refusal> {
    let cannot = |error: io::Error| Refusal::new(format!("cannot start threads: {error}"));
    let (sender, writes) = mpsc::channel();
    let for_disk = shared.clone();
    let writer = thread::Builder::new()
        .name("doorway-disk".to_owned())
        .spawn(move || disk::run(&for_disk, disk, whole, &writes))
        .map_err(cannot)?;
    let driver = Driver::new(shared.clone(), node, sender);
    let live = move || {
        // A thread that fails must not leave a daemon behind that looks as if it served.
        let outcome = catch_unwind(AssertUnwindSafe(|| driver.run()))
            .unwrap_or_else(|_| Err(Refusal::new("the thread of this node has panicked: see its log")));
        drop(files);
        shared.is_ending.store(true, Ordering::Relaxed);
        wait_for_disk(writer);
        runtime.shutdown_timeout(Duration::from_millis(200));
        tracing::info!(node = shared.config.node.get_ref(), is_well = outcome.is_ok(), "stopped");
        shared.end(outcome);
    };
    thread::Builder::new().name("doorway-node".to_owned()).spawn(live).map_err(cannot)
}

/// Waits for the disk's thread to end. One that hangs in a write is left behind: the end of the process ends it, and what it has
/// not written was never said to be.
fn wait_for_disk(writer: JoinHandle<()>) {
    const PATIENCE: Duration = Duration::from_secs(3);
    let begun = Instant::now();
    while !writer.is_finished() && begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(1));
    }
    if writer.is_finished() {
        let _ = writer.join();
    } else {
        tracing::warn!("the disk of this node does not answer: its last writes may be lost");
    }
}
