//! Voters that change, quiet times that ages shorten, and clients that were told to stop.

use doorway_chaos::model::{ViewBounds, ViewFlaw, ViewModel, VoterChange, Witnesses};
use doorway_checker::{Search, SearchLimits, explore};
use doorway_simulator::parallel::processors;

use super::{explored, follow, model};

/// One crash, one node that leaves, and a view that changes anything.
const FAULTY: ViewBounds = ViewBounds { crash: true, leave: true, ..ViewBounds::quiet(2, 3) };

/// The voters may change, and ages shorten quiet times.
const fn voters(bounds: ViewBounds, change: VoterChange) -> ViewBounds {
    ViewBounds { voters: Some(change), age: true, ..bounds }
}

/// An instance that was explored completely: its bounds, and the numbers of states and of steps between them.
type Instance = (ViewBounds, u64, u64);

const SMALL: [Instance; 5] = [
    (ViewBounds { slack: true, ..ViewBounds::quiet(2, 3) }, 30_270, 196_911),
    (ViewBounds { age: true, crash: true, ..ViewBounds::quiet(2, 2) }, 153_444, 1_010_313),
    (voters(ViewBounds::quiet(2, 1), VoterChange::HandOver), 239_172, 2_543_697),
    (voters(ViewBounds::quiet(2, 1), VoterChange::Growth), 604_339, 8_486_417),
    (voters(ViewBounds::quiet(2, 1), VoterChange::Exchange), 631_898, 9_275_456),
];

/// One crash and one node that leaves, or three views: minutes each.
const LARGE: [Instance; 12] = [
    (ViewBounds { age: true, ..FAULTY }, 527_811, 3_848_316),
    (ViewBounds { slack: true, ..FAULTY }, 657_060, 4_758_846),
    (ViewBounds { age: true, ..ViewBounds::quiet(3, 1) }, 628_836, 5_729_874),
    (ViewBounds { slack: true, ..ViewBounds::quiet(3, 1) }, 815_358, 6_903_648),
    (ViewBounds { age: true, crash: true, ..ViewBounds::quiet(3, 1) }, 5_805_268, 58_024_706),
    (voters(ViewBounds { changes: 1, ..FAULTY }, VoterChange::HandOver), 2_234_618, 21_937_818),
    (voters(ViewBounds { changes: 1, ..FAULTY }, VoterChange::Growth), 4_080_444, 52_919_494),
    (voters(ViewBounds { changes: 1, ..FAULTY }, VoterChange::Shrinking), 10_884_659, 161_949_314),
    (voters(ViewBounds { changes: 1, ..FAULTY }, VoterChange::Exchange), 4_326_763, 59_915_754),
    (voters(ViewBounds { slack: true, ..FAULTY }, VoterChange::HandOver), 13_509_101, 123_005_761),
    (ViewBounds { voters: Some(VoterChange::Replacement), ..ViewBounds::quiet(2, 1) }, 4_625_558, 63_416_047),
    (ViewBounds { voters: Some(VoterChange::HandOver), ..ViewBounds::quiet(3, 1) }, 18_643_133, 179_061_168),
];

fn assert_all_holds(instances: &[Instance]) {
    for (bounds, states, transitions) in instances {
        let explored = explored(model(*bounds), &[]);
        let broken: Vec<&str> = explored.violations.iter().map(|found| found.what.as_str()).collect();
        assert_eq!(broken, [""; 0], "{bounds:?}");
        assert!(explored.is_complete, "{bounds:?}");
        assert_eq!((explored.states, explored.transitions), (*states, *transitions), "{bounds:?}");
    }
}

#[test]
fn no_change_of_voters_lets_two_clients_in() {
    assert_all_holds(&SMALL);
}

/// Takes a quarter of an hour on two processors: `cargo test -p doorway-chaos --test model -- --ignored`.
#[test]
#[ignore = "takes a quarter of an hour"]
fn no_change_of_voters_with_faults_lets_two_clients_in() {
    assert_all_holds(&LARGE);
}

/// Four nodes with faults have too many states to visit them all.
#[test]
fn no_few_steps_with_a_fourth_node_let_two_clients_in() {
    let limits = SearchLimits { depth: 5, ..SearchLimits::default() };
    let search = Search { threads: processors(), limits, ..Search::default() };
    let bounds = voters(ViewBounds { slack: true, changes: 1, ..FAULTY }, VoterChange::Replacement);
    let explored = explore(&mut model(bounds), &search, &mut |_| ());
    assert_eq!((explored.states, explored.violations.len()), (394_478, 0));
}

/// The three steps of rule 22, at the end of which node 2 alone stands behind leases.
const HAND_OVER: [&str; 13] = [
    "node 1 proposes view 2: 1, 2, 3; with both voter sets",
    "node 1 learns view 2",
    "node 2 takes what node 1 has as view 2",
    "node 1 proposes that the new voters decide",
    "node 2 takes from the log of node 1 whether the new voters decide",
    "node 1 learns that the new voters decide",
    "node 2 learns view 2",
    "node 2 proposes view 3: 1, 2; with the new voters",
    "node 2 learns view 3",
    "node 1 takes what node 2 has as view 3",
    "node 1 learns view 3",
    "the quiet time of node 1 ends",
    "node 1 lets its client in, in view 3",
];

#[test]
fn voters_change_in_three_steps() {
    let bounds = ViewBounds { voters: Some(VoterChange::HandOver), ..ViewBounds::quiet(3, 1) };
    assert_eq!(follow(&mut model(bounds), &HAND_OVER), Ok(1));
    let mut early = HAND_OVER.to_vec();
    early.remove(5);
    assert_eq!(follow(&mut model(bounds), &early), Err(HAND_OVER[7]), "consensus does not have them yet");
    assert_eq!(follow(&mut model(bounds), &HAND_OVER[3..]), Err(HAND_OVER[3]), "no view has both sets");
}

/// Node 1 is inside by a lease of the old voter. The new one has never acknowledged anybody, so its age says nothing about that.
const UNSEEN: [&str; 11] = [
    "node 1 lets its client in, in view 1",
    "node 1 proposes view 2: 2, 3; with both voter sets",
    "node 2 takes what node 1 has as view 2",
    "node 2 learns view 2",
    "node 2 proposes that the new voters decide",
    "node 1 takes from the log of node 2 whether the new voters decide",
    "node 1 learns that the new voters decide",
    "node 2 proposes view 3: 2; with the new voters",
    "node 2 learns view 3",
    "the quiet time of node 2 ends by the ages of voter 2",
    "node 2 lets its client in, in view 3",
];

#[test]
fn ages_say_nothing_right_after_voters_changed() {
    let flaw = ViewFlaw::AgeDespiteVoterChange;
    assert_eq!(follow(&mut model(flaw.bounds()).with_flaw(flaw), &UNSEEN), Ok(2));
    assert_eq!(follow(&mut model(flaw.bounds()), &UNSEEN), Err(UNSEEN[9]));
    let mut later = UNSEEN.to_vec();
    later.insert(9, "the client of node 1 leaves");
    assert_eq!(follow(&mut model(flaw.bounds()), &later), Ok(1), "the quiet time may be over by then");
}

#[test]
fn an_age_ends_a_quiet_time_as_soon_as_no_outsider_is_inside() {
    let bounds = ViewBounds { age: true, ..ViewBounds::quiet(2, 1) };
    let run = [
        "node 1 lets its client in, in view 1",
        "node 2 proposes view 2: 2, 3",
        "node 3 takes what node 2 has as view 2",
        "node 3 learns view 2",
        "node 2 learns view 2",
        "the client of node 1 leaves",
        "the quiet time of node 2 ends by the ages of voter 2 and voter 3",
        "node 2 lets its client in, in view 2",
    ];
    assert_eq!(follow(&mut model(bounds), &run), Ok(1));
    let mut early = run.to_vec();
    early.remove(5);
    assert_eq!(follow(&mut model(bounds), &early), Err(run[6]));
}

#[test]
fn with_every_step_on_its_own_voters_still_change_safely() {
    let limits = SearchLimits { depth: 6, ..SearchLimits::default() };
    let search = Search { threads: processors(), limits, ..Search::default() };
    for (change, states) in [(VoterChange::HandOver, 53_365), (VoterChange::Exchange, 20_913)] {
        let mut full = model(voters(ViewBounds::quiet(3, 1), change)).without_reduction();
        let full = explore(&mut full, &search, &mut |_| ());
        assert_eq!((full.states, full.violations.len()), (states, 0), "{change:?}");
    }
}

#[test]
fn a_set_back_disk_while_voters_change_is_refused() {
    let both = ViewBounds {
        set_back: Some(Witnesses::Both),
        voters: Some(VoterChange::HandOver),
        ..ViewBounds::quiet(2, 1)
    };
    assert!(ViewModel::new(both).is_err());
}
