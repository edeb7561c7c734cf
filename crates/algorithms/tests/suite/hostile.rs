//! Messages from outside: whatever bytes a node is handed, no algorithm panics, sends without end or keeps more than it
//! was told.
//!
//! Nodes run as usual, and in between they are handed what others made up: random bytes, altered messages
//! and messages under a forged sender, at any time. As in a real node, what cannot be decoded and what is
//! not sound is dropped before the algorithm sees it; everything else it must live through.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use doorway_algorithms::message::cao_singhal::CaoSinghal;
use doorway_core::{
    Channels, Entry, Explain, Factory, Hints, Input, LARGEST_COUNT, Members, Node, NodeId, NodeSet, Options,
    Out, PerNode, Plan, Stamp, Start, check_sound, kind, kinds,
};

use serde::Serialize;

use crate::textbook::{Visit, visit_all};
use crate::world::{Chance, Parcel, Run, Step, Trial, World, a_few, try_all};

/// How many steps a run has.
const LENGTH: usize = 150;
/// How many runs there are of each algorithm and each number of nodes.
const SEEDS: u64 = 700;
/// How many messages are remembered, to be sent again.
const MEMORY: usize = 40;

/// One run among liars.
struct Siege<A: Explain> {
    members: Members,
    world: World<A>,
    chance: Chance,
    /// The bytes of some messages that were sent before.
    overheard: Vec<Vec<u8>>,
    /// How many steps each node has made, and how many bytes of messages it was handed.
    told: Vec<(usize, usize)>,
    /// How many messages of each kind were forged, and reached an algorithm.
    forged: BTreeMap<&'static str, u64>,
}

impl<A: Explain + Hints> Siege<A> {
    fn new(plan: &Plan<A>, members: Members, channels: Channels, seed: u64) -> Self {
        let n = members.n();
        let mut chance = Chance::new(seed);
        let world = World::new(plan, &vec![u32::MAX; n], chance.start(n), channels);
        let forged = kinds::<A::Msg>().into_iter().map(|name| (name, 0)).collect();
        Self { members, world, chance, overheard: Vec::new(), told: vec![(0, 0); n], forged }
    }

    /// Some runs see an attack at every second step, others have time to get far in between.
    fn run(mut self) -> BTreeMap<&'static str, u64> {
        let peace = 2 + self.chance.below(6);
        for _ in 0..LENGTH {
            if self.chance.below(peace) == 0 { self.attack() } else { self.step() }
        }
        self.forged
    }

    /// A step that is as it should be, as far as those before it were.
    fn step(&mut self) {
        let steps = self.world.steps();
        if steps.is_empty() {
            return;
        }
        match &steps[self.chance.below(steps.len())] {
            Step::Request(node) => self.step_node(*node, Input::Request, 0),
            Step::Release(node) => self.step_node(*node, Input::Release, 0),
            Step::Deliver(parcel) => {
                let place = self.world.flying.iter().position(|flying| flying == parcel);
                self.world.flying.remove(place.expect("what arrives is in flight"));
                let bytes = postcard::to_stdvec(&parcel.msg).expect("messages can be written");
                self.hand_over(parcel.from, parcel.to, &bytes);
            }
        }
    }

    /// A forged message from any node to any node, itself included.
    fn attack(&mut self) {
        let bytes = forge(&self.overheard, &mut self.chance);
        let [from, to] = [0; 2].map(|_| NodeId::new(self.chance.below(self.members.n())));
        if let Some(name) = self.hand_over(from, to, &bytes) {
            *self.forged.entry(name).or_default() += 1;
        }
    }

    /// What a real node does with bytes; tells the kind of the message if it reached the algorithm.
    fn hand_over(&mut self, from: NodeId, to: NodeId, bytes: &[u8]) -> Option<&'static str> {
        let msg: A::Msg = postcard::from_bytes(bytes).ok()?;
        check_sound(&msg, &self.members).ok()?;
        let name = kind(&msg).name;
        self.step_node(to, Input::Message { from, msg }, bytes.len());
        Some(name)
    }

    /// Makes a step and looks at what it did. Each message can make a node send one more in some later step, besides the
    /// few that it sends to all.
    fn step_node(&mut self, me: NodeId, input: Input<A::Msg>, bytes: usize) {
        let before = self.world.flying.len();
        // A step that is called broken is reported; here the node goes on, whatever it has made of it.
        self.world.step_node(me, input).ok();
        let (steps, handed) = &mut self.told[me.index()];
        (*steps, *handed) = (*steps + 1, *handed + bytes);
        let sent = self.world.flying.len() - before;
        assert!(sent <= *steps + 2 * self.members.n(), "{sent} messages in step {steps}");
        self.look_at(me);
        self.overhear(before);
    }

    /// A node can be written, can tell of itself, and keeps no more of messages than their bytes.
    fn look_at(&self, me: NodeId) {
        let (n, (steps, handed)) = (self.members.n(), self.told[me.index()]);
        let node = &self.world.nodes[me.index()];
        let size = postcard::to_stdvec(node).expect("states can be written").len();
        assert!(size <= 100 * (n + 1) + 12 * steps + handed, "{size} bytes after {handed} in {steps} steps");
        let _ = (node.algorithm().fields(), node.algorithm().permission());
        assert!(node.algorithm().waits_for().is_subset(&NodeSet::first(n)), "it waits for a stranger");
    }

    fn overhear(&mut self, first: usize) {
        for Parcel { msg, .. } in &self.world.flying[first..] {
            let bytes = postcard::to_stdvec(msg).expect("messages can be written");
            remember(bytes, &mut self.overheard, &mut self.chance);
        }
    }
}

/// Keeps a message; once the memory is full, in place of another.
fn remember(bytes: Vec<u8>, overheard: &mut Vec<Vec<u8>>, chance: &mut Chance) {
    match overheard.len() {
        MEMORY => overheard[chance.below(MEMORY)] = bytes,
        _ => overheard.push(bytes),
    }
}

/// Random bytes, or a message that was overheard, with up to three faults.
fn forge(overheard: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    if overheard.is_empty() || chance.below(4) == 0 {
        return (0..chance.below(24)).map(|_| any_byte(chance)).collect();
    }
    let mut bytes = overheard[chance.below(overheard.len())].clone();
    (0..chance.below(4)).for_each(|_| spoil(&mut bytes, chance));
    bytes
}

/// Mostly such bytes as numbers of nodes, variants and lengths consist of, and the ends of their range.
fn any_byte(chance: &mut Chance) -> u8 {
    const TELLING: [u8; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 127, 128, 255];
    match chance.below(4) {
        0 => chance.below(256) as u8,
        _ => TELLING[chance.below(TELLING.len())],
    }
}

/// One byte more, less or other than before, or an extreme number in its place.
fn spoil(bytes: &mut Vec<u8>, chance: &mut Chance) {
    const EXTREME: [u64; 5] =
        [LARGEST_COUNT - 1, LARGEST_COUNT, LARGEST_COUNT + 1, u64::MAX, u32::MAX as u64];
    let place = chance.below(bytes.len() + 1);
    let rest = if place < bytes.len() { place..=place } else { return bytes.push(any_byte(chance)) };
    match chance.below(4) {
        0 => drop(bytes.remove(place)),
        1 => bytes.insert(place, any_byte(chance)),
        2 => bytes[place] = any_byte(chance),
        _ => {
            let number = postcard::to_stdvec(&EXTREME[chance.below(EXTREME.len())]).expect("it is a number");
            bytes.splice(rest, number);
        }
    }
}

/// Many runs of every algorithm.
struct Besieged;

impl Visit for Besieged {
    fn visit<A: Explain + Hints>(&mut self, entry: &Entry<A>, options: &[Options]) {
        let name = entry.about.name;
        for options in options {
            let factory = entry.factory(options).expect("the choices are right");
            for (kind, count) in besieged(name, &factory, entry.about.needs) {
                assert!(count >= 500, "{name}: only {count} forged {kind} reached the algorithm");
            }
        }
    }
}

/// Counts the forged messages of each kind that reached the algorithm in many runs.
fn besieged<A: Explain + Hints>(
    name: &str,
    factory: &Factory<A>,
    channels: Channels,
) -> BTreeMap<&'static str, u64> {
    let mut forged = BTreeMap::new();
    for (n, seed) in (1..=5).flat_map(|n| (1..=SEEDS).map(move |seed| (n, seed))) {
        let members = a_few(n);
        let plan = factory.plan(&members).expect("it exists for every N");
        let run = || Siege::new(&plan, members, channels, seed).run();
        let reached = catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|_| panic!("{name} with {n} nodes and seed {seed}: see above"));
        reached.into_iter().for_each(|(kind, count)| *forged.entry(kind).or_default() += count);
    }
    forged
}

#[test]
fn no_algorithm_panics_or_grows_beyond_what_it_was_told_whatever_it_is_told() {
    visit_all(&mut Besieged);
}

/// What node 2 makes up, decoded by node 1 of the two: the variant's number and what is in it.
fn forged_by_two(node: &mut Node<CaoSinghal>, parts: &impl Serialize) -> Option<&'static str> {
    let bytes = postcard::to_stdvec(parts).expect("they are numbers");
    let msg = postcard::from_bytes(&bytes).expect("it is a message");
    let mut out = Out::default();
    node.step(Input::Message { from: NodeId::new(1), msg }, &mut out);
    out.breach()
}

/// Were they all kept, the release of the first epoch would make all the others due, each within the one before.
#[test]
fn an_arbiter_keeps_no_release_from_further_ahead_than_the_next_epoch() {
    let quorums = PerNode::same(2, NodeSet::first(2));
    let mut arbiter = Node::new(CaoSinghal::new(NodeId::new(0), &quorums, Start::Empty));
    let request = |counter: u64| Stamp { counter, node: NodeId::new(1) };
    let [ask, release] = [0_u32, 5];
    let last = 30_000;
    for epoch in 1..=last {
        assert_eq!(forged_by_two(&mut arbiter, &(ask, request(epoch))), None);
    }
    let no_successor = None::<Stamp>;
    let said = |epoch| forged_by_two(&mut arbiter, &(release, epoch, request(epoch), no_successor));
    let breaches: Vec<_> = (2..=last).chain([1, 3]).map(said).collect();
    let far = Some("RELEASE of a vote that cannot have been given yet");
    assert_eq!((breaches[0], breaches[1], breaches[29_998]), (None, far, far));
    assert_eq!(breaches[29_999..], [None; 2], "the first, with the second after it; and then the third");
}

/// Runs without forged messages.
struct Honest;

impl Trial for Honest {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let Run { seed, mut world, mut chance, about } = run;
        let members = Members::new(world.nodes.len()).expect("a few nodes");
        for _ in 0..LENGTH {
            for Parcel { msg, .. } in &world.flying {
                let bytes = postcard::to_stdvec(msg).expect("messages can be written");
                assert_eq!(postcard::from_bytes(&bytes).as_ref(), Ok(msg), "{}, seed {seed}", about.name);
                assert_eq!(check_sound(msg, &members), Ok(()), "{}, seed {seed}", about.name);
            }
            world.make_any(&mut chance).expect("it is right");
        }
    }
}

#[test]
fn what_honest_nodes_say_is_sound_and_survives_the_wire() {
    try_all(&mut Honest, 100, None);
}
