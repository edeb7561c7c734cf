//! The signs of life that `doorway lock` gives for its time-to-live, and a daemon that says what the test wants.

use doorway_client::clock;
use doorway_core::Ticks;
use doorway_protocol::{ClientMsg, DaemonMsg, Loss};

use crate::scripted::{Daemon, end};

#[test]
fn signs_of_life_are_given_until_the_lock_is_lost() {
    let daemon = Daemon::new("signs");
    let child = daemon.lock(&["x", "--ttl", "600ms", "--", "sleep", "1000"]);
    let (mut client, request) = daemon.request();
    let begin = clock::now();
    client.grant(&request, 60_000);
    assert!(
        (0..4).all(|_| client.hear() == Some(ClientMsg::Alive)),
        "one at the entry, then one every 200 ms"
    );
    assert!(clock::now() >= begin + Ticks(600_000));
    client.say(&DaemonMsg::Lost { number: request.number, why: Loss::Silent });
    let mut asks: Vec<ClientMsg> = std::iter::from_fn(|| client.hear()).collect();
    asks.retain(|ask| *ask != ClientMsg::Alive);
    assert!(matches!(asks[..], [ClientMsg::Release { .. }, ClientMsg::Status { .. }]), "{asks:?}");
    let (status, _, said) = end(child);
    let sentence = "its holder gave no sign of life within its time-to-live";
    assert!(status == 122 && said.contains(sentence), "{status} {said}");
}

#[test]
fn no_sign_of_life_is_given_without_a_time_to_live() {
    let daemon = Daemon::new("no-signs");
    let child = daemon.lock(&["x", "--", "sleep", "0.5"]);
    let (mut client, _) = daemon.granted(60_000);
    assert!(client.hears_release());
    assert_eq!(end(child).0, 0);
}
