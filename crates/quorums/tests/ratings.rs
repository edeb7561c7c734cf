//! Compares the ratings with the literature and with brute-force enumeration.

use doorway_core::{NodeId, NodeSet, PerNode};
use doorway_quorums::{
    Certificate, Construction, Failure, Fraction, Interval, Overlaps, QuorumSystem, Ratings, Shape,
    is_nondominated, load, resilience,
};

fn build(word: &str, n: usize) -> QuorumSystem {
    let construction = word.parse().unwrap_or_else(|refusal| panic!("{word}: {refusal}"));
    QuorumSystem::build(&construction, n).unwrap_or_else(|refusal| panic!("{word} of {n}: {refusal}"))
}

fn written(text: &str, n: usize) -> QuorumSystem {
    QuorumSystem::build(&Construction::File(text.to_owned()), n).expect("well written")
}

fn fraction(numerator: u128, denominator: u128) -> Fraction {
    Fraction::new(numerator, denominator)
}

/// The failure probability with four decimals.
fn failure(word: &str, n: usize, crashed: f64) -> String {
    let failure = Ratings::new(&build(word, n)).exact_failure(crashed).expect("few nodes");
    format!("{failure:.4}")
}

/// Pseudorandom numbers from 0 to 1 (G. Marsaglia: "Xorshift RNGs", 2003).
fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Small systems of every construction that has no shape of its own.
fn sets() -> Vec<QuorumSystem> {
    let named = (1..=16).flat_map(|n| ["all", "truncated", "cyclic", "singleton"].map(|word| build(word, n)));
    let planes = [build("plane", 7), build("plane", 13)];
    let files = [
        written("1: 1 2\n2: 1 3\n3: 1 4\n4: 2 3 4", 4),
        written("1: 1 2 3\n2: 1 2 4\n3: 1 3 4\n4: 2 3 4", 4),
        written("1: 5\n2: 5 1\n3: 5\n4: 4 5\n5: 5", 5),
    ];
    named.chain(planes).chain(files).collect()
}

#[test]
fn failure_probabilities_are_those_of_the_literature() {
    for (word, n, at_a_tenth, at_a_fifth) in [
        ("plane", 7, "0.0068", "0.0505"),
        ("majority", 7, "0.0027", "0.0333"),
        ("tree", 7, "0.0062", "0.0481"),
        ("wall:1,2,4", 7, "0.0097", "0.0628"),
        ("grid", 9, "0.0333", "0.1816"),
        ("majority", 9, "0.0009", "0.0196"),
    ] {
        assert_eq!(
            (failure(word, n, 0.1).as_str(), failure(word, n, 0.2).as_str()),
            (at_a_tenth, at_a_fifth),
            "{word}"
        );
    }
    for word in ["plane", "majority", "tree", "wall:1,2,4"] {
        assert_eq!(Ratings::new(&build(word, 7)).exact_failure(0.5), Some(0.5), "{word} is not dominated");
    }
}

#[test]
fn loads_are_those_of_the_literature() {
    let exact = |word: &str, n| load(&build(word, n)).exact;
    for (order, n) in [(2, 7), (3, 13), (4, 21), (5, 31), (32, 1057)] {
        assert_eq!(exact("plane", n), Some(fraction(order + 1, n as u128)));
    }
    for n in [1, 2, 3, 4, 7, 20, 64, 1000, 4096] {
        assert_eq!(exact("majority", n), Some(fraction(n as u128 / 2 + 1, n as u128)));
        assert_eq!(exact("singleton", n), Some(fraction(1, 1)));
        assert_eq!(exact("all", n), Some(fraction(1, 1)));
    }
    for root in [1, 2, 3, 4, 8, 64] {
        assert_eq!(exact("grid", root * root), Some(fraction(2 * root as u128 - 1, (root * root) as u128)));
    }
    for levels in 1..=12 {
        assert_eq!(exact("tree", (1 << levels) - 1), Some(fraction(2, levels as u128 + 1)));
    }
    assert_eq!(exact("wall:1,2,4", 7), Some(fraction(8, 17)));
    assert_eq!(exact("weighted:2,1,1,1", 4), Some(fraction(3, 5)));
}

#[test]
fn resiliences_are_those_of_the_literature() {
    let exact = |word: &str, n| resilience(&build(word, n)).exact();
    for n in [1, 2, 3, 4, 7, 8, 21, 4096] {
        assert_eq!(exact("majority", n), Some(n.div_ceil(2) - 1), "majority of {n}");
        assert_eq!((exact("singleton", n), exact("all", n)), (Some(0), Some(0)));
    }
    for (order, n) in [(2, 7), (3, 13), (4, 21), (9, 91), (32, 1057)] {
        assert_eq!(exact("plane", n), Some(order));
    }
    for root in [1, 2, 3, 8, 64] {
        assert_eq!(exact("grid", root * root), Some(root - 1));
    }
    for levels in 1..=12 {
        assert_eq!(exact("tree", (1 << levels) - 1), Some(levels - 1));
    }
    assert_eq!(exact("weighted:2,1,1,1", 4), Some(1));
}

#[test]
fn a_wall_is_nondominated_exactly_if_only_its_top_has_one_node() {
    for (widths, expected) in [
        (vec![1, 2], true),
        (vec![1, 2, 4], true),
        (vec![1, 3, 2, 2], true),
        (vec![1, 2, 3, 4, 5, 5], true),
        (vec![2, 2], false),
        (vec![2, 3, 4], false),
        (vec![3], false),
        (vec![2; 10], false),
        (vec![1; 1], true),
        (vec![1, 100, 300], true),
        (vec![2, 100, 300], false),
    ] {
        let n = widths.iter().sum();
        let system = QuorumSystem::build(&Construction::Wall(widths.clone()), n).expect("the widths sum up");
        assert_eq!(is_nondominated(&system), Some(expected), "{widths:?}");
    }
    // Nodes above a row of one node are in no minimal quorum, so some quorums contain others: such a wall is no coterie.
    // Its minimal quorums are those of the rest of the wall, which satisfies the rule.
    for (word, n) in [("wall:3,1,2", 6), ("wall:1,3,1,2", 7), ("wall:1,1", 2)] {
        let system = build(word, n);
        let ratings = Ratings::new(&system);
        assert_eq!((system.is_coterie(), ratings.is_nondominated()), (false, Some(false)), "{word}");
        assert_eq!(ratings.is_minimal_nondominated(), Some(true), "{word}");
    }
}

#[test]
fn a_coterie_as_it_is_defined_has_no_quorum_that_contains_another() {
    for (word, n) in
        [("plane", 7), ("majority", 6), ("grid", 9), ("tree", 6), ("wall:1,2,3", 6), ("cyclic", 6)]
    {
        assert!(build(word, n).is_coterie(), "{word} {n}");
    }
    for (word, n) in [("grid", 7), ("grid", 3), ("wall:1,3,1,2", 7)] {
        assert!(!build(word, n).is_coterie(), "{word} {n}");
    }
    assert!(!written("1: 1\n2: 1 2", 2).is_coterie());
    assert!(written("1: 1 2\n2: 1 2", 2).is_coterie(), "a quorum of two nodes counts once");
}

#[test]
fn the_listed_quorums_of_a_grid_survive_less_than_the_whole_family() {
    let family = build("grid", 7);
    let listed = family.listed();
    assert!(!family.lists_every_quorum() && listed.lists_every_quorum());
    let rated = |system: &QuorumSystem, compared: &[NodeSet]| {
        let ratings = Ratings::new(system);
        let failure = ratings.exact_failure(0.1).expect("few nodes");
        let overlap = Overlaps::of(compared).mean().expect("more than one quorum");
        (ratings.resilience().exact(), format!("{failure:.4}"), format!("{overlap:.3}"))
    };
    let quorums = family.quorums().expect("few");
    assert_eq!(rated(&family, &quorums), (Some(2), "0.0150".to_owned(), "1.571".to_owned()));
    let seven = family.assignment().values();
    assert_eq!(rated(&listed, seven), (Some(1), "0.0499".to_owned(), "2.238".to_owned()));
}

#[test]
fn constructions_that_list_every_quorum_are_told_from_those_that_do_not() {
    for (word, n) in [("plane", 7), ("cyclic", 9), ("all", 4), ("majority", 3), ("grid", 9), ("grid", 1)] {
        assert!(build(word, n).lists_every_quorum(), "{word} {n}");
    }
    for (word, n) in [("majority", 5), ("grid", 7), ("tree", 7), ("wall:1,2,3", 6), ("majority", 4095)] {
        assert!(!build(word, n).lists_every_quorum(), "{word} {n}");
    }
}

#[test]
fn most_constructions_put_every_node_into_its_own_quorum() {
    let words = ["majority", "grid", "truncated", "cyclic", "tree", "triangle", "cwlog", "all"];
    assert!(words.iter().all(|word| build(word, 10).contains_every_owner()));
    assert!(!build("singleton", 10).contains_every_owner());
    assert!(!written("1: 1 2\n2: 1 3\n3: 2 1", 3).contains_every_owner());
}

#[test]
fn domination_of_each_construction() {
    let nondominated = |word: &str, n| is_nondominated(&build(word, n));
    for n in [1, 3, 5, 19, 21, 4095] {
        assert_eq!((nondominated("majority", n), nondominated("majority", n + 1)), (Some(true), Some(false)));
    }
    assert_eq!(nondominated("plane", 7), Some(true));
    assert_eq!(nondominated("plane", 13), Some(false));
    assert_eq!(nondominated("plane", 21), None, "too many sets to look at");
    for n in [3, 7, 15, 31, 4095] {
        assert_eq!((nondominated("tree", n), nondominated("tree", n + 1)), (Some(true), Some(false)));
    }
    for n in [4, 9, 16, 25, 4096] {
        assert_eq!((nondominated("grid", n), nondominated("all", n)), (Some(false), Some(false)));
        assert_eq!(nondominated("singleton", n), Some(true));
    }
    assert_eq!(nondominated("weighted:3,1,1,1", 4), Some(false));
    assert_eq!(nondominated("weighted:2,1,1,1", 4), Some(true));
    let large: Vec<String> = (0..30).map(|i: u64| (u64::MAX / 7 - 2 * i).to_string()).collect();
    assert_eq!(nondominated(&format!("weighted:{}", large.join(",")), 30), None, "too many sums to try");
}

/// Checks the load by its definition: the strategy asks quorums only, the busiest node has the load, and
/// every quorum weighs at least as much.
fn recheck(system: &QuorumSystem, certificate: &Certificate, load: Fraction) {
    let quorums = system.quorums().expect("few");
    let requests: u128 = certificate.strategy.iter().map(|(_, share)| share).sum();
    let asked = |node: NodeId| -> u128 {
        let with_node = certificate.strategy.iter().filter(|(quorum, _)| quorum.contains(node));
        with_node.map(|(_, share)| share).sum()
    };
    let busiest = NodeId::first(system.n()).map(asked).max().expect("there is a node");
    assert_eq!(busiest * load.denominator(), load.numerator() * requests);
    let weight: u128 = certificate.weights.values().iter().sum();
    for quorum in &quorums {
        let weighs: u128 = quorum.iter().map(|node| certificate.weights[node]).sum();
        assert!(weighs * load.denominator() >= load.numerator() * weight, "{quorum} is too light");
    }
    for (asked, _) in &certificate.strategy {
        assert!(quorums.iter().any(|quorum| quorum.is_subset(asked)), "{asked} is no quorum");
    }
}

#[test]
fn every_small_load_has_a_valid_certificate() {
    let shapes =
        (1..=13).flat_map(|n| ["majority", "grid", "tree", "triangle", "cwlog"].map(|word| build(word, n)));
    for system in sets().into_iter().chain(shapes) {
        let load = load(&system);
        let (exact, certificate) = (load.exact.expect("small"), load.certificate.expect("small"));
        recheck(&system, &certificate, exact);
        assert_eq!(certificate.verify(&system.quorums().expect("few")), Some(exact));
    }
}

#[test]
fn a_wrong_certificate_is_rejected() {
    let wall = build("wall:1,2,4", 7);
    let (quorums, right) = (wall.quorums().expect("few"), load(&wall).certificate.expect("small"));
    for place in 0..right.strategy.len() {
        let mut wrong = right.clone();
        wrong.strategy[place].1 += 1;
        assert_eq!(wrong.verify(&quorums), None, "another share in place {place}");
        let mut wrong = right.clone();
        let gone = wrong.strategy[place].0.least().expect("not empty");
        wrong.strategy[place].0.remove(gone);
        assert_eq!(wrong.verify(&quorums), None, "no quorum in place {place}");
    }
    for node in NodeId::first(7) {
        let mut wrong = right.clone();
        wrong.weights[node] += 1;
        assert_eq!(wrong.verify(&quorums), None, "another weight of node {node}");
    }
    let nothing = Certificate { strategy: Vec::new(), weights: PerNode::same(7, 0) };
    assert_eq!(nothing.verify(&quorums), None);
}

#[test]
fn resilience_agrees_with_an_enumeration_of_crashes() {
    for system in sets() {
        let n = system.n();
        let nodes = |bits: usize| NodeId::first(n).filter(move |node| bits >> node.index() & 1 == 1);
        let kills = |bits: &usize| system.choose(&nodes(!bits).collect()).is_none();
        let smallest = (0..1_usize << n).filter(kills).map(usize::count_ones).min().expect("all crash");
        let expected = smallest as usize - 1;
        assert_eq!(
            resilience(&system),
            Interval { least: expected, most: expected },
            "{} of {n}",
            system.construction()
        );
    }
}

#[test]
fn failure_agrees_with_an_enumeration_of_crashes() {
    for system in sets().into_iter().filter(|system| system.n() <= 12) {
        let n = system.n();
        let alive =
            |bits: usize| NodeId::first(n).filter(move |node| bits >> node.index() & 1 == 1).collect();
        let chance = |bits: usize| {
            let alive = bits.count_ones() as i32;
            0.75_f64.powi(alive) * 0.25_f64.powi(n as i32 - alive)
        };
        let failing = (0..1_usize << n).filter(|&bits| system.choose(&alive(bits)).is_none());
        let expected: f64 = failing.map(chance).sum();
        let found = Ratings::new(&system).exact_failure(0.25).expect("few nodes");
        assert!((found - expected).abs() < 1e-12, "{} of {n}: {found} {expected}", system.construction());
    }
}

#[test]
fn sampled_crashes_have_an_interval_that_contains_the_exact_value() {
    // A majority from a file has no shape, and 21 nodes are too many to enumerate.
    let line = |i: usize| {
        format!(
            "{}: {}\n",
            i + 1,
            (0..11).map(|k| ((i + k) % 21 + 1).to_string()).collect::<Vec<_>>().join(" ")
        )
    };
    let ring = written(&(0..21).map(line).collect::<String>(), 21);
    let ratings = Ratings::new(&ring);
    assert_eq!(ratings.exact_failure(0.1), None);
    let failures = ratings.failures(&[0.1, 0.0, 1.0], &mut chance(7));
    let exact = consecutive_run_failure(21, 11, 0.1);
    let Failure::Drawn { probability, least, most, draws } = failures[0] else { panic!("{failures:?}") };
    assert!(least <= exact && exact <= most, "{exact} is not from {least} to {most}");
    assert!(least < probability && probability < most && most - least < 0.01 && draws == 100_000);
    assert_eq!((failures[1].probability(), failures[2].probability()), (0.0, 1.0));
    assert_eq!(failures, ratings.failures(&[0.1, 0.0, 1.0], &mut chance(7)), "a seed gives the same again");
}

/// The probability that no `run` neighbours in a ring of `n` are alive, by enumeration.
fn consecutive_run_failure(n: u32, run: u32, crashed: f64) -> f64 {
    let (all, window) = ((1_u64 << n) - 1, (1_u64 << run) - 1);
    let has_run = |bits: u64| {
        let twice = bits | bits << n;
        (0..n).any(|start| twice >> start & window == window)
    };
    let chance = |bits: u64| {
        let alive = bits.count_ones() as i32;
        (1.0 - crashed).powi(alive) * crashed.powi(n as i32 - alive)
    };
    (0..=all).filter(|&bits| !has_run(bits)).map(chance).sum()
}

#[test]
fn large_systems_have_bounds_that_hold() {
    let truncated = load(&build("truncated", 100));
    assert!(truncated.exact.is_none() && truncated.certificate.is_none());
    assert!(
        truncated.least > 0.15 && truncated.least < truncated.most && truncated.most < 0.16,
        "{truncated:?}"
    );
    let cyclic = resilience(&build("cyclic", 300));
    assert!(cyclic.least < cyclic.most && cyclic.exact().is_none(), "{cyclic:?}");
    let weights: Vec<String> = (0..100).map(|i: u64| (i * i % 997 + 1).to_string()).collect();
    let weighted = build(&format!("weighted:{}", weights.join(",")), 100);
    let load = load(&weighted);
    assert!(load.least >= 0.5 && load.least < load.most && load.most < 0.51, "{load:?}");
    assert!(resilience(&weighted).exact().is_some());
}

#[test]
fn votes_bound_the_load_by_a_half() {
    // Too many distinct votes for an exact load, but so equal that it is nearly a half.
    for n in [65, 100] {
        let weights: Vec<String> = (0..n).map(|i| (1000 + i).to_string()).collect();
        let load = load(&build(&format!("weighted:{}", weights.join(",")), n));
        assert!(load.least >= 0.5 && load.least < load.most && load.most < 0.52, "{n}: {load:?}");
    }
}

#[test]
fn a_node_in_every_quorum_carries_the_whole_load() {
    let line = |i: usize| format!("{}: 1 {} {}\n", i + 1, i % 99 + 2, (i + 1) % 99 + 2);
    let system = written(&(0..100).map(line).collect::<String>(), 100);
    let load = load(&system);
    let certificate = load.certificate.expect("it is plain");
    assert_eq!(certificate.verify(&system.quorums().expect("few")), Some(fraction(1, 1)));
    assert_eq!(resilience(&system).exact(), Some(0));
}

#[test]
fn overlaps_are_counted_by_pairs() {
    let plane = Overlaps::of(build("plane", 13).assignment().values());
    assert_eq!(plane.pairs().collect::<Vec<_>>(), [(1, 13 * 12 / 2)]);
    let grid = Overlaps::of(build("grid", 9).assignment().values());
    assert_eq!(grid.pairs().collect::<Vec<_>>(), [(2, 18), (3, 18)]);
    assert_eq!((grid.least(), grid.mean(), grid.most()), (Some(2), Some(2.5), Some(3)));
    assert_eq!(Overlaps::of(&[NodeSet::first(3)]).mean(), None);
    assert_eq!(Ratings::new(&build("majority", 40)).overlaps(), None, "too many quorums");
}

#[test]
fn shapes_give_the_layout_of_the_nodes() {
    let numbers = |rows: &[Vec<NodeId>]| -> Vec<Vec<u32>> {
        rows.iter().map(|row| row.iter().map(|node| node.number()).collect()).collect()
    };
    let Shape::Grid(rows) = build("grid", 8).shape() else { panic!("a grid") };
    assert_eq!(numbers(&rows), [vec![1, 2, 3], vec![4, 5, 6], vec![7, 8]]);
    let Shape::Wall(rows) = build("triangle", 6).shape() else { panic!("a wall") };
    assert_eq!(numbers(&rows), [vec![1], vec![2, 3], vec![4, 5, 6]]);
    let Shape::Tree(children) = build("tree", 4).shape() else { panic!("a tree") };
    assert_eq!(numbers(children.values()), [vec![2, 3], vec![4], vec![], vec![]]);
    assert_eq!((build("plane", 7).shape(), build("cyclic", 8).shape()), (Shape::Plane, Shape::Sets));
    assert_eq!(build("cyclic", 7).shape(), Shape::Plane, "its seven sets are the lines of a plane too");
}
