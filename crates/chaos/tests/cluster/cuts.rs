//! Cuts of the network: short ones lose nothing, long ones tell the holder first, partial ones are resolved.

use doorway_core::{NodeId, Ticks};
use doorway_node::Loss;
use doorway_node::timing::milliseconds;

use crate::scene::Scene;

/// A cut that is shorter than the lease less two heartbeats, 600 ms, by what a round trip and a clock that is one percent fast
/// can take of it.
const SHORT: Ticks = milliseconds(585);

#[test]
fn a_cut_below_lease_minus_two_heartbeats_loses_no_lock() {
    for (nodes, seed) in [(3, 1), (3, 2), (5, 3)] {
        let mut scene = Scene::new(nodes, seed);
        let inside = scene.hold_one_each();
        let view = scene.view_number();
        for phase in 0..40 {
            for node in NodeId::first(nodes) {
                scene.cut_off(node);
                scene.run(SHORT);
                scene.cluster.heal_network();
                scene.run(milliseconds(1_000) + milliseconds(5 * phase));
                for (holder, request) in &inside {
                    let story = scene.story(*request);
                    assert!(
                        scene.is_inside(*request),
                        "seed {seed}, phase {phase}: node {holder} lost its lock when node {node} was cut off: {story:?}"
                    );
                }
            }
        }
        assert_eq!(scene.view_number(), view, "nobody was left out");
        scene.finish();
    }
}

#[test]
fn short_repeated_cuts_of_the_leader_lose_no_lock() {
    let mut scene = Scene::new(5, 4);
    let inside = scene.hold_one_each();
    for phase in 0..40 {
        let leader = scene.leader();
        scene.cut_off(leader);
        scene.run(SHORT);
        scene.cluster.heal_network();
        scene.run(milliseconds(1_500) + milliseconds(5 * phase));
        assert!(inside.values().all(|request| scene.is_inside(*request)), "phase {phase}");
    }
    scene.finish();
}

#[test]
fn after_a_long_cut_the_holder_learns_before_the_next_grant() {
    let (mut slowest, mut earliest) = (Ticks(0), Ticks(u64::MAX));
    for length in [1_050, 1_150, 1_300, 2_000, 4_000].map(milliseconds) {
        for seed in 1..=8 {
            for node in NodeId::first(3) {
                let mut scene = Scene::new(3, seed);
                scene.run(milliseconds(25 * seed));
                let holder = scene.hold(node, "x");
                let waiter = scene.lock(NodeId::new((node.index() + 1) % 3), "x");
                scene.run(milliseconds(50));
                let cut = scene.now();
                scene.cut_off(node);
                scene.run(length);
                scene.cluster.heal_network();
                let granted = scene.wait_for(waiter);
                let (lost, why) = scene.story(holder).lost.expect("the holder is told");
                assert_eq!(why, Loss::Lease, "seed {seed}: it must not wait for the others to tell");
                assert!(lost < granted, "seed {seed}: told at {lost}, the next granted at {granted}");
                assert!(lost <= cut + milliseconds(910), "seed {seed}: told {} µs after the cut", lost - cut);
                earliest = earliest.min(lost - cut);
                slowest = slowest.max(granted - cut);
                scene.finish();
            }
        }
    }
    println!(
        "told at the earliest {earliest} µs after the cut, the next let in at the latest {slowest} µs after it"
    );
    assert!(earliest >= milliseconds(680), "told after {earliest} µs");
    assert!(slowest <= milliseconds(1_300), "let in after {slowest} µs");
}

/// The detection time, a heartbeat that complains, the interval in which a leader looks, commit and barrier, and one percent.
const RESOLVED: Ticks = milliseconds(1_200 + 200 + 50 + 50 + 15);

#[test]
fn a_partial_cut_is_resolved_within_the_detection_time() {
    let (mut decided, mut served, mut back) = (Ticks(0), Ticks(0), Ticks(0));
    for seed in 1..=10 {
        for (one, other) in [(0, 1), (1, 2), (0, 2)].map(|(a, b)| (NodeId::new(a), NodeId::new(b))) {
            let mut scene = Scene::new(3, seed);
            scene.run(milliseconds(20 * seed));
            // The third one has everybody's permission, so that each of the two needs the other's.
            let third = NodeId::new(3 - one.index() - other.index());
            let before = scene.hold(third, "x");
            scene.release(before);
            let view = scene.view_number();
            let cut = scene.now();
            scene.cut(one, other);
            let requests = [scene.lock(one, "x"), scene.lock(other, "x")];
            scene.run_while("the wait for a view", |scene| scene.view_number() == view);
            decided = decided.max(scene.now() - cut);
            let is_served = |scene: &Scene, request| scene.story(request).granted.is_some();
            scene.run_while("the wait of both", |scene| !requests.iter().any(|it| is_served(scene, *it)));
            served = served.max(scene.now() - cut);
            let first = requests.into_iter().find(|request| is_served(&scene, *request)).expect("one is");
            let second = requests.into_iter().find(|request| *request != first).expect("there are two");
            scene.release(first);
            scene.run(milliseconds(2_000));
            scene.cluster.heal_network();
            let mended = scene.now();
            back = back.max(scene.wait_for(second) - mended);
            scene.finish();
        }
    }
    println!(
        "partial cut: decided after {decided} µs, served after {served} µs, the other {back} µs after it was mended"
    );
    assert!(decided <= RESOLVED, "decided after {decided} µs");
    assert!(served <= RESOLVED + milliseconds(1_041), "served after {served} µs");
    assert!(back <= milliseconds(1_300), "back after {back} µs");
}

#[test]
fn after_a_partial_cut_a_known_holder_costs_no_lease() {
    for seed in 1..=10 {
        let mut scene = Scene::new(4, seed);
        let leader = scene.leader();
        let others: Vec<NodeId> = (0..3).map(|place| scene.follower(place)).collect();
        let holder = scene.hold(leader, "x");
        let cut = scene.now();
        scene.cut(others[0], others[1]);
        let waiter = scene.lock(others[0], "x");
        scene.run_until(cut + RESOLVED);
        assert!(scene.is_inside(holder), "seed {seed}: the cut is none of the holder's business");
        scene.release(holder);
        let released = scene.now();
        let granted = scene.wait_for(waiter);
        assert!(granted <= released + milliseconds(10), "seed {seed}: {} µs", granted - released);
        scene.finish();
    }
}
