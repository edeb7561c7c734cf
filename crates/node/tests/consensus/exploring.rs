//! Every order of events, up to bounds.

use std::num::NonZero;
use std::thread;

use doorway_checker::{Exploration, Property, Search, SearchLimits, System, explore};

use super::bounds::Bounds;
use super::engine::{Before, Engine, Linked, Loose};
use super::history::{ELECTION_SAFETY, LEADER_COMPLETENESS};
use super::system::Cluster;

/// Explores a cluster until something is wrong, and tells that as sentences.
fn search<E: Engine>(bounds: &Bounds) -> (Exploration, Vec<String>) {
    let mut cluster: Cluster<E> = Cluster::new(bounds.clone());
    let limits = SearchLimits { bytes: 14 << 30, ..SearchLimits::default() };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let search = Search { limits, threads, until: vec![Property::Invariants], ..Search::default() };
    let found = explore(&mut cluster, &search, &mut |_| {});
    let mut told = Vec::new();
    for violation in &found.violations {
        told.push(violation.what.clone());
        told.extend(violation.steps.iter().map(|step| cluster.describe(step)));
    }
    (found, told)
}

/// The linked version keeps all four properties in every state; the number of states is fixed.
fn assert_sound(states: u64, bounds: &Bounds) {
    let (found, told) = search::<Linked>(bounds);
    println!("{} states, {} steps deep, {} MiB: {bounds:?}", found.states, found.depth, found.bytes >> 20);
    assert_eq!(told, Vec::<String>::new(), "{bounds:?}");
    assert!(found.is_complete, "{bounds:?}: {} states", found.states);
    assert_eq!(found.states, states, "{bounds:?}");
}

#[test]
fn three_voters_in_three_terms() {
    assert_sound(258_165, &Bounds::new(3, 0));
}

#[test]
fn three_voters_in_two_terms_with_a_command() {
    assert_sound(462_432, &Bounds::new(2, 1));
}

#[test]
fn a_node_is_killed_while_it_writes_or_not_or_leads_no_more() {
    assert_sound(57_602, &Bounds { restarts: 1, ..Bounds::new(2, 0) });
    assert_sound(40_292, &Bounds { step_backs: 1, ..Bounds::new(2, 0) });
    assert_sound(45_487, &Bounds { restarts: 2, ..Bounds::new(1, 1) });
}

#[test]
fn a_log_is_cut_and_its_beginning_is_sent() {
    assert_sound(56_850, &Bounds { snapshots: 1, answers_late: true, ..Bounds::new(1, 1) });
    assert_sound(193_675, &Bounds { snapshots: 1, answers_late: true, ..Bounds::new(2, 0) });
}

#[test]
fn the_voters_change() {
    assert_sound(236_447, &Bounds { change: Some([1, 2].into()), ..Bounds::new(2, 0) });
    assert_sound(210_486, &Bounds { change: Some([1].into()), ..Bounds::new(2, 0) });
    assert_sound(
        291_814,
        &Bounds { listeners: [4].into(), change: Some([1, 4].into()), ..Bounds::new(1, 0) },
    );
}

#[test]
fn what_is_left_out_of_the_search_changes_no_verdict() {
    assert_sound(38_595, &Bounds { answers_late: true, ..Bounds::new(2, 0) });
    assert_sound(536_664, &Bounds { answers_late: true, echoes_at_once: false, ..Bounds::new(1, 1) });
    let (_, told) =
        search::<Before>(&Bounds { answers_late: true, echoes_at_once: false, ..Bounds::new(3, 0) });
    assert_eq!(told.first().map(String::as_str), Some(LEADER_COMPLETENESS));
    assert_eq!(told.len(), 13);
}

#[test]
fn version_0_4_0_elects_a_leader_without_decided_entries() {
    let (_, told) = search::<Before>(&Bounds::new(3, 0));
    println!("{}", told.join("\n  "));
    assert_eq!(told.first().map(String::as_str), Some(LEADER_COMPLETENESS));
    assert_eq!(told.len(), 13, "a shortest run has twelve steps");
}

#[test]
fn ignoring_a_config_breaks_leader_completeness() {
    let (_, told) = search::<Loose>(&Bounds { change: Some([1, 2].into()), ..Bounds::new(2, 0) });
    println!("{}", told.join("\n  "));
    assert_eq!(told.first().map(String::as_str), Some(LEADER_COMPLETENESS));
}

#[test]
fn sending_before_syncing_elects_two_leaders() {
    let (_, told) = search::<Linked>(&Bounds { sends_early: true, restarts: 1, ..Bounds::new(1, 0) });
    assert_eq!(told.first().map(String::as_str), Some(ELECTION_SAFETY));
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_command_in_three_terms() {
    assert_sound(7_606_755, &Bounds::new(3, 1));
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_restart_in_three_terms() {
    assert_sound(1_405_703, &Bounds { restarts: 1, ..Bounds::new(3, 0) });
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_restart_and_a_command() {
    assert_sound(2_349_660, &Bounds { restarts: 1, ..Bounds::new(2, 1) });
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_change_of_voters_in_three_terms() {
    assert_sound(3_599_777, &Bounds { change: Some([1, 2].into()), ..Bounds::new(3, 0) });
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_change_of_voters_and_a_restart() {
    assert_sound(1_154_115, &Bounds { restarts: 1, change: Some([1, 2].into()), ..Bounds::new(2, 0) });
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_listener_becomes_a_voter() {
    assert_sound(
        2_137_665,
        &Bounds { listeners: [4].into(), change: Some([1, 2, 4].into()), ..Bounds::new(1, 0) },
    );
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_snapshot_in_three_terms() {
    assert_sound(24_145_280, &Bounds { snapshots: 1, answers_late: true, ..Bounds::new(3, 0) });
}

#[test]
#[ignore = "takes minutes; `cargo xtask soak --explore` makes it"]
fn large_a_snapshot_and_a_restart() {
    assert_sound(794_938, &Bounds { snapshots: 1, restarts: 1, answers_late: true, ..Bounds::new(2, 0) });
}
