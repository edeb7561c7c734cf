//! The life of a request, from the asking to the end.

use doorway_client::clock;
use doorway_core::{SectionName, Ticks};
use doorway_node::{Loss, Reason};
use doorway_protocol::{ClientMsg, DaemonMsg};

use crate::client::{Client, section};
use crate::cluster::Cluster;

fn lock(client: &mut Client, number: u32, names: &[&str], max_hold: Option<Ticks>) {
    let names: Vec<SectionName> = names.iter().map(|name| section(name)).collect();
    client.ask(&ClientMsg::Lock { number, names, patience: None, max_hold, ttl: None, tell_if_wanted: true });
}

#[test]
fn closing_the_last_copy_of_a_connection_releases() {
    let cluster = Cluster::running(1);
    let (mut holder, mut next) = (cluster.client("a"), cluster.client("a"));
    holder.lock("door");
    let copy = holder.copy();
    drop(holder);
    let tried = next.want("door", Some(Ticks(300_000)));
    assert_eq!(
        next.hear_news(),
        DaemonMsg::Refused { number: tried, why: Reason::TimedOut },
        "a copy is still open"
    );
    drop(copy);
    next.lock("door");
}

#[test]
fn a_sign_of_life_moves_the_deadline_and_silence_loses_the_lock() {
    let cluster = Cluster::running(1);
    let mut client = cluster.client("a");
    let (names, patience, ttl) = (vec![section("a")], None, Some(Ticks(700_000)));
    client.ask(&ClientMsg::Lock { number: 5, names, patience, max_hold: None, ttl, tell_if_wanted: false });
    let DaemonMsg::Granted { number: 5, until, .. } = client.hear_news() else { panic!("not let in") };
    let asked = clock::now();
    client.ask(&ClientMsg::Alive);
    let moved = client.hear().expect("the daemon answers");
    let DaemonMsg::Renewed { number: 5, until: later } = moved else { panic!("{moved:?}") };
    assert!(until < later && later <= clock::now() + Ticks(700_000), "{until} {later}");
    assert!(later >= asked, "it counts from the sign, unless the lease ends before");
    let mut deadline = later;
    let lost = loop {
        match client.hear().expect("the daemon says something") {
            DaemonMsg::Renewed { until, .. } => deadline = until,
            told => break told,
        }
    };
    assert_eq!(lost, DaemonMsg::Lost { number: 5, why: Loss::Silent });
    assert!(clock::now() >= deadline);
    assert_eq!(client.hear_news(), DaemonMsg::Freed { number: 5 });
    assert!(clock::now() >= deadline + Ticks(100_000), "a margin after the deadline");
}

#[test]
fn a_request_is_cancelled_refused_or_lost_under_its_own_number() {
    let cluster = Cluster::running(1);
    let (mut one, mut other) = (cluster.client("a"), cluster.client("a"));
    lock(&mut one, 70, &["b", "a"], None);
    let DaemonMsg::Granted { number: 70, fences, .. } = one.hear_news() else { panic!("not let in") };
    assert_eq!(fences.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    lock(&mut one, 70, &["c"], None);
    assert_eq!(one.hear_news(), DaemonMsg::Refused { number: 70, why: Reason::BadNumber });
    lock(&mut one, 71, &["a"], None);
    assert_eq!(one.hear_news(), DaemonMsg::Refused { number: 71, why: Reason::Reentrant });
    lock(&mut one, 72, &[], None);
    assert_eq!(one.hear_news(), DaemonMsg::Refused { number: 72, why: Reason::BadNames });
    lock(&mut other, 70, &["a"], Some(Ticks(50_000)));
    assert_eq!(one.hear_news(), DaemonMsg::Wanted { number: 70, section: section("a") });
    other.ask(&ClientMsg::Cancel { number: 70 });
    assert_eq!(other.hear_news(), DaemonMsg::Refused { number: 70, why: Reason::Cancelled });
    lock(&mut other, 70, &["a"], Some(Ticks(50_000)));
    one.ask(&ClientMsg::Release { number: 70 });
    assert!(matches!(other.hear_news(), DaemonMsg::Granted { number: 70, .. }));
    assert_eq!(other.hear_news(), DaemonMsg::Lost { number: 70, why: Loss::MaxHold });
    // It does not say that it has stopped.
    assert_eq!(other.hear_news(), DaemonMsg::Freed { number: 70 });
    // A late word about what is over already does no harm.
    other.ask(&ClientMsg::Release { number: 70 });
    other.ask(&ClientMsg::Cancel { number: 99 });
    lock(&mut other, 73, &["a"], None);
    assert!(matches!(other.hear_news(), DaemonMsg::Granted { number: 73, .. }));
    // Cancelling a request that was granted meanwhile releases it.
    other.ask(&ClientMsg::Cancel { number: 73 });
    lock(&mut one, 74, &["a"], None);
    while !matches!(one.hear_news(), DaemonMsg::Granted { number: 74, .. }) {}
}
