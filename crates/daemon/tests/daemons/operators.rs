//! What operators do: break, remove, add, recover.

use std::collections::BTreeMap;
use std::time::Duration;

use doorway_core::Ticks;
use doorway_daemon::{Daemon, DiskCheck, founding};
use doorway_node::{BreakTarget, Loss, Reason};
use doorway_protocol::{AdminCommand, ClientMsg, DaemonMsg};

use crate::client::section;
use crate::cluster::{Cluster, wait_for};
use crate::ports::free_address;
use crate::record::Record;

#[test]
fn a_lock_is_broken_from_any_node() {
    let cluster = Cluster::running(3);
    let (mut holder, mut operator, mut next) =
        (cluster.client("a"), cluster.client("b"), cluster.client("c"));
    let (number, fence) = holder.lock("door");
    let wanted = next.want("door", None);
    operator.ask(&ClientMsg::Break {
        number: 7,
        target: BreakTarget { section: section("door"), fence: Some(fence) },
    });
    assert_eq!(holder.hear_news(), DaemonMsg::Lost { number, why: Loss::Broken });
    assert!(
        matches!(operator.hear_news(), DaemonMsg::Done { number: 7, sentence } if sentence.contains("was told"))
    );
    holder.release(number);
    match next.hear_news() {
        DaemonMsg::Granted { number, fences, .. } => assert!(number == wanted && fence < fences[0].1),
        told => panic!("not let in but told {told:?}"),
    }
    operator.ask(&ClientMsg::Break {
        number: 8,
        target: BreakTarget { section: section("window"), fence: None },
    });
    assert!(
        matches!(operator.hear_news(), DaemonMsg::Done { number: 8, sentence } if sentence.contains("was not held"))
    );
}

#[test]
fn operator_commands_and_their_results_are_logged() {
    let record = Record::kept();
    let cluster = Cluster::running(2);
    let (mut holder, mut operator) = (cluster.client("a"), cluster.client("b"));
    let (number, fence) = holder.lock("vault");
    operator.ask(&ClientMsg::Introduce { label: "ann\u{1b}[2J\nat the console".to_owned() });
    operator.ask(&ClientMsg::Break {
        number: 7,
        target: BreakTarget { section: section("vault"), fence: Some(fence) },
    });
    assert!(matches!(operator.hear_news(), DaemonMsg::Done { number: 7, .. }));
    holder.release(number);
    let order = format!("break vault with fence {fence}");
    let asked = record.line_with(&order);
    let process = format!("process={}", std::process::id());
    let uid = format!("uid={}", rustix::process::geteuid().as_raw());
    for part in ["audit=true", "operator command received", "ann\u{fffd}[2J at the console", &process, &uid] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    let done = record.line_with(&format!("the holder of vault with fence {fence} was told to stop"));
    assert!(done.contains("audit=true") && done.contains("operator command done"), "{done}");
}

#[test]
fn both_nodes_log_a_forwarded_command() {
    let record = Record::kept();
    let cluster = Cluster::running(3);
    // The record is that of all tests, so what is asked for is written as no other writes it; a leader is told it in order.
    let order = AdminCommand::Appoint { nodes: ["c", "b", "a", "c"].map(str::to_owned).into() };
    for node in ["a", "b", "c"] {
        cluster.client(node).administer(order.clone()).expect("it can be agreed");
    }
    let process = format!("process={}", std::process::id());
    let uid = format!("uid={}", rustix::process::geteuid().as_raw());
    let is_whole = |line: &String| ["audit=true", &uid, &process].iter().all(|part| line.contains(part));
    let lines = |what: &str, order: &str| {
        let mut lines = record.lines_with(what);
        lines.retain(|line| line.contains(order));
        assert!(lines.iter().all(is_whole), "{lines:#?}");
        lines.len()
    };
    // Two of them have forwarded it, whichever node leads.
    let (asked, passed_on) = (r#"[\"c\", \"b\", \"a\", \"c\"]"#, r#"[\"a\", \"b\", \"c\"]"#);
    assert!(lines("operator command forwarded by another node", passed_on) >= 2);
    assert!(lines("operator command done", passed_on) >= 2);
    assert_eq!(lines("operator command done", asked), 3);
    let mut operator = cluster.client("a");
    operator.administer(AdminCommand::Lead { node: "nobody-there".to_owned() }).expect_err("there is none");
    assert_eq!(lines("operator command failed", "nobody-there"), 1, "what failed is on the record, too");
}

#[test]
fn any_node_can_remove_a_node_and_appoint_voters() {
    let mut cluster = Cluster::running(4);
    let status = cluster.client("a").status(false);
    let leader =
        status.nodes.iter().find(|node| node.is_leader).map(|node| node.name.clone()).expect("one leads");
    let others: Vec<&str> = ["a", "b", "c", "d"].into_iter().filter(|name| *name != leader).collect();
    let (told, gone) = (others[0], others[1]);
    let mut operator = cluster.client(told);
    let removed =
        operator.administer(AdminCommand::Remove { node: gone.to_owned() }).expect("it can be removed");
    assert_eq!(removed, format!("node {gone:?} was removed from the cluster"));
    let ended = cluster.daemons[gone].wait().expect_err("it cannot go on");
    assert!(ended.to_string().contains("removed"), "{ended}");
    cluster.kill(gone);
    let refused = operator.administer(AdminCommand::Remove { node: "nobody".to_owned() });
    assert_eq!(refused, Err("there is no node \"nobody\"".to_owned()));
    operator.administer(AdminCommand::Appoint { nodes: vec![leader.clone()] }).expect("it can be agreed");
    wait_for("only the leader votes", || {
        let nodes = operator.status(false).nodes;
        nodes.iter().filter(|node| node.is_voter).map(|node| &node.name).eq([&leader])
    });
    operator.pass("door");
}

#[test]
fn running_nodes_learn_an_added_node() {
    let mut cluster = Cluster::running(3);
    let before = cluster.client("a").pass("door");
    let kept: BTreeMap<&str, String> = ["a", "b", "c"]
        .map(|name| {
            (name, std::fs::read_to_string(cluster.folder.join(name).join("node.toml")).expect("there"))
        })
        .into();
    founding::add(&cluster.folder, "d", &free_address()).expect("a good node");
    // Those who run have not heard of it, and never read the file again.
    for (name, text) in &kept {
        std::fs::write(cluster.folder.join(name).join("node.toml"), text).expect("room");
    }
    cluster.start("d");
    cluster.wait_until_ready();
    assert!(before < cluster.client("d").pass("door"));
    let names = |cluster: &Cluster| -> Vec<String> {
        cluster
            .client("a")
            .status(true)
            .nodes
            .into_iter()
            .filter(|node| node.own.is_some())
            .map(|node| node.name)
            .collect()
    };
    assert_eq!(names(&cluster), ["a", "b", "c", "d"]);
    cluster.kill("a");
    cluster.start("a");
    cluster.wait_until_ready();
    assert_eq!(names(&cluster), ["a", "b", "c", "d"], "it is kept over a restart");
}

#[test]
fn a_survivor_of_a_lost_majority_recovers_the_cluster() {
    let mut cluster = Cluster::running(3);
    let refused = founding::recover(&cluster.config("a")).expect_err("it runs");
    assert!(refused.to_string().contains("another process"), "{refused}");
    // The others go on to views of which the survivor never hears.
    cluster.kill("a");
    for _ in 0..3 {
        cluster.daemons["c"].stop(Duration::ZERO);
        cluster.kill("c");
        cluster.start("c");
        cluster.wait_until_ready();
    }
    let mut before = cluster.client("c").pass("door");
    ["b", "c"].iter().for_each(|name| cluster.kill(name));
    founding::recover(&cluster.config("a")).expect("it is a survivor");
    cluster.start("a");
    let mut rises = |cluster: &Cluster, name: &str| {
        let fence = cluster.client(name).pass("door");
        assert!(before < fence, "at {name}");
        before = fence;
    };
    rises(&cluster, "a");
    cluster.start("b");
    for (asked, of) in [("a", "b"), ("b", "a")] {
        wait_for_warning(&cluster, asked, &format!("node {of} belongs to another cluster"));
    }
    cluster.kill("b");
    std::fs::remove_dir_all(cluster.config("b").data).expect("it is ours");
    cluster.start("b");
    cluster.wait_until_ready();
    rises(&cluster, "b");
    rises(&cluster, "a");
}

/// Waits until the status of a node says something; tells all that it warns of.
fn wait_for_warning(cluster: &Cluster, node: &str, words: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    wait_for(&format!("the status of {node} says {words:?}"), || {
        let status = cluster.client(node).status(false);
        let own = status.nodes.into_iter().find(|told| told.name == node).and_then(|told| told.own);
        warnings = own.map(|own| own.warnings).unwrap_or_default();
        warnings.iter().any(|warning| warning.contains(words))
    });
    warnings
}

#[test]
fn a_disk_that_was_set_back_takes_no_part_and_both_sides_say_so() {
    let mut cluster = Cluster::running(3);
    let data = cluster.config("b").data;
    let file = data.join("node.log");
    cluster.kill("b");
    let copy = std::fs::read(&file).expect("it is there");
    cluster.start("b");
    cluster.wait_until_ready();
    cluster.kill("b");
    std::fs::write(&file, copy).expect("room");
    cluster.start("b");
    wait_for_warning(&cluster, "b", "the disk of this node was set back");
    wait_for_warning(&cluster, "a", "the disk of node b was set back");
    cluster.kill("b");
    cluster.start("b");
    wait_for_warning(&cluster, "b", "the disk of this node was set back");
    cluster.client("a").pass("door");
    cluster.kill("b");
    let checked = Daemon::examine_disk(&cluster.config("b")).expect("it can be read");
    assert!(checked.set_back.is_some_and(|sentence| sentence.contains("the disk of this node was set back")));
    assert_eq!(Daemon::examine_disk(&cluster.config("a")), Ok(DiskCheck::default()));
    std::fs::remove_dir_all(&data).expect("it is ours");
    cluster.start("b");
    cluster.wait_until_ready();
    cluster.client("b").pass("door");
}

/// The example of docs/guarantees.md: no node that c meets knows better about b.
#[test]
fn a_set_back_disk_serves_until_a_peer_knows_better() {
    let mut cluster = Cluster::running(3);
    cluster.kill("c");
    cluster.client("a").pass("door");
    cluster.kill("b");
    let file = cluster.config("b").data.join("node.log");
    let copy = std::fs::read(&file).expect("it is there");
    cluster.start("b");
    cluster.wait_until_ready();
    let mut fences = vec![cluster.client("a").pass("door")];
    ["a", "b"].iter().for_each(|name| cluster.kill(name));
    std::fs::write(&file, copy).expect("room");
    cluster.start("b");
    cluster.start("c");
    cluster.wait_until_ready();
    fences.push(cluster.client("c").pass("door"));
    cluster.start("a");
    wait_for_warning(&cluster, "b", "the disk of this node was set back");
    // What a and c do now depends on how their logs differ; a recovery leaps above all fences.
    ["a", "b", "c"].iter().for_each(|name| cluster.kill(name));
    founding::recover(&cluster.config("a")).expect("it is a survivor");
    cluster.start("a");
    for name in ["b", "c"] {
        std::fs::remove_dir_all(cluster.config(name).data).expect("it is ours");
        cluster.start(name);
    }
    cluster.wait_until_ready();
    let last = cluster.client("c").pass("door");
    assert!(fences.iter().all(|fence| *fence < last), "{fences:?} and then {last}");
}

/// What the folder of a node was after `cluster init`: without data.
#[test]
fn a_voter_with_an_empty_data_folder_does_not_vote() {
    let mut cluster = Cluster::running(3);
    cluster.kill("c");
    // The others go on to a view of which c never hears.
    wait_for("c is left out", || {
        cluster.client("a").status(false).nodes.iter().filter(|node| node.is_member).count() == 2
    });
    let before = cluster.client("a").pass("door");
    ["a", "b"].iter().for_each(|name| cluster.kill(name));
    std::fs::remove_dir_all(cluster.config("b").data).expect("it is ours");
    cluster.start("b");
    cluster.start("c");
    let mut waiter = cluster.client("c");
    let has_met =
        || cluster.client("c").status(true).nodes.iter().filter(|node| node.own.is_some()).count() == 2;
    wait_for("c hears b", has_met);
    // Long enough for several elections, and for the leases of those who are gone.
    let number = waiter.want("door", Some(Ticks(4_000_000)));
    assert_eq!(waiter.hear_news(), DaemonMsg::Refused { number, why: Reason::TimedOut });
    assert!(cluster.daemons.values().all(|daemon| !daemon.is_ready()));
    cluster.start("a");
    let wanted = waiter.want("door", None);
    let DaemonMsg::Granted { number, fences, .. } = waiter.hear_news() else { panic!("it is let in") };
    assert!(number == wanted && fences[0].1 > before, "{fences:?} after {before}");
    cluster.wait_until_ready();
}

#[test]
fn two_recoveries_of_one_cluster_refuse_each_other() {
    let mut cluster = Cluster::running(5);
    let before = cluster.client("a").pass("door");
    ["a", "b", "c", "d", "e"].iter().for_each(|name| cluster.kill(name));
    for survivor in ["a", "b"] {
        founding::recover(&cluster.config(survivor)).expect("it is a survivor");
        cluster.start(survivor);
    }
    for (asked, of) in [("a", "b"), ("b", "a")] {
        wait_for_warning(&cluster, asked, &format!("node {of} belongs to another cluster"));
    }
    // They are two clusters, and nothing but the operator makes them one.
    let fences = ["a", "b"].map(|name| cluster.client(name).pass("door"));
    assert!(fences.iter().all(|fence| before < *fence) && fences[0] != fences[1], "{before}, {fences:?}");
    std::fs::remove_dir_all(cluster.config("c").data).expect("it is ours");
    cluster.start("c");
    let warnings = wait_for_warning(&cluster, "c", "hears of several clusters");
    assert_eq!(warnings.len(), 1, "it waits for no founders: {warnings:?}");
    cluster.kill("b");
    wait_for("c has joined the one that is left", || cluster.daemons["c"].is_ready());
    assert!(cluster.client("c").pass("door") > fences[0]);
}

#[test]
fn a_cluster_is_founded_when_all_founders_have_met() {
    let mut cluster = Cluster::founded(3);
    cluster.start("a");
    cluster.start("b");
    wait_for_warning(&cluster, "a", "missing: c");
    wait_for_warning(&cluster, "b", "missing: c");
    cluster.start("c");
    cluster.wait_until_ready();
    cluster.client("c").pass("door");
}

#[test]
fn a_stopped_node_answers_when_it_has_left() {
    let mut cluster = Cluster::running(3);
    let (mut operator, mut holder) = (cluster.client("b"), cluster.client("b"));
    let (number, _) = holder.lock("door");
    operator.ask(&ClientMsg::Administer { number: 5, order: AdminCommand::Stop });
    holder.release(number);
    assert!(matches!(operator.hear_news(), DaemonMsg::Done { number: 5, .. }));
    cluster.daemons["b"].wait().expect("it ended in peace");
    cluster.kill("b");
    cluster.client("a").pass("door");
    let mut waiter = cluster.client("a");
    let (_, _) = waiter.lock("door");
    cluster.daemons["a"].stop(Duration::ZERO);
    assert!(matches!(waiter.hear_news(), DaemonMsg::Lost { why: Loss::Leaving, .. }));
}
