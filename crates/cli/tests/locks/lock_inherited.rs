//! What the command of `doorway lock` inherits: nothing on which a stray word loses the lock, and signals as they were.

use std::io::Write;
use std::process::{Child, Command};

use doorway_protocol::DaemonMsg;
use rustix::process::{Signal, kill_process};

use crate::scripted::{BINARY, Daemon, after, end, line, own};

/// Closes what the tests were started with, but for the usual three: that is others'. Then it becomes what follows.
const CLEAN: &str = "for path in /proc/$$/fd/*; do fd=${path##*/}; \
    if [ $fd -gt 2 ] && [ $fd -ne 255 ]; then eval \"exec $fd>&-\"; fi; done; exec \"$@\"";

/// `doorway lock` with these words, which inherits nothing.
fn lock(daemon: &Daemon, line: &[&str]) -> Child {
    daemon.run(Command::new("bash").args(["-c", CLEAN, "bash", BINARY, "lock"]).args(line))
}

/// Writes to every descriptor that it has, and reads from every one, but for the usual three.
const STRAY: &str = "for path in /proc/$$/fd/*; do fd=${path##*/}; \
    if [ $fd -gt 2 ]; then { echo stray >&$fd; read -t 0 -u $fd; read -t 0.01 -u $fd; } 2>/dev/null; fi; done; \
    echo done; read line; exit 3";

#[test]
fn a_stray_write_of_the_command_does_not_lose_the_lock() {
    let daemon = Daemon::new("stray");
    let mut child = lock(&daemon, &["x", "--", "bash", "-c", STRAY]);
    let (mut client, _) = daemon.granted(60_000);
    assert_eq!(line(&mut child), "done");
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    assert!(client.hears_release(), "the first word after the wish is the release");
    assert_eq!(end(child), (3, String::new(), String::new()));
}

#[test]
fn low_descriptors_are_left_to_the_command() {
    let daemon = Daemon::new("low");
    let script = "for path in /proc/$$/fd/*; do fd=${path##*/}; [ $fd -gt 2 ] && [ $fd -lt 200 ] && readlink $path; done; true";
    let child = lock(&daemon, &["x", "--", "sh", "-c", script]);
    let (mut client, _) = daemon.granted(60_000);
    assert!(client.hears_release());
    let (status, out, said) = end(child);
    let sockets = out.lines().filter(|target| target.starts_with("socket:")).count();
    assert_eq!((status, sockets, said.as_str()), (0, 0, ""), "{out}");
}

/// A limit that leaves no room for high numbers.
#[test]
fn a_low_limit_of_descriptors_is_no_obstacle() {
    let daemon = Daemon::new("few");
    let few = format!("ulimit -n 40; {CLEAN}");
    let words = ["-c", &few, "bash", BINARY, "lock", "x", "--", "bash", "-c", STRAY];
    let mut child = daemon.run(Command::new("bash").args(words));
    let (mut client, _) = daemon.granted(60_000);
    assert_eq!(line(&mut child), "done");
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    assert!(client.hears_release());
    assert_eq!(end(child), (3, String::new(), String::new()));
}

/// `nohup doorway lock` outlives the end of its terminal, while it waits and while its command runs.
#[test]
fn ignored_signals_are_ignored_while_waiting_and_while_running() {
    let daemon = Daemon::new("nohup");
    let ignored = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];
    // The command itself would die of them, if it were sent any.
    let command = ["env", "--default-signal=HUP,INT,QUIT,TERM", "sh", "-c", "echo in; read line; exit 3"];
    let mut child = daemon.lock_ignoring("HUP INT QUIT TERM", &[&["x", "--"][..], &command].concat());
    let (mut client, request) = daemon.request();
    for signal in ignored {
        kill_process(own(&child), signal).expect("it lives");
    }
    client.grant(&request, 60_000);
    assert_eq!(line(&mut child), "in");
    for signal in ignored {
        kill_process(own(&child), signal).expect("it lives");
    }
    // A word that it hears after the signals.
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(70_000) });
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
    assert!(client.hears_release());
    assert_eq!(end(child), (3, String::new(), String::new()));
}

#[test]
fn a_signal_that_is_not_ignored_is_heard_beside_one_that_is() {
    let daemon = Daemon::new("half-ignored");
    let child = daemon.lock_ignoring("HUP", &["x", "--", "true"]);
    let (mut client, _) = daemon.request();
    kill_process(own(&child), Signal::HUP).expect("it lives");
    kill_process(own(&child), Signal::TERM).expect("it lives");
    assert_eq!(client.hear(), None);
    assert_eq!(end(child), (143, String::new(), String::new()));
}

#[test]
fn a_low_limit_of_descriptors_is_reported_with_a_remedy() {
    let daemon = Daemon::new("too-few");
    let few = CLEAN.replace("exec \"$@\"", "ulimit -n 4; exec \"$@\"");
    let child =
        daemon.run(Command::new("bash").args(["-c", &few, "bash", BINARY, "lock", "x", "--", "true"]));
    let (status, out, said) = end(child);
    assert_eq!((status, out.as_str()), (125, ""), "{said}");
    assert!(said.contains("reached its limit of open files") && said.contains("`ulimit -n 64`"), "{said}");
}
