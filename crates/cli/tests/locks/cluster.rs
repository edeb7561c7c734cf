//! `doorway cluster`: from nothing to a cluster, and all that may become of it, with daemons of their own.

use std::fs;

use rustix::process::Signal;

use crate::fleet;
use crate::fleet::{Cluster, Folder, until};
use crate::ports::free_address;
use crate::shell;
use crate::terminal;

#[test]
fn a_cluster_is_founded_and_never_overwritten() {
    let folder = Folder::new("found");
    let lab = folder.0.join("lab").to_string_lossy().into_owned();
    let init = |nodes: &str| fleet::command(&folder.0, &["cluster", "init", &lab, "--nodes", nodes]).output();
    let told = terminal::text(&init("a=n1:7700,b=n2:7700,c=n3:7700").expect("it starts").stdout);
    for part in ["Cluster lab of 3 nodes", &format!("scp -rp {lab}/b n2:doorway\n"), "authority.key"] {
        assert!(told.contains(part), "{told}");
    }
    let before = fs::read(format!("{lab}/a/node.key")).expect("a key");
    let again = init("a=n1:7700,b=n2:7700,c=n3:7700").expect("it starts");
    assert_eq!(again.status.code(), Some(2));
    assert!(terminal::text(&again.stderr).contains("exists already"));
    assert_eq!(fs::read(format!("{lab}/a/node.key")).expect("a key"), before);
    assert_eq!(terminal::doorway(&format!("node --check --config {lab}/a/node.toml")).status.code(), Some(0));
}

#[test]
fn an_impossible_cluster_is_refused_in_one_sentence() {
    let folder = Folder::new("refused");
    let lab = folder.0.join("lab").to_string_lossy().into_owned();
    for (words, part) in [
        ("--nodes a", "not NAME=HOST:PORT"),
        ("--nodes a=here", "write host:port"),
        ("--nodes a=n1:1,a=n2:1", "two nodes are named \"a\""),
        ("--nodes A=n1:1", "lowercase letters"),
        ("--nodes a=0.0.0.0:7700", "other nodes cannot dial"),
        ("--nodes a=::1:7700", "write an IPv6 address in brackets"),
        ("--nodes a=h\"x:7700", "write host:port"),
        ("--nodes a=n1:0", "1 to 65535"),
        ("--nodes a=n1:1,b=N1:1", "the nodes \"a\" and \"b\" have the same address"),
        ("--nodes a=n1:1 --algorithm maekawa/basic", "is a specimen, which is wrong on purpose"),
        ("--nodes a=n1:1 --name L.B", "not a name for a cluster"),
        ("--nodes a=n1:1 --algorithm maekaw", "did you mean maekawa"),
        ("--nodes a=n1:1 --algorithm maekawa --set quorum=circle", "not a quorum system"),
        ("--nodes a=n1:1 --algorithm peterson", "sends no messages"),
        ("", "--nodes"),
    ] {
        let sentence = terminal::refused(&format!("cluster init {lab} {words}"));
        assert!(sentence.contains(part), "{words}: {sentence}");
        assert!(!sentence.contains("line "), "there is no file yet: {sentence}");
        assert!(!folder.0.join("lab").exists(), "{words}: nothing is written");
    }
    let sentence = terminal::refusal(&["cluster", "init", &lab, "--nodes", "a=ho st:7700"]);
    assert!(sentence.contains("--nodes") && sentence.contains("write host:port"), "{sentence}");
    let dotted = folder.0.join("L.B").to_string_lossy().into_owned();
    assert!(
        terminal::refused(&format!("cluster init {dotted} --nodes a=n1:1"))
            .contains("--name gives it another")
    );
    assert!(terminal::refused(&format!("cluster add {lab} d=n4:1")).contains("cannot be read"));
    assert!(terminal::refused(&format!("cluster add {lab} d=0.0.0.0:1")).contains("other nodes cannot dial"));
    assert!(terminal::refused(&format!("cluster rotate-certificates {lab}")).contains("cannot be read"));
}

#[test]
fn a_file_that_is_chosen_goes_to_every_node() {
    let folder = Folder::new("chosen");
    let lab = folder.0.join("lab").to_string_lossy().into_owned();
    let quorums = terminal::file(&folder.0, "mine.quorums", "1: 1 2\n2: 1 2\n");
    let chosen = format!("--algorithm maekawa --set quorum=file:{quorums}");
    let told = terminal::doorway(&format!("cluster init {lab} --nodes a=n1:1,b=n2:1 {chosen}"));
    assert_eq!(told.status.code(), Some(0), "{}", terminal::text(&told.stderr));
    fs::remove_file(quorums).expect("nobody needs it any more");
    let checked = terminal::doorway(&format!("node --check --config {lab}/b/node.toml"));
    assert_eq!(checked.status.code(), Some(0), "{}", terminal::text(&checked.stderr));
    fs::remove_file(format!("{lab}/b/quorum.txt")).expect("it was there");
    let checked = terminal::doorway(&format!("node --check --config {lab}/b/node.toml"));
    assert!(terminal::text(&checked.stderr).contains("quorum.txt cannot be read"));
}

#[test]
fn small_and_even_clusters_are_warned_of() {
    let folder = Folder::new("warned");
    for (nodes, part) in [
        ("a=n:1", "three survive the failure of one"),
        ("a=n:1,b=n:2", "both stop when one of them fails"),
        ("a=n:1,b=n:2,c=n:3,d=n:4", "an even number"),
    ] {
        let lab = folder.0.join(format!("lab{}", nodes.len())).to_string_lossy().into_owned();
        let output = terminal::doorway(&format!("cluster init {lab} --nodes {nodes}"));
        assert_eq!(output.status.code(), Some(0));
        assert!(terminal::text(&output.stderr).contains(part));
    }
}

#[test]
fn one_node_works_alone() {
    let mut cluster = Cluster::new("one", &["a"]);
    let first = cluster.fence("a");
    cluster.kill("a");
    assert_eq!(cluster.run(&["lock", "x", "--node", "a", "--", "true"]).0, 125, "nobody is there");
    cluster.start("a");
    cluster.await_ready("a");
    assert!(cluster.fence("a") > first, "fences rise across restarts");
}

#[test]
fn two_nodes_stop_when_one_dies_and_go_on_when_it_is_back() {
    let mut cluster = Cluster::new("two", &["a", "b"]);
    let first = cluster.fence("b");
    cluster.kill("b");
    until("a stops", || !cluster.is_ready("a"));
    assert_eq!(cluster.run(&["lock", "x", "--wait", "1s", "--node", "a", "--", "true"]).0, 124);
    cluster.start("b");
    cluster.await_ready("a");
    assert!(cluster.fence("a") > first);
}

#[test]
fn three_nodes_go_on_without_one_and_take_in_and_put_out_others() {
    let mut cluster = Cluster::new("three", &["a", "b", "c"]);
    let (code, out, err) = cluster.run(&["cluster", "add", &cluster.lab(), &format!("d={}", free_address())]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Node d is in"), "{out}");
    ["a", "b", "c"].iter().for_each(|node| cluster.process(node).signal(Signal::HUP));
    cluster.start("d");
    cluster.await_ready("d");
    until("all see d", || cluster.members("a") == ["a", "b", "c", "d"]);
    let first = cluster.fence("d");
    cluster.kill("d");
    let (code, out, err) = cluster.run(&["cluster", "remove", "d", "--node", "b"]);
    assert_eq!(code, 0, "{out}{err}");
    until("d is out", || cluster.members("a") == ["a", "b", "c"]);
    cluster.kill("c");
    assert!(cluster.fence("a") > first, "two of three go on");
    let (code, _, err) = cluster.run(&["cluster", "remove", "nobody", "--node", "a"]);
    assert!(code == 1 && err.contains("nobody"), "{err}");
}

#[test]
fn a_section_is_empty_only_once_a_silent_member_is_left_out() {
    let cluster = Cluster::new("silent", &["a", "b", "c"]);
    cluster.process("c").signal(Signal::STOP);
    let (code, _, err) = cluster.run(&["break", "x", "--yes", "--node", "a"]);
    assert!(code == 1 && err.contains("x has no holder"), "{code} {err}");
    assert_eq!(cluster.members("a"), ["a", "b"], "it is certain only when c has no say any more");
    cluster.process("c").signal(Signal::CONT);
}

#[test]
fn certificates_and_their_authority_are_changed_while_the_nodes_run() {
    let cluster = Cluster::new("rotate", &["a", "b", "c"]);
    let first = cluster.fence("a");
    let rounds: [&[&str]; 4] = [&[], &["--new-authority"], &[], &["--forget-old"]];
    for round in rounds {
        let lab = cluster.lab();
        let (code, out, err) = cluster.run(&[&["cluster", "rotate-certificates", &lab], round].concat());
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("reload its daemon"), "{out}");
        ["a", "b", "c"].iter().for_each(|node| cluster.process(node).signal(Signal::HUP));
    }
    let mut cluster = cluster;
    // A node that starts now can join only with the list that all others have read.
    cluster.kill("b");
    cluster.start("b");
    cluster.await_ready("b");
    assert!(cluster.fence("b") > first);
}

#[test]
fn a_survivor_begins_anew_and_the_others_come_back_to_it() {
    let mut cluster = Cluster::new("recover", &["a", "b", "c"]);
    let first = cluster.fence("a");
    let config = cluster.config("c");
    let recover = ["cluster", "recover", "--config", &config];
    let (code, _, err) = cluster.run(&[&recover[..], &["--yes-i-lost-the-majority", "lab"]].concat());
    assert!(code == 2 && err.contains("another process uses"), "{err}");
    ["a", "b", "c"].iter().for_each(|node| cluster.kill(node));
    let (code, _, err) = cluster.run(&recover);
    assert!(code == 2 && err.contains("--yes-i-lost-the-majority"), "{err}");
    let (code, _, err) = cluster.run(&[&recover[..], &["--yes-i-lost-the-majority", "lob"]].concat());
    assert!(code == 2 && err.contains("nothing was changed"), "{err}");
    let (code, out, err) = cluster.run(&[&recover[..], &["--yes-i-lost-the-majority", "lab"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("Node c is a cluster of one now."), "{out}");
    cluster.start("c");
    cluster.await_ready("c");
    let second = cluster.fence("c");
    assert!(second >> 36 > (first >> 36) + 1_000_000, "{first} {second}");
    fs::remove_dir_all(format!("{}/a/data", cluster.lab())).expect("it was there");
    cluster.start("a");
    cluster.await_ready("a");
    assert!(cluster.fence("a") > second);
}

#[test]
fn a_lost_cluster_is_restored_from_a_backup_with_higher_fences() {
    let mut cluster = Cluster::new("restored", &["a", "b", "c"]);
    let first = cluster.fence("b");
    let (code, backup, err) = cluster.run(&["cluster", "backup", "--node", "a"]);
    assert_eq!(code, 0, "{err}");
    assert!(backup.contains("cluster = \"lab\"") && backup.contains("view = "), "{backup}");
    let file = cluster.folder.0.join("lab.backup").display().to_string();
    fs::write(&file, &backup).expect("room");
    let config = cluster.config("b");
    let restore = ["cluster", "restore", &file, "--config", &config];
    ["a", "b", "c"].iter().for_each(|node| cluster.kill(node));
    let (code, _, err) = cluster.run(&restore);
    assert!(code == 2 && err.contains("already"), "a disk that is there is not overwritten: {err}");
    ["a", "b", "c"].iter().for_each(|node| {
        fs::remove_dir_all(format!("{}/{node}/data", cluster.lab())).expect("it was there");
    });
    fs::write(&file, backup.replace("\"lab\"", "\"lob\"")).expect("room");
    let (code, _, err) = cluster.run(&restore);
    assert!(code == 2 && err.contains("it is of cluster \"lob\""), "{err}");
    fs::write(&file, &backup).expect("room");
    let (code, out, err) = cluster.run(&restore);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("Node b is a cluster of one, with fences above"), "{out}");
    ["a", "b", "c"].iter().for_each(|node| cluster.start(node));
    ["a", "b", "c"].iter().for_each(|node| cluster.await_ready(node));
    let second = cluster.fence("a");
    assert!(second >> 36 > (first >> 36) + 1_000_000, "{first} {second}");
    ["a", "b", "c"].iter().for_each(|node| cluster.kill(node));
    fs::remove_dir_all(format!("{}/c/data", cluster.lab())).expect("it was there");
    let config = cluster.config("c");
    let seen = (second >> 36 << 36) + (20_000_000 << 36);
    let above = ["cluster", "restore", "--above", &seen.to_string(), "--config", &config];
    let (code, out, err) = cluster.run(&above);
    assert!(code == 0 && out.contains(&format!("view {}", seen >> 36)), "{out}{err}");
    cluster.start("c");
    cluster.await_ready("c");
    assert!(cluster.fence("c") > seen, "above the fence that was seen, however high it was");
}

#[test]
fn damage_is_refused_by_check_and_start_with_its_place() {
    let mut cluster = Cluster::new("damaged", &["a"]);
    cluster.kill("a");
    let file = format!("{}/a/data/node.log", cluster.lab());
    let whole = fs::read(&file).expect("a disk");
    let config = cluster.config("a");
    // The length of the second write: the first has 8 bytes of mark before it and a header of 20.
    let second = 28 + u32::from_le_bytes([whole[8], whole[9], whole[10], whole[11]]) as usize;
    let mut flipped = whole.clone();
    flipped[second + 1] ^= 4;
    let mut hole = whole.clone();
    hole[second + 20..second + 24].fill(0);
    for damaged in [flipped, hole] {
        fs::write(&file, &damaged).expect("room");
        for check in [&["--check"][..], &[]] {
            let (code, _, err) = cluster.run(&[&["node", "--config", &config], check].concat());
            let is_refused = code != 0 && err.contains(&format!("is damaged at byte {second}:"));
            assert!(is_refused, "{code} {err}");
        }
        assert_eq!(fs::read(&file).expect("a disk"), damaged, "nothing was changed");
    }
    fs::write(&file, &whole[..whole.len() - 3]).expect("room");
    let (code, out, err) = cluster.run(&["node", "--config", &config, "--check"]);
    assert!(code == 0 && out.contains("right"), "{code} {out}{err}");
    assert!(err.contains("is unfinished: the next start cuts off"), "{err}");
    cluster.start("a");
    cluster.await_ready("a");
    let told = "the last write to the disk was unfinished: its bytes are discarded";
    assert_eq!(cluster.log("a").matches(told).count(), 1, "{}", cluster.log("a"));
    let (code, _, err) = cluster.run(&["node", "--config", &config, "--check"]);
    assert_eq!((code, err.as_str()), (0, ""), "what was torn is gone");
}

#[test]
fn recovery_at_a_terminal_asks_for_the_name_of_the_cluster() {
    let mut cluster = Cluster::new("typed", &["a", "b", "c"]);
    ["a", "b", "c"].iter().for_each(|node| cluster.kill(node));
    let Some(mut shell) = shell::Shell::new(&cluster.folder.0) else {
        eprintln!("skipped: setsid cannot be had here");
        return;
    };
    let disk = || fs::read(format!("{}/a/data/node.log", cluster.lab())).expect("a disk");
    let kept = |name: &str| fs::read(format!("{}/a/data/{name}", cluster.lab())).expect("it was kept");
    let first = disk();
    let recover = format!("doorway cluster recover --config {}\n", cluster.config("a"));
    shell.types(&recover);
    shell.shows("If any of b, c still runs with its data folder, two can hold one lock.");
    shell.shows("Type the name of the cluster to go on: ");
    shell.types("lob\n");
    shell.shows("nothing was changed");
    shell.tells_status("2");
    assert_eq!(disk(), first);
    shell.types(&recover);
    shell.shows("go on: ");
    shell.types("lab\n");
    shell.shows("Node a is a cluster of one now.");
    shell.shows("node.log.before.");
    shell.tells_status("0");
    let second = disk();
    assert_eq!((kept("node.log.before"), second == first), (first.clone(), false));
    shell.types(&recover);
    shell.shows("go on: ");
    shell.types("lab\n");
    shell.shows("node.log.before.2.");
    shell.tells_status("0");
    assert_eq!((kept("node.log.before"), kept("node.log.before.2")), (first, second));
}
