//! What daemons do together.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, wait_for};

#[test]
fn a_lock_passes_between_nodes_with_rising_fences() {
    let cluster = Cluster::running(3);
    let mut clients = ["a", "b", "c"].map(|name| cluster.client(name));
    let mut fences = Vec::new();
    for round in 0..30 {
        fences.push(clients[round % 3].pass("door"));
    }
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
    let (number, fence) = clients[0].lock("door");
    let wanted = clients[1].want("door", None);
    let status = clients[2].status(true);
    let door = &status.sections[0];
    assert_eq!((door.name.as_str(), status.sections.len()), ("door", 1));
    assert_eq!(door.inside.as_ref().and_then(|client| client.fence), Some(fence));
    assert_eq!(door.inside.as_ref().and_then(|client| client.process), Some(std::process::id()));
    assert_eq!(door.waiting.iter().map(|client| client.node.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(status.nodes.iter().all(|node| node.is_member && node.is_voter && node.own.is_some()));
    assert_eq!(status.nodes.iter().filter(|node| node.is_leader).count(), 1);
    clients[0].release(number);
    assert!(matches!(
        clients[1].hear_news(),
        doorway_protocol::DaemonMsg::Granted { number, .. } if number == wanted
    ));
}

#[test]
fn entering_again_at_the_same_node_sends_no_message() {
    let cluster = Cluster::running(3);
    let mut client = cluster.client("b");
    client.pass("door");
    let own = |status: doorway_protocol::Status| {
        let own = status.nodes.into_iter().find_map(|node| node.own).expect("it answers itself");
        (own.entries, own.sent)
    };
    let (entries, sent) = own(client.status(false));
    (0..100).for_each(|_| {
        client.pass("door");
    });
    assert_eq!(own(client.status(false)), (entries + 100, sent));
}

#[test]
fn a_stopping_node_hands_over_within_a_second() {
    let mut cluster = Cluster::running(3);
    let (mut holder, mut other) = (cluster.client("a"), cluster.client("b"));
    holder.pass("door");
    let began = Instant::now();
    cluster.daemons["a"].stop(Duration::from_secs(5));
    cluster.kill("a");
    other.pass("door");
    assert!(began.elapsed() < Duration::from_secs(1), "it took {:?}", began.elapsed());
    assert!(holder.hear().is_err(), "its connection is closed");
}

#[test]
fn fences_keep_rising_over_restarts() {
    let mut cluster = Cluster::running(3);
    let mut before = cluster.client("a").pass("door");
    for name in ["a", "b", "c"] {
        cluster.daemons[name].stop(Duration::ZERO);
        cluster.kill(name);
        cluster.start(name);
        cluster.wait_until_ready();
        let fence = cluster.client(name).pass("door");
        assert!(before < fence, "after {name} was restarted");
        before = fence;
    }
    ["a", "b", "c"].iter().for_each(|name| cluster.kill(name));
    ["a", "b", "c"].iter().for_each(|name| cluster.start(name));
    cluster.wait_until_ready();
    assert!(before < cluster.client("b").pass("door"), "after all were restarted at once");
}

#[test]
fn a_cluster_of_one_node_works() {
    let mut cluster = Cluster::running(1);
    let before = cluster.client("a").pass("door");
    cluster.daemons["a"].stop(Duration::ZERO);
    cluster.kill("a");
    cluster.start("a");
    assert!(before < cluster.client("a").pass("door"));
}

#[test]
fn two_nodes_stop_when_one_dies_until_it_is_back() {
    let mut cluster = Cluster::running(2);
    let before = cluster.client("a").pass("door");
    cluster.kill("b");
    wait_for("a has no lease", || !cluster.daemons["a"].is_ready());
    let status = cluster.client("a").status(true);
    assert_eq!(status.nodes.iter().map(|node| node.own.is_some()).collect::<Vec<_>>(), [true, false]);
    cluster.start("b");
    assert!(before < cluster.client("a").pass("door"));
}

#[test]
fn a_cluster_stops_within_two_seconds_and_restarts() {
    let mut cluster = Cluster::running(3);
    let before = cluster.client("a").pass("door");
    let began = Instant::now();
    cluster.daemons.values().for_each(|daemon| daemon.stop(Duration::from_secs(5)));
    assert!(began.elapsed() < Duration::from_secs(2), "it took {:?}", began.elapsed());
    cluster.daemons.clear();
    ["a", "b", "c"].iter().for_each(|name| cluster.start(name));
    cluster.wait_until_ready();
    assert!(before < cluster.client("c").pass("door"));
}

#[test]
fn a_reload_takes_over_the_nodes_or_changes_nothing() {
    let mut cluster = Cluster::running(2);
    let file = cluster.folder.join("a").join("node.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let names = |cluster: &Cluster| -> Vec<String> {
        cluster.client("a").status(false).nodes.into_iter().map(|node| node.name).collect()
    };
    cluster.kill("b");
    std::fs::write(&file, text.rsplit_once("\n[[nodes]]").expect("two nodes").0).expect("room");
    cluster.daemons["a"].reload().expect("a good configuration");
    assert_eq!(names(&cluster), ["a"]);
    std::fs::write(&file, "nonsense").expect("room");
    let refused = cluster.daemons["a"].reload().expect_err("no configuration");
    assert!(refused.to_string().contains("line 1"), "{refused}");
    std::fs::write(&file, text.replace("cluster = \"lab\"", "cluster = \"other\"")).expect("room");
    assert!(cluster.daemons["a"].reload().is_err(), "another cluster");
    assert_eq!(names(&cluster), ["a"]);
    std::fs::write(&file, text).expect("room");
    cluster.daemons["a"].reload().expect("a good configuration");
    assert_eq!(names(&cluster), ["a", "b"]);
    cluster.start("b");
    cluster.client("b").pass("door");
}
