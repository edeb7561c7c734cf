//! Programs that take part in a cluster themselves, and programs that use its daemons, on loopback.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use doorway::{Config, Doorway, Error, FencedFile, FencedFileError, Loss, Lost, Reason};
use doorway_client::clock;
use doorway_core::{SectionName, Ticks};
use doorway_daemon::founding;
use doorway_protocol::{self as protocol, ClientMsg, DaemonMsg};

#[path = "../../daemon/tests/ports/mod.rs"]
mod ports;

use ports::free_address;

const LONG: Duration = Duration::from_secs(60);

/// The folders of a cluster, gone when this is.
struct Cluster(PathBuf);

impl Cluster {
    fn of(nodes: &[&str]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("doorway-together-{}-{count}", std::process::id()));
        let named: Vec<_> = nodes.iter().map(|node| ((*node).to_owned(), free_address())).collect();
        founding::found(&folder, "test", &named, Config::ALGORITHM, &BTreeMap::new())
            .expect("a good cluster");
        Self(folder)
    }

    fn config(&self, node: &str) -> Config {
        let mut config = Config::load(&self.0.join(node).join("node.toml")).expect("a good configuration");
        config.socket = Some(self.socket(node));
        config.stop_patience = "100ms".parse().expect("a time");
        config
    }

    fn socket(&self, node: &str) -> PathBuf {
        self.0.join(node).join("node.sock")
    }

    fn join(&self, node: &str) -> Doorway {
        Doorway::join_blocking(self.config(node)).expect("it joins")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn three_programs_take_turns_and_fences_rise() {
    let cluster = Cluster::of(&["a", "b", "c"]);
    let programs = ["a", "b", "c"].map(|node| cluster.join(node));
    let file = FencedFile::open(cluster.0.join("turns")).expect("a file");
    std::thread::scope(|scope| {
        for program in &programs {
            let file = &file;
            scope.spawn(move || {
                for _ in 0..10 {
                    let guard = program.lock("pen").wait(LONG).enter_blocking().expect("its turn comes");
                    file.append(guard.fence(), format!("{}\n", guard.fence()).as_bytes())
                        .expect("it is the newest");
                    guard.release().expect("it was not lost");
                }
            });
        }
    });
    let text = String::from_utf8(file.read().expect("it is there")).expect("digits");
    let fences: Vec<u64> = text.lines().map(|line| line.parse().expect("a fence")).collect();
    assert_eq!(fences.len(), 30);
    assert!(fences.windows(2).all(|pair| pair[0] < pair[1]), "{fences:?}");
    let [a, b, c] = programs;
    for program in [a, b, c] {
        program.leave_blocking();
    }
}

#[test]
fn a_single_program_awaits_and_tries_and_cannot_reenter() {
    let cluster = Cluster::of(&["only"]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let doorway = Doorway::join(cluster.config("only")).await.expect("it joins");
        assert_eq!(doorway.welcome().await.expect("it is there").node, "only");
        let guard = doorway.lock_all(["b", "a"]).wait(LONG).await.expect("it is let in");
        assert!(guard.is_valid());
        let twice = doorway.clone().lock("a").await.map(drop).expect_err("it is inside");
        assert!(matches!(twice, Error::Refused { why: Reason::Reentrant, .. }));
        let other = doorway.another().expect("another client");
        let taken = other.lock("a").try_once().await.map(drop).expect_err("it is taken");
        assert!(taken.is_timeout(), "{taken}");
        let (first, fences) = (guard.fence(), guard.fences().to_vec());
        assert_eq!(fences[0].0.as_str(), "b");
        guard.release().expect("it was not lost");
        let next = other.lock("b").wait(LONG).await.expect("it is free");
        assert!(first < next.fence());
        let status = doorway.status(None, false).await.expect("it answers");
        assert_eq!(status.sections.len(), 1);
        doorway.leave().await;
        assert_eq!(next.lost().await, Lost::Notified(Loss::Leaving));
    });
}

#[test]
fn guards_end_with_their_daemon() {
    let cluster = Cluster::of(&["only"]);
    let daemon = cluster.join("only");
    let doorway = Doorway::connect_to_blocking(cluster.socket("only")).expect("it is there");
    let guard = doorway.lock("a").wait(LONG).enter_blocking().expect("it is let in");
    let file = FencedFile::open(cluster.0.join("file")).expect("a file");
    file.write(guard.fence(), b"in time").expect("it is new");
    drop(daemon);
    assert_eq!(guard.wait_lost(LONG), Some(Lost::Daemon));
    let _daemon = cluster.join("only");
    let again =
        doorway.lock("a").persistent().wait(LONG).enter_blocking().expect("the next daemon lets it in");
    assert!(!guard.is_valid() && again.is_valid() && guard.fence() < again.fence());
    file.write(again.fence(), b"newer").expect("it is new");
    let late = file.write(guard.fence(), b"too late");
    assert!(matches!(late, Err(FencedFileError::Stale { .. })));
    assert_eq!(file.read().expect("it is there"), b"newer");
}

/// A client that reads what it is told and does nothing about it.
struct Deaf(UnixStream);

impl Deaf {
    /// Asks for a section, and is told until when it is in.
    fn inside(socket: &Path, section: &str) -> (Self, Ticks) {
        let stream = UnixStream::connect(socket).expect("a daemon");
        stream.set_read_timeout(Some(LONG)).expect("a limit");
        let mut deaf = Self(stream);
        let names = vec![SectionName::new(section).expect("a good name")];
        let ask = ClientMsg::Lock {
            number: 1,
            names,
            patience: None,
            max_hold: None,
            ttl: None,
            tell_if_wanted: false,
        };
        let frame = protocol::frame(&ask, protocol::LONGEST_CLIENT_MSG).expect("it is short");
        deaf.0.write_all(&frame).expect("the daemon reads");
        loop {
            match deaf.hear() {
                Some(DaemonMsg::Granted { until, .. }) => return (deaf, until),
                Some(DaemonMsg::Welcome { .. }) => {}
                other => panic!("it is not let in: {other:?}"),
            }
        }
    }

    /// What it is told next, until its connection is closed.
    fn hear(&mut self) -> Option<DaemonMsg> {
        let mut head = [0; 4];
        self.0.read_exact(&mut head).ok()?;
        let mut bytes = vec![0; protocol::length(head, protocol::LONGEST_DAEMON_MSG).expect("it is short")];
        self.0.read_exact(&mut bytes).expect("all of it");
        Some(protocol::read(&bytes).expect("a word of the protocol"))
    }
}

#[test]
fn a_leaving_node_waits_for_the_deadline_of_a_deaf_holder() {
    let cluster = Cluster::of(&["a", "b", "c"]);
    let [a, b, _c] = ["a", "b", "c"].map(|node| cluster.join(node));
    let (mut holder, mut until) = Deaf::inside(&cluster.socket("a"), "door");
    let leaving = std::thread::spawn(move || {
        a.leave_blocking();
        clock::now()
    });
    let waiting = std::thread::spawn(move || {
        let guard = b.lock("door").wait(LONG).enter_blocking().expect("the door is free at last");
        (clock::now(), guard.is_valid())
    });
    let mut losses = Vec::new();
    while let Some(told) = holder.hear() {
        match told {
            DaemonMsg::Renewed { until: later, .. } if losses.is_empty() => until = later,
            DaemonMsg::Lost { why, .. } => losses.push(why),
            DaemonMsg::Freed { .. } if losses.len() == 1 => {}
            other => panic!("it is told {other:?} after {losses:?}"),
        }
    }
    assert_eq!(losses, [Loss::Leaving], "it is told once");
    let ((entered, is_valid), left) = (waiting.join().expect("b"), leaving.join().expect("a"));
    let freed = until + Ticks(100_000);
    assert!(is_valid && freed <= entered && freed <= left, "{until} {entered} {left}");
}

#[test]
fn a_bad_configuration_is_refused_with_a_sentence() {
    let refused =
        |config: Config| Doorway::join_blocking(config).map(drop).expect_err("it is wrong").to_string();
    let config = || Config::new("test", "a", &[("a", "127.0.0.1:1")]).expect("a good configuration");
    let specimen = refused(config().with_algorithm("maekawa/basic"));
    assert_eq!(specimen, "maekawa/basic is a specimen, which is wrong on purpose: no cluster runs it");
    assert_eq!(refused(config().with_algorithm("nothing")), "there is no algorithm \"nothing\"");
    let mut options = config();
    options.options.insert("quorums".to_owned(), "file:no/such/file".to_owned());
    assert!(refused(options).starts_with("no/such/file cannot be read: "));
    assert!(Config::new("test", "b", &[("a", "127.0.0.1:1")]).is_err());
}
