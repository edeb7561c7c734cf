//! Where the lemmas on Singhal's algorithm hold.

use std::collections::HashSet;

use doorway_algorithms::lemmas::{Form, Lemma, Vectors};
use doorway_algorithms::message::singhal::{self, Singhal};
use doorway_algorithms::specimens::singhal_no_chase;
use doorway_core::{Channels, Entry, Explain, Hints, Members, Options, Start};

use crate::invariants::tamper;
use crate::world::{Chance, World};

/// A lemma, and how many steps lead to a state in which it does not hold.
type Refuted = (&'static str, Form, Option<usize>);

/// How many states there are, and what becomes of each lemma.
fn refuted<A: Explain + Hints + Vectors>(
    entry: &Entry<A>,
    requests: &[u32],
    channels: Channels,
) -> (usize, Vec<Refuted>) {
    let factory = (entry.bind)(&Options::none()).expect("the defaults are right");
    let plan = factory.plan(&Members::new(requests.len()).expect("a few nodes")).expect("for every N");
    let world = World::new(&plan, requests, Start::Empty, channels).sorted();
    let mut refuted = vec![None; Lemma::<A>::ALL.len()];
    let (mut seen, mut level) = (HashSet::from([world.clone()]), vec![world]);
    for steps in 0.. {
        let mut next = Vec::new();
        for world in level {
            for (lemma, refuted) in Lemma::ALL.iter().zip(&mut refuted) {
                if refuted.is_none() && !(lemma.says.holds)(&world.cut()) {
                    *refuted = Some(steps);
                }
            }
            for step in world.steps() {
                let mut after = world.clone();
                after.make(&step).expect("no step is broken");
                let after = after.sorted();
                if seen.insert(after.clone()) {
                    next.push(after);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    let lemmas = Lemma::<A>::ALL.iter().zip(refuted).map(|(lemma, steps)| (lemma.number, lemma.form, steps));
    (seen.len(), lemmas.collect())
}

/// What a full search finds, with or without the chase, in any order of the channels.
const FOUND: [Refuted; 10] = [
    ("L4.1.1", Form::Printed, Some(3)),
    ("L4.1.1", Form::Corrected, None),
    ("L4.1.2", Form::Read, None),
    ("L4.1.3", Form::Read, None),
    ("L4.1.4", Form::Read, Some(13)),
    ("L4.1.5", Form::Read, None),
    ("S4.2", Form::Printed, Some(13)),
    ("S4.2", Form::Corrected, None),
    ("S4.3", Form::Printed, Some(13)),
    ("C45", Form::Printed, None),
];

#[test]
fn without_the_chase_four_statements_fail() {
    for (requests, expected) in [(&[1, 1, 1][..], 415), (&[1, 1, 1, 1], 28_191)] {
        let (states, lemmas) = refuted(&singhal_no_chase::entry(), requests, Channels::Fifo);
        assert_eq!((states, &lemmas[..]), (expected, &FOUND[..]), "{requests:?}");
    }
}

/// The peers can forget a node that asks a second time, so that its request never reaches the token.
#[test]
fn without_the_chase_a_second_request_need_not_reach_the_token() {
    let (states, lemmas) = refuted(&singhal_no_chase::entry(), &[2, 2, 2], Channels::Fifo);
    let mut found = FOUND;
    found[3].2 = Some(14);
    assert_eq!((states, &lemmas[..]), (10_401, &found[..]));
}

#[test]
fn with_the_chase_they_fail_as_well_and_the_corrected_ones_hold() {
    let instances: [(&[u32], Channels, usize); 4] = [
        (&[1, 1, 1], Channels::Fifo, 615),
        (&[1, 1, 1], Channels::Any, 1_075),
        (&[2, 2, 1], Channels::Any, 15_480),
        (&[1, 1, 1, 1], Channels::Fifo, 98_976),
    ];
    for (requests, channels, expected) in instances {
        let (states, lemmas) = refuted(&singhal::entry(), requests, channels);
        assert_eq!((states, &lemmas[..]), (expected, &FOUND[..]), "{requests:?} {channels:?}");
    }
}

#[test]
fn every_lemma_that_holds_fails_after_tampering() {
    let factory = (singhal::entry().bind)(&Options::none()).expect("the defaults are right");
    let plan = factory.plan(&Members::new(3).expect("three nodes")).expect("for every N");
    let mut holds = vec![true; Lemma::<Singhal>::ALL.len()];
    for seed in 1..=300 {
        let mut chance = Chance::new(seed);
        let world = World::new(&plan, &[2, 2, 2], Start::Empty, Channels::Any);
        let mut states = vec![world];
        for _ in 0..30 {
            let mut world = tamper(&states[states.len() - 1], &states, &mut chance);
            for _ in 0..40 {
                let holds = Lemma::ALL.iter().zip(&mut holds);
                holds.for_each(|(lemma, holds)| *holds &= (lemma.says.holds)(&world.cut()));
                world.make_any(&mut chance).ok();
            }
            let mut next = states[states.len() - 1].clone();
            next.make_any(&mut chance).expect("it is right");
            states.push(next);
        }
    }
    assert_eq!(holds, [false; 10]);
}
