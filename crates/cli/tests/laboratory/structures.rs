//! `doorway structure`: the sets, the theorem, the bounds and the delays, number for number.

use std::fs;

use serde_json::{Value, json};

use crate::terminal::{doorway, file, folder, json, prints, refused, text};

/// A field of every node.
fn each(told: &Value, field: &str) -> Vec<Value> {
    told["nodes"].as_array().expect("a list").iter().map(|node| node[field].clone()).collect()
}

#[test]
fn the_four_nodes_have_their_sets_bounds_and_delays() {
    let told = json("structure four-node --json");
    assert_eq!(each(&told, "asks"), [json!([1, 2]), json!([1, 2]), json!([1, 2, 3]), json!([1, 2, 4])]);
    assert_eq!(each(&told, "informs"), [json!([1]), json!([2]), json!([1, 2, 3]), json!([1, 2, 4])]);
    assert_eq!(each(&told, "informed_by"), [json!([1, 3, 4]), json!([2, 3, 4]), json!([3]), json!([4])]);
    let bounds = |least: u64, most: u64, tight: u64| json!({"least": least, "most": most, "tight": tight});
    let expected = [bounds(2, 10, 6), bounds(2, 10, 6), bounds(6, 15, 14), bounds(6, 15, 14)];
    assert_eq!(each(&told, "messages"), expected);
    let delays = json!([[0, 1, 1, 1], [1, 0, 1, 1], [2, 2, 0, 2], [2, 2, 2, 0]]);
    assert_eq!((&told["measured_delays"], &told["delays"]), (&delays, &delays));
    assert_eq!((&told["theorem"], &told["flaws"]), (&json!(true), &json!([])));
    let pair = json!({"nodes": [1, 2], "both_inform": [], "ask_each_other": true, "exclude": true});
    assert_eq!(told["pairs"][0], pair);
    assert_eq!(told["pairs"][5]["both_inform"], json!([1, 2]), "nodes 3 and 4");
}

#[test]
fn the_page_of_the_four_nodes_says_it_in_words() {
    let page = prints("structure four-node");
    for line in [
        "four-node, 4 nodes: the conditions of Sanders' theorem hold",
        "1     1 2     1          1 3 4           2 … 10              6",
        "3     1 2 3   1 2 3      3               6 … 15              14",
        " 3  RI RI RI ·",
        "  1 and 2: they ask each other, and each keeps its own vote",
        "  3 and 4: both inform 1 2",
        "3          2  2  0  2",
        "the printed rule, 2 if I_i ∩ I_j ≠ ∅, else 1, differs in D13 D14 D23 D24",
    ] {
        assert!(page.lines().any(|printed| printed == line), "{line}\n{page}");
    }
    assert_eq!(prints("structure sanders --structure four-node"), page, "the same by both names");
}

#[test]
fn a_structure_that_does_not_exclude_names_the_pair_and_the_condition() {
    let output = doorway("structure one-sided --nodes 2");
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    for line in [
        "one-sided, 2 nodes: the conditions of Sanders' theorem do NOT hold",
        "nodes 1 and 2 can be inside together: their I do not meet, and not both keep their own vote and ask",
        "I_1 = {1} and I_2 = {2} have no node in common; node 2 does not ask node 1",
    ] {
        assert!(page.lines().any(|printed| printed == line), "{line}\n{page}");
    }
    let mine = file(&folder("structures"), "mine.structure", "1: ask 1 inform 1 2\n2: ask 1 2 inform 2\n");
    let told: Value =
        serde_json::from_slice(&doorway(&format!("structure file:{mine} --json")).stdout).expect("JSON");
    assert_eq!(told["flaws"][0]["says"], "node 1 informs a node that it does not ask: I must lie in R");
    assert_eq!((&told["theorem"], &told["measured_delays"]), (&json!(false), &json!(null)));
}

#[test]
fn quorums_and_sizes_are_as_chosen() {
    let plane = json("structure maekawa --quorum plane --nodes 7 --json");
    assert!(each(&plane, "messages").iter().all(|bounds| bounds["least"] == json!(6)), "3(K−1), K = 3");
    let central = json("structure central --nodes 3 --json");
    assert_eq!(central["measured_delays"], json!([[0, 1, 1], [1, 0, 2], [1, 2, 0]]));
    let many = json("structure lamport --nodes 17 --json");
    assert_eq!((&many["measured_delays"], &many["delays"][0][1]), (&json!(null), &json!(2)));
}

#[test]
fn a_tree_has_its_shape_bounds_and_delays() {
    let told = json("structure raymond --nodes 7 --json");
    assert_eq!((&told["root"], &told["diameter"]), (&json!(1), &json!(4)));
    assert_eq!(
        each(&told, "parent"),
        [json!(null), json!(1), json!(1), json!(2), json!(2), json!(3), json!(3)]
    );
    assert_eq!(each(&told, "depth"), [0, 1, 1, 2, 2, 2, 2].map(|depth| json!(depth)));
    assert_eq!(each(&told, "messages")[3], json!({"least": 0, "most": 8}));
    assert_eq!(told["messages"]["most"], json!(8), "2d");
    assert_eq!(told["measured_delays"][3], json!([2, 1, 3, 0, 2, 4, 4]));
    assert_eq!(told["measured_delays"], told["delays"]);
    let page = prints("structure raymond --nodes 4 --tree chain");
    assert!(page.contains("\n1\n└─ 2\n   └─ 3\n      └─ 4\n"), "{page}");
}

#[test]
fn the_messages_of_an_election_are_in_its_trace_and_diagram() {
    let folder = folder("election");
    let (trace, svg) = (folder.join("e.jsonl"), folder.join("e.svg"));
    let told = json(&format!(
        "structure raymond --tree elected --nodes 5 --trace {} --svg {} --json",
        trace.display(),
        svg.display()
    ));
    let messages = told["election"]["messages"].as_u64().expect("a number");
    let page = prints(&format!("trace show {}", trace.display()));
    assert!(page.starts_with("raymond's election, 5 nodes, seed 1\n"), "{page}");
    let sent =
        page.lines().filter(|line| line.contains(" sends WAVE ") || line.contains(" sends ECHO ")).count();
    assert_eq!((sent as u64, &told["election"]["winner"]), (messages, &json!(5)));
    assert!(page.contains("sends WAVE to node 2") && page.contains("begin ←"), "{page}");
    let drawing = folder.join("run.svg");
    prints(&format!("trace svg {} -o {} --clocks lamport", trace.display(), drawing.display()));
    let arrows = fs::read_to_string(drawing).expect("it is drawn").matches("<g data-event=").count();
    assert_eq!(arrows as u64, messages, "an arrow for each message");
    assert!(fs::read_to_string(svg).expect("it is drawn").contains("asks the parent for the token"));
    // Raymond's algorithm runs on the tree that was elected.
    let run = json("simulate raymond --tree elected --nodes 5 --load isolated --entries 50 --json");
    assert!(run["messages_per_entry"].as_f64() <= told["messages"]["most"].as_f64());
}

/// A node that informs another one without asking it is not kept out by its vote.
#[test]
fn pairs_that_inform_unasked_nodes_do_not_exclude() {
    let output = doorway("structure unasked --nodes 3 --json");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let pairs = told["pairs"].as_array().expect("a list");
    assert!(pairs.iter().any(|pair| pair["exclude"] == false), "{told}");
    let sound = json("structure four-node --json");
    let pairs = sound["pairs"].as_array().expect("a list");
    assert!(!pairs.is_empty() && pairs.iter().all(|pair| pair["exclude"] == true), "{sound}");
}

#[test]
fn what_does_not_fit_is_refused_in_one_sentence() {
    assert!(refused("structure nothing").starts_with("there is no structure \"nothing\": lamport, "));
    assert!(refused("structure raymond --tree nothing").starts_with("there is no tree \"nothing\": star, "));
    assert_eq!(refused("structure four-node --tree star"), "--tree is only for raymond: leave it out");
    assert_eq!(refused("structure raymond --quorum grid"), "--quorum is only for structures: leave it out");
    assert_eq!(
        refused("structure lamport --structure central"),
        "--structure is only for sanders: leave it out"
    );
    assert_eq!(
        refused("structure raymond --trace x.jsonl"),
        "--trace is only for --tree elected: leave it out"
    );
    assert_eq!(refused("structure four-node --nodes 5"), "the structure four-node has 4 nodes, not 5");
    assert_eq!(refused("structure lamport --nodes 0"), "--nodes must be at least 1");
    assert_eq!(refused("structure lamport --nodes 513"), "513 nodes are too many: at most 512 are examined");
    assert!(refused("structure file:/nowhere").starts_with("/nowhere cannot be read: "));
    let bad = file(&folder("bad-structure"), "bad.structure", "1: ask 1\n");
    assert!(
        refused(&format!("structure file:{bad}"))
            .contains("line 1 of the structure says nothing of `inform`")
    );
}
