//! Instances that are known to finish, with their exact numbers of states, and specimens whose shortest runs are known.

use doorway_checker::{Exploration, Property, Search, SearchLimits, Setting, Watches, explore};
use doorway_core::{Channels, Members, Start, Stop};

use crate::laboratory::{subject, textbook};

const PLAIN: Watches = Watches { invariants: true, fences: false, order: false, doorways: false };
const FENCED: Watches = Watches { fences: true, ..PLAIN };

fn explored(
    name: &str,
    choice: &str,
    requests: &[u32],
    channels: Channels,
    start: Start,
    watches: Watches,
) -> Exploration {
    let setting = Setting { start, watches, ..Setting::new(requests.to_vec(), channels) };
    let mut system = subject(name, choice).system(setting).expect("it fits");
    explore(&mut system, &Search::default(), &mut |_| ())
}

/// An algorithm, what is chosen for it, how often each node asks, and the channels; then two numbers.
type Known<T, U> = (&'static str, &'static str, &'static [u32], Channels, T, U);

/// Instances with the number of their states: as the nodes are, and with fences.
const INSTANCES: &[Known<u64, u64>] = &[
    ("central", "", &[2, 2, 2], Channels::Any, 869, 1_832),
    ("token-ring", "", &[2, 2, 2], Channels::Any, 525, 1_200),
    ("lamport", "", &[1, 1, 1], Channels::Fifo, 178_522, 208_548),
    ("lamport", "", &[3, 3], Channels::Fifo, 5_164, 5_391),
    ("ricart-agrawala", "", &[2, 2, 1], Channels::Any, 39_381, 53_822),
    ("carvalho-roucairol", "", &[2, 1, 1], Channels::Any, 15_508, 16_084),
    ("carvalho-roucairol", "", &[2, 2, 1], Channels::Fifo, 21_353, 23_042),
    ("maekawa", "quorum=cyclic", &[2, 2, 2], Channels::Any, 68_959, 279_545),
    ("maekawa", "quorum=all", &[2, 1, 1], Channels::Any, 405_805, 1_829_728),
    ("sanders", "structure=ricart-agrawala", &[2, 1, 1], Channels::Any, 42_474, 146_198),
    ("sanders", "structure=lamport", &[1, 1, 1], Channels::Any, 31_216, 84_124),
    ("sanders", "structure=four-node", &[1, 1, 1, 1], Channels::Any, 45_366, 116_866),
    ("sanders", "structure=four-node", &[2, 2, 1, 0], Channels::Any, 14_349, 47_973),
    ("suzuki-kasami", "", &[2, 2, 2], Channels::Any, 60_449, 107_366),
    ("singhal", "", &[2, 2, 2], Channels::Any, 215_593, 305_201),
    ("raymond", "tree=chain", &[2, 2, 2], Channels::Any, 1_012, 2_090),
    ("raymond", "tree=star", &[1, 1, 1, 1], Channels::Any, 1_049, 1_218),
    ("naimi-trehel", "", &[2, 2, 2], Channels::Any, 1_616, 2_704),
    ("naimi-trehel", "", &[1, 1, 1, 1], Channels::Any, 1_476, 1_512),
    ("cao-singhal", "quorum=cyclic", &[1, 1, 1], Channels::Any, 3_701, 5_597),
];

#[test]
fn correct_algorithms_are_safe_free_of_deadlock_and_fenced_in_every_reachable_state() {
    let mut seen = Vec::new();
    for &(name, choice, requests, channels, ..) in INSTANCES {
        let [plain, fenced] = [PLAIN, FENCED].map(|watches| {
            let found = explored(name, choice, requests, channels, Start::Empty, watches);
            assert!(
                found.is_complete && found.violations.is_empty(),
                "{name} {requests:?}: {:?}",
                found.violations
            );
            found.states
        });
        seen.push((name, choice, requests, channels, plain, fenced));
    }
    assert_eq!(seen, INSTANCES);
}

/// Larger ones, without fences, with the numbers of their states and of the steps between them.
const LARGE: &[Known<u64, u64>] = &[
    ("maekawa", "quorum=grid", &[1, 1, 1, 1], Channels::Any, 732_442, 3_722_514),
    ("cao-singhal", "quorum=cyclic", &[2, 2, 1], Channels::Any, 1_894_595, 8_522_305),
];

#[test]
fn four_nodes_in_a_grid_and_cao_singhal_with_two_requests_are_safe_and_free_of_deadlock() {
    for &(name, choice, requests, channels, states, steps) in LARGE {
        let found = explored(name, choice, requests, channels, Start::Empty, PLAIN);
        assert!(found.is_complete && found.violations.is_empty(), "{name}: {:?}", found.violations);
        assert_eq!((found.states, found.transitions), (states, steps), "{name}");
    }
}

#[test]
fn the_instances_are_as_safe_with_the_first_node_inside_at_the_start() {
    let start = Start::Inside(doorway_core::NodeId::new(0));
    for &(name, choice, requests, channels, ..) in INSTANCES {
        let found = explored(name, choice, requests, channels, start, PLAIN);
        assert!(found.is_complete && found.violations.is_empty(), "{name}: {:?}", found.violations);
    }
}

#[test]
fn with_a_node_inside_at_the_start_the_same_holds_for_every_such_node() {
    for about in textbook().list() {
        if about.specimen.is_some() {
            continue;
        }
        for holder in Members::new(3).expect("three").iter() {
            let found = explored(about.name, "", &[1, 1, 1], about.needs, Start::Inside(holder), PLAIN);
            assert!(
                found.is_complete && found.violations.is_empty(),
                "{} {holder}: {:?}",
                about.name,
                found.violations
            );
        }
    }
}

/// Specimens with the property that they break and the length of a shortest run.
const SPECIMENS: &[Known<Property, usize>] = &[
    ("lamport/any-order", "", &[1, 1], Channels::Any, Property::MutualExclusion, 4),
    ("lamport/stamped-early", "", &[1, 1], Channels::Fifo, Property::MutualExclusion, 6),
    ("lamport/equal-stamps", "", &[1, 1], Channels::Fifo, Property::MutualExclusion, 6),
    ("lamport/stamp-per-copy", "", &[0, 0, 1], Channels::Fifo, Property::DeadlockFreedom, 7),
    ("ricart-agrawala/deferred-not-cleared", "", &[3, 3], Channels::Any, Property::MutualExclusion, 17),
    ("ricart-agrawala/deferred-not-cleared", "", &[3, 3], Channels::Fifo, Property::MutualExclusion, 20),
    ("ricart-agrawala/stamped-early", "", &[1, 1], Channels::Any, Property::MutualExclusion, 8),
    ("ricart-agrawala/equal-stamps", "", &[1, 1], Channels::Fifo, Property::MutualExclusion, 6),
    ("carvalho-roucairol/no-asking-back", "", &[2, 2, 1], Channels::Fifo, Property::DeadlockFreedom, 21),
    ("carvalho-roucairol/permission-kept", "", &[2, 2, 1], Channels::Fifo, Property::MutualExclusion, 12),
    ("maekawa/basic", "quorum=cyclic", &[1, 1, 1], Channels::Fifo, Property::DeadlockFreedom, 6),
    (
        "maekawa/no-failed-when-overtaken",
        "quorum=grid",
        &[0, 1, 1, 1],
        Channels::Fifo,
        Property::DeadlockFreedom,
        14,
    ),
    ("maekawa/failed-remembered", "quorum=cyclic", &[2, 2, 2], Channels::Fifo, Property::MutualExclusion, 11),
    ("maekawa/never-free", "quorum=cyclic", &[1, 1, 1], Channels::Fifo, Property::DeadlockFreedom, 7),
    ("maekawa/one-inquire-answered", "quorum=all", &[1, 1, 1], Channels::Fifo, Property::DeadlockFreedom, 10),
    ("maekawa/inquired-for-ever", "quorum=cyclic", &[2, 2, 2], Channels::Fifo, Property::DeadlockFreedom, 17),
    ("sanders/no-remedy", "", &[1, 1], Channels::Fifo, Property::DeadlockFreedom, 4),
    ("suzuki-kasami/own-entry", "", &[2, 2], Channels::Fifo, Property::DeadlockFreedom, 4),
    ("singhal/idle-while-inside", "", &[1, 1], Channels::Fifo, Property::MutualExclusion, 4),
    ("singhal/no-chase", "", &[2, 2, 2], Channels::Fifo, Property::DeadlockFreedom, 15),
    ("raymond/token-away-while-inside", "", &[1, 1], Channels::Fifo, Property::MutualExclusion, 4),
];

#[test]
fn specimens_are_refuted_by_shortest_runs_of_the_lengths_known() {
    for &(name, choice, requests, channels, property, steps) in SPECIMENS {
        let found = explored(name, choice, requests, channels, Start::Empty, Watches::default());
        let violation = found.violations.iter().find(|violation| violation.property == property);
        assert_eq!(violation.map(|violation| violation.steps.len()), Some(steps), "{name} {requests:?}");
    }
}

#[test]
fn a_limit_ends_the_search_and_nothing_is_said_to_be_complete() {
    let limits = SearchLimits { states: 1_000, ..SearchLimits::default() };
    let setting = Setting { watches: PLAIN, ..Setting::new(vec![2, 2, 2], Channels::Any) };
    let mut system = subject("ricart-agrawala", "").system(setting).expect("it fits");
    let found = explore(&mut system, &Search { limits, ..Search::default() }, &mut |_| ());
    assert!(!found.is_complete && found.states >= 1_000 && found.states < 60_000, "{}", found.states);
}

/// Explores three nodes of Lamport's algorithm and says stop when so many states were found.
fn stopped(enough: u64) -> Exploration {
    let setting = Setting::new(vec![1; 3], Channels::Fifo);
    let mut system = subject("lamport", "").system(setting).expect("it fits");
    let stop = Stop::default();
    let search = Search { stop: stop.clone(), ..Search::default() };
    explore(&mut system, &search, &mut |states| {
        if states >= enough {
            stop.say();
        }
    })
}

#[test]
fn a_search_that_is_told_to_stop_does_so_and_has_not_seen_all() {
    let early = stopped(10_000);
    assert!(!early.is_complete && (10_000..100_000).contains(&early.states), "{}", early.states);
    let whole = stopped(u64::MAX);
    assert!(whole.is_complete && whole.states > 150_000);
}
