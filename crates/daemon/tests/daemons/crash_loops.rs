//! A daemon that is killed and started again over and over: how many views that costs, and what the others say about it.

use std::time::{Duration, Instant};

use doorway_protocol::OwnStatus;

use crate::cluster::{Cluster, wait_for};

/// What a node says about itself.
fn own_status(cluster: &Cluster, name: &str) -> OwnStatus {
    let nodes = cluster.client(name).status(false).nodes;
    nodes.into_iter().find(|node| node.name == name).and_then(|node| node.own).expect("it answers itself")
}

/// How many nodes say of one that it is kept out.
fn witnesses(cluster: &Cluster, name: &str) -> usize {
    let words = format!("node {name} has failed");
    let nodes = cluster.client("a").status(true).nodes;
    let accounts = nodes.iter().filter_map(|node| node.own.as_ref());
    accounts.filter(|own| own.warnings.iter().any(|warning| warning.starts_with(&words))).count()
}

fn is_kept_out(cluster: &Cluster, name: &str) -> bool {
    witnesses(cluster, name) > 0
}

#[test]
fn a_crash_looping_daemon_is_kept_out_until_it_runs() {
    const RESTARTS: u64 = 8;
    let mut cluster = Cluster::running(3);
    let view = |cluster: &Cluster| own_status(cluster, "a").view.expect("it is a member");
    let before = view(&cluster);
    for _ in 0..RESTARTS {
        cluster.kill("b");
        cluster.start("b");
        wait_for("b is a member again, or kept out", || {
            cluster.daemons["b"].is_ready() || is_kept_out(&cluster, "b")
        });
    }
    wait_for("the status says once that b is kept out, and why", || witnesses(&cluster, "b") == 1);
    cluster.client("a").pass("free");
    let views = view(&cluster) - before;
    // Each time that it is a member and is killed costs two views. A slow machine may take it in another time.
    assert!(views <= RESTARTS + 2, "{views} views for {RESTARTS} restarts");
    let began = Instant::now();
    while !cluster.daemons["b"].is_ready() {
        assert!(began.elapsed() < Duration::from_secs(90), "it runs, and is never taken in again");
        std::thread::sleep(Duration::from_millis(20));
    }
    cluster.client("b").pass("door");
    assert!(!is_kept_out(&cluster, "b"));
}
