//! Daemons that say what no daemon says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use doorway_client::{Client, Error, Incompatible, Lost, clock};
use doorway_core::Ticks;
use doorway_protocol::{self as protocol, DaemonMsg, Reason, frame};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::daemon::{Daemon, from_now, granted, name, pair, strangers};

static PANICKED: AtomicBool = AtomicBool::new(false);

/// Notices panics in threads of clients, which no test joins.
fn watch_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let is_ours = thread::current().name() == Some("doorway-client");
        PANICKED.fetch_or(is_ours, Ordering::Relaxed);
        usual(info);
    }));
}

/// The end of a request while the daemon does this.
fn request_while(client: Client, act: impl FnOnce(&Daemon), daemon: Daemon) -> Error {
    let waiting = thread::spawn(move || client.section("a").enter_blocking().map(drop));
    act(&daemon);
    waiting.join().expect("it does not panic").expect_err("it is not let in")
}

#[test]
fn protocol_violations_end_the_connection() {
    let welcome = |version| DaemonMsg::Welcome {
        version,
        cluster: String::new(),
        node: String::new(),
        now: clock::now(),
        clock: None,
        spare: Ticks(0),
    };
    let acts: [(&str, Vec<u8>); 5] = [
        ("bytes are not a message", vec![2, 0, 0, 0, 0xff, 0xff]),
        ("4294967295 bytes is longer than the limit of 16777216", vec![0xff; 4]),
        ("speaks version 9 of the protocol, this client version 4", frame(&welcome(9), 100).expect("short")),
        (
            "first message is not a welcome",
            frame(&DaemonMsg::Done { number: 1, sentence: String::new() }, 100).expect("short"),
        ),
        ("it sent a second welcome", frame(&welcome(protocol::VERSION), 100).expect("short").repeat(2)),
    ];
    for (words, bytes) in acts {
        let (client, daemon) = strangers();
        let error = request_while(client, |daemon| daemon.write(&bytes), daemon);
        assert!(matches!(&error, Error::Incompatible(why) if why.to_string().contains(words)), "{error}");
    }
}

#[test]
fn grants_of_something_else_end_the_connection() {
    for names in [vec![], vec![name("b")], vec![name("a"), name("b")], vec![name("a"), name("a")]] {
        let (client, daemon) = pair();
        let act = |daemon: &Daemon| {
            let (number, _) = daemon.next_lock();
            daemon.tell(&granted(number, &names, from_now(60_000)));
        };
        let error = request_while(client, act, daemon);
        assert_eq!(error, Error::Incompatible(Incompatible::Grant));
    }
}

#[test]
fn a_granted_request_cannot_be_refused_or_granted_again() {
    let words: [fn(u32) -> DaemonMsg; 2] = [
        |number| DaemonMsg::Refused { number, why: Reason::TooMany },
        |number| granted(number, &[name("a")], from_now(120_000)),
    ];
    for word in words {
        let (client, daemon) = pair();
        let server = thread::spawn(move || (daemon.grant(60_000).0, daemon));
        let guard = client.section("a").enter_blocking().expect("it is let in");
        let (number, daemon) = server.join().expect("the daemon");
        daemon.tell(&word(number));
        assert_eq!(guard.wait_lost(Duration::from_secs(20)), Some(Lost::Daemon));
    }
}

#[test]
fn messages_about_unknown_requests_are_ignored() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        daemon.tell(&DaemonMsg::Renewed { number: 77, until: from_now(1) });
        daemon.tell(&DaemonMsg::Refused { number: 77, why: Reason::TooMany });
        daemon.tell(&DaemonMsg::Wanted { number: 77, section: name("x") });
        daemon.tell(&DaemonMsg::Failed { number: 77, sentence: "no".to_owned() });
        let (number, until) = daemon.grant(60_000);
        daemon.tell(&DaemonMsg::Wanted { number, section: name("of another request") });
        (daemon, until)
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    let (_daemon, until) = server.join().expect("the daemon");
    assert_eq!(guard.valid_until(), until);
    assert!(guard.is_valid() && !guard.is_wanted());
}

#[test]
fn random_bytes_make_errors_and_no_panic() {
    watch_panics();
    for seed in 0..300 {
        let mut random = Pcg64Mcg::new(seed);
        let (client, daemon) = if seed % 2 == 0 { pair() } else { strangers() };
        let act = |daemon: &Daemon| {
            let mut bytes = [0; 64];
            random.fill_bytes(&mut bytes);
            // Short lengths, so that some of it is taken for messages; whole words at the border of what can be.
            bytes[0] %= 12;
            bytes[1..4].fill(0);
            let _ = std::io::Write::write_all(&mut &daemon.0, &bytes);
            let _ = daemon.0.shutdown(std::net::Shutdown::Write);
        };
        let error = request_while(client, act, daemon);
        assert!(matches!(error, Error::Incompatible(_) | Error::Gone), "seed {seed}: {error}");
    }
    assert!(!PANICKED.load(Ordering::Relaxed));
}
