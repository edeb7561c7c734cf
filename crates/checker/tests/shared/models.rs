//! Verdicts over each memory model and register model.

use std::collections::BTreeSet;

use doorway_checker::{
    Barriers, MemoryModel, MemorySetting, Property, RegisterModel, Runs, SchedulerFairness, Search, System,
    Visited, Walks, explore, walk,
};

use crate::bakery::Bakery;
use crate::peterson::Peterson;
use crate::{against, broken, explored, progress, search, size, system, worst};

/// Peterson's algorithm over some memory, with some of its barriers.
fn peterson(memory: MemoryModel, barriers: &[usize]) -> MemorySetting {
    let barriers = Barriers::Only(barriers.iter().copied().collect());
    MemorySetting { memory, barriers, ..MemorySetting::default() }
}

#[test]
fn peterson_has_32_states_and_is_fifo() {
    let mut system = system(&Peterson::team(1), &MemorySetting::default());
    let found = explored(&mut system);
    assert_eq!(size(&found), (32, 64));
    assert_eq!(broken(&found), []);
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)));
    assert_eq!(worst(&found), Some(0));
    assert!(!system.reached_limit() && !system.reached_capacity());
}

#[test]
fn a_tournament_of_four_has_no_starvation_but_unbounded_waiting() {
    let found = explored(&mut system(&Peterson::team(2), &MemorySetting::default()));
    assert_eq!(size(&found), (7_680, 30_720));
    assert_eq!(broken(&found), [Property::Fifo, Property::BoundedWaiting]);
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)));
}

/// A memory model, the active barriers, the numbers of states and steps, and the length of a shortest run
/// with both inside.
type Buffered = (MemoryModel, &'static [usize], (u64, u64), Option<usize>);

const BUFFERED: &[Buffered] = &[
    (MemoryModel::Sequential, &[], (32, 64), None),
    (MemoryModel::TotalStoreOrder, &[1, 2], (146, 308), None),
    (MemoryModel::TotalStoreOrder, &[2], (162, 390), None),
    (MemoryModel::TotalStoreOrder, &[1], (326, 864), Some(13)),
    (MemoryModel::TotalStoreOrder, &[], (3_958, 14_476), Some(6)),
    (MemoryModel::PartialStoreOrder, &[1, 2], (146, 308), None),
    (MemoryModel::PartialStoreOrder, &[2], (374, 1_018), Some(13)),
    (MemoryModel::PartialStoreOrder, &[1], (482, 1_426), Some(13)),
    (MemoryModel::PartialStoreOrder, &[], (96_576, 483_830), Some(6)),
];

#[test]
fn peterson_needs_its_second_barrier_on_tso_and_both_on_pso() {
    for &(memory, barriers, expected, steps) in BUFFERED {
        let mut system = system(&Peterson::team(1), &peterson(memory, barriers));
        let found = explore(&mut system, &Search::default(), &mut |_| ());
        assert_eq!(size(&found), expected, "{memory} {barriers:?}");
        let run = against(&found, Property::MutualExclusion).map(|run| run.steps.len());
        assert_eq!(run, steps, "{memory} {barriers:?}");
    }
}

#[test]
fn a_violation_names_the_processes() {
    let found = explored(&mut system(&Peterson::team(1), &peterson(MemoryModel::TotalStoreOrder, &[1])));
    let run = against(&found, Property::MutualExclusion).expect("both are inside");
    assert_eq!(run.what, "processes 1 and 2 are inside together");
}

#[test]
fn peterson_with_its_second_barrier_is_fifo_on_tso() {
    let found = explored(&mut system(&Peterson::team(1), &peterson(MemoryModel::TotalStoreOrder, &[2])));
    assert_eq!(broken(&found), []);
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)));
    assert_eq!(worst(&found), Some(0));
}

#[test]
fn a_tournament_of_four_needs_its_barrier_at_every_level() {
    let tso = |barriers| MemorySetting { barriers, ..peterson(MemoryModel::TotalStoreOrder, &[]) };
    let only_second = Barriers::Only(BTreeSet::from([2]));
    let runs = Runs { progress: Some(Some(SchedulerFairness::Weak)), ..Runs::default() };
    let mut with = system(&Peterson::team(2), &tso(only_second));
    let found = explore(&mut with, &Search { runs, ..Search::default() }, &mut |_| ());
    assert_eq!((size(&found), broken(&found)), ((191_368, 916_736), vec![]));
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)));
    let until = vec![Property::MutualExclusion];
    let mut without = system(&Peterson::team(2), &tso(Barriers::None));
    let found = explore(&mut without, &Search { until, ..Search::default() }, &mut |_| ());
    assert_eq!(against(&found, Property::MutualExclusion).map(|run| run.steps.len()), Some(12));
}

#[test]
fn a_full_store_buffer_is_reported() {
    let mut drained = system(&Peterson::team(1), &peterson(MemoryModel::TotalStoreOrder, &[2]));
    explored(&mut drained);
    assert!(!drained.reached_capacity());
    let narrow = MemorySetting { capacity: 1, ..peterson(MemoryModel::TotalStoreOrder, &[2]) };
    let mut narrow = system(&Peterson::team(1), &narrow);
    assert_eq!(broken(&explored(&mut narrow)), []);
    assert!(narrow.reached_capacity());
    narrow.restart();
    assert!(!narrow.reached_capacity());
}

/// The number of processes, the ticket limit, the registers, and the numbers of states and steps.
const BAKERIES: &[(usize, u32, RegisterModel, (u64, u64))] = &[
    (2, 4, RegisterModel::Atomic, (346, 690)),
    (2, 4, RegisterModel::Regular, (861, 1_790)),
    (2, 4, RegisterModel::Safe, (1_222, 2_698)),
    (3, 2, RegisterModel::Atomic, (4_879, 14_634)),
    (3, 2, RegisterModel::Regular, (15_008, 47_278)),
    (3, 2, RegisterModel::Safe, (15_975, 52_083)),
    (3, 3, RegisterModel::Atomic, (10_085, 30_252)),
    (3, 3, RegisterModel::Regular, (36_803, 116_290)),
    (3, 3, RegisterModel::Safe, (41_475, 140_762)),
];

/// Peterson's turn has two writers. The shortest run against exclusion: both raise their flags (two steps each), both
/// begin to write turn; 1 has written, reads the other's flag, reads anything in turn and enters; 2 has written over that,
/// which leaves 0, reads the other's flag, reads 0 in turn and enters.
#[test]
fn peterson_needs_the_last_of_overlapping_writes_to_win() {
    let steps = |levels: u32, registers: RegisterModel| {
        let setting = MemorySetting { registers, ..MemorySetting::default() };
        let found = explored(&mut system(&Peterson::team(levels), &setting));
        against(&found, Property::MutualExclusion).map(|violation| violation.steps.len())
    };
    assert_eq!(steps(1, RegisterModel::Regular), None);
    assert_eq!(steps(1, RegisterModel::Safe), None);
    assert_eq!(steps(1, RegisterModel::SafeAny), Some(12));
}

#[test]
fn the_bakery_is_fifo_even_with_safe_registers() {
    for &(n, tickets, registers, expected) in BAKERIES {
        let setting = MemorySetting { registers, tickets, ..MemorySetting::default() };
        let mut system = system(&Bakery::team(n, false), &setting);
        let found = explored(&mut system);
        assert_eq!(size(&found), expected, "{n} {tickets} {registers}");
        assert_eq!(broken(&found), [], "{n} {tickets} {registers}");
        assert_eq!(
            progress(&found),
            (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)),
            "{n} {registers}"
        );
        assert_eq!(worst(&found), Some(0));
        assert!(system.reached_limit(), "tickets grow while some process waits");
    }
}

#[test]
fn the_simple_bakery_is_fifo() {
    let mut system = system(&Bakery::team(3, true), &MemorySetting::default());
    let found = explored(&mut system);
    assert_eq!(broken(&found), []);
    assert_eq!(progress(&found), (Some(SchedulerFairness::Weak), Some(SchedulerFairness::Weak)));
    assert_eq!((worst(&found), system.reached_limit()), (Some(0), true));
}

#[test]
fn bounded_requests_end_in_the_remainder_below_the_limit() {
    let requests = Some(vec![2, 1]);
    let setting = MemorySetting { requests, tickets: 9, ..MemorySetting::default() };
    let mut system = system(&Bakery::team(2, false), &setting);
    let search = Search { keep_terminals: true, ..search() };
    let found = explore(&mut system, &search, &mut |_| ());
    assert_eq!(broken(&found), []);
    assert!(!system.reached_limit(), "three requests need three tickets at most");
    assert_eq!(found.terminals.len(), 1);
    let end = system.view(&found.terminals[0]).expect("an ordinary state");
    assert_eq!(end.registers, [0; 4]);
}

#[test]
fn threads_and_fingerprints_change_no_number() {
    let setting = MemorySetting { registers: RegisterModel::Safe, tickets: 3, ..MemorySetting::default() };
    let mut system = system(&Bakery::team(3, false), &setting);
    for (threads, visited) in [(2, Visited::Exact), (1, Visited::Fingerprints), (2, Visited::Fingerprints)] {
        system.restart();
        let found = explore(&mut system, &Search { threads, visited, ..search() }, &mut |_| ());
        assert_eq!(size(&found), (41_475, 140_762), "{threads} {visited:?}");
        assert_eq!(broken(&found), []);
    }
}

#[test]
fn walks_find_the_violation_without_barriers() {
    let mut system = system(&Peterson::team(1), &peterson(MemoryModel::TotalStoreOrder, &[]));
    let walks = Walks { count: 100, until: vec![Property::MutualExclusion], ..Walks::default() };
    let mut lengths = Vec::new();
    walk(&mut system, &walks, &mut |_| (), &mut |_, violation, _| lengths.push(violation.steps.len()));
    assert_eq!(lengths.len(), 1);
}
