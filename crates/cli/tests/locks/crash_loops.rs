//! A daemon that is killed and started again over and over: how many changes of members that costs, and for which share of the time free
//! locks elsewhere are blocked.
//!
//! The test counts changes of members, because a busy machine also makes clients wait. It prints the share, also of a longer run:
//!
//! ```text
//! DOORWAY_KILLS=48 cargo test -p doorway-cli --test locks -- --nocapture a_daemon_killed_every_1250_ms
//! ```

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use doorway_client::Client;
use doorway_protocol::OwnStatus;

use crate::fleet::{Cluster, LONG, until};

/// The time from one kill to the next.
const PERIOD: Duration = Duration::from_millis(1_250);

/// A free lock is acquired within this time, even on a busy machine.
const PROMPT: Duration = Duration::from_millis(300);

/// One free lock that was asked for.
struct Probe {
    began: Instant,
    waited: Duration,
    /// Whether members changed meanwhile: then it has waited for that, and not for a busy machine.
    has_view_changed: bool,
}

/// What a node says of itself.
fn own_status(client: &Client, node: &str) -> OwnStatus {
    let status = client.status(None, false).within(LONG).answer_blocking().expect("it answers");
    status.nodes.into_iter().find(|other| other.name == node).and_then(|node| node.own).expect("of itself")
}

/// Asks a node for one free lock after the other, each of a name that was never used.
fn probe(socket: &Path, node: &str, is_over: &AtomicBool, probes: &Sender<Probe>) {
    let client = Client::connect(socket).expect("it listens");
    let view = || own_status(&client, node).view;
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let (before, began) = (view(), Instant::now());
        let entered = client.section(format!("free-{number}")).wait(LONG).enter_blocking();
        let waited = began.elapsed();
        drop(entered.expect("a free lock"));
        let probe = Probe { began, waited, has_view_changed: view() != before };
        probes.send(probe).expect("somebody counts");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the thread that asks, also when the test fails.
struct Asking<'a>(&'a AtomicBool);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills a daemon and starts it again at once.
fn restart(cluster: &mut Cluster, node: &str) {
    cluster.kill(node);
    cluster.start(node);
}

/// How often the daemon is killed after its first failures.
fn kills() -> u32 {
    let kills = std::env::var("DOORWAY_KILLS").ok();
    kills.map_or(8, |kills| kills.parse().expect("DOORWAY_KILLS is a number"))
}

#[test]
fn a_daemon_killed_every_1250_ms_changes_members_twice_at_most() {
    const FIRST: usize = 3;
    let kills = kills();
    let mut cluster = Cluster::new("crash-loop", &["a", "b", "c"]);
    let leader = cluster.leader("a").expect("somebody leads");
    let victim = ["a", "b", "c"].into_iter().find(|name| *name != leader).expect("one of three");
    let socket: PathBuf = cluster.folder.0.join("doorway").join(format!("{leader}.sock"));
    let observer = Client::connect(&socket).expect("it listens");
    let is_kept_out = || {
        let words = format!("node {victim} has failed");
        own_status(&observer, &leader).warnings.iter().any(|warning| warning.starts_with(&words))
    };
    let view = || own_status(&observer, &leader).view.expect("it is a member");
    let (is_over, (sender, probes)) = (AtomicBool::new(false), channel());
    let (begun, from, to, views) = thread::scope(|scope| {
        let _asking = Asking(&is_over);
        scope.spawn(|| probe(&socket, &leader, &is_over, &sender));
        let begun = Instant::now();
        // The first failures cost what they cost, so that a node that is restarted once or twice is back at once.
        for _ in 0..FIRST {
            restart(&mut cluster, victim);
            until("it is back, or kept out", || cluster.is_ready(victim) || is_kept_out());
        }
        // What the last of them costs belongs to it.
        drop(observer.section("quiet").wait(LONG).enter_blocking().expect("a free lock"));
        let (from, before) = (Instant::now(), view());
        for round in 0..kills {
            thread::sleep((PERIOD * round).saturating_sub(from.elapsed()));
            restart(&mut cluster, victim);
        }
        thread::sleep((PERIOD * kills).saturating_sub(from.elapsed()));
        (begun, from, Instant::now(), view() - before)
    });
    drop(sender);
    let probes: Vec<Probe> = probes.into_iter().collect();
    for (what, span) in [("first failures and all", begun..to), ("later kills", from..to)] {
        println!("{what}: {}", blocked(&probes, span));
    }
    println!("{kills} later kills cost {views} changes of members");
    // Each time that it is a member and is killed costs two: without damping twice as many as kills.
    assert!(views <= 2, "{views} changes of members by {kills} kills");
    until("it is kept out", is_kept_out);
}

/// For how long probes of a span of time were blocked, as a sentence.
fn blocked(probes: &[Probe], span: std::ops::Range<Instant>) -> String {
    let late = || probes.iter().filter(|probe| span.contains(&probe.began) && probe.waited > PROMPT);
    let in_all: Duration = late().map(|probe| probe.waited).sum();
    let by_views: Duration = late().filter(|probe| probe.has_view_changed).map(|probe| probe.waited).sum();
    let length = span.end - span.start;
    let share = |blocked: Duration| 100.0 * blocked.as_secs_f64() / length.as_secs_f64();
    format!(
        "free locks blocked for {:.1} % of {length:.1?} by changes of members ({by_views:.1?}), {:.1} % in all",
        share(by_views),
        share(in_all)
    )
}
