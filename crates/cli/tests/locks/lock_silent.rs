//! `doorway lock` and a daemon that is there and does not answer, as one that is stopped: that is not the same as a lock that is taken.

use doorway_core::Ticks;
use doorway_protocol::DaemonMsg;
use rustix::process::{Pid, Signal, kill_process};

use crate::scripted::{Daemon, end};
use crate::terminal;

/// What is said of such a daemon.
fn sentence(daemon: &Daemon) -> String {
    format!("doorway: the daemon at {} does not answer: is it stopped?\n", daemon.socket.display())
}

#[test]
fn a_daemon_that_accepts_no_connection_times_out() {
    let daemon = Daemon::new("full");
    let _waiting = daemon.fill();
    for (patience, status) in [(&["--try"][..], 124), (&["--wait", "100ms"], 124), (&[], 125)] {
        let child = daemon.lock(&[&["x"], patience, &["--", "true"]].concat());
        assert_eq!(end(child), (status, String::new(), sentence(&daemon)), "{patience:?}");
    }
}

#[test]
fn a_query_to_a_busy_daemon_does_not_say_that_it_is_gone() {
    let daemon = Daemon::new("full-question");
    let _waiting = daemon.fill();
    let socket = daemon.socket.to_string_lossy();
    let output = terminal::doorway_with(&["status", "--socket", &socket]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(terminal::text(&output.stderr), sentence(&daemon));
}

#[test]
fn a_daemon_that_accepts_late_gets_the_request() {
    let daemon = Daemon::new("full-late");
    let waiting = daemon.fill();
    let child = daemon.lock(&["x", "--wait", "20s", "--", "true"]);
    drop((daemon.stranger(), waiting));
    let (mut client, request) = daemon.granted(60_000);
    assert!(request.patience.is_some_and(|left| left <= Ticks(20_000_000)));
    assert!(client.hears_release());
    assert_eq!(end(child), (0, String::new(), String::new()));
}

#[test]
fn a_daemon_that_says_no_welcome_is_not_waited_for_beyond_patience() {
    let daemon = Daemon::new("no-welcome");
    let child = daemon.lock(&["x", "--try", "--", "true"]);
    let mut client = daemon.stranger();
    assert_eq!(end(child), (124, String::new(), sentence(&daemon)));
    assert_eq!(client.hear(), None, "it asks nothing before it knows whom");
}

#[test]
fn a_daemon_that_says_nothing_of_the_wish_does_not_stretch_patience() {
    let daemon = Daemon::new("no-word");
    let child = daemon.lock(&["x", "--wait", "100ms", "--", "true"]);
    let (mut client, _) = daemon.request();
    assert_eq!(end(child), (124, String::new(), sentence(&daemon)));
    assert_eq!(client.hear(), None);
}

#[test]
fn a_restarted_daemon_without_a_welcome_still_times_out() {
    let daemon = Daemon::new("no-return");
    let child = daemon.lock(&["x", "--wait", "1s", "--", "true"]);
    drop(daemon.request());
    let _client = daemon.stranger();
    assert_eq!(end(child), (124, String::new(), sentence(&daemon)));
}

#[test]
fn a_signal_is_heard_before_the_welcome() {
    let daemon = Daemon::new("term-first");
    let child = daemon.lock(&["x", "--", "true"]);
    let mut client = daemon.stranger();
    let own = child.id().try_into().ok().and_then(Pid::from_raw).expect("the number of a process");
    kill_process(own, Signal::TERM).expect("it lives");
    assert_eq!(end(child), (143, String::new(), String::new()));
    assert_eq!(client.hear(), None);
}

/// Turns the next client away, as a daemon does that has too many.
fn turn_away(daemon: &Daemon) {
    let mut client = daemon.stranger();
    client.say(&DaemonMsg::Goodbye { sentence: "7 clients are connected".to_owned() });
    assert_eq!(client.hear(), None);
}

fn turned_away(daemon: &Daemon) -> String {
    format!(
        "doorway: the daemon at {} turned this client away: 7 clients are connected\n",
        daemon.socket.display()
    )
}

#[test]
fn a_client_that_is_turned_away_tries_again_for_as_long_as_it_waits() {
    let daemon = Daemon::new("turned-away");
    let child = daemon.lock(&["x", "--wait", "30s", "--", "true"]);
    (0..3).for_each(|_| turn_away(&daemon));
    let (mut client, _) = daemon.granted(60_000);
    assert!(client.hears_release());
    assert_eq!(end(child), (0, String::new(), String::new()));
}

#[test]
fn a_client_that_is_turned_away_says_so_when_it_waits_no_longer() {
    let daemon = Daemon::new("turned-away-late");
    for patience in [&["--try"][..], &[]] {
        let child = daemon.lock(&[&["x"], patience, &["--", "true"]].concat());
        turn_away(&daemon);
        assert_eq!(end(child), (125, String::new(), turned_away(&daemon)), "{patience:?}");
    }
    let child = daemon.lock(&["x", "--wait", "3s", "--", "true"]);
    turn_away(&daemon);
    // Clients that connect from now on hear nothing.
    assert_eq!(end(child), (124, String::new(), turned_away(&daemon)));
}
