//! Daemons that go away, and others that come.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use doorway_client::{Client, Error, Lost, clock};
use doorway_protocol::ClientMsg;

use crate::daemon::{Daemon, pair};
use crate::runtime::block_on;

const LONG: Duration = Duration::from_secs(20);

/// A client whose next connections are those that are sent here, and the daemon of the first.
fn reconnecting() -> (Client, Daemon, Sender<UnixStream>) {
    let (sender, sockets): (Sender<UnixStream>, Receiver<UnixStream>) = mpsc::channel();
    let (first, daemon) = UnixStream::pair().expect("a pair");
    sender.send(first).expect("somebody listens");
    let client = Client::through(move || sockets.try_recv().map_err(io::Error::other)).expect("a client");
    let daemon = Daemon::new(daemon);
    daemon.welcome();
    (client, daemon, sender)
}

fn next_daemon(sender: &Sender<UnixStream>) -> Daemon {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    sender.send(ours).expect("the client lives");
    let daemon = Daemon::new(theirs);
    daemon.welcome();
    daemon
}

#[test]
fn a_daemon_that_closes_takes_guards_and_requests_with_it() {
    let (client, daemon) = pair();
    let other = client.clone();
    let server = thread::spawn(move || {
        daemon.grant(60_000);
        daemon
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    let daemon = server.join().expect("the daemon");
    let waiting = thread::spawn(move || other.section("b").enter_blocking().map(drop));
    daemon.next_lock();
    drop(daemon);
    assert_eq!(guard.wait_lost(LONG), Some(Lost::Daemon));
    assert!(!guard.is_valid());
    assert_eq!(waiting.join().expect("the client"), Err(Error::Gone));
    assert_eq!(client.section("c").enter_blocking().map(drop), Err(Error::Gone), "there is no way back");
    assert!(client.socket().is_none());
}

#[test]
fn the_next_daemon_gets_the_label_and_no_held_locks() {
    let (client, first, sender) = reconnecting();
    client.introduce("a test");
    assert_eq!(first.next(), ClientMsg::Introduce { label: "a test".to_owned() });
    let server = thread::spawn(move || {
        first.grant(60_000);
        first
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    drop(server.join().expect("the first daemon"));
    assert_eq!(block_on(guard.lost()), Lost::Daemon);
    let second = next_daemon(&sender);
    let server = thread::spawn(move || {
        assert_eq!(second.next(), ClientMsg::Introduce { label: "a test".to_owned() });
        (second.grant(60_000).0, second)
    });
    let again = client.section("a").enter_blocking().expect("the second lets it in");
    let (number, second) = server.join().expect("the second daemon");
    assert!(again.is_valid() && !guard.is_valid());
    drop(guard);
    drop(again);
    assert_eq!(second.next(), ClientMsg::Release { number }, "of the lost one nothing is said");
}

#[test]
fn a_request_waits_for_the_next_daemon_only_if_it_says_so() {
    let (client, first, sender) = reconnecting();
    let (one, other) = (client.clone(), client.clone());
    let patient = thread::spawn(move || one.section("a").persistent().enter_blocking());
    let (number, _) = first.next_lock();
    let hasty = thread::spawn(move || other.section("b").enter_blocking().map(drop));
    first.next_lock();
    drop(first);
    assert_eq!(hasty.join().expect("the client"), Err(Error::Gone));
    let second = next_daemon(&sender);
    let (again, _) = second.grant(60_000);
    assert_eq!(again, number);
    assert!(patient.join().expect("the client").expect("it is let in").is_valid());
}

#[test]
fn reconnecting_backs_off_until_the_daemon_is_back() {
    let (tries, tried) = mpsc::channel();
    let (sender, sockets): (Sender<UnixStream>, Receiver<UnixStream>) = mpsc::channel();
    let (first, daemon) = UnixStream::pair().expect("a pair");
    sender.send(first).expect("somebody listens");
    let connect = move || {
        tries.send(clock::now()).map_err(io::Error::other)?;
        sockets.try_recv().map_err(io::Error::other)
    };
    let client = Client::through(connect).expect("a client");
    let daemon = Daemon::new(daemon);
    daemon.welcome();
    let next_try = || tried.recv_timeout(LONG).expect("it is looked for");
    next_try();
    let waiting = thread::spawn(move || client.section("a").persistent().enter_blocking());
    daemon.next_lock();
    let mut moments = vec![clock::now()];
    drop(daemon);
    moments.extend(std::iter::repeat_with(next_try).take(6));
    let pauses: Vec<u64> = moments.windows(2).map(|pair| (pair[1].0 - pair[0].0) / 1_000).collect();
    // Later is always possible, earlier never.
    let least = [25, 50, 100, 200, 400, 800];
    assert!(pauses.iter().zip(least).all(|(pause, least)| *pause >= least), "{pauses:?}");
    let second = next_daemon(&sender);
    second.grant(60_000);
    assert!(waiting.join().expect("the client").expect("it is let in").is_valid());
}

#[test]
fn a_daemon_that_does_not_come_back_is_not_waited_for() {
    let (client, first, sender) = reconnecting();
    drop(first);
    drop(sender);
    for _ in 0..3 {
        let error = client.section("a").enter_blocking().map(drop).expect_err("there is no daemon");
        assert!(matches!(error, Error::Unreachable(_) | Error::Gone), "{error}");
    }
    let error = Client::connect("no/such.sock").map(drop).expect_err("there is none").to_string();
    assert!(error.starts_with("cannot reach the Doorway daemon: no/such.sock: "), "{error}");
}
