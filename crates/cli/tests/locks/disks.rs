//! The disk of a node, with daemons of their own: made at the first start, and refused when it was set back. Log, `status`, `--check` and
//! `recover` say so.

use std::fs;
use std::path::Path;

use crate::fleet::{Cluster, until};

/// What `doorway status` prints, without line breaks.
fn status(cluster: &Cluster, node: &str) -> String {
    let (_, out, _) = cluster.run(&["status", "--node", node]);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn founders_wait_for_all_and_log_and_status_say_for_whom() {
    let mut cluster = Cluster::found("founders", &["a", "b", "c"]);
    for node in ["a", "b", "c"] {
        assert!(!Path::new(&format!("{}/{node}/data", cluster.lab())).exists(), "init makes no disk");
    }
    ["a", "b"].iter().for_each(|node| cluster.start(node));
    for node in ["a", "b"] {
        until("the log says who is missing", || cluster.log(node).contains("have met; missing: c\n"));
        until("the status says who is missing", || status(&cluster, node).contains("have met; missing: c"));
        assert!(!cluster.is_ready(node));
    }
    cluster.start("c");
    for node in ["a", "b", "c"] {
        cluster.await_ready(node);
        until("the log says so", || cluster.log(node).contains("this node now belongs to its cluster"));
        assert!(!status(&cluster, node).contains("missing"));
    }
}

#[test]
fn log_status_check_and_recover_report_a_set_back_disk() {
    const OWN: &str = "the disk of this node was set back to an earlier copy";
    const ADVICE: &str = "stop it, empty its data folder and start it: it joins as a new node";
    let mut cluster = Cluster::new("set-back", &["a", "b", "c"]);
    let (file, config) = (format!("{}/b/data/node.log", cluster.lab()), cluster.config("b"));
    cluster.kill("b");
    let copy = fs::read(&file).expect("a disk");
    cluster.start("b");
    cluster.await_ready("b");
    let first = cluster.fence("b");
    cluster.kill("b");
    fs::write(&file, &copy).expect("room");
    let check = |cluster: &Cluster| cluster.run(&["node", "--config", &config, "--check"]);
    assert_eq!(check(&cluster).0, 0, "the disk itself does not know yet");
    cluster.start("b");
    for (node, told) in [("b", OWN), ("a", "the disk of node b was set back to an earlier copy")] {
        let is_said = |text: &str| text.lines().any(|line| line.contains(told) && line.contains(ADVICE));
        until("the log says so", || is_said(&cluster.log(node)));
        until("the status says so", || is_said(&status(&cluster, node)));
    }
    assert_eq!(cluster.run(&["lock", "x", "--node", "b", "--", "true"]).0, 125);
    assert!(cluster.fence("a") > first, "the others go on");
    cluster.kill("b");
    let (code, out, err) = check(&cluster);
    assert_eq!((code, out.as_str(), err.lines().count()), (1, "", 1), "{err}");
    assert!(err.contains(OWN) && err.contains(ADVICE), "{err}");
    ["a", "c"].iter().for_each(|node| cluster.kill(node));
    let recover = |node: &str| {
        let config = cluster.config(node);
        cluster.run(&["cluster", "recover", "--config", &config, "--yes-i-lost-the-majority", "lab"])
    };
    let (code, out, err) = recover("b");
    assert!(code == 0 && out.starts_with("Node b is a cluster of one now."), "{out}{err}");
    assert!(err.contains(OWN) && err.contains("recover there instead, and empty this data folder"), "{err}");
    assert_eq!(recover("a").2, "", "its disk was not set back");
    fs::remove_dir_all(format!("{}/c/data", cluster.lab())).expect("it was there");
    let (code, _, err) = recover("c");
    assert!(code == 2 && err.contains("recover at a node that has kept its own"), "{err}");
}
