//! How long before the deadline `doorway lock` asks its command to stop.

use std::io::Write;

use doorway_client::clock;
use doorway_client::protocol::Told;
use doorway_core::Ticks;

use crate::scripted::{Daemon, PATIENT, after, end, line};

/// A deadline of a short lease is near although all is well: whoever asked 200 ms before it would stop a healthy command.
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
        scope.spawn(|| is_asked("short-margin", &["--margin", "70ms"], 10, 70));
    });
}

#[test]
fn a_margin_that_a_late_heartbeat_does_not_leave_is_told_of() {
    let daemon = Daemon::new("long-margin");
    for (margin, said) in [
        ("100ms", ""),
        (
            "101ms",
            "doorway: --margin 101ms is long for this cluster: a late heartbeat leaves 100ms until the deadline, \
             and the command would be stopped for nothing\n",
        ),
    ] {
        let child = daemon.lock(&["x", "--margin", margin, "--", "true"]);
        let (mut client, _) = daemon.granted_with_spare(100, 60_000);
        assert!(client.hears_release());
        assert_eq!(end(child), (0, String::new(), said.to_owned()));
    }
}

#[test]
fn a_margin_that_no_renewal_leaves_time_for_is_an_own_failure() {
    let daemon = Daemon::new("margin");
    let child = daemon.lock(&["x", "--margin", "5s", "--", "true"]);
    let (mut client, request) = daemon.granted(900);
    client.say(&Told::Renewed { number: request.number, until: after(1_000) });
    let (status, _, said) = end(child);
    assert_eq!(
        (status, said.as_str()),
        (125, "doorway: --margin 5s is longer than a grant is valid: give less\n")
    );
}
