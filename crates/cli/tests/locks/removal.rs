//! `doorway cluster remove` and `lead` with daemons of their own: who is gone has no say any more, and leadership goes where it is told.

use std::fs;

use rustix::process::Signal;

use crate::fleet::{Cluster, until};
use crate::ports::free_address;

/// Three nodes that run, whose voters bear a long silence of their leader: so a busy machine causes no election.
fn three(test: &str) -> Cluster {
    three_with(test, "election = \"3s\"\n")
}

/// Three nodes that run, with these times.
fn three_with(test: &str, times: &str) -> Cluster {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let mut cluster = Cluster::found(test, &NAMES);
    for name in NAMES {
        let path = cluster.config(name);
        let text = fs::read_to_string(&path).expect("it is there");
        fs::write(path, text.replacen("[timing]\n", &format!("[timing]\n{times}"), 1)).expect("room");
        cluster.start(name);
    }
    NAMES.iter().for_each(|name| cluster.await_ready(name));
    cluster
}

/// The node that leads and those that do not, in order.
fn followers(cluster: &Cluster) -> (String, Vec<String>) {
    until("a node leads", || cluster.leader("a").is_some());
    let leader = cluster.leader("a").expect("a node leads");
    let others = ["a", "b", "c"].into_iter().filter(|name| *name != leader).map(str::to_owned);
    (leader.clone(), others.collect())
}

/// How often a daemon has learned of another leader or term.
fn elections(cluster: &Cluster, node: &str) -> usize {
    cluster.log(node).lines().filter(|line| line.contains("leader changed")).count()
}

fn voters(cluster: &Cluster, node: &str) -> usize {
    let status = cluster.status(node);
    status["nodes"].as_array().expect("a list").iter().filter(|node| node["is_voter"] == true).count()
}

#[test]
fn a_removed_follower_changes_neither_leader_nor_term() {
    let mut cluster = three("gone");
    let (leader, others) = followers(&cluster);
    let [gone, other] = [&others[0], &others[1]];
    let first = cluster.fence(other);
    // It stands still while it is removed, so it goes on as the voter that it was.
    cluster.process(gone).signal(Signal::STOP);
    let (code, out, err) = cluster.run(&["cluster", "remove", gone, "--node", other]);
    assert_eq!(
        (code, out.lines().next()),
        (0, Some(format!("node {gone:?} was removed from the cluster").as_str())),
        "{err}"
    );
    until("it votes no more", || voters(&cluster, &leader) == 2 && voters(&cluster, other) == 2);
    let before = [&leader, other].map(|node| elections(&cluster, node));
    assert!(before.iter().all(|count| *count > 0), "who leads is in the log");
    cluster.process(gone).signal(Signal::CONT);
    cluster.await_end(gone);
    for _ in 0..2 {
        cluster.start(gone);
        cluster.await_end(gone);
    }
    let log = cluster.log(gone);
    let told =
        "this node was removed from its cluster: to come back as a new node it needs an empty data folder";
    assert_eq!(
        log.lines()
            .filter(|line| line.contains("fatal error: the node stops") && line.contains(told))
            .count(),
        3,
        "{log}"
    );
    assert!(cluster.fence(other) > first);
    assert_eq!([&leader, other].map(|node| elections(&cluster, node)), before, "no election, no other term");
    assert_eq!(cluster.leader(other).as_ref(), Some(&leader));
}

#[test]
fn a_revoked_node_needs_a_new_certificate() {
    let mut cluster = three("revoke");
    let (leader, others) = followers(&cluster);
    let [gone, other] = [&others[0], &others[1]];
    let (code, out, err) = cluster.run(&["cluster", "remove", gone, "--revoke", "--node", other]);
    assert_eq!(code, 0, "{err}");
    let told =
        format!("node {gone:?} was removed from the cluster, and the certificates that it had are revoked\n");
    assert!(out.starts_with(&told) && out.contains("rotate-certificates"), "{out}");
    // It may have been notified before it was removed; anyone with its folder can start it again.
    cluster.kill(gone);
    cluster.start(gone);
    let refusal = format!("the certificate of node {gone:?} was revoked, and it was issued ");
    let is_refused = |cluster: &Cluster, node: &str, word: &str, from: usize| {
        let log = cluster.log(node)[from..].replace('\\', "");
        log.lines().any(|line| line.contains(&refusal) && line.contains(word))
    };
    for node in [&leader, other] {
        for word in ["connection ended", "peer unreachable"] {
            // A node that has not heard of the revocation yet tells it that it was removed; then it ends.
            until(&format!("{node} logs {word:?}"), || {
                cluster.start_if_ended(gone);
                is_refused(&cluster, node, word, 0)
            });
        }
    }
    // The same after a restart, and at a node that comes later.
    let length = cluster.log(other).len();
    cluster.kill(other);
    cluster.start(other);
    until("it is still not let in", || {
        cluster.start_if_ended(gone);
        is_refused(&cluster, other, "connection ended", length)
    });
    let learned = "certificates revoked: connections that use them are closed";
    assert_eq!(cluster.log(other).matches(learned).count(), 1, "after the restart it knew from the start");
    let (code, _, err) = cluster.run(&["cluster", "add", &cluster.lab(), &format!("d={}", free_address())]);
    assert_eq!(code, 0, "{err}");
    cluster.start("d");
    until("a new node does not talk to it", || {
        cluster.start_if_ended(gone);
        is_refused(&cluster, "d", "peer unreachable", 0)
    });
    let first = cluster.fence(&leader);
    // It comes back as a new node.
    cluster.kill(gone);
    let (code, _, err) = cluster.run(&["cluster", "rotate-certificates", &cluster.lab()]);
    assert_eq!(code, 0, "{err}");
    fs::remove_dir_all(format!("{}/{gone}/data", cluster.lab())).expect("it was there");
    cluster.start(gone);
    cluster.await_ready(gone);
    assert!(cluster.fence(gone) > first);
    until("all see it", || cluster.members(&leader) == ["a", "b", "c", "d"]);
}

#[test]
fn a_restored_cluster_keeps_certificates_revoked() {
    let mut cluster = three("revoke-restore");
    let (leader, others) = followers(&cluster);
    let [gone, other] = [&others[0], &others[1]];
    let (code, _, err) = cluster.run(&["cluster", "remove", gone, "--revoke", "--node", other]);
    assert_eq!(code, 0, "{err}");
    let (code, backup, err) = cluster.run(&["cluster", "backup", "--node", &leader]);
    assert!(code == 0 && backup.contains(&format!("[revoked.{gone}]")), "{backup}{err}");
    let file = cluster.folder.0.join("lab.backup").display().to_string();
    fs::write(&file, &backup).expect("room");
    for node in ["a", "b", "c"] {
        cluster.kill(node);
        fs::remove_dir_all(format!("{}/{node}/data", cluster.lab())).expect("it was there");
    }
    let length = cluster.log(&leader).len();
    let (code, out, err) = cluster.run(&["cluster", "restore", &file, "--config", &cluster.config(&leader)]);
    assert!(code == 0 && out.contains(&format!("Certificates of {gone} stay revoked.")), "{out}{err}");
    [&leader, other, gone].iter().for_each(|node| cluster.start(node));
    let refusal = format!("the certificate of node {gone:?} was revoked, and it was issued ");
    until("the old certificate is refused", || {
        cluster.log(&leader)[length..].replace('\\', "").contains(&refusal)
    });
    cluster.await_ready(other);
    assert_eq!(cluster.members(&leader).len(), 2, "the removed node is not a member");
}

#[test]
fn leadership_moves_on_request_or_stays_with_a_sentence() {
    let mut cluster = three("lead");
    let lead = |cluster: &Cluster, name: &str, via: &str| {
        let (code, out, err) = cluster.run(&["cluster", "lead", name, "--node", via]);
        (code, if code == 0 { out } else { err })
    };
    let (_, others) = followers(&cluster);
    let next = &others[0];
    let first = cluster.fence(next);
    // On a machine whose disk is busy a vote may be synced too late; then the old leader goes on and says so.
    until("it takes over", || {
        let (code, told) = lead(&cluster, next, &others[1]);
        let is_late = code == 1 && told.contains("did not take over leadership in time");
        assert!(is_late || (code == 0 && told.starts_with(&format!("node {next:?} leads"))), "{code} {told}");
        code == 0
    });
    for node in ["a", "b", "c"] {
        until("all see it", || cluster.leader(node).as_ref() == Some(next));
    }
    assert_eq!(lead(&cluster, next, "a"), (0, format!("node {next:?} leads already\n")));
    let (code, told) = lead(&cluster, "nobody", "a");
    assert!(code == 1 && told.contains("there is no node \"nobody\""), "{told}");
    let (code, _, err) = cluster.run(&["cluster", "add", &cluster.lab(), &format!("d={}", free_address())]);
    assert_eq!(code, 0, "{err}");
    cluster.start("d");
    cluster.await_ready("d");
    until("the leader knows d", || cluster.members(next).contains(&"d".to_owned()));
    // Three of four vote. The daemon that is asked must have heard of d: its own has.
    let (code, told) = lead(&cluster, "d", "d");
    assert!(code == 1 && told.contains("node \"d\" cannot lead: it does not vote"), "{told}");
    assert!(cluster.fence("d") > first);
    [next, &others[1]].iter().for_each(|node| cluster.kill(node));
    let last =
        ["a", "b", "c"].into_iter().find(|node| *node != next && *node != others[1]).expect("one is left");
    let (code, told) = lead(&cluster, next, last);
    assert!(code == 1 && told.contains("the cluster has no leader"), "{told}");
}

#[test]
fn a_leader_stays_if_its_successor_hangs() {
    // So late is a silent member left out that it takes part for the whole test.
    let cluster = three_with("still", "election = \"3s\"\ndetection = \"60s\"\n");
    let (leader, others) = followers(&cluster);
    let [next, other] = [&others[0], &others[1]];
    let before = ["a", "b", "c"].map(|node| elections(&cluster, node));
    cluster.process(next).signal(Signal::STOP);
    let (code, _, err) = cluster.run(&["cluster", "lead", next, "--node", other]);
    let told = format!("node {next:?} did not take over leadership in time; {leader:?} still leads");
    assert!(code == 1 && err.contains(&told), "{err}");
    // The word to lead has waited for it.
    cluster.process(next).signal(Signal::CONT);
    cluster.await_ready(next);
    assert_eq!(cluster.leader(next).as_ref(), Some(&leader));
    assert_eq!(["a", "b", "c"].map(|node| elections(&cluster, node)), before, "no election, no other term");
}

#[test]
fn the_node_that_leads_is_removed_in_one_command_through_any_daemon() {
    let mut cluster = three("leader");
    let (gone, others) = followers(&cluster);
    let mut fence = cluster.fence(&others[0]);
    let removed = |cluster: &Cluster, gone: &str, via: &str| {
        let (code, out, err) = cluster.run(&["cluster", "remove", gone, "--node", via]);
        assert_eq!(
            (code, out.lines().next()),
            (0, Some(format!("node {gone:?} was removed from the cluster").as_str())),
            "{err}"
        );
    };
    removed(&cluster, &gone, &others[0]);
    cluster.await_end(&gone);
    until("it is out", || cluster.members(&others[0]) == others && voters(&cluster, &others[0]) == 2);
    let next = cluster.leader(&others[0]).expect("a node leads");
    let log = cluster.log(&gone);
    let last = log.lines().rfind(|line| line.contains("leader changed"));
    assert!(
        last.is_some_and(|line| line.contains(&format!("leader={next:?}"))),
        "it hands over first: {log}"
    );
    let last = others.iter().find(|node| **node != next).expect("two are left").clone();
    let second = cluster.fence(&last);
    assert!(second > fence);
    fence = second;
    // Two are left, both of which must agree; the leader is asked itself.
    removed(&cluster, &next, &next);
    cluster.await_end(&next);
    until("one is left", || cluster.members(&last) == [last.as_str()] && voters(&cluster, &last) == 1);
    assert_eq!(cluster.leader(&last).as_ref(), Some(&last));
    assert!(cluster.fence(&last) > fence);
}
