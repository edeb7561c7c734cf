//! The clock of clients, and daemons that have another.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use doorway_client::{Client, clock};
use doorway_core::Ticks;
use doorway_protocol::{ClientMsg, DaemonMsg};

use crate::daemon::{Daemon, strangers};

const SECOND: u64 = 1_000_000;

/// By how many seconds a machine seems to have slept in a time namespace of its own.
const SLEPT: u64 = 1_000;

/// The system's own count of the time since the machine was started, suspended or not, to a hundredth of a second.
fn uptime() -> Option<Ticks> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(Ticks((seconds * SECOND as f64).round() as u64))
}

#[test]
fn the_clock_matches_the_systems_uptime() {
    let Some(before) = uptime() else {
        eprintln!("skipped: this system does not tell its uptime");
        return;
    };
    let (now, after) = (clock::now(), uptime().expect("it told it before"));
    assert!(before <= now && now <= after + Ticks(SECOND / 100), "{before} {now} {after}");
}

/// For [`a_clock_that_has_slept`]: run alone, this test prints the clock.
#[test]
fn a_process_that_tells_the_time() {
    println!("it is {}", clock::now().0);
}

/// This program with one test, where the clock that counts during suspend is ahead of the one that does not.
fn a_clock_that_has_slept(test: &str) -> Option<Output> {
    let unshare = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--time", "--boottime", &SLEPT.to_string(), "--fork"]);
        // An alarm on another clock would ring too late.
        command.args(["timeout", "60"]).args(words).output().ok()
    };
    if !unshare(&["true"]).is_some_and(|tried| tried.status.success()) {
        eprintln!("skipped: a time namespace needs root, Linux 5.6 and unshare");
        return None;
    }
    let own = std::env::current_exe().expect("this program");
    unshare(&[&own.to_string_lossy(), "--exact", test, "--nocapture"])
}

#[test]
fn the_clock_counts_the_time_for_which_a_machine_was_suspended() {
    let before = clock::now();
    let Some(told) = a_clock_that_has_slept("clocks::a_process_that_tells_the_time") else { return };
    let told = String::from_utf8(told.stdout).expect("text");
    let now = told.lines().find_map(|line| line.strip_prefix("it is ")?.parse().ok());
    let awake = Ticks(now.unwrap_or_else(|| panic!("it tells the time: {told}"))) - Ticks(SLEPT * SECOND);
    assert!(before <= awake && awake <= clock::now(), "{before} {awake}");
}

#[test]
fn deadlines_are_kept_on_a_machine_that_was_suspended() {
    let test = "holding::a_deadline_passes_while_the_daemon_is_silent";
    let Some(ended) = a_clock_that_has_slept(test) else { return };
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"));
}

/// What a client says to a daemon on whose clock it is this time.
fn refused((client, daemon): (Client, Daemon), now: Ticks) -> String {
    client.introduce("it");
    daemon.welcome_at(now);
    let error = client.welcome_blocking().expect_err("it is no welcome");
    assert_eq!((&daemon.0).read(&mut [0]).expect("it closes"), 0, "the daemon is told nothing");
    error.to_string()
}

/// A client that has connected at this moment and knows it.
fn fresh() -> (Client, Daemon) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut ours = Some(ours);
    let connect = move || ours.take().ok_or_else(|| io::Error::other("there is one daemon only"));
    (Client::through(connect).expect("a client"), Daemon::new(theirs))
}

#[test]
fn a_daemon_with_another_clock_is_not_asked_for_anything() {
    let slept = Ticks(SLEPT * SECOND);
    let is_told = |sentence: String, how: &str| {
        let begin = "this client cannot use the daemon that answers: its clock is ";
        let end = format!(" s {how} this program's: both must be in the same time namespace");
        assert!(sentence.starts_with(begin) && sentence.ends_with(&end), "{sentence}");
    };
    is_told(refused(strangers(), clock::now() + slept), "ahead of");
    is_told(refused(fresh(), clock::now() + slept), "ahead of");
    is_told(refused(fresh(), clock::now() - slept), "behind");
}

/// A client that reads the welcome only when this returns, by when it is so old that it proves nothing.
fn slow_reader(ahead: Ticks) -> (Client, Daemon) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let daemon = Daemon::new(theirs);
    let told = clock::now() + ahead;
    daemon.welcome_by(told, None);
    let mut ours = Some(ours);
    // It was asked for when the client began, and lies there for longer than the clocks differ.
    let connect = move || {
        while clock::now() < told + Ticks(50_000) {
            thread::sleep(Duration::from_millis(1));
        }
        ours.take().ok_or_else(|| io::Error::other("there is one daemon only"))
    };
    (Client::through(connect).expect("a client"), daemon)
}

#[test]
fn a_clock_offset_is_not_hidden_by_a_welcome_that_is_read_late() {
    let ahead = Ticks(300_000);
    let (client, daemon) = slow_reader(ahead);
    // The welcome looks right; so it asks again, and now the offset shows.
    assert_eq!(daemon.next(), ClientMsg::Clock);
    daemon.tell(&DaemonMsg::Clock { now: clock::now() + ahead });
    let told = client.welcome_blocking().map_err(|error| error.to_string()).expect_err("it is another clock");
    assert!(told.contains("ahead of this program's"), "{told}");
}

#[test]
fn a_late_welcome_is_checked_until_an_answer_is_fast() {
    let (client, daemon) = slow_reader(Ticks(0));
    client.introduce("it");
    let waiting = thread::spawn(move || (client.welcome_blocking(), client));
    // On a busy machine an answer may come too late as well, and is asked for again.
    let mut questions = 0;
    loop {
        match daemon.next() {
            ClientMsg::Clock => {
                questions += 1;
                daemon.tell(&DaemonMsg::Clock { now: clock::now() });
            }
            ClientMsg::Introduce { label } => {
                assert_eq!(label, "it");
                break;
            }
            other => panic!("it asks {other:?}"),
        }
    }
    assert!(questions > 0);
    let (welcome, _client) = waiting.join().expect("the client");
    assert_eq!(welcome.map(|welcome| welcome.node), Ok("a".to_owned()));
}

#[test]
fn a_daemon_that_turns_a_client_away_says_why() {
    let (client, daemon) = fresh();
    daemon.tell(&DaemonMsg::Goodbye { sentence: "7 clients are connected".to_owned() });
    let told = client.welcome_blocking().map_err(|error| error.to_string());
    assert_eq!(told, Err("the Doorway daemon turned this client away: 7 clients are connected".to_owned()));
}
