//! A change of the consensus leader loses only the locks of its own node.

use std::collections::BTreeMap;

use doorway_core::{NodeId, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{Loss, RequestId};

use crate::scene::Scene;

fn assert_only_loser(scene: &Scene, inside: &BTreeMap<NodeId, RequestId>, loser: NodeId) {
    let seed = scene.cluster.design().seed;
    for (node, request) in inside.iter().filter(|(node, _)| **node != loser) {
        assert!(scene.is_inside(*request), "seed {seed}: node {node} lost: {:?}", scene.story(*request));
    }
}

#[test]
fn the_crash_of_the_leader_loses_no_lock_but_its_own() {
    for seed in 1..=20 {
        let mut scene = Scene::new(if seed % 2 == 0 { 3 } else { 5 }, seed);
        let inside = scene.hold_one_each();
        let leader = scene.leader();
        scene.run(milliseconds(10 * seed));
        scene.crash(leader);
        scene.run(milliseconds(4_000));
        assert_ne!(scene.leader(), leader);
        assert_only_loser(&scene, &inside, leader);
        scene.settle();
        scene.restart(leader);
        scene.settle();
        assert_only_loser(&scene, &inside, leader);
        scene.finish();
    }
}

#[test]
fn replacing_a_paused_leader_loses_only_its_own_locks() {
    for (seed, pause) in (1..=20).zip([700, 850, 1_100, 1_500, 4_000].into_iter().cycle()) {
        let mut scene = Scene::new(if seed % 2 == 0 { 3 } else { 5 }, seed);
        let inside = scene.hold_one_each();
        let leader = scene.leader();
        scene.run(milliseconds(10 * seed));
        scene.cluster.pause(leader);
        scene.run(milliseconds(pause));
        assert_ne!(scene.leader(), leader, "seed {seed}, {pause} ms");
        let resumed = scene.now();
        scene.cluster.resume(leader);
        scene.run(Ticks(0));
        let own = inside[&leader];
        if pause > 1_000 {
            assert_eq!(scene.story(own).lost, Some((resumed, Loss::Lease)), "seed {seed}: told at once");
        }
        scene.run(milliseconds(3_000));
        assert_only_loser(&scene, &inside, leader);
        scene.finish();
    }
}
