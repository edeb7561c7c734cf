//! The invariants of every correct algorithm: they hold in every state of random runs, and each of them can fail.

use std::collections::BTreeSet;

use doorway_algorithms::message::{maekawa, replicated, ricart_agrawala};
use doorway_core::{Explain, Hints, NodeId};

use crate::world::{Chance, Run, Trial, World, try_all};

/// How long a run may be; only the ring's token does not stop by itself.
const LONGEST: usize = 300;

/// Every state of a run.
struct Hold;

impl Trial for Hold {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let Run { seed, mut world, mut chance, about } = run;
        for _ in 0..LONGEST {
            assert_eq!(world.broken_invariant(), None, "{}, seed {seed}", about.name);
            let steps = world.steps();
            if steps.is_empty() {
                return assert!(world.is_over(), "{}, seed {seed}: deadlock", about.name);
            }
            let made = world.make(&steps[chance.below(steps.len())]);
            made.unwrap_or_else(|breach| panic!("{}, seed {seed}: {breach}", about.name));
        }
    }
}

#[test]
fn invariants_hold_in_every_state_of_random_runs() {
    try_all(&mut Hold, 600, None);
}

/// States that were tampered with, and a few that come after them.
#[derive(Default)]
struct Tamper {
    all: BTreeSet<(&'static str, &'static str)>,
    broken: BTreeSet<(&'static str, &'static str)>,
}

impl Trial for Tamper {
    fn try_run<A: Explain + Hints>(&mut self, run: Run<'_, A>) {
        let Run { mut world, mut chance, about, .. } = run;
        self.all.extend(A::invariants().iter().map(|invariant| (about.name, invariant.name)));
        let mut before = vec![world.clone()];
        for _ in 0..LONGEST {
            let steps = world.steps();
            if steps.is_empty() {
                return;
            }
            world.make(&steps[chance.below(steps.len())]).expect("it is right");
            let mut tampered = tamper(&world, &before, &mut chance);
            for _ in 0..10 {
                let cut = tampered.cut();
                let broken = A::invariants().iter().filter(|invariant| !(invariant.holds)(&cut));
                self.broken.extend(broken.map(|invariant| (about.name, invariant.name)));
                tampered.make_any(&mut chance).ok();
            }
            before.push(world.clone());
        }
    }
}

/// The same state with a message lost, doubled or misled, or with one node as it was earlier.
pub fn tamper<A: Explain + Hints>(world: &World<A>, before: &[World<A>], chance: &mut Chance) -> World<A> {
    let mut world = world.clone();
    let (n, flying) = (world.nodes.len(), world.flying.len());
    match chance.below(4) {
        0 if flying > 0 => drop(world.flying.remove(chance.below(flying))),
        1 if flying > 0 => world.flying.push(world.flying[chance.below(flying)].clone()),
        2 if flying > 0 => world.flying[chance.below(flying)].to = NodeId::new(chance.below(n)),
        _ => {
            let node = chance.below(n);
            world.nodes[node] = before[chance.below(before.len())].nodes[node].clone();
        }
    }
    world
}

#[test]
fn every_invariant_across_handlers_fails_after_tampering() {
    let mut tried = Tamper::default();
    try_all(&mut tried, 400, None);
    let unbroken: Vec<_> = tried.all.difference(&tried.broken).copied().collect();
    let kept_by_one_handler_alone = [
        ("maekawa", maekawa::proof::OLDER_HEAD_INQUIRES),
        ("replicated", replicated::proof::BOOK_IS_IN_ORDER),
        ("ricart-agrawala", ricart_agrawala::proof::RELEASED_DEFERS_NOTHING),
    ];
    assert_eq!(unbroken, kept_by_one_handler_alone);
    assert_eq!(tried.all.len(), 33, "the number of invariants tested");
}
