//! The promises of [`doorway_core::Hints`], each held against what it promises.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use doorway_algorithms::lemmas::{CountedTogether, held};
use doorway_algorithms::message::singhal;
use doorway_core::{Channels, Entry, Explain, Group, Hints, Options, Phase, Start, kind};

use crate::textbook::{Visit, visit_all};
use crate::world::{Chance, Parcel, Run, Step, Trial, World, a_few, try_all, try_one};

/// How long a run may be; only the ring's token does not stop by itself.
const LONGEST: usize = 300;

/// The state after some steps, each followed by `forget`.
fn after<A: Explain + Hints>(world: &World<A>, steps: &[&Step<A::Msg>]) -> Result<World<A>, String> {
    let mut world = world.clone();
    for &step in steps {
        let mut step = step.clone();
        if let (Step::Deliver(parcel), true) = (&mut step, world.is_last()) {
            A::forget_in(&mut parcel.msg);
        }
        world.make(&step)?;
        world.forget();
    }
    Ok(world.sorted())
}

fn sends_nothing<A: Explain + Hints>(world: &World<A>, step: &Step<A::Msg>) -> bool {
    world.clone().make(step).is_ok_and(|sent| sent.is_empty())
}

/// Compares a promised delivery now with the same delivery after `others`.
fn compare<A: Explain + Hints>(
    world: &World<A>,
    promised: &Parcel<A::Msg>,
    others: &[Step<A::Msg>],
) -> Result<(), String> {
    let promised = Step::Deliver(promised.clone());
    let mut world = world.clone();
    // Who sends nothing must not change the order in any channel either.
    world.fifo |= sends_nothing(&world, &promised);
    let now = after(&world, &[&promised].into_iter().chain(others).collect::<Vec<_>>())?;
    let later = after(&world, &others.iter().chain([&promised]).collect::<Vec<_>>())?;
    let phase_of = |world: &World<A>| world.nodes[promised.node().index()].phase();
    if phase_of(&after(&world, &[&promised])?) != phase_of(&world) {
        return Err("it changes the phase".to_owned());
    }
    if now != later {
        return Err(format!("{:?}\n\nis not\n\n{:?}", now.nodes, later.nodes));
    }
    Ok(())
}

/// A run in which each state is looked at before the next step.
fn walk<A: Explain + Hints>(run: Run<'_, A>, look: &mut dyn FnMut(&World<A>, &mut Chance)) {
    let Run { mut world, mut chance, .. } = run;
    for _ in 0..LONGEST {
        look(&world, &mut chance);
        let steps = world.steps();
        if world.is_over() || steps.is_empty() {
            return;
        }
        world.make(&steps[chance.below(steps.len())]).ok();
        world.forget();
    }
}

/// Every promised delivery against every one or two other steps of its node.
#[derive(Default)]
struct Locally {
    promised: BTreeMap<(&'static str, &'static str), u64>,
}

impl Trial for Locally {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let (name, seed) = (run.about.name, run.seed);
        walk(run, &mut |world, _| {
            for parcel in world.promised() {
                *self.promised.entry((name, kind(&parcel.msg).name)).or_default() += 1;
                let at_once = Step::Deliver(parcel.clone());
                let is_other = |step: &Step<A::Msg>| step.node() == parcel.to && *step != at_once;
                for first in world.steps().into_iter().filter(is_other) {
                    let mut next = world.clone();
                    next.make(&first).ok();
                    let seconds = next.steps().into_iter().filter(is_other);
                    for others in
                        seconds.map(|second| vec![first.clone(), second]).chain([vec![first.clone()]])
                    {
                        compare(world, parcel, &others).unwrap_or_else(|what| {
                            panic!("{name}, seed {seed}: {parcel:?} and {others:?}: {what}")
                        });
                    }
                }
            }
        });
    }
}

#[test]
fn a_promised_delivery_commutes_with_whatever_its_node_can_do_now() {
    let mut tried = Locally::default();
    try_all(&mut tried, 60, None);
    try_all(&mut tried, 60, Some(Channels::Any));
    try_all(&mut tried, 60, Some(Channels::Fifo));
    let kinds: Vec<(&str, &str)> = tried.promised.into_keys().collect();
    let expected = [
        ("cao-singhal", "FAILED"),
        ("cao-singhal", "TRANSFER"),
        ("carvalho-roucairol", "REQUEST"),
        ("central", "RELEASE"),
        ("lamport", "REPLY"),
        ("maekawa", "FAILED"),
        ("maekawa", "INQUIRE"),
        ("raymond", "TOKEN"),
        ("ricart-agrawala", "REPLY"),
        ("ricart-agrawala", "REQUEST"),
        ("sanders", "FAILED"),
        ("sanders", "INQUIRE"),
        ("singhal", "REQUEST"),
        ("suzuki-kasami", "REQUEST"),
        ("token-ring", "TOKEN"),
    ];
    assert_eq!(kinds, expected, "these are the kinds of message that are ever promised");
}

/// A promised delivery against a whole piece of a run in which it is put off.
struct PutOff;

impl Trial for PutOff {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let (name, seed) = (run.about.name, run.seed);
        walk(run, &mut |world, chance| {
            let promised: Vec<_> = world.promised().collect();
            if promised.is_empty() {
                return;
            }
            let parcel = promised[chance.below(promised.len())];
            if world.fifo && !sends_nothing(world, &Step::Deliver(parcel.clone())) {
                return;
            }
            let others = without(world, parcel, 1 + chance.below(20), chance);
            compare(world, parcel, &others)
                .unwrap_or_else(|what| panic!("{name}, seed {seed}: {parcel:?} after {others:?}: {what}"));
        });
    }
}

/// Some steps of a run in which `parcel` does not arrive.
fn without<A: Explain + Hints>(
    world: &World<A>,
    parcel: &Parcel<A::Msg>,
    length: usize,
    chance: &mut Chance,
) -> Vec<Step<A::Msg>> {
    let (mut world, mut parcel) = (world.clone(), parcel.clone());
    let mut made = Vec::new();
    for _ in 0..length {
        let mut steps = world.steps();
        let place = steps.iter().position(|step| *step == Step::Deliver(parcel.clone()));
        steps.remove(place.expect("it is in flight"));
        if steps.is_empty() {
            break;
        }
        let step = steps.swap_remove(chance.below(steps.len()));
        world.make(&step).ok();
        world.forget();
        if world.is_last() {
            A::forget_in(&mut parcel.msg);
        }
        made.push(step);
    }
    made
}

#[test]
fn a_promised_delivery_made_at_once_leads_where_it_leads_when_it_is_put_off() {
    try_all(&mut PutOff, 400, None);
    try_all(&mut PutOff, 400, Some(Channels::Any));
    try_all(&mut PutOff, 400, Some(Channels::Fifo));
}

/// What is promised, made until there is nothing left of it.
struct Exhausted;

impl Trial for Exhausted {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let (name, seed) = (run.about.name, run.seed);
        walk(run, &mut |world, _| {
            let mut world = world.clone();
            let mut made = 0;
            let next = |world: &World<A>| world.promised().next().cloned();
            while let Some(parcel) = next(&world) {
                world.make(&Step::Deliver(parcel)).expect("what is promised is right");
                made += 1;
                assert!(made < 50, "{name}, seed {seed}: promised deliveries do not end");
            }
        });
    }
}

#[test]
fn promised_deliveries_come_to_an_end() {
    try_all(&mut Exhausted, 100, None);
}

/// Two copies of a run, one of which forgets.
struct Forgetful;

impl Trial for Forgetful {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let Run { seed, world, mut chance, about } = run;
        let (mut forgetful, mut world) = (world.clone(), world);
        for _ in 0..LONGEST {
            let (steps, others) = (world.steps(), forgetful.steps());
            let phases = |world: &World<A>| world.nodes.iter().map(|node| node.phase()).collect::<Vec<_>>();
            let flying = |world: &World<A>| {
                let kinds = world.flying.iter().map(|parcel| (parcel.from, parcel.to, kind(&parcel.msg)));
                kinds.collect::<Vec<_>>()
            };
            assert_eq!(phases(&world), phases(&forgetful), "{}, seed {seed}", about.name);
            assert_eq!(flying(&world), flying(&forgetful), "{}, seed {seed}", about.name);
            assert_eq!(world.broken_invariant(), forgetful.broken_invariant(), "{}, seed {seed}", about.name);
            if steps.is_empty() {
                return;
            }
            let chosen = chance.below(steps.len());
            let broken = world.make(&steps[chosen]).err();
            assert_eq!(broken, forgetful.make(&others[chosen]).err(), "{}, seed {seed}", about.name);
            forgetful.forget();
        }
    }
}

#[test]
fn forgetting_changes_neither_phases_nor_messages_nor_invariants() {
    try_all(&mut Forgetful, 300, None);
    try_all(&mut Forgetful, 300, Some(Channels::Any));
}

/// Two copies of a run, one of which has counted further.
#[derive(Default)]
struct Shifted {
    incomplete: BTreeSet<&'static str>,
}

fn amount(group: Group) -> u64 {
    match group {
        Group::Time => 1_000,
        Group::Requests(node) => 1_000 * u64::from(node.number() + 1),
    }
}

impl Trial for Shifted {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let Run { seed, world, mut chance, about } = run;
        let (mut shifted, mut world) = (world.clone(), world);
        if !shifted.counters(&mut |group, counter| *counter += amount(group)) {
            self.incomplete.insert(about.name);
            return;
        }
        for _ in 0..LONGEST {
            let mut back = shifted.clone();
            back.counters(&mut |group, counter| *counter -= amount(group));
            assert!(back == world, "{}, seed {seed}: the counts matter", about.name);
            let (steps, others) = (world.steps(), shifted.steps());
            if steps.is_empty() {
                return;
            }
            let chosen = chance.below(steps.len());
            let broken = world.make(&steps[chosen]).err();
            assert_eq!(broken, shifted.make(&others[chosen]).err(), "{}, seed {seed}", about.name);
            if seed % 2 == 0 {
                world.forget();
                shifted.forget();
                translate(&mut shifted);
                translate(&mut world);
                shifted.counters(&mut |group, counter| *counter += amount(group));
            }
        }
    }
}

/// Takes from each group as much as can be taken.
fn translate<A: Explain + Hints>(world: &mut World<A>) {
    let mut least = BTreeMap::new();
    let is_complete = world.counters(&mut |group, counter| {
        let least = least.entry(group).or_insert(*counter);
        *least = (*least).min(*counter);
    });
    if is_complete {
        world.counters(&mut |group, counter| *counter -= least[&group]);
    }
}

#[test]
fn only_differences_of_counters_matter() {
    let mut tried = Shifted::default();
    try_all(&mut tried, 300, None);
    try_all(&mut tried, 300, Some(Channels::Any));
    assert!(tried.incomplete.is_empty(), "{:?} do not show all", tried.incomplete);
}

#[test]
fn numbers_of_different_nodes_are_compared_by_the_smallest_number_alone() {
    let mut tried = Shifted::default();
    let options = Options::none().with("arbitration", "smallest-number");
    try_one(&mut tried, &singhal::entry(), &options, 5, None);
    assert_eq!(tried.incomplete.into_iter().collect::<Vec<_>>(), ["singhal"]);
}

#[test]
fn every_arbitration_compares_numbers_only_by_their_differences() {
    let together = Entry {
        about: singhal::ABOUT,
        bind: |options| Ok(held((singhal::entry().bind)(options)?, CountedTogether)),
    };
    for arbitration in ["round-robin", "smallest-number", "nearest"] {
        let mut tried = Shifted::default();
        let options = Options::none().with("arbitration", arbitration);
        try_one(&mut tried, &together, &options, 50, Some(Channels::Any));
        assert!(tried.incomplete.is_empty(), "{arbitration}");
    }
}

/// Name, requests of each node, and states of the full search and of one that uses every promise.
type Instance = (&'static str, &'static [u32], usize, usize);

const INSTANCES: [Instance; 13] = [
    ("central", &[2, 2, 2], 869, 713),
    ("replicated", &[1, 1, 1], 3_070, 3_070),
    ("token-ring", &[2, 2, 2], 525, 495),
    ("lamport", &[2, 2], 1_000, 429),
    ("ricart-agrawala", &[1, 1, 1], 4_516, 955),
    ("carvalho-roucairol", &[1, 1, 1], 6_505, 2_064),
    ("maekawa", &[2, 1, 1], 2_846, 1_721),
    ("sanders", &[2, 1, 1], 2_846, 1_721),
    ("suzuki-kasami", &[2, 1, 1], 1_871, 1_403),
    ("singhal", &[2, 1, 1], 2_522, 2_014),
    ("raymond", &[2, 2, 2], 1_004, 956),
    ("naimi-trehel", &[2, 1, 1], 310, 310),
    ("cao-singhal", &[1, 1, 1], 3_701, 1_535),
];

/// What the searches of the algorithms found.
#[derive(Default)]
struct Searched(Vec<Instance>);

impl Visit for Searched {
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, _: &[Options]) {
        let about = &entry.about;
        let instance = INSTANCES.iter().find(|(name, ..)| *name == about.name);
        let (name, requests, ..) = *instance.expect("there is an instance for every algorithm");
        let factory = entry.factory(&Options::none()).expect("the defaults are right");
        let plan = factory.plan(&a_few(requests.len())).expect("it exists");
        let world = World::new(&plan, requests, Start::Empty, about.needs);
        let (states, ends) = search(world.clone(), World::steps, World::sorted);
        let (states_with_promises, ends_with_promises) = search(world, steps_with_promises, same);
        assert!(ends == ends_with_promises, "{name} ends differently");
        self.0.push((name, requests, states, states_with_promises));
    }
}

/// One promised delivery if there is any, or else every step.
fn steps_with_promises<A: Explain + Hints>(world: &World<A>) -> Vec<Step<A::Msg>> {
    let mut promised = world.promised().map(|parcel| Step::Deliver(parcel.clone()));
    let at_once = promised.find(|step| !world.fifo || sends_nothing(world, step));
    at_once.map_or_else(|| world.steps(), |step| vec![step])
}

#[test]
fn a_search_that_uses_promises_ends_where_the_full_one_does() {
    let mut searched = Searched::default();
    visit_all(&mut searched);
    assert_eq!(searched.0, INSTANCES);
}

/// Forgets what can be forgotten and counts from as low as can be.
fn same<A: Explain + Hints>(mut world: World<A>) -> World<A> {
    world.forget();
    translate(&mut world);
    world.sorted()
}

/// How many states there are that are not `alike`, and those in which a run can end.
fn search<A: Explain + Hints>(
    world: World<A>,
    steps: fn(&World<A>) -> Vec<Step<A::Msg>>,
    alike: fn(World<A>) -> World<A>,
) -> (usize, HashSet<World<A>>) {
    let world = alike(world);
    let (mut seen, mut ends) = (HashSet::from([world.clone()]), HashSet::new());
    let mut open = vec![world];
    while let Some(world) = open.pop() {
        assert!(world.nodes.iter().filter(|node| node.phase() == Phase::Inside).count() <= 1);
        let steps = steps(&world);
        if steps.is_empty() || world.is_over() {
            ends.insert(same(world.clone()));
        }
        for step in steps {
            let mut next = world.clone();
            next.make(&step).expect("it is right");
            let next = alike(next);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (seen.len(), ends)
}
