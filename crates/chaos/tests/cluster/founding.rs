//! Nodes with blank disks found one cluster when all founders have met, even if some crash in between.

use std::collections::BTreeSet;

use doorway_chaos::Design;
use doorway_core::{NodeId, Ticks};
use doorway_node::disk::DiskContents;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{Epoch, Notice};
use doorway_simulator::Span;

use crate::scene::{DEFAULT, Scene, recipe_of};

fn blank(founders: usize, nodes: usize, seed: u64) -> Scene {
    let design = Design { begins_blank: true, founders, ..Design::new(nodes, recipe_of(DEFAULT), seed) };
    Scene::unsettled(design)
}

fn epochs(scene: &Scene) -> BTreeSet<Option<Epoch>> {
    scene.cluster.nodes().iter().map(|node| node.look().epoch).collect()
}

/// All nodes are in one cluster, and its founders vote.
fn is_one_cluster(scene: &mut Scene, founders: usize, seed: u64) {
    scene.settle();
    let epochs = epochs(scene);
    assert!(epochs.len() == 1 && !epochs.contains(&None), "seed {seed}: {epochs:?}");
    let view = scene.cluster.nodes()[0].look().newest.cloned().expect("there is one");
    assert_eq!(view.members.len(), scene.cluster.nodes().len(), "seed {seed}");
    let voters: BTreeSet<NodeId> = view.voters.values().copied().collect();
    assert!(NodeId::first(founders).all(|node| voters.contains(&node)), "seed {seed}: {voters:?}");
}

#[test]
fn nodes_that_start_blank_found_one_cluster_and_others_join_it() {
    for seed in 1..=10 {
        for (founders, nodes) in [(1, 1), (3, 3), (3, 5), (5, 5)] {
            let mut scene = blank(founders, nodes, seed);
            is_one_cluster(&mut scene, founders, seed);
            let holder = scene.hold(NodeId::new(nodes - 1), "x");
            scene.release(holder);
            scene.finish();
        }
    }
}

#[test]
fn founders_wait_for_a_missing_founder_and_name_it() {
    let mut scene = blank(3, 3, 1);
    let late = NodeId::new(2);
    scene.crash(late);
    scene.run(milliseconds(10_000));
    assert_eq!(epochs(&scene), BTreeSet::from([None]));
    for node in NodeId::first(2) {
        let look = scene.cluster.nodes()[node.index()].look();
        assert_eq!((look.standing, look.missing_founders), (Standing::Joining, Some(vec![late])));
    }
    scene.restart(late);
    is_one_cluster(&mut scene, 3, 1);
    scene.finish();
}

#[test]
fn founders_that_are_stopped_at_any_moment_found_the_same_cluster() {
    let mut steps = BTreeSet::new();
    for seed in 1..=60 {
        let mut scene = blank(3, 3, seed);
        for (place, node) in NodeId::first(3).enumerate() {
            scene.run(Ticks(1 + seed * 400 + place as u64 * 1_500));
            scene.crash(node);
            let memory = DiskContents::read(scene.cluster.disk(node)).expect("a whole disk");
            steps.insert((memory.identity.founders.is_some(), memory.identity.epoch.is_some()));
            scene.run(Ticks(seed * 300));
            scene.restart(node);
        }
        is_one_cluster(&mut scene, 3, seed);
        scene.finish();
    }
    // Stopped before the list, with the list, and with the cluster.
    assert_eq!(steps, BTreeSet::from([(false, false), (true, false), (true, true)]));
}

#[test]
fn a_founder_that_comes_with_another_disk_than_agreed_is_refused() {
    let mut met = 0;
    for seed in 1..=20 {
        let mut scene = blank(3, 3, seed);
        let [first, second, lost] = [0, 1, 2].map(NodeId::new);
        // One of the first two writes the list down; the third is stopped before it does, too.
        let has_list = |scene: &Scene, node: NodeId| {
            let memory = DiskContents::read(scene.cluster.disk(node)).expect("a whole disk");
            memory.identity.founders.is_some()
        };
        while ![first, second].into_iter().any(|node| has_list(&scene, node)) {
            scene.run(Ticks(100));
            assert!(scene.now() < milliseconds(5_000), "seed {seed}");
        }
        scene.crash(lost);
        if has_list(&scene, lost) {
            continue;
        }
        met += 1;
        scene.run(milliseconds(1_000));
        assert_eq!(epochs(&scene), BTreeSet::from([None]), "seed {seed}");
        scene.announcements.clear();
        scene.cluster.restart(lost, true);
        scene.run(milliseconds(3_000));
        let refusal = |node| (node, Notice::OtherFounder(lost));
        let told: Vec<_> = scene.announcements.clone();
        assert!(told.contains(&refusal(first)) || told.contains(&refusal(second)), "seed {seed}: {told:?}");
        assert_eq!(epochs(&scene), BTreeSet::from([None]), "seed {seed}: nothing is founded");
        scene.finish();
    }
    println!("{met} were stopped just between");
    assert!(met > 5, "{met} were stopped just between");
}

#[test]
fn founders_that_have_met_stay_silent_despite_duplicates() {
    for seed in 1..=10 {
        let mut scene = blank(3, 3, seed);
        let network = scene.cluster.engine().network_mut();
        network.set_duplication("0.5".parse().expect("a share"));
        network.set_echo(Span::Uniform(0, 1_000_000));
        scene.settle();
        // By then the last copies of what was said before have arrived.
        scene.run(milliseconds(1_100));
        scene.cluster.engine().restart_traffic();
        scene.run(milliseconds(2_000));
        let is_founding = |kind: &str| kind.eq_ignore_ascii_case("founding");
        let traffic = scene.cluster.engine().traffic();
        let said: u64 = traffic.kinds().filter(|(kind, _)| is_founding(kind)).map(|(_, count)| count).sum();
        assert_eq!(said, 0, "seed {seed}");
        scene.finish();
    }
}

#[test]
fn a_founder_with_a_lost_disk_joins_its_own_cluster() {
    for seed in 1..=20 {
        let lost = NodeId::new(seed as usize % 3);
        let mut scene = blank(3, 3, seed);
        scene.settle();
        let before = epochs(&scene);
        scene.crash(lost);
        scene.run(milliseconds(2_000));
        scene.cluster.restart(lost, true);
        is_one_cluster(&mut scene, 3, seed);
        assert_eq!(epochs(&scene), before, "seed {seed}");
        scene.finish();
    }
}

#[test]
fn new_founders_join_a_cluster_recovered_elsewhere() {
    for seed in 1..=20 {
        let survivor = NodeId::new(3);
        let mut scene = blank(3, 4, seed);
        scene.settle();
        NodeId::first(4).for_each(|node| scene.crash(node));
        let epoch = scene.cluster.recover(survivor).expect("it was a member");
        scene.restart(survivor);
        NodeId::first(3).for_each(|node| scene.cluster.restart(node, true));
        scene.settle();
        assert_eq!(epochs(&scene), BTreeSet::from([Some(epoch)]), "seed {seed}");
        scene.finish();
    }
}

#[test]
fn a_slow_first_snapshot_loses_no_promise_of_a_founder() {
    for seed in 1..=20 {
        let mut scene = blank(3, 3, seed);
        let slow = NodeId::new(seed as usize % 3);
        scene.cluster.engine().set_disk_latency(slow, milliseconds(300 + 60 * seed));
        let mut terms = [0; 3];
        while scene.now() < milliseconds(8_000) {
            scene.run(milliseconds(1));
            for (node, term) in scene.cluster.nodes().iter().zip(&mut terms) {
                let now = node.look().term;
                assert!(now >= *term, "seed {seed}: from term {term} to {now}");
                *term = now;
            }
        }
        scene.cluster.engine().set_disk_latency(slow, milliseconds(3));
        is_one_cluster(&mut scene, 3, seed);
        scene.finish();
    }
}

#[test]
fn a_founder_with_a_lost_disk_founds_nothing_alone() {
    for seed in 1..=10 {
        let [founder, one, other] = [0, 1, 2].map(NodeId::new);
        let mut scene = blank(1, 3, seed);
        scene.settle();
        let before = epochs(&scene);
        scene.crash(founder);
        [one, other].into_iter().for_each(|node| scene.cluster.pause(node));
        scene.cluster.restart(founder, true);
        scene.run(milliseconds(5_000));
        let look = scene.cluster.nodes()[founder.index()].look();
        assert_eq!((look.epoch, look.missing_founders), (None, Some(vec![one, other])), "seed {seed}");
        [one, other].into_iter().for_each(|node| scene.cluster.resume(node));
        scene.settle();
        assert_eq!(epochs(&scene), before, "seed {seed}");
        scene.finish();
    }
}
