//! One node, two nodes, and a majority that is lost for a while.

use doorway_core::{NodeId, Ticks};
use doorway_node::Loss;
use doorway_node::timing::milliseconds;

use crate::scene::Scene;

const FIRST: NodeId = NodeId::new(0);
const SECOND: NodeId = NodeId::new(1);

#[test]
fn a_single_node_serves_in_order_also_after_a_restart() {
    let mut scene = Scene::new(1, 1);
    let first = scene.hold(FIRST, "x");
    let second = scene.lock(FIRST, "x");
    scene.run(milliseconds(3_000));
    assert!(scene.is_inside(first) && scene.story(second).granted.is_none());
    scene.release(first);
    assert_eq!(scene.wait_for(second), scene.now());
    scene.crash(FIRST);
    scene.run(milliseconds(200));
    scene.restart(FIRST);
    let started = scene.now();
    let third = scene.lock(FIRST, "x");
    let granted = scene.wait_for(third);
    assert!(granted <= started + milliseconds(2_000), "after {} µs", granted - started);
    assert!(scene.fence(first) < scene.fence(second) && scene.fence(second) < scene.fence(third));
    scene.finish();
}

#[test]
fn one_of_two_nodes_stops_until_the_other_is_back() {
    let mut slowest = Ticks(0);
    for seed in 1..=20 {
        let mut scene = Scene::new(2, seed);
        let holder = scene.hold(FIRST, "x");
        scene.run(milliseconds(10 * seed));
        let crashed = scene.now();
        scene.crash(SECOND);
        let waiter = scene.lock(FIRST, "y");
        scene.run(milliseconds(5_000));
        let (lost, why) = scene.story(holder).lost.expect("it is told");
        assert_eq!(why, Loss::Lease);
        assert!(lost <= crashed + milliseconds(910), "seed {seed}: {} µs", lost - crashed);
        assert!(scene.story(waiter).granted.is_none(), "seed {seed}: one of two is no majority");
        scene.restart(SECOND);
        let back = scene.now();
        slowest = slowest.max(scene.wait_for(waiter) - back);
        scene.finish();
    }
    println!("two nodes: served {slowest} µs after the other is back");
    assert!(slowest <= milliseconds(2_500), "served after {slowest} µs");
}

#[test]
fn without_a_majority_all_locks_end_after_lease_minus_margin() {
    let mut slowest = Ticks(0);
    for seed in 1..=20 {
        let nodes = if seed % 2 == 0 { 3 } else { 5 };
        let mut scene = Scene::new(nodes, seed);
        let inside = scene.hold_one_each();
        let view = scene.view_number();
        scene.run(milliseconds(10 * seed));
        let cut = scene.now();
        NodeId::first(nodes).for_each(|node| scene.cut_off(node));
        let waiters: Vec<_> =
            NodeId::first(nodes).map(|node| scene.lock(node, &format!("of-{node}"))).collect();
        scene.run(milliseconds(5_000));
        for request in inside.values() {
            let (lost, why) = scene.story(*request).lost.expect("it is told");
            assert_eq!(why, Loss::Lease);
            let after = lost - cut;
            assert!(
                milliseconds(680) <= after && after <= milliseconds(910),
                "seed {seed}: told after {after} µs"
            );
        }
        assert!(waiters.iter().all(|waiter| scene.story(*waiter).granted.is_none()));
        scene.cluster.heal_network();
        let back = scene.now();
        for waiter in waiters {
            slowest = slowest.max(scene.wait_for(waiter) - back);
        }
        scene.run(milliseconds(3_000));
        assert_eq!(scene.view_number(), view, "seed {seed}: no view change is needed");
        scene.finish();
    }
    println!("majority lost: served {slowest} µs after it is back");
    assert!(slowest <= milliseconds(200 + 100 + 10), "served after {slowest} µs");
}
