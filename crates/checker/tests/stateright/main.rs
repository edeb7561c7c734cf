//! The same systems in an independent checker, the crate `stateright`: the numbers of states and steps agree,
//! and so do the verdicts on state properties.

mod adapter;

use adapter::{EXCLUSION, NO_DEADLOCK, Peer};
use doorway_catalog::Catalog;
use doorway_checker::{Exploration, Messages, Property, Search, Setting, explore};
use doorway_core::{Channels, NodeId, Options, Start};
use stateright::{Checker, HasDiscoveries, Model};

/// An algorithm, its option, the number of requests of each node, the channels, and the node inside at the
/// start.
#[derive(Clone, Copy, Debug)]
struct Instance(&'static str, &'static str, &'static [u32], Channels, Option<usize>);

impl Instance {
    fn system(self) -> Messages {
        let Instance(name, choice, requests, channels, holder) = self;
        let start = holder.map_or(Start::Empty, |holder| Start::Inside(NodeId::new(holder)));
        let setting = Setting { start, ..Setting::new(requests.to_vec(), channels) };
        let choice = choice.split_once('=');
        let options = choice.map_or_else(Options::none, |(name, word)| Options::none().with(name, word));
        let subject = Catalog::textbook().subject(name, &options);
        subject.expect("a known algorithm with valid options").system(setting).expect("it fits")
    }

    fn ours(self) -> Exploration {
        explore(&mut self.system(), &Search::default(), &mut |_| ())
    }
}

/// The other checker's numbers of states and steps, and the length of its shortest counterexample to each
/// property.
#[derive(Debug, PartialEq, Eq)]
struct Theirs {
    states: usize,
    transitions: usize,
    exclusion: Option<usize>,
    deadlock: Option<usize>,
}

/// Explores with the other checker, until one of these properties is violated.
fn theirs(instance: Instance, promises: &[&'static str]) -> Theirs {
    let peer = Peer::new(instance.system(), promises);
    let search = peer.checker().threads(1).finish_when(HasDiscoveries::Any).spawn_bfs().join();
    let run = |name: &'static str| search.discovery(name).map(|path| path.into_actions().len());
    let [exclusion, deadlock] =
        [EXCLUSION, NO_DEADLOCK].map(|name| promises.contains(&name).then(|| run(name)).flatten());
    let transitions = search.state_count() - 1;
    Theirs { states: search.unique_state_count(), transitions, exclusion, deadlock }
}

/// Two instances of each algorithm, the second of them with a node inside at the start.
const CORRECT: &[Instance] = &[
    Instance("central", "", &[2, 2, 2], Channels::Any, None),
    Instance("central", "", &[2, 2, 2], Channels::Fifo, Some(1)),
    Instance("token-ring", "", &[2, 2, 2], Channels::Any, None),
    Instance("token-ring", "", &[2, 2, 2, 1], Channels::Any, Some(2)),
    Instance("replicated", "", &[2, 1, 1], Channels::Fifo, None),
    Instance("replicated", "", &[1, 1, 1], Channels::Fifo, Some(1)),
    Instance("lamport", "", &[3, 3], Channels::Fifo, None),
    Instance("lamport", "", &[1, 1, 1], Channels::Fifo, Some(0)),
    Instance("ricart-agrawala", "", &[2, 2, 1], Channels::Any, None),
    Instance("ricart-agrawala", "", &[1, 1, 1], Channels::Causal, Some(2)),
    Instance("carvalho-roucairol", "", &[2, 1, 1], Channels::Any, None),
    Instance("carvalho-roucairol", "", &[2, 1, 1], Channels::Fifo, Some(1)),
    Instance("maekawa", "quorum=cyclic", &[2, 2, 2], Channels::Any, None),
    Instance("maekawa", "quorum=all", &[1, 1, 1], Channels::Any, Some(0)),
    Instance("sanders", "structure=ricart-agrawala", &[2, 1, 1], Channels::Any, None),
    Instance("sanders", "structure=lamport", &[1, 1, 1], Channels::Any, Some(2)),
    Instance("suzuki-kasami", "", &[2, 2, 2], Channels::Any, None),
    Instance("suzuki-kasami", "", &[2, 2, 1], Channels::Causal, Some(1)),
    Instance("singhal", "", &[2, 2, 1], Channels::Any, None),
    Instance("singhal", "", &[2, 2, 2], Channels::Fifo, Some(1)),
    Instance("raymond", "tree=chain", &[2, 2, 2], Channels::Any, None),
    Instance("raymond", "tree=star", &[1, 1, 1, 1], Channels::Any, Some(3)),
    Instance("naimi-trehel", "", &[2, 2, 2], Channels::Any, None),
    Instance("naimi-trehel", "", &[1, 1, 1, 1], Channels::Any, Some(1)),
    Instance("cao-singhal", "quorum=cyclic", &[1, 1, 1], Channels::Any, None),
    Instance("cao-singhal", "quorum=cyclic", &[1, 1, 1], Channels::Fifo, Some(2)),
];

#[test]
fn every_correct_algorithm_is_listed_twice() {
    for about in Catalog::textbook().list() {
        let there = CORRECT.iter().filter(|instance| instance.0 == about.name).count();
        assert_eq!(there, if about.specimen.is_some() { 0 } else { 2 }, "{}", about.name);
    }
}

#[test]
fn both_checkers_count_the_same_states_and_steps() {
    for &instance in CORRECT {
        let ours = instance.ours();
        assert!(ours.is_complete && ours.violations.is_empty(), "{instance:?}: {:?}", ours.violations);
        let [states, transitions] = [ours.states, ours.transitions].map(|count| count as usize);
        let expected = Theirs { states, transitions, exclusion: None, deadlock: None };
        assert_eq!(theirs(instance, &[EXCLUSION, NO_DEADLOCK]), expected, "{instance:?}");
    }
}

/// Specimens with the property that they break.
const SPECIMENS: &[(Instance, Property)] = &[
    (Instance("lamport/any-order", "", &[1, 1], Channels::Any, None), Property::MutualExclusion),
    (
        Instance("ricart-agrawala/deferred-not-cleared", "", &[3, 3], Channels::Any, None),
        Property::MutualExclusion,
    ),
    (
        Instance("maekawa/no-failed-when-overtaken", "quorum=grid", &[0, 1, 1, 1], Channels::Fifo, None),
        Property::DeadlockFreedom,
    ),
    (
        Instance("carvalho-roucairol/no-asking-back", "", &[2, 2, 1], Channels::Fifo, None),
        Property::DeadlockFreedom,
    ),
];

#[test]
fn both_checkers_find_the_fault_of_a_specimen_in_as_many_steps() {
    for &(instance, property) in SPECIMENS {
        let ours = instance.ours();
        let run = ours.violations.iter().find(|violation| violation.property == property);
        let steps = run.map(|run| run.steps.len());
        assert!(steps.is_some(), "{instance:?}");
        let found = match property {
            Property::MutualExclusion => theirs(instance, &[EXCLUSION]).exclusion,
            _ => theirs(instance, &[NO_DEADLOCK]).deadlock,
        };
        assert_eq!(found, steps, "{instance:?}");
    }
}
