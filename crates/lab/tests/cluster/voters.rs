//! Changes of voters that are interrupted, and members that sleep through them.

use doorway_core::NodeId;
use doorway_node::Command;
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

#[test]
fn a_leader_that_crashes_while_it_makes_another_node_the_only_voter_stops_nobody() {
    for delay in 0..60 {
        let (mut scene, old) = with_one_voter(3, delay + 1);
        let new = scene.follower(0);
        scene.cluster.command(old, Command::Appoint(vec![new]));
        scene.run(milliseconds(delay));
        scene.crash(old);
        scene.run(milliseconds(300));
        scene.restart(old);
        scene.settle();
        scene.finish();
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
