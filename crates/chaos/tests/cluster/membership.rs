//! Joining, leaving, other voters, and algorithms that need a node that is gone.

use std::collections::BTreeMap;

use doorway_chaos::Design;
use doorway_core::{NodeId, Ticks};
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{Command, Loss, Notice};

use crate::scene::{DEFAULT, Scene, recipe_of};

#[test]
fn new_nodes_join_a_cluster_of_three_and_vote_when_there_are_five() {
    for seed in 1..=10 {
        for nodes in [4, 5, 7] {
            let design = Design { founders: 3, ..Design::new(nodes, recipe_of(DEFAULT), seed) };
            let mut scene = Scene::of(design);
            let view = scene.cluster.nodes()[0].look().newest.cloned().expect("there is one");
            assert_eq!(view.members.len(), nodes, "seed {seed}");
            let voters = if nodes < 5 { 3 } else { 5 };
            assert_eq!((view.voters.len(), view.next_voters), (voters, None), "seed {seed}, {nodes} nodes");
            let newcomer = NodeId::new(nodes - 1);
            let request = scene.hold(newcomer, "x");
            scene.release(request);
            scene.finish();
        }
    }
}

#[test]
fn two_nodes_join_without_disturbing_the_holders() {
    for seed in 1..=10 {
        let design = Design { founders: 3, ..Design::new(5, recipe_of(DEFAULT), seed) };
        let mut scene = Scene::unsettled(design);
        let newcomers = [3, 4].map(NodeId::new);
        newcomers.into_iter().for_each(|node| scene.crash(node));
        scene.settle();
        let inside = scene.hold_one_each();
        assert_eq!(inside.len(), 3);
        newcomers.into_iter().for_each(|node| scene.restart(node));
        scene.settle();
        assert!(inside.values().all(|request| scene.is_inside(*request)), "seed {seed}");
        let view = scene.cluster.nodes()[4].look().newest.cloned().expect("there is one");
        assert_eq!((view.members.len(), view.voters.len()), (5, 5), "seed {seed}");
        // Five voters bear the loss of two.
        [0, 1].map(NodeId::new).into_iter().for_each(|node| scene.crash(node));
        let request = scene.lock(newcomers[1], "of-1");
        scene.wait_for(request);
        scene.finish();
    }
}

#[test]
fn a_node_with_another_algorithm_never_becomes_a_member() {
    let stranger = NodeId::new(3);
    let design = Design {
        founders: 3,
        strangers: BTreeMap::from([(stranger, recipe_of("raymond"))]),
        ..Design::new(4, recipe_of(DEFAULT), 1)
    };
    let mut scene = Scene::unsettled(design);
    scene.run(milliseconds(10_000));
    let told = Notice::WrongAlgorithm { cluster: DEFAULT.to_owned() };
    assert_eq!(scene.announcements, [(stranger, told)], "it is told once, and nobody else is");
    assert_eq!(scene.cluster.nodes()[stranger.index()].look().standing, Standing::Joining);
    let view = scene.cluster.nodes()[0].look().newest.cloned().expect("there is one");
    assert_eq!(view.members.len(), 3);
    scene.hold(NodeId::new(0), "x");
    scene.finish();
}

/// A commit and a barrier among nodes of a healthy network: two syncs of 3 ms and a few messages of up to 2 ms each.
const COMMIT_AND_BARRIER: Ticks = milliseconds(40);

#[test]
fn after_a_clean_leave_the_next_entry_waits_for_no_lease() {
    let mut slowest = Ticks(0);
    for seed in 1..=20 {
        let mut scene = Scene::new(if seed % 2 == 0 { 3 } else { 5 }, seed);
        let leaver = if seed % 3 == 0 { scene.leader() } else { scene.follower(0) };
        let elsewhere = scene.follower(1);
        let bystander = scene.hold(elsewhere, "b");
        let holder = scene.hold(leaver, "x");
        let used = scene.hold(leaver, "idle");
        scene.release(used);
        let waiter = scene.lock(elsewhere, "x");
        scene.run(milliseconds(100));
        scene.cluster.command(leaver, Command::Leave { patience: Ticks(0) });
        let left = scene.now();
        let idle = scene.lock(elsewhere, "idle");
        let both = [scene.wait_for(waiter), scene.wait_for(idle)];
        assert_eq!(scene.story(holder).lost, Some((left, Loss::Leaving)));
        let span = both[0].max(both[1]) - left;
        slowest = slowest.max(span);
        scene.run(milliseconds(2_000));
        assert!(scene.is_inside(bystander), "seed {seed}");
        assert!(scene.announcements.contains(&(leaver, Notice::Left)), "seed {seed}");
        scene.finish();
    }
    println!("leave: the next entry at most {slowest} µs after");
    assert!(slowest <= COMMIT_AND_BARRIER, "the next entry {slowest} µs after");
}

#[test]
fn a_joiner_that_leaves_repeats_it_until_it_is_forgotten() {
    let mut taken_in = 0;
    for seed in 1..=40 {
        let design = Design { founders: 3, ..Design::new(4, recipe_of(DEFAULT), seed) };
        let mut scene = Scene::unsettled(design);
        let joiner = NodeId::new(3);
        scene.crash(joiner);
        scene.settle();
        let before = scene.view_number();
        scene.restart(joiner);
        scene.run(milliseconds(400 + 10 * seed));
        if scene.is_active(joiner) {
            continue;
        }
        // Its first words do not arrive.
        scene.cut_off(joiner);
        scene.cluster.command(joiner, Command::Leave { patience: Ticks(0) });
        scene.run(milliseconds(100));
        assert_eq!(scene.announcements, [], "seed {seed}: it may still be taken in");
        scene.cluster.heal_network();
        scene.run(milliseconds(1_000));
        assert_eq!(scene.announcements, [(joiner, Notice::Left)], "seed {seed}");
        let view = scene.cluster.nodes()[0].look().newest.cloned().expect("there is one");
        assert_eq!(view.members.len(), 3, "seed {seed}");
        scene.run(milliseconds(2_000));
        assert_eq!(scene.view_number(), view.number, "seed {seed}: nobody takes it in any more");
        taken_in += usize::from(view.number > before);
        scene.finish();
    }
    println!("{taken_in} were taken in although they were leaving");
    assert!(taken_in > 0, "in none of these plays the joiner left just as it was taken in");
}

#[test]
fn a_leaving_node_waits_for_its_holders_until_its_patience_ends() {
    let mut scene = Scene::new(3, 5);
    let (leaver, elsewhere) = (scene.follower(0), scene.follower(1));
    let holder = scene.hold(leaver, "x");
    let waiter = scene.lock(elsewhere, "x");
    scene.cluster.command(leaver, Command::Leave { patience: milliseconds(3_000) });
    scene.run(milliseconds(1_500));
    assert!(scene.is_inside(holder) && scene.story(waiter).granted.is_none());
    scene.release(holder);
    let released = scene.now();
    let granted = scene.wait_for(waiter);
    assert!(granted - released <= COMMIT_AND_BARRIER, "{} µs", granted - released);
    assert_eq!(scene.story(holder).lost, None);
    scene.finish();
}

#[test]
fn central_continues_in_the_next_view_without_its_coordinator() {
    let mut slowest = Ticks(0);
    for seed in 1..=20 {
        let mut scene = Scene::of(Design::new(5, recipe_of("central"), seed));
        let coordinator = NodeId::new(0);
        let (here, there) = (NodeId::new(2), NodeId::new(4));
        let holder = scene.hold(here, "x");
        let waiter = scene.lock(there, "x");
        scene.run(milliseconds(9 * seed));
        let killed = scene.now();
        scene.crash(coordinator);
        let newcomer = scene.lock(there, "y");
        scene.run(milliseconds(300));
        assert!(scene.is_inside(holder) && scene.story(newcomer).granted.is_none(), "seed {seed}");
        slowest = slowest.max(scene.wait_for(newcomer) - killed);
        assert!(scene.is_inside(holder) && scene.story(waiter).granted.is_none(), "seed {seed}");
        scene.release(holder);
        let released = scene.now();
        let granted = scene.wait_for(waiter);
        assert!(granted <= released + milliseconds(10), "seed {seed}: {} µs", granted - released);
        scene.finish();
    }
    println!("central: served {slowest} µs after the coordinator was killed");
    assert!(slowest <= milliseconds(1_350), "served after {slowest} µs");
}
