//! How long before the deadline `doorway lock` asks its command to stop.

use std::fs;
use std::io::Write;

use doorway_client::clock;
use doorway_core::Ticks;
use doorway_protocol::DaemonMsg;

use crate::fleet::Cluster;
use crate::scripted::{Daemon, PATIENT, after, end, line};

/// A deadline of a short lease is near although all is well: a signal 200 ms before it would stop a healthy command.
#[test]
fn a_command_is_asked_later_where_leases_are_short() {
    let is_asked = |name: &str, words: &[&str], spare: u64, margin: u64| {
        let daemon = Daemon::new(name);
        // It is asked and not killed, so that it can take its time to say so.
        let mut child = daemon.lock(&[&["x", "--on-lost", "signal"], words, &["--"], PATIENT].concat());
        let deadline = after(3_000);
        let _client = daemon.granted_with_spare(spare, 3_000);
        assert_eq!((line(&mut child), line(&mut child)), ("in".to_owned(), "asked".to_owned()), "{words:?}");
        assert!(clock::now() + Ticks(margin * 1_000) >= deadline, "{words:?}: too early");
        child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it still runs");
        assert_eq!(end(child).0, 122, "{words:?}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| is_asked("short-lease", &[], 100, 50));
        scope.spawn(|| is_asked("short-ttl", &["--ttl", "300ms"], 500, 100));
        scope.spawn(|| is_asked("short-hold", &["--max-hold", "90ms"], 500, 30));
        scope.spawn(|| is_asked("short-margin", &["--margin", "70ms"], 100, 70));
    });
}

/// Such a margin would stop a healthy command, and say that the daemon does not renew its lock.
#[test]
fn a_margin_longer_than_the_spare_time_is_refused() {
    let daemon = Daemon::new("long-margin");
    let child = daemon.lock(&["x", "--margin", "100ms", "--", "true"]);
    let (mut client, _) = daemon.granted_with_spare(100, 60_000);
    assert!(client.hears_release());
    assert_eq!(end(child), (0, String::new(), String::new()));
    for margin in ["101ms", "5s"] {
        let child = daemon.lock(&["x", "--margin", margin, "--", "echo", "started"]);
        let mut client = daemon.stranger();
        client.welcome_with(clock::now(), Ticks(100_000));
        assert_eq!(client.hear(), None, "it asks for no lock");
        let said = format!(
            "doorway: --margin {margin} is too long for this cluster: after a late heartbeat 100ms are left until the deadline, and the \
             command would be stopped for nothing; give at most 100ms\n"
        );
        assert_eq!(end(child), (125, String::new(), said));
    }
}

/// A real node with a lease as short as `--check` allows for its other times, or nearly: a healthy command ends by itself. A machine that
/// stands still for a third of a second may cost the lock, so the whole is tried several times.
#[test]
fn a_healthy_command_ends_by_itself_although_the_lease_is_short() {
    const ATTEMPTS: usize = 8;
    let mut cluster = Cluster::found("short-lease", &["a"]);
    let path = cluster.config("a");
    let text = fs::read_to_string(&path).expect("it was written");
    let times = [("lease", "1s", "600ms"), ("margin", "100ms", "50ms"), ("heartbeat", "200ms", "100ms")];
    let changed = times.iter().fold(text, |text, (name, usual, short)| {
        let commented = format!("#{name} = \"{usual}\"");
        assert!(text.contains(&commented), "{commented} is not in {text}");
        text.replacen(&commented, &format!("{name} = \"{short}\""), 1)
    });
    fs::write(&path, changed).expect("it can be changed");
    cluster.start("a");
    cluster.await_ready("a");
    let words = ["lock", "x", "--wait", "30s", "--", "sh", "-c", "sleep 0.8; exit 7"];
    let mut ends = Vec::new();
    while ends.last().is_none_or(|(code, _, _)| *code != 7) {
        assert!(ends.len() < ATTEMPTS, "{ends:?}");
        ends.push(cluster.run(&words));
    }
}

#[test]
fn a_margin_that_no_renewal_leaves_time_for_is_an_own_failure() {
    let daemon = Daemon::new("margin");
    let child = daemon.lock(&["x", "--margin", "5s", "--", "true"]);
    let (mut client, request) = daemon.granted(900);
    client.say(&DaemonMsg::Renewed { number: request.number, until: after(1_000) });
    let (status, _, said) = end(child);
    assert_eq!(
        (status, said.as_str()),
        (125, "doorway: --margin 5s is longer than a grant is valid: give less\n")
    );
}
