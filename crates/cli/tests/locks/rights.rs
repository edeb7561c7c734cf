//! Who may do what, what is logged of it, and what one user can take from others: with daemons of their own.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use doorway_protocol::{self as protocol, DaemonMsg, LONGEST_DAEMON_MSG};

use crate::fleet::{Cluster, Folder, LONG, command, start, until};
use crate::terminal;

/// A user and a group that no machine gives to anybody.
const USER: u32 = 54_321;
const GROUP: u32 = 54_322;

/// Replaces a line of a node's configuration.
fn configure(cluster: &Cluster, node: &str, from: &str, to: &str) {
    let path = cluster.config(node);
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replacen(from, to, 1)).expect("it can be changed");
}

/// Whether a test can run the command as another user; if not, it says why.
fn can_be_another_user() -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can run a command as somebody else");
        return false;
    }
    let binary = Command::new(env!("CARGO_BIN_EXE_doorway")).arg("--version").uid(USER).gid(GROUP).output();
    let can_run = binary.is_ok_and(|output| output.status.success());
    if !can_run {
        eprintln!("skipped: another user cannot run the command where it is");
    }
    can_run
}

/// How a command of another user ends, and what it says.
fn as_user(cluster: &Cluster, words: &[&str]) -> (i32, String) {
    run_as_user(&cluster.folder.0, words)
}

fn run_as_user(runtime: &Path, words: &[&str]) -> (i32, String) {
    let mut command = command(runtime, words);
    let output = command.uid(USER).gid(GROUP).output().expect("the command starts");
    (output.status.code().unwrap_or(-1), terminal::text(&output.stderr))
}

#[test]
fn a_user_of_locks_takes_them_and_cannot_administer() {
    if !can_be_another_user() {
        return;
    }
    let mut cluster = Cluster::found("rights", &["a"]);
    configure(&cluster, "a", "#socket_mode = 0o600", &format!("socket_mode = 0o660\nsocket_group = {GROUP}"));
    // The user must be able to run the command and to enter the folder of the sockets.
    let sockets = cluster.folder.0.join("doorway");
    fs::create_dir(&sockets).expect("room");
    chown(&sockets, None, Some(GROUP)).expect("we are root");
    fs::set_permissions(&sockets, Permissions::from_mode(0o750)).expect("it is ours");
    cluster.start("a");
    cluster.await_ready("a");
    let found =
        [sockets.join("a.sock"), sockets.join("a.admin.sock")].map(|path| path.metadata().expect("there"));
    assert_eq!(found.each_ref().map(|found| found.permissions().mode() & 0o777), [0o660, 0o600]);
    assert_eq!(found[0].gid(), GROUP);
    let (code, err) = as_user(&cluster, &["lock", "door", "--wait", "30s", "--", "true"]);
    assert_eq!(code, 0, "{err}");
    for words in [
        &["break", "door", "--yes"][..],
        &["cluster", "remove", "a"],
        &["cluster", "lead", "a"],
        &["node", "stop"],
        &["break", "door", "--yes", "--socket", &sockets.join("a.sock").to_string_lossy()],
    ] {
        let (code, err) = as_user(&cluster, words);
        assert_ne!(code, 0, "{words:?}");
        assert!(
            err.contains("only administrators may do this") && err.contains("a.admin.sock"),
            "{words:?}: {err}"
        );
    }
    // The daemon has written down who asked for what.
    let (log, uid) = (cluster.log("a"), format!("uid={USER}"));
    for order in ["break door", "remove node", "make node", "stop this node"] {
        let parts = ["audit=true", "refused: not at", &uid, "process=", order];
        assert!(
            log.lines().any(|line| parts.iter().all(|part| line.contains(part))),
            "{order} is not in {log}"
        );
    }
    // Root finds the administrators' socket by itself, whichever of the two it names.
    for socket in ["a.sock", "a.admin.sock"] {
        let socket = sockets.join(socket).to_string_lossy().into_owned();
        let (code, _, err) = cluster.run(&["break", "door", "--yes", "--socket", &socket]);
        assert!(code == 1 && err.contains("door has no holder"), "{code} {err}");
    }
    // No command inherits a connection of an administrator.
    let admin = sockets.join("a.admin.sock").to_string_lossy().into_owned();
    let (code, out, err) = cluster.run(&["lock", "door", "--socket", &admin, "--", "echo", "started"]);
    assert_eq!((code, out.as_str(), err.lines().count()), (125, "", 1), "{err}");
    assert!(err.contains("is for administrators, and the command would inherit the connection"), "{err}");
}

#[test]
fn a_user_without_access_learns_who_grants_it() {
    if !can_be_another_user() {
        return;
    }
    // Sockets need no daemon here: the system refuses users that may not open them.
    let folder = Folder::new("closed");
    let sockets = folder.0.join("doorway");
    fs::create_dir(&sockets).expect("room");
    let set =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    [&folder.0, &sockets].iter().for_each(|path| set(path, 0o755));
    // A killed daemon left this one behind, and a careless search would find it first.
    drop(UnixListener::bind(sockets.join("0.sock")).expect("a socket"));
    set(&sockets.join("0.sock"), 0o777);
    let _daemon = ["a.sock", "a.admin.sock"].map(|name| {
        let listener = UnixListener::bind(sockets.join(name)).expect("a socket");
        set(&sockets.join(name), 0o600);
        listener
    });
    let users = sockets.join("a.sock").to_string_lossy().into_owned();
    let admin = sockets.join("a.admin.sock").to_string_lossy().into_owned();
    let refused = |options: &[&str], parts: &[&str]| {
        for words in [&["status"][..], &["lock", "x"]] {
            let command: &[&str] = if words[0] == "lock" { &["--", "true"] } else { &[] };
            let words = [words, options, command].concat();
            let (code, err) = run_as_user(&folder.0, &words);
            assert_ne!(code, 0, "{words:?}");
            assert!(parts.iter().all(|part| err.contains(part)), "{words:?}: {err}");
            assert!(!err.contains("--dev") && err.lines().count() == 1, "{words:?}: {err}");
        }
    };
    let keys = ["`socket_group` and `socket_mode` in its node.toml", "uid 54321"];
    let closed = [&["may not use the locks of the daemon at ", &users][..], &keys].concat();
    for options in [&[][..], &["--node", "a"], &["--socket", &users]] {
        refused(options, &closed);
    }
    refused(&["--socket", &admin], &["administrators"]);
    // A folder that may be neither read nor entered is no empty one.
    set(&sockets, 0o700);
    // A daemon of the machine would be found instead.
    let is_alone = !Path::new("/run/doorway").exists();
    if is_alone {
        refused(&[], &[&["may not read ", &sockets.to_string_lossy()], &keys[..]].concat());
    }
    refused(&["--socket", &users], &[&["may not enter"], &closed[..]].concat());
    set(&sockets, 0o755);
    fs::remove_file(&users).expect("it is ours");
    fs::remove_file(sockets.join("0.sock")).expect("it is ours");
    let (_, err) = run_as_user(&folder.0, &["status", "--node", "a"]);
    assert!(err.contains("no daemon listens"), "{err}");
    if is_alone {
        let (_, err) = run_as_user(&folder.0, &["status"]);
        assert!(err.contains("no Doorway daemon was found"), "{err}");
    }
}

#[test]
fn an_act_of_an_administrator_is_logged_with_its_uid_and_process() {
    let cluster = Cluster::new("audit", &["a"]);
    let mut holder =
        start(command(&cluster.folder.0, &["lock", "door", "--", "sh", "-c", "echo in; read line"]));
    assert_eq!(holder.line(), "in");
    let (code, out, err) = cluster.run(&["break", "door", "--yes", "--node", "a"]);
    assert_eq!(code, 0, "{out}{err}");
    let log = cluster.log("a");
    let line = log.lines().find(|line| line.contains("operator command received")).expect("it is logged");
    let uid = format!("uid={}", rustix::process::geteuid().as_raw());
    for part in ["audit=true", "break door", &uid, "process="] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

#[test]
fn the_log_has_uid_and_process_of_a_stopping_administrator() {
    let mut cluster = Cluster::new("node-stop", &["a", "b"]);
    let (code, out, err) = cluster.run(&["node", "stop", "--node", "b"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "node \"b\" has left its cluster\n", ""));
    cluster.await_end("b");
    let process = cluster.nodes[1].1.as_mut().expect("it was started");
    assert_eq!(process.0.wait().expect("it has ended").code(), Some(0));
    let (log, uid) = (cluster.log("b"), format!("uid={}", rustix::process::geteuid().as_raw()));
    for what in ["operator command received", "operator command done"] {
        let parts = [what, "audit=true", "order=\"stop this node\"", &uid, "process="];
        assert!(
            log.lines().any(|line| parts.iter().all(|part| line.contains(part))),
            "{what} is not in {log}"
        );
    }
    // It has left, and has not failed: the other one goes on alone, and it comes back.
    cluster.fence("a");
    let (code, _, err) = cluster.run(&["node", "stop", "--node", "b"]);
    assert!(code == 1 && err.contains("no daemon listens at "), "{code} {err}");
    cluster.start("b");
    cluster.await_ready("b");
}

#[test]
fn debug_tells_every_grant_release_and_loss_and_trace_every_message() {
    let mut cluster = Cluster::found("logs", &["a", "b"]);
    configure(&cluster, "a", "#names_per_uid = 5000", "names_per_uid = 2");
    let uid = rustix::process::geteuid().as_raw();
    let node = |name: &str, cluster: &Cluster, level: &str| {
        command(&cluster.folder.0, &["node", "--config", &cluster.config(name), "--log-level", level])
    };
    for (name, level) in [("a", "debug"), ("b", "trace")] {
        let command = node(name, &cluster, level);
        cluster.start_by(name, command);
    }
    ["a", "b"].iter().for_each(|name| cluster.await_ready(name));
    let fence = cluster.fence("a");
    let mut holder = start(command(
        &cluster.folder.0,
        &["lock", "y", "--node", "a", "--", "sh", "-c", "echo in; read line"],
    ));
    assert_eq!(holder.line(), "in");
    assert_ne!(cluster.run(&["lock", "v,w", "--node", "a", "--", "true"]).0, 0, "it would have three names");
    assert_eq!(cluster.run(&["break", "y", "--yes", "--node", "a"]).0, 0);
    let tells = |node: &str, parts: &[&str]| {
        let log = cluster.log(node);
        log.lines().any(|line| parts.iter().all(|part| line.contains(part)))
    };
    let uid = format!("uid={uid}");
    let fence = format!("fence={fence}");
    for parts in [
        &["DEBUG", "granted", "lock=\"x\"", &fence, &uid, "client=", "why="][..],
        &["DEBUG", "released", "lock=\"x\"", &fence, &uid, "client=", "released by its client"],
        &["DEBUG", "request refused", &uid, "process=", "client=", "the per-user limit of requests"],
        &["DEBUG", "lost", "lock=\"y\"", "fence=", &uid, "client=", "an operator broke the lock"],
    ] {
        until(&format!("the log of a tells {parts:?}"), || tells("a", parts));
    }
    assert!(!tells("a", &["TRACE"]), "nobody asked for messages");
    cluster.fence("b");
    assert_eq!(cluster.run(&["status", "--node", "b"]).0, 0);
    for parts in [
        &["TRACE", "received", "from=\"a\"", "Heartbeat"][..],
        &["TRACE", "sent", "to=\"a\""],
        &["TRACE", "asked", "Lock"],
        &["TRACE", "told", "Granted"],
        &["TRACE", "told", "Welcome"],
        &["TRACE", "told", "Status"],
        &["TRACE", "sent", "to=\"a\"", "Ask", "Status"],
        &["TRACE", "received", "from=\"a\"", "Answer", "Status"],
    ] {
        until(&format!("the log of b tells {parts:?}"), || tells("b", parts));
    }
}

/// The first word of a daemon to a client that has just connected.
pub fn first_word(mut stream: &UnixStream) -> DaemonMsg {
    let mut head = [0; 4];
    stream.read_exact(&mut head).expect("it says something");
    let mut body = vec![0; protocol::length(head, LONGEST_DAEMON_MSG).expect("a short word")];
    stream.read_exact(&mut body).expect("all of it");
    protocol::read(&body).expect("a word of the protocol")
}

#[test]
fn idle_clients_never_use_up_the_descriptors_of_peers() {
    const CLIENTS: usize = 1_001;
    let mut cluster = Cluster::found("files", &["a", "b", "c"]);
    configure(&cluster, "a", "#   clients_per_uid = 5000", "clients_per_uid = 10000");
    ["b", "c"].iter().for_each(|name| cluster.start(name));
    let binary = env!("CARGO_BIN_EXE_doorway");
    let config = cluster.config("a");
    let mut limited = Command::new("sh");
    let script = format!("ulimit -n 1024 && exec '{binary}' node --config '{config}'");
    limited.args(["-c", &script]).env("XDG_RUNTIME_DIR", &cluster.folder.0).env_remove("DOORWAY_SOCKET");
    cluster.start_by("a", limited);
    ["a", "b", "c"].iter().for_each(|name| cluster.await_ready(name));
    doorway_daemon::Daemon::raise_file_limit();
    let socket = cluster.folder.0.join("doorway").join("a.sock");
    let clients: Vec<UnixStream> =
        (0..CLIENTS).map(|_| UnixStream::connect(&socket).expect("it listens")).collect();
    clients.iter().for_each(|client| client.set_read_timeout(Some(LONG)).expect("a socket"));
    // Each enters, or gets the reason why it does not.
    let (mut welcome, mut refused) = (0, 0);
    for client in &clients {
        match first_word(client) {
            DaemonMsg::Welcome { .. } => welcome += 1,
            DaemonMsg::Goodbye { sentence } if sentence.contains("file descriptors allow") => refused += 1,
            told => panic!("neither let in nor refused but told {told:?}"),
        }
    }
    assert!(welcome > 100 && refused > 100 && welcome + refused == CLIENTS, "{welcome} and {refused}");
    // Those who type a command read the same sentence. Who administers may look nevertheless.
    let (code, _, err) = cluster.run(&["lock", "--node", "a", "x", "--", "true"]);
    assert!(code != 0 && err.contains("turned this client away: "), "{code} {err}");
    let (code, out, err) = cluster.run(&["status", "--node", "a"]);
    assert!(code == 0 && out.contains("as node a sees it"), "{code} {out} {err}");
    // A peer that comes now is heard.
    cluster.kill("b");
    cluster.start("b");
    cluster.await_ready("b");
    until("a hears b", || {
        // Administrators have places of their own.
        let socket = cluster.folder.0.join("doorway").join("a.admin.sock");
        let (_, out, _) = cluster.run(&["status", "--json", "--socket", &socket.to_string_lossy()]);
        let status: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        nodes.iter().any(|node| node["name"] == "b" && node["is_member"] == true && !node["own"].is_null())
    });
    // Hundreds were refused, and the log has a line a second.
    let told = cluster.log("a").lines().filter(|line| line.contains("client refused")).count();
    assert!((1..60).contains(&told), "{told} lines");
    drop(clients);
}
