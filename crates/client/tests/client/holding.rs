//! Entering, staying, losing, leaving.

use std::future::{Future as _, IntoFuture as _};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use doorway_client::{Error, Lost, clock};
use doorway_core::{Fence, Ticks};
use doorway_protocol::{ClientMsg, DaemonMsg, Loss, Reason};

use crate::daemon::{from_now, name, pair};
use crate::runtime::block_on;

const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_grant_makes_a_guard_with_the_fences_in_the_order_asked_for() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, names) = daemon.next_lock();
        let fences = vec![(name("a"), Fence(3)), (name("b"), Fence(4))];
        let until = from_now(60_000);
        daemon.tell(&DaemonMsg::Granted { number, fences, until });
        (daemon, number, names, until)
    });
    let guard = client.lock(["b", "a"]).enter_blocking().expect("it is let in");
    let (daemon, number, names, until) = server.join().expect("the daemon");
    assert_eq!(names, [name("b"), name("a")]);
    assert_eq!(guard.fence(), Fence(4));
    assert_eq!(guard.fences(), [(name("b"), Fence(4)), (name("a"), Fence(3))]);
    assert_eq!(guard.valid_until(), until);
    assert!(guard.is_valid() && guard.time_left() > Duration::from_secs(30) && !guard.is_wanted());
    assert_eq!(guard.release(), Ok(()));
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

#[test]
fn the_options_of_a_request_reach_the_daemon() {
    let (client, daemon) = pair();
    // The time until then would count as waited.
    client.welcome_blocking().expect("a welcome");
    client.introduce(&"é".repeat(200));
    let ttl = Duration::from_millis(900);
    let request = client.section("a").wait(Duration::from_secs(2)).max_hold(LONG).ttl(ttl).tell_if_wanted();
    let waiting = thread::spawn(move || request.enter_blocking());
    assert_eq!(daemon.next(), ClientMsg::Introduce { label: "é".repeat(100) });
    let ClientMsg::Lock { number, names, patience, max_hold, ttl, tell_if_wanted } = daemon.next() else {
        panic!("it asks for a section")
    };
    assert_eq!(
        (names, patience, max_hold, ttl, tell_if_wanted),
        (vec![name("a")], Some(Ticks(2_000_000)), Some(Ticks(20_000_000)), Some(Ticks(900_000)), true)
    );
    daemon.tell(&DaemonMsg::Refused { number, why: Reason::TimedOut });
    let error = waiting.join().expect("the client").expect_err("it is not let in");
    assert!(error.is_timeout());
    assert_eq!(error.to_string(), "a cannot be entered: timed out waiting for the lock");
}

#[test]
fn a_renewal_moves_the_deadline_and_a_waiter_is_reported() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, _) = daemon.grant(60_000);
        let until = from_now(120_000);
        daemon.tell(&DaemonMsg::Renewed { number, until });
        daemon.tell(&DaemonMsg::Wanted { number, section: name("a") });
        (daemon, until)
    });
    let guard = block_on(client.section("a").tell_if_wanted()).expect("it is let in");
    assert_eq!(block_on(guard.wanted()), Some(name("a")));
    let (_daemon, until) = server.join().expect("the daemon");
    assert_eq!(guard.valid_until(), until);
    assert!(guard.is_wanted() && guard.is_valid());
}

#[test]
fn a_deadline_passes_while_the_daemon_is_silent() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, until) = daemon.grant(100);
        (daemon, number, until)
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    assert_eq!(block_on(guard.lost()), Lost::Deadline);
    let (daemon, number, until) = server.join().expect("the daemon");
    assert!(until <= clock::now());
    assert!(!guard.is_valid());
    assert_eq!(guard.time_left(), Duration::ZERO);
    assert_eq!(guard.wait_lost(LONG), Some(Lost::Deadline));
    assert_eq!(block_on(guard.wanted()), None);
    client.introduce("lost and not yet out");
    let introduced = ClientMsg::Introduce { label: "lost and not yet out".to_owned() };
    assert_eq!(daemon.next(), introduced, "a release at the deadline would free what the program still uses");
    assert_eq!(guard.release(), Err(Lost::Deadline));
    assert_eq!(daemon.next(), ClientMsg::Release { number });
    let again = client.section("a").enter();
    let mut again = pin!(again);
    assert!(again.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(daemon.next_lock().1, [name("a")], "nothing more is said of the lost one");
}

#[test]
fn a_loss_is_confirmed_when_the_guard_is_dropped() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, _) = daemon.grant(60_000);
        daemon.tell(&DaemonMsg::Lost { number, why: Loss::Lease });
        (daemon, number)
    });
    let guard = client.section("a").enter_blocking();
    let (daemon, number) = server.join().expect("the daemon");
    let lost = Lost::Notified(Loss::Lease);
    match guard {
        // The loss may be there before the one who waits has looked.
        Err(error) => assert_eq!(error, Error::Lost(lost)),
        Ok(guard) => {
            assert_eq!(guard.wait_lost(LONG), Some(lost));
            assert!(!guard.is_valid());
            let again = client.section("a").enter_blocking().map(drop);
            assert_eq!(again, Err(Error::Refused { names: vec![name("a")], why: Reason::Reentrant }));
        }
    }
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

#[test]
fn a_client_with_a_ttl_gives_signs_of_life() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, _) = daemon.grant(60_000);
        let mut signs = vec![daemon.next(), daemon.next(), daemon.next()];
        daemon.tell(&DaemonMsg::Lost { number, why: Loss::Silent });
        // Until it has heard of that it may give more.
        while signs.last() == Some(&ClientMsg::Alive) {
            signs.push(daemon.next());
        }
        (signs, number)
    });
    let guard = client.section("a").ttl(Duration::from_millis(300)).enter_blocking().expect("it is let in");
    assert_eq!(guard.wait_lost(LONG), Some(Lost::Notified(Loss::Silent)));
    drop(guard);
    let (signs, number) = server.join().expect("the daemon");
    let (last, signs) = signs.split_last().expect("it says something");
    assert!(signs.iter().all(|sign| *sign == ClientMsg::Alive) && signs.len() >= 3, "{signs:?}");
    assert_eq!(last, &ClientMsg::Release { number });
}

#[test]
fn a_client_cannot_enter_twice_and_its_daemon_is_not_even_asked() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        daemon.grant(60_000);
        daemon
    });
    let guard = client.lock(["a", "b"]).enter_blocking().expect("it is let in");
    let daemon = server.join().expect("the daemon");
    let error = client.clone().section("b").enter_blocking().map(drop).expect_err("it is inside");
    assert_eq!(error, Error::Refused { names: vec![name("b")], why: Reason::Reentrant });
    drop(guard);
    assert_eq!(daemon.next(), ClientMsg::Release { number: 1 });
}

#[test]
fn bad_names_are_refused_before_anybody_is_asked() {
    let (client, _daemon) = pair();
    let sentence = |names: &[&str]| {
        client.lock(names).enter_blocking().map(drop).expect_err("these are bad names").to_string()
    };
    assert_eq!(sentence(&[""]), "a section needs a name of at least one letter");
    assert_eq!(
        sentence(&["a", "a"]),
        "a, a cannot be entered: a request must name 1 to 64 sections, each only once"
    );
}

#[test]
fn frames_may_come_in_single_bytes() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        let (number, names) = daemon.next_lock();
        let told = crate::daemon::granted(number, &names, from_now(60_000));
        let bytes = doorway_protocol::frame(&told, 1_000).expect("it is short");
        bytes.iter().for_each(|byte| daemon.write(&[*byte]));
        daemon
    });
    let guard = client.section("a").enter_blocking().expect("it is let in");
    assert_eq!(guard.fence(), Fence(10));
    drop(server.join().expect("the daemon"));
}

#[test]
fn guards_work_on_a_runtime_of_others_too() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        daemon.grant(100);
        daemon
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let task = runtime.spawn(async move {
        let guard = client.section("a").await?;
        Ok::<Lost, Error>(guard.lost().await)
    });
    assert_eq!(runtime.block_on(task).expect("it did not panic"), Ok(Lost::Deadline));
    drop(server.join().expect("the daemon"));
}

/// A waker that panics, as foreign code may.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker of this test panics");
    }
}

#[test]
fn a_waker_that_panics_ends_neither_the_watchdog_nor_any_lock() {
    let (client, daemon) = pair();
    let server = thread::spawn(move || {
        daemon.grant(60_000);
        daemon.next_lock();
        let (number, names) = daemon.next_lock();
        daemon.tell(&DaemonMsg::Refused { number: number - 1, why: Reason::TooMany });
        daemon.tell(&crate::daemon::granted(number, &names, from_now(60_000)));
        daemon
    });
    let guard = client.section("kept").enter_blocking().expect("it is let in");
    // The word about this one is heard by the client's own thread, which wakes its waker.
    let mut doomed = pin!(client.section("doomed").into_future());
    let waker = Waker::from(Arc::new(Panics));
    assert!(doomed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let other = client.section("other").wait(LONG).enter_blocking().expect("its thread goes on");
    assert!(guard.is_valid() && other.is_valid(), "nothing is lost");
    let daemon = server.join().expect("the daemon");
    assert_eq!(guard.release(), Ok(()));
    assert!(matches!(daemon.next(), ClientMsg::Release { .. }));
}
