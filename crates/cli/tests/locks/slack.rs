//! What a late holder has between its deadline and the next grant, and what a stopped one loses, with real daemons. All processes of
//! a machine share one clock, so that a deadline and a grant can be compared.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use doorway_client::{Client, Error, Guard, Lost, clock};
use doorway_core::Ticks;
use doorway_protocol::{Loss, Reason};
use rustix::process::{Pid, Signal, test_kill_process};

use crate::fleet::{Cluster, Dev, Folder, LONG, until};

/// The margin of the default times.
const MARGIN: Ticks = Ticks(100_000);

fn client(runtime: &Folder, node: &str) -> Client {
    let socket: PathBuf = runtime.0.join("doorway").join(format!("{node}.sock"));
    Client::connect(socket).expect("a daemon")
}

/// Waits for a section through another client of the same node; tells when it is in.
fn next(runtime: &Folder, node: &str, section: &'static str) -> JoinHandle<Ticks> {
    let client = client(runtime, node);
    thread::spawn(move || {
        let guard = client.section(section).wait(LONG).enter_blocking().expect("it is free at last");
        let entered = clock::now();
        drop(guard);
        entered
    })
}

/// No client entered before the holder's deadline and the margin had passed, although the holder never said that it stopped.
fn assert_slack(guard: &Guard, next: JoinHandle<Ticks>) {
    let entered = next.join().expect("the next one");
    let until = guard.valid_until();
    assert!(entered >= until + MARGIN, "the next one came in {} µs after the deadline", entered - until);
}

#[test]
fn a_lock_lost_with_the_lease_waits_for_its_margin() {
    let cluster = Cluster::new("slack-lease", &["a", "b"]);
    let holder = client(&cluster.folder, "a");
    let guard = holder.section("x").wait(LONG).enter_blocking().expect("it is free");
    let next = next(&cluster.folder, "a", "x");
    // Of two nodes, one alone has no lease. The other goes on as soon as that is so, and the lease returns within the slack.
    cluster.process("b").signal(Signal::STOP);
    let lost = guard.wait_lost(LONG).expect("one of two is no majority");
    cluster.process("b").signal(Signal::CONT);
    assert!(matches!(lost, Lost::Deadline | Lost::Notified(Loss::Lease)), "{lost}");
    assert_slack(&guard, next);
}

#[test]
fn a_lock_held_too_long_waits_for_its_margin() {
    let dev = Dev::new("slack-hold");
    let holder = client(&dev.runtime, "a");
    let request = holder.section("x").wait(LONG).max_hold(Duration::from_millis(500));
    let guard = request.enter_blocking().expect("it is free");
    let next = next(&dev.runtime, "a", "x");
    assert_slack(&guard, next);
    assert!(!guard.is_valid());
    // What was freed can be asked for again, although the guard is still there, as soon as this client has heard that it was: the
    // word to the next one may come first.
    until("the section can be asked for again", || match holder.section("x").wait(LONG).enter_blocking() {
        Ok(again) => again.is_valid() && !guard.is_valid(),
        Err(Error::Refused { why: Reason::Reentrant, .. }) => false,
        Err(error) => panic!("it is free, but: {error}"),
    });
}

#[test]
fn a_stopped_holder_loses_its_lock_only_with_a_time_to_live() {
    let dev = Dev::new("slack-ttl");
    let script = "echo $$; read line; exit 7";
    let mut alive = dev.start(&["lock", "--node", "b", "alive", "--ttl", "3s", "--", "sh", "-c", script]);
    assert_ne!(alive.line(), "");
    let holders = [&["mortal", "--ttl", "3s"][..], &["immortal"]]
        .map(|words| dev.start(&[&["lock", "--node", "b"], words, &["--", "sh", "-c", script]].concat()));
    let [(mortal, command), (mut immortal, _)] = holders.map(|mut holder| {
        let command = holder.line().parse().ok().and_then(Pid::from_raw).expect("a process");
        holder.signal(Signal::STOP);
        (holder, command)
    });
    let (code, _, said) = dev.run(&["lock", "mortal", "--wait", "50s", "--node", "a", "--", "true"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        test_kill_process(command).is_ok(),
        "no process stops the command while its watcher stands still"
    );
    // By now the live one has been inside for longer than its time-to-live.
    for kept in ["immortal", "alive"] {
        assert_eq!(dev.run(&["lock", kept, "--try", "--node", "a", "--", "true"]).0, 124, "{kept}");
    }
    [&mortal, &immortal].iter().for_each(|holder| holder.signal(Signal::CONT));
    let (code, _, said) = mortal.end();
    assert!(code == 122 && said.contains("gave no sign of life"), "{code} {said}");
    immortal.type_line("leave");
    assert_eq!(immortal.end().0, 7);
    alive.type_line("leave");
    assert_eq!(alive.end().0, 7);
}
