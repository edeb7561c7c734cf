//! `doorway node`: its configuration, its logs, its end, and what it tells systemd.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::fleet;
use crate::fleet::{Cluster, Dev, Folder, start, until};
use crate::terminal;

#[test]
fn a_configuration_is_checked_with_the_line_of_the_mistake() {
    let cluster = Cluster::found("check", &["a", "b"]);
    let config = cluster.config("a");
    let right = fs::read_to_string(&config).expect("it was written");
    let check = || cluster.run(&["node", "--config", &config, "--check"]);
    let (code, out, err) = check();
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("right. Node a of cluster lab, 2 nodes, naimi-trehel; clients at "), "{out}");
    let line = |part: &str| 1 + right.lines().position(|line| line.starts_with(part)).expect("it is there");
    let long = format!("socket = \"{}.sock\"", "x".repeat(120));
    for (from, to, sentence) in [
        ("node = \"a\"", "node = \"z\"", format!("line {}: there is no node \"z\"", line("node = \"a\""))),
        ("#lease = \"1s\"", "lease = \"x\"", format!("line {}: \"x\" is not a duration", line("#lease"))),
        (
            "#lease = \"1s\"",
            "lease = \"500ms\"",
            format!(
                "line {}: the lease must be at least 600ms, two margins and two heartbeats",
                line("#lease")
            ),
        ),
        ("#data = ", "dota = ", format!("line {}: there is no key `dota`", line("#data"))),
        (
            "algorithm = \"naimi-trehel\"",
            "algorithm = \"naimi\"",
            format!(
                "line {}: there is no algorithm \"naimi\": did you mean naimi-trehel",
                line("algorithm =")
            ),
        ),
        (
            "algorithm = \"naimi-trehel\"",
            "algorithm = \"maekawa/basic\"",
            format!("line {}: maekawa/basic is a specimen", line("algorithm =")),
        ),
        ("#data = \"data\"", "data = \"node.toml\"", format!("line {}: the data folder", line("#data"))),
        (
            "#   socket = \"node.sock\"",
            &long,
            format!("line {}: the path of the socket, ", line("#   socket")),
        ),
        (
            "#socket_mode = 0o600",
            "socket_mode = 600",
            format!("line {}: socket_mode must", line("#socket_mode")),
        ),
        ("#clients = 10000", "clients = 0", format!("line {}: nobody could connect", line("#clients"))),
        ("#key = \"node.key\"", "key = \"no.key\"", "no.key cannot be read".to_owned()),
    ] {
        fs::write(&config, right.replacen(from, to, 1)).expect("it can be changed");
        let (code, out, err) = check();
        assert_eq!((code, out.as_str()), (1, ""), "{to}");
        assert!(err.contains(&sentence) && err.lines().count() == 1, "{sentence}: {err}");
        // A start gives the same sentence.
        let (code, started) = end_of(&cluster.folder, &["node", "--config", &config]);
        assert_eq!((code, started.lines().last()), (2, err.lines().last()), "{to}");
    }
}

#[test]
fn a_readable_key_and_a_foreign_certificate_are_refused() {
    let cluster = Cluster::found("secret", &["a", "b"]);
    let check = || cluster.run(&["node", "--config", &cluster.config("a"), "--check"]);
    let own = |name: &str| format!("{}/a/{name}", cluster.lab());
    fs::set_permissions(own("node.key"), Permissions::from_mode(0o644)).expect("it is ours");
    let (code, _, err) = check();
    assert!(code == 1 && err.trim_end().ends_with(&format!("chmod 600 {}", own("node.key"))), "{err}");
    fs::set_permissions(own("node.key"), Permissions::from_mode(0o600)).expect("it is ours");
    fs::copy(format!("{}/b/node.pem", cluster.lab()), own("node.pem")).expect("room");
    let (code, _, err) = check();
    assert!(code == 1 && err.contains("is not the certificate of node \"a\""), "{err}");
}

#[test]
fn a_socket_folder_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can make a folder that is somebody else's");
        return;
    }
    let cluster = Cluster::found("foreign", &["a"]);
    let around = &cluster.folder.0;
    fs::set_permissions(around, Permissions::from_mode(0o1777)).expect("it is ours");
    fs::create_dir(around.join("doorway")).expect("room");
    std::os::unix::fs::chown(around.join("doorway"), Some(54_321), None).expect("we are root");
    let config = cluster.config("a");
    for words in [
        &["node", "--config", &config][..],
        &["node", "--dev"],
        &["status", "--node", "a"],
        &["lock", "x", "--node", "a", "--", "true"],
    ] {
        let (code, err) = end_of(&cluster.folder, words);
        assert!(code != 0 && err.contains("is not a folder of this user"), "{words:?}: {code} {err}");
    }
    fs::remove_dir(around.join("doorway")).expect("it is empty");
    let mut cluster = cluster;
    cluster.start("a");
    cluster.await_ready("a");
    let made = fs::metadata(cluster.folder.0.join("doorway")).expect("it was made");
    assert_eq!(made.permissions().mode() & 0o777, 0o700);
}

/// How a command ends, and what it says then: one that does not end is waited for no longer than for anything else.
fn end_of(runtime: &Folder, words: &[&str]) -> (i32, String) {
    let mut process = start(fleet::command(&runtime.0, words));
    until(&format!("{words:?} ends"), || process.0.try_wait().expect("it is ours").is_some());
    let (code, _, err) = process.end();
    (code, err)
}

#[test]
fn three_nodes_are_not_founded_among_other_files() {
    let folder = Folder::new("others");
    let own = folder.0.join("letters");
    fs::create_dir(&own).expect("room");
    terminal::file(&own, "letter", "dear");
    let words = ["node", "--dev", "--folder", &own.to_string_lossy()];
    let (code, err) = end_of(&folder, &words);
    assert!(code == 2 && err.contains("holds other files"), "{err}");
    assert_eq!(fs::read_dir(&own).expect("it is there").count(), 1, "nothing is written");
}

#[test]
fn a_node_that_cannot_start_says_why() {
    for (words, part) in [
        ("node", "--config"),
        ("node --config no-such-file", "no-such-file cannot be read"),
        ("node --dev --config x", "cannot be used with"),
        ("node --dev --check", "cannot be used with"),
        ("node --config x --folder y", "cannot be used with"),
        ("node --dev --log-level loud", "error, warn, info, debug, trace"),
    ] {
        let sentence = terminal::refused(words);
        assert!(sentence.contains(part), "{words}: {sentence}");
    }
    let dev = Dev::new("taken");
    let (code, _, err) = dev.run(&["node", "--dev"]);
    assert!(code == 2 && err.contains("a node runs already"), "{code} {err}");
}

#[test]
fn a_trial_cluster_prints_commands_and_stops_on_request() {
    let mut dev = Dev::new("greeting");
    assert!(
        dev.greeting[0].starts_with("Nodes a, b and c are ready (Ctrl-C stops them)."),
        "{:?}",
        dev.greeting
    );
    let typed: Vec<&String> = dev.greeting.iter().filter(|line| line.starts_with("  doorway ")).collect();
    assert_eq!(typed.len(), 3);
    dev.process.signal(Signal::INT);
    assert_eq!(dev.process.0.wait().expect("it ends").code(), Some(0));
    let left = fs::read_dir(dev.runtime.0.join("doorway")).expect("the folder is there").count();
    assert_eq!(left, 0, "the sockets are gone");
}

#[test]
fn a_kept_folder_is_gone_on_from() {
    let kept = Folder::new("kept");
    let folder = kept.0.to_string_lossy().into_owned();
    let fence = |dev: &Dev| -> u64 {
        let (code, out, err) = dev.run(&["lock", "x", "--", "sh", "-c", "echo $DOORWAY_FENCE"]);
        assert_eq!(code, 0, "{err}");
        out.trim().parse().expect("a fence")
    };
    let first = fence(&Dev::with("kept-1", &["--folder", &folder]));
    assert!(fence(&Dev::with("kept-2", &["--folder", &folder])) > first);
}

#[test]
fn one_signal_stops_a_node_cleanly_and_two_stop_it_at_once() {
    let mut cluster = Cluster::new("stop", &["a"]);
    let hold = ["lock", "x", "--node", "a", "--", "sh", "-c", "echo in; read line"];
    let mut holder = start(fleet::command(&cluster.folder.0, &hold));
    assert_eq!(holder.line(), "in");
    cluster.process("a").signal(Signal::TERM);
    until("nobody is let in", || !cluster.is_ready("a"));
    holder.type_line("leave");
    assert_eq!(holder.end().0, 0, "whoever is inside may finish");
    let process = cluster.nodes[0].1.as_mut().expect("it runs");
    assert_eq!(process.0.wait().expect("it ends").code(), Some(0));
    cluster.start("a");
    cluster.await_ready("a");
    let mut holder = start(fleet::command(&cluster.folder.0, &hold));
    assert_eq!(holder.line(), "in");
    cluster.process("a").signal(Signal::TERM);
    until("nobody is let in", || !cluster.is_ready("a"));
    cluster.process("a").signal(Signal::TERM);
    let process = cluster.nodes[0].1.as_mut().expect("it runs");
    assert_eq!(process.0.wait().expect("it ends").code(), Some(0));
    assert_eq!(holder.end().0, 122);
}

#[test]
fn systemd_gets_ready_status_watchdog_and_stopping() {
    let cluster = Cluster::found("systemd", &["a"]);
    let (notified, mut node) = notifying(&cluster, "a");
    assert_eq!(word(&notified), "READY=1");
    let mut words = Vec::new();
    until("it lets clients in and is alive", || {
        words.push(word(&notified));
        ["STATUS=Granting locks.", "WATCHDOG=1"].iter().all(|said| words.iter().any(|word| word == said))
    });
    node.signal(Signal::TERM);
    until("it says that it stops", || word(&notified) == "STOPPING=1");
    assert_eq!(node.0.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_node_without_a_majority_has_started_all_the_same() {
    let cluster = Cluster::found("one-of-two", &["a", "b"]);
    let (notified, _node) = notifying(&cluster, "a");
    assert_eq!(word(&notified), "READY=1");
    let status = word(&notified);
    assert!(status.starts_with("STATUS=Listening, but not granting locks"), "{status}");
}

/// A node that tells a socket of ours how it is, and thinks that it is systemd's.
fn notifying(cluster: &Cluster, node: &str) -> (UnixDatagram, fleet::Process) {
    let socket = cluster.folder.0.join("notify");
    let notified = UnixDatagram::bind(&socket).expect("a socket");
    notified.set_read_timeout(Some(fleet::LONG)).expect("a limit");
    let mut command = fleet::command(&cluster.folder.0, &["node", "--config", &cluster.config(node)]);
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "100000").stderr(Stdio::null());
    (notified, start(command))
}

fn word(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 256];
    let count = socket.recv(&mut bytes).expect("a word");
    terminal::text(&bytes[..count])
}

#[test]
fn logs_are_lines_for_people_or_objects_for_programs() {
    let cluster = Cluster::found("logs", &["a"]);
    let log = |words: &[&str]| {
        let config = cluster.config("a");
        let mut node =
            start(fleet::command(&cluster.folder.0, &[&["node", "--config", &config], words].concat()));
        cluster.await_ready("a");
        node.signal(Signal::TERM);
        let mut text = String::new();
        node.0.stderr.take().expect("a pipe").read_to_string(&mut text).expect("text");
        text
    };
    let objects = log(&["--log", "json"]);
    assert!(!objects.is_empty());
    for line in objects.lines() {
        let object: Value = serde_json::from_str(line).expect("an object a line");
        assert!(object["level"].is_string() && object["timestamp"].is_string(), "{line}");
    }
    let lines = log(&[]);
    assert!(lines.contains(" INFO ") && !lines.contains('\u{1b}'), "{lines}");
    assert_eq!(log(&["--log-level", "error"]), "");
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/doorway@.service");
    let unit = fs::read_to_string(unit).expect("the unit is there");
    let own = unit.replace("/usr/bin/doorway", env!("CARGO_BIN_EXE_doorway"));
    assert_ne!(own, unit);
    let folder = Folder::new("unit");
    let path = folder.0.join("doorway@a.service");
    fs::write(&path, own).expect("room");
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&path).output() {
        Ok(output) => {
            assert_eq!((output.status.code(), terminal::text(&output.stderr)), (Some(0), String::new()));
        }
        Err(error) => eprintln!("skipped: systemd-analyze cannot be had here: {error}"),
    }
}
