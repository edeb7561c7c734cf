//! Restarts: one node after the other, all at once, and with a disk that is gone.

use std::collections::BTreeMap;

use doorway_core::{NodeId, Ticks};
use doorway_node::timing::milliseconds;
use doorway_node::{Command, Loss, Notice, RequestId};

use crate::scene::Scene;

/// Restarts every node, one after the other, each after it was stopped in the given way. Everybody else's locks must stay.
fn roll(scene: &mut Scene, stop: impl Fn(&mut Scene, NodeId, RequestId)) {
    let (seed, nodes) = (scene.cluster.design().seed, scene.cluster.design().nodes);
    let mut inside: BTreeMap<NodeId, RequestId> = scene.hold_one_each();
    for node in NodeId::first(nodes) {
        stop(scene, node, inside[&node]);
        scene.run(milliseconds(137 * (seed % 5)));
        scene.restart(node);
        scene.run_while("a restart", |scene| !scene.is_active(node));
        for (holder, request) in inside.iter().filter(|(holder, _)| **holder != node) {
            let story = scene.story(*request);
            assert!(
                scene.is_inside(*request),
                "seed {seed}: node {holder} lost when {node} restarted: {story:?}"
            );
        }
        inside.insert(node, scene.hold(node, &format!("of-{node}")));
    }
    scene.run(milliseconds(3_000));
    assert!(inside.values().all(|request| scene.is_inside(*request)), "seed {seed}");
}

#[test]
fn a_rolling_restart_with_leave_loses_only_the_nodes_own_locks() {
    for (nodes, seed) in (1..=12).map(|seed| (if seed % 2 == 0 { 3 } else { 5 }, seed)) {
        let mut scene = Scene::new(nodes, seed);
        roll(&mut scene, |scene, node, own| {
            scene.cluster.command(node, Command::Leave { patience: milliseconds(50) });
            let has_left = |scene: &Scene| scene.announcements.last() == Some(&(node, Notice::Left));
            let span = scene.run_while("leaving", |scene| !has_left(scene));
            // The patience, the margin in which those inside stop, and the view without the node.
            assert!(span <= milliseconds(50 + 102 + 60), "seed {seed}: leaving took {span} µs");
            assert_eq!(scene.story(own).lost.map(|(_, why)| why), Some(Loss::Leaving));
            scene.crash(node);
        });
        scene.finish();
    }
}

#[test]
fn a_rolling_restart_by_crash_loses_only_the_nodes_own_locks() {
    for (nodes, seed) in (1..=12).map(|seed| (if seed % 2 == 0 { 3 } else { 5 }, seed)) {
        let mut scene = Scene::new(nodes, seed);
        roll(&mut scene, |scene, node, _| scene.crash(node));
        scene.finish();
    }
}

#[test]
fn after_a_restart_of_all_nodes_fences_go_on_rising() {
    let mut slowest = Ticks(0);
    for seed in 1..=20 {
        let mut scene = Scene::new(if seed % 2 == 0 { 3 } else { 5 }, seed);
        let mut last = scene.hold(NodeId::new(0), "x");
        for round in 0..4 {
            for node in scene.alive() {
                scene.crash(node);
                scene.run(milliseconds(seed * round));
            }
            scene.run(milliseconds(100));
            let nodes = scene.cluster.design().nodes;
            NodeId::first(nodes).for_each(|node| scene.restart(node));
            let started = scene.now();
            let next = scene.lock(NodeId::new(round as usize % 3), "x");
            slowest = slowest.max(scene.wait_for(next) - started);
            assert!(scene.fence(last) < scene.fence(next), "seed {seed}, round {round}");
            last = next;
        }
        scene.finish();
    }
    println!("restart of all nodes: served {slowest} µs after the start");
    assert!(slowest <= milliseconds(2_500), "served after {slowest} µs");
}

#[test]
fn after_a_full_restart_no_client_waits_longer_than_a_lease() {
    let (mut slowest, mut quickest) = (Ticks(0), Ticks(u64::MAX));
    for seed in 1..=12 {
        let mut scene = Scene::new(3, seed);
        NodeId::first(3).for_each(|node| scene.crash(node));
        scene.run(milliseconds(100));
        NodeId::first(3).for_each(|node| scene.restart(node));
        let started = scene.now();
        let next = scene.lock(NodeId::new(seed as usize % 3), "x");
        let span = scene.wait_for(next) - started;
        (slowest, quickest) = (slowest.max(span), quickest.min(span));
        scene.finish();
    }
    println!(
        "restart of all nodes whose voters never changed: served {quickest} to {slowest} µs after the start"
    );
    // W since the start, on the slowest clock, or an election and the time that it takes to be heard; and a change of members.
    assert!(slowest <= milliseconds(1_300), "served after {slowest} µs");
}

#[test]
fn a_lost_disk_makes_a_new_voter_and_the_old_one_stops_voting() {
    for seed in 1..=12 {
        let mut scene = Scene::new(3, seed);
        let node = NodeId::new(seed as usize % 3);
        let inside = scene.hold_one_each();
        let old = scene.cluster.nodes()[node.index()].look().incarnation.disk;
        scene.crash(node);
        scene.run(milliseconds(400 * (seed % 4)));
        scene.cluster.restart(node, true);
        let new = scene.cluster.nodes()[node.index()].look().incarnation.disk;
        assert_ne!(old, new);
        scene.settle();
        for other in NodeId::first(3) {
            let look = scene.cluster.nodes()[other.index()].look();
            let view = look.newest.expect("there is one");
            assert_eq!(view.next_voters, None, "seed {seed}");
            assert_eq!(view.voters.get(&new), Some(&node), "seed {seed}, as node {other} knows it");
            assert!(!view.voters.contains_key(&old) && view.voters.len() == 3, "seed {seed}: {view:?}");
        }
        let others = inside.iter().filter(|(other, _)| **other != node);
        assert!(others.map(|(_, request)| *request).all(|request| scene.is_inside(request)), "seed {seed}");
        // The new voter counts: with it and one more there is a majority, and the log on its disk is whole.
        let another = NodeId::new((node.index() + 1) % 3);
        scene.crash(another);
        let request = scene.lock(node, &format!("of-{another}"));
        scene.wait_for(request);
        scene.crash(node);
        scene.restart(node);
        scene.restart(another);
        scene.settle();
        scene.finish();
    }
}
