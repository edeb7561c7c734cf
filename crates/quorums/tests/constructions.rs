//! The guarantees of every construction, for every number of nodes up to 64, checked independently of the
//! crate.

use doorway_core::{NodeId, NodeSet};
use doorway_quorums::{Construction, QuorumSystem, is_projective_plane};

/// The constructions that exist for every number of nodes.
const FOR_EVERY_N: [&str; 9] =
    ["singleton", "all", "majority", "grid", "truncated", "cyclic", "tree", "triangle", "cwlog"];

fn build(word: &str, n: usize) -> QuorumSystem {
    let construction = word.parse().unwrap_or_else(|refusal| panic!("{word}: {refusal}"));
    QuorumSystem::build(&construction, n).unwrap_or_else(|refusal| panic!("{word} of {n}: {refusal}"))
}

fn refusal(word: &str, n: usize) -> String {
    QuorumSystem::build(&word.parse().expect(word), n).expect_err(word).to_string()
}

fn from_file(text: &str, n: usize) -> Result<QuorumSystem, String> {
    QuorumSystem::build(&Construction::File(text.to_owned()), n).map_err(|refusal| refusal.to_string())
}

fn numbers(set: &NodeSet) -> Vec<u32> {
    set.iter().map(NodeId::number).collect()
}

fn set(numbers: &[u32]) -> NodeSet {
    numbers.iter().filter_map(|&number| NodeId::from_number(number)).collect()
}

/// Weights for `n` nodes, uneven and with some zeros.
fn some_weights(n: usize) -> String {
    let weights: Vec<String> = (0..n).map(|i| ((i * 7 + 3) % 5).to_string()).collect();
    format!("weighted:{}", weights.join(","))
}

/// A wall of `n` nodes with rows of 3, 1, 4, 1, 5, …: some rows in the middle have a single node.
fn some_wall(n: usize) -> String {
    let (mut widths, mut left) = (Vec::new(), n);
    for width in [3, 1, 4, 1, 5, 9, 2, 6].into_iter().cycle() {
        let width = width.min(left);
        left -= width;
        widths.push(width.to_string());
        if left == 0 {
            break;
        }
    }
    format!("wall:{}", widths.join(","))
}

fn all_words(n: usize) -> Vec<String> {
    let has_plane = [7, 13, 21, 31, 57].contains(&n);
    let words = FOR_EVERY_N.into_iter().chain(has_plane.then_some("plane")).map(str::to_owned);
    words.chain([some_weights(n), some_wall(n), format!("singleton:{n}")]).collect()
}

#[test]
fn every_two_quorums_meet_and_every_node_is_in_its_own() {
    for n in 1..=64 {
        for word in all_words(n) {
            let system = build(&word, n);
            let quorums: Vec<Vec<u32>> = system.assignment().values().iter().map(numbers).collect();
            assert_eq!(quorums.len(), n);
            for (i, quorum) in quorums.iter().enumerate() {
                assert!(quorum.iter().all(|&number| number as usize <= n), "{word} of {n}");
                let meets = |other: &Vec<u32>| other.iter().any(|node| quorum.contains(node));
                assert!(quorums.iter().all(meets), "{word} of {n}, node {}", i + 1);
                let holds_itself = quorum.contains(&(i as u32 + 1));
                assert!(holds_itself || word.starts_with("singleton"), "{word} of {n}, node {}", i + 1);
            }
            assert_eq!(system.verify(), Ok(()));
        }
    }
}

#[test]
fn assigned_quorums_contain_a_listed_one_and_listed_ones_are_minimal() {
    for n in 1..=18 {
        for word in all_words(n) {
            let system = build(&word, n);
            let quorums = system.quorums().expect("few enough");
            for quorum in system.assignment().values() {
                assert!(quorums.iter().any(|listed| listed.is_subset(quorum)), "{word} of {n}");
            }
            if quorums.len() > 2000 {
                continue;
            }
            for (i, quorum) in quorums.iter().enumerate() {
                for (j, other) in quorums.iter().enumerate() {
                    assert!(quorum.intersects(other), "{word} of {n}");
                    assert!(i == j || !quorum.is_subset(other), "{word} of {n}: {quorum} in {other}");
                }
            }
        }
    }
}

/// Every subset of `n` nodes.
fn subsets(n: usize) -> impl Iterator<Item = NodeSet> {
    (0..1_usize << n).map(move |bits| NodeId::first(n).filter(|node| bits >> node.index() & 1 == 1).collect())
}

fn chooses_exactly_where_a_quorum_is_alive(word: &str, n: usize) {
    let system = build(word, n);
    let quorums = system.quorums().expect("few enough");
    for alive in subsets(n) {
        let is_possible = quorums.iter().any(|quorum| quorum.is_subset(&alive));
        match system.choose(&alive) {
            None => assert!(!is_possible, "{word} of {n}: nothing chosen of {alive}"),
            Some(chosen) => {
                assert!(is_possible && chosen.is_subset(&alive), "{word} of {n}: {chosen} of {alive}");
                assert!(quorums.iter().all(|quorum| quorum.intersects(&chosen)), "{word} of {n}: {chosen}");
            }
        }
    }
}

#[test]
fn up_to_nine_nodes_choose_a_live_quorum_after_any_crashes() {
    for n in 1..=9 {
        for word in all_words(n) {
            chooses_exactly_where_a_quorum_is_alive(&word, n);
        }
    }
}

#[test]
fn larger_trees_choose_a_live_quorum_after_any_crashes() {
    chooses_exactly_where_a_quorum_is_alive("tree", 7);
    chooses_exactly_where_a_quorum_is_alive("tree", 12);
    chooses_exactly_where_a_quorum_is_alive("tree", 15);
}

#[test]
fn the_trees_rule_agrees_with_its_definition() {
    fn has_quorum(alive: &NodeSet, place: usize, n: usize) -> bool {
        let is_alive = place <= n && alive.contains(NodeId::new(place - 1));
        let child = |place| place <= n && has_quorum(alive, place, n);
        match (2 * place > n, is_alive) {
            (true, is_alive) => is_alive,
            (false, true) => child(2 * place) || child(2 * place + 1),
            (false, false) => child(2 * place) && child(2 * place + 1),
        }
    }
    for n in [1, 2, 6, 7, 14, 15] {
        let system = build("tree", n);
        for alive in subsets(n) {
            assert_eq!(system.choose(&alive).is_some(), has_quorum(&alive, 1, n), "{n}: {alive}");
        }
    }
}

#[test]
fn numbers_and_sizes_of_quorums_agree_with_hand_counts() {
    let figures = |word: &str, n| {
        let quorums = build(word, n).quorums().expect("few enough");
        let sizes = || quorums.iter().map(NodeSet::len);
        (quorums.len(), sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    };
    assert_eq!(figures("tree", 7), (15, 3, 4));
    assert_eq!(figures("tree", 15), (255, 4, 8));
    assert_eq!(figures("tree", 31), (65_535, 5, 16));
    assert_eq!(figures("majority", 7), (35, 4, 4));
    assert_eq!(figures("majority", 8), (56, 5, 5));
    assert_eq!(figures("grid", 9), (9, 5, 5));
    assert_eq!(figures("plane", 13), (13, 4, 4));
    assert_eq!(figures("cyclic", 13), (13, 4, 4));
    assert_eq!(figures("wall:1,2,4", 7), (8 + 4 + 1, 3, 4));
    assert_eq!(figures("triangle", 6), (6 + 3 + 1, 3, 3));
    assert_eq!(figures("singleton", 9), (1, 1, 1));
    assert_eq!(figures("all", 9), (1, 9, 9));
    assert_eq!(figures("weighted:2,1,1,1", 4), (4, 2, 3));
    assert_eq!(figures("weighted:0,5,0", 3), (1, 1, 1));
    assert_eq!(figures("wall:3,1", 4), (1, 1, 1));
}

#[test]
fn more_than_65536_quorums_are_not_listed() {
    assert!(build("majority", 18).quorums().is_some());
    for (word, n) in [("majority", 19), ("majority", 4096), ("tree", 33), ("tree", 4096), ("triangle", 4096)]
    {
        assert!(build(word, n).quorums().is_none(), "{word} of {n}");
    }
    assert_eq!(build("grid", 4096).quorums().map(|quorums| quorums.len()), Some(4096));
}

/// The probability that no quorum is alive, in ten-thousandths, when each node crashes with probability `p`.
fn failure(word: &str, n: usize, p: f64) -> i64 {
    let system = build(word, n);
    let lost = subsets(n).filter(|alive| system.choose(alive).is_none());
    let weight = |alive: NodeSet| p.powi((n - alive.len()) as i32) * (1.0 - p).powi(alive.len() as i32);
    (lost.map(weight).sum::<f64>() * 10_000.0).round() as i64
}

#[test]
fn failure_probabilities_are_as_specified() {
    let both = |word, n| (failure(word, n, 0.1), failure(word, n, 0.2));
    assert_eq!(both("plane", 7), (68, 505));
    assert_eq!(both("majority", 7), (27, 333));
    assert_eq!(both("tree", 7), (62, 481));
    assert_eq!(both("wall:1,2,4", 7), (97, 628));
    assert_eq!(both("grid", 9), (333, 1816));
    assert_eq!(both("majority", 9), (9, 196));
    for word in ["plane", "majority", "tree", "wall:1,2,4"] {
        assert_eq!(failure(word, 7, 0.5), 5000, "{word}");
    }
}

#[test]
fn sizes_and_responsibilities_are_as_specified() {
    let figures = |word: &str, n| {
        let system = build(word, n);
        let (sizes, responsibility) = (system.sizes(), system.responsibility());
        (sizes.least, sizes.most, responsibility.least, responsibility.most)
    };
    assert_eq!(figures("singleton:3", 5), (1, 1, 0, 5));
    assert_eq!(figures("all", 5), (5, 5, 5, 5));
    assert_eq!(figures("majority", 10), (6, 6, 6, 6));
    assert_eq!(figures("grid", 16), (7, 7, 7, 7));
    assert_eq!(figures("plane", 57), (8, 8, 8, 8));
    assert_eq!(figures("cyclic", 30), (7, 7, 7, 7));
    assert_eq!(figures("tree", 7), (3, 3, 1, 7));
    assert_eq!(figures("triangle", 10).0, 4);
    assert_eq!(figures("triangle", 10).1, 4);
    assert_eq!(figures("truncated", 10), (3, 4, 3, 5));
    assert_eq!(figures("truncated", 14), (4, 5, 2, 8));
    assert_eq!(figures("truncated", 40), (6, 8, 3, 12));
    for n in 1..=64 {
        let width = (1..).find(|width| width * width >= n).unwrap_or(0);
        assert!(figures("grid", n).1 < 2 * width, "{n}");
        let (size, same, responsibility, as_well) = figures("cyclic", n);
        assert_eq!((size, size, size), (same, responsibility, as_well));
    }
    let system = build("tree", 3);
    assert_eq!(system.sizes().mean, 2.0);
    assert_eq!(system.responsibilities().values(), [3, 2, 1]);
}

#[test]
fn weights_decide_which_nodes_are_asked() {
    let system = build("weighted:5,1,1,1,1", 5);
    assert_eq!(system.choose(&NodeSet::first(5)), Some(set(&[1])));
    assert_eq!(system.choose(&set(&[2, 3, 4, 5])), None);
    assert_eq!(system.quorum_of(NodeId::new(4)), &set(&[1, 5]));
    let half = build("weighted:1,1,1,1", 4);
    assert_eq!(half.choose(&set(&[1, 2])), None, "two of four votes are not more than half");
    let enormous = format!("weighted:{0},{0},{0}", u64::MAX);
    assert_eq!(build(&enormous, 3).choose(&set(&[2, 3])), Some(set(&[2, 3])));
}

#[test]
fn the_thirteen_sets_of_the_lectures_come_from_a_file() {
    let text = "1: 1 2 3 4\n2: 2 5 8 11\n3: 3 6 8 13\n4: 4 6 10 11\n5: 1 5 6 7\n6: 2 6 9 12\n7: 2 7 10 13\n\
                8: 1 8 9 10\n9: 3 7 9 11\n10: 3 5 10 12\n11: 1 11 12 13\n12: 4 7 8 12\n13: 4 5 9 13\n";
    let system = from_file(text, 13).expect("they meet");
    assert!(is_projective_plane(system.assignment().values()));
    assert_eq!(system.quorum_of(NodeId::new(6)), &set(&[2, 7, 10, 13]));
    assert_eq!((system.construction().name(), system.n()), ("file", 13));
    assert_eq!(system.choose(&NodeSet::first(13).without(NodeId::new(0))), Some(set(&[2, 5, 8, 11])));
    assert_eq!(system.quorums().map(|quorums| quorums.len()), Some(13));
}

#[test]
fn quorums_in_a_file_that_do_not_meet_are_refused() {
    let sentence = from_file("1: 2 5\n2: 1 2\n3: 2 5\n4: 2 5\n5: 3 5", 5).unwrap_err();
    assert_eq!(
        sentence,
        "the quorums of nodes 2 and 5 do not meet: {1, 2} and {3, 5} have no node in common"
    );
    assert_eq!(
        from_file("1: 1\n2: 1\n1: 2", 2).unwrap_err(),
        "line 3: node 1 has a quorum already, in line 1"
    );
}

#[test]
fn every_construction_refuses_zero_and_too_many_nodes() {
    for word in FOR_EVERY_N.into_iter().chain(["plane", "weighted:1", "wall:1"]) {
        assert_eq!(refusal(word, 0), "a quorum system needs at least one node");
        assert_eq!(refusal(word, 4097), "a quorum system has at most 4096 nodes, not 4097");
        assert_eq!(
            refusal(word, usize::MAX),
            format!("a quorum system has at most 4096 nodes, not {}", usize::MAX)
        );
    }
}

#[test]
fn a_wrong_number_of_nodes_is_refused_in_one_sentence() {
    assert_eq!(refusal("singleton:6", 5), "node 6 cannot decide for all: there are only nodes 1 to 5");
    assert_eq!(refusal("weighted:3,1,1", 4), "there are 3 weights for 4 nodes: each node needs one");
    assert_eq!(refusal("weighted:0,0", 2), "all weights are 0: at least one node needs a vote");
    assert_eq!(refusal("wall:1,2", 4), "the rows of the wall have 1 + 2 = 3 nodes, not 4");
    assert_eq!(refusal("wall:0,4", 4), "row 1 of the wall is empty: each row needs a node");
    assert_eq!(
        refusal("plane", 10),
        "no projective plane has 10 nodes: the nearest sizes are 7 and 13; `truncated` works for every N up to 1057"
    );
    assert!(refusal("plane", 2000).starts_with("planes are built for at most 1057 nodes, not 2000"));
    assert!(refusal("truncated", 2000).starts_with("planes are cut for at most 1057 nodes, not 2000"));
}

#[test]
fn the_largest_systems_are_built() {
    for word in FOR_EVERY_N.into_iter().filter(|&word| word != "truncated") {
        assert_eq!(build(word, 4096).n(), 4096, "{word}");
    }
    for word in ["plane", "truncated"] {
        assert_eq!(build(word, 1057).sizes().most, 33, "{word}");
    }
    assert!(build("grid", 4095).verify().is_ok());
    assert!(build("majority", 4096).verify().is_ok());
    assert!(build("cyclic", 4096).verify().is_ok());
}
