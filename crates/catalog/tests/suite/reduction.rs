//! What the promises of algorithms leave out makes no difference: the full search comes to the same verdicts and the same ends.

use std::collections::BTreeSet;

use doorway_checker::{
    Exploration, ProgressNeeds, Property, Runs, Search, Setting, Violation, counts, explore,
};
use doorway_core::{Channels, NodeId, Start};

use crate::laboratory::{subject, textbook};

/// What must be the same.
#[derive(Debug, PartialEq)]
struct Told {
    broken: Vec<Property>,
    ends: BTreeSet<String>,
    progress: Option<ProgressNeeds>,
    messages: Option<counts::Messages>,
}

/// An algorithm, what is chosen for it, how often each node asks, the channels, and how many states there are in full and reduced.
type Known = (&'static str, &'static str, &'static [u32], Channels, u64, u64);

const INSTANCES: &[Known] = &[
    ("central", "", &[2, 2, 2], Channels::Fifo, 727, 637),
    ("central", "", &[2, 2, 2], Channels::Any, 869, 613),
    ("token-ring", "", &[2, 2, 2], Channels::Fifo, 525, 525),
    ("token-ring", "", &[2, 2, 2], Channels::Any, 525, 456),
    ("lamport", "", &[1, 1, 1], Channels::Fifo, 178_522, 65_961),
    ("lamport", "", &[2, 2], Channels::Fifo, 1_000, 401),
    ("ricart-agrawala", "", &[2, 2, 1], Channels::Fifo, 15_258, 4_141),
    ("ricart-agrawala", "", &[2, 2, 1], Channels::Any, 39_381, 6_388),
    ("carvalho-roucairol", "", &[2, 1, 1], Channels::Fifo, 8_205, 4_332),
    ("carvalho-roucairol", "", &[2, 1, 1], Channels::Any, 15_508, 6_507),
    ("maekawa", "quorum=cyclic", &[2, 2, 2], Channels::Fifo, 9_697, 6_372),
    ("maekawa", "quorum=cyclic", &[2, 2, 2], Channels::Any, 68_959, 14_894),
    ("maekawa", "quorum=all", &[1, 1, 1], Channels::Fifo, 10_950, 10_482),
    ("maekawa", "quorum=all", &[1, 1, 1], Channels::Any, 31_216, 19_661),
    ("sanders", "structure=ricart-agrawala", &[2, 1, 1], Channels::Fifo, 12_940, 10_571),
    ("sanders", "structure=ricart-agrawala", &[2, 1, 1], Channels::Any, 42_474, 22_716),
    ("suzuki-kasami", "", &[2, 2, 2], Channels::Fifo, 14_346, 10_705),
    ("suzuki-kasami", "", &[2, 2, 2], Channels::Any, 60_449, 17_479),
    ("singhal", "", &[2, 2, 1], Channels::Fifo, 4_317, 3_109),
    ("singhal", "", &[2, 2, 1], Channels::Any, 15_480, 5_918),
    ("raymond", "tree=chain", &[2, 2, 2], Channels::Fifo, 860, 860),
    ("raymond", "tree=chain", &[2, 2, 2], Channels::Any, 1_012, 917),
    ("naimi-trehel", "", &[2, 2, 2], Channels::Fifo, 1_504, 1_462),
    ("naimi-trehel", "", &[2, 2, 2], Channels::Any, 1_616, 1_562),
    ("cao-singhal", "quorum=cyclic", &[1, 1, 1], Channels::Fifo, 2_526, 970),
    ("cao-singhal", "quorum=cyclic", &[1, 1, 1], Channels::Any, 3_701, 1_292),
];

fn both(
    name: &str,
    choice: &str,
    requests: &[u32],
    channels: Channels,
    start: Start,
) -> [(Exploration, Told); 2] {
    let subject = subject(name, choice);
    [false, true].map(|reduction| {
        let setting = Setting { start, reduction, ..Setting::new(requests.to_vec(), channels) };
        let mut system = subject.system(setting).expect("it fits");
        let runs = Runs { progress: Some(None), waiting: false, messages: true };
        let search = Search { runs, keep_terminals: true, ..Search::default() };
        let explored = explore(&mut system, &search, &mut |_| ());
        let kinds: BTreeSet<Property> =
            explored.violations.iter().map(|Violation { property, .. }| *property).collect();
        let told = Told {
            broken: kinds.into_iter().collect(),
            ends: explored.terminals.iter().map(|state| system.picture(state)).collect(),
            progress: explored.progress.clone(),
            messages: explored.messages,
        };
        (explored, told)
    })
}

#[test]
fn with_and_without_reduction_verdicts_ends_and_message_counts_are_the_same() {
    let mut seen = Vec::new();
    for &(name, choice, requests, channels, ..) in INSTANCES {
        let [(full, told), (reduced, told_reduced)] = both(name, choice, requests, channels, Start::Empty);
        assert!(full.is_complete && reduced.is_complete, "{name} {requests:?}");
        assert_eq!(told, told_reduced, "{name} {requests:?} {channels:?}");
        seen.push((name, choice, requests, channels, full.states, reduced.states));
    }
    assert_eq!(seen, INSTANCES);
}

#[test]
fn the_same_is_so_with_a_node_inside_and_for_specimens() {
    for about in textbook().list() {
        for channels in [Channels::Fifo, Channels::Any] {
            if about.needs == Channels::Fifo && channels == Channels::Any {
                continue;
            }
            let is_small = about.specimen.is_some() || about.name == "lamport";
            let requests: &[u32] = if is_small { &[1, 1] } else { &[1, 1, 1] };
            for start in [Start::Empty, Start::Inside(NodeId::new(1))] {
                let [(full, told), (reduced, told_reduced)] = both(about.name, "", requests, channels, start);
                assert!(full.is_complete && reduced.is_complete, "{}", about.name);
                assert_eq!(told, told_reduced, "{} {channels:?} {start:?}", about.name);
            }
        }
    }
}
