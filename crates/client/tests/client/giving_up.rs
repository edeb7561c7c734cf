//! Futures that are dropped at every moment.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use doorway_client::{Client, Error, Guard};
use doorway_protocol::ClientMsg;

use crate::daemon::{Daemon, from_now, granted, name, pair};
use crate::runtime::block_on;

type Entering = Pin<Box<dyn Future<Output = Result<Guard, Error>> + Send>>;

fn entering(client: &Client, section: &str) -> Entering {
    Box::pin(client.section(section).enter())
}

fn poll(future: &mut Entering) -> Poll<Result<Guard, Error>> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// When this returns, the client has received all that the daemon sent before.
fn catch_up(client: &Client, daemon: &Daemon) {
    let mut other = entering(client, "other");
    assert!(poll(&mut other).is_pending());
    let (number, names) = daemon.next_lock();
    daemon.tell(&granted(number, &names, from_now(60_000)));
    drop(block_on(other).expect("it is let in"));
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

#[test]
fn a_future_that_was_never_polled_asks_for_nothing() {
    let (client, daemon) = pair();
    drop(entering(&client, "a"));
    catch_up(&client, &daemon);
}

#[test]
fn a_future_that_waits_cancels() {
    let (client, daemon) = pair();
    let mut future = entering(&client, "a");
    assert!(poll(&mut future).is_pending());
    let (number, names) = daemon.next_lock();
    assert_eq!(names, [name("a")]);
    drop(future);
    assert_eq!(daemon.next(), ClientMsg::Cancel { number });
    let mut again = entering(&client, "a");
    assert!(poll(&mut again).is_pending(), "it may ask again at once");
    assert_eq!(daemon.next_lock(), (number + 1, names));
}

#[test]
fn a_grant_that_crosses_the_cancellation_is_released() {
    let (client, daemon) = pair();
    let mut future = entering(&client, "a");
    assert!(poll(&mut future).is_pending());
    let (number, names) = daemon.next_lock();
    drop(future);
    daemon.tell(&granted(number, &names, from_now(60_000)));
    assert_eq!(daemon.next(), ClientMsg::Cancel { number });
    assert_eq!(daemon.next(), ClientMsg::Release { number });
}

#[test]
fn an_unused_grant_is_released() {
    let (client, daemon) = pair();
    let mut future = entering(&client, "a");
    assert!(poll(&mut future).is_pending());
    let (number, names) = daemon.next_lock();
    daemon.tell(&granted(number, &names, from_now(60_000)));
    catch_up(&client, &daemon);
    drop(future);
    assert_eq!(daemon.next(), ClientMsg::Release { number });
    catch_up(&client, &daemon);
}

#[test]
fn dropping_a_request_at_any_moment_releases_it() {
    for _ in 0..500 {
        let (client, daemon) = pair();
        let mut future = entering(&client, "a");
        assert!(poll(&mut future).is_pending());
        let (number, names) = daemon.next_lock();
        daemon.tell(&granted(number, &names, from_now(60_000)));
        drop(future);
        match daemon.next() {
            ClientMsg::Release { number: released } => assert_eq!(released, number),
            cancel => {
                assert_eq!(cancel, ClientMsg::Cancel { number });
                assert_eq!(daemon.next(), ClientMsg::Release { number });
            }
        }
    }
}

#[test]
fn when_the_last_copy_of_a_client_goes_its_connection_closes() {
    let (client, daemon) = pair();
    let mut future = entering(&client, "a");
    assert!(poll(&mut future).is_pending());
    let (number, names) = daemon.next_lock();
    daemon.tell(&granted(number, &names, from_now(60_000)));
    drop(client);
    let guard = block_on(future).expect("the guard keeps the client alive");
    assert!(guard.is_valid());
    drop(guard);
    assert_eq!(daemon.next(), ClientMsg::Release { number });
    assert_eq!(std::io::Read::read(&mut &daemon.0, &mut [0]).expect("it closes"), 0);
}
