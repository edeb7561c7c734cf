//! Changes of voters that are interrupted, and members that sleep through them.

use doorway_core::{NodeId, Ticks};
use doorway_node::Command;
use doorway_node::disk::DiskContents;
use doorway_node::timing::milliseconds;

use crate::scene::Scene;

/// A cluster in which this one node votes.
fn with_one_voter(nodes: usize, seed: u64) -> (Scene, NodeId) {
    let mut scene = Scene::new(nodes, seed);
    let voter = scene.leader();
    scene.cluster.command(voter, Command::Appoint(vec![voter]));
    scene.settle();
    (scene, voter)
}

/// Where the log ends that a node has synced.
fn log_end(scene: &Scene, node: NodeId) -> u64 {
    DiskContents::read(scene.cluster.disk(node)).expect("a whole disk").last().index
}

/// Another node is to be the only voter. The old one crashes as soon as its log has grown by this many entries, and so do the
/// others if they crash as well, so that the newest entry reaches no node. Returns whether the log grew that far.
fn crash_while_voters_change(grown: u64, seed: u64, others_crash: bool) -> bool {
    let (mut scene, old) = with_one_voter(3, seed);
    let (new, other) = (scene.follower(0), scene.follower(1));
    let begun = (scene.now(), log_end(&scene, old));
    scene.cluster.command(old, Command::Appoint(vec![new]));
    while log_end(&scene, old) < begun.1 + grown && scene.now() < begun.0 + milliseconds(1_000) {
        scene.run(Ticks(50));
    }
    let has_grown = log_end(&scene, old) >= begun.1 + grown;
    let crashed = if others_crash { vec![old, new, other] } else { vec![old] };
    crashed.iter().for_each(|node| scene.crash(*node));
    scene.run(milliseconds(300));
    crashed.iter().for_each(|node| scene.restart(*node));
    scene.settle();
    scene.finish();
    has_grown
}

#[test]
fn a_leader_crash_in_a_change_to_one_voter_blocks_no_node() {
    for others_crash in [false, true] {
        // A view of both, the joint configuration, the final one, and a view of the new voter.
        for grown in 1..=4 {
            let count = (1..=10).filter(|seed| crash_while_voters_change(grown, *seed, others_crash)).count();
            assert!(count > 5, "the log grew by {grown} entries in {count} of 10 runs");
        }
    }
}

#[test]
fn a_member_that_sleeps_through_a_change_of_voters_raises_no_alarm() {
    for seed in 1..=12 {
        let (mut scene, old) = with_one_voter(5, seed);
        let (new, sleeper) = (scene.follower(0), scene.follower(3));
        scene.cluster.pause(sleeper);
        scene.cluster.command(old, Command::Appoint(vec![new]));
        // Its lease is over, and it is not left out yet.
        scene.run(milliseconds(1_100));
        scene.cluster.resume(sleeper);
        scene.settle();
        scene.finish();
    }
}
