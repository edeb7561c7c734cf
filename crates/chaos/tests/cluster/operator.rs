//! Orders of an operator about the members of a cluster: all nodes agree on them and keep them.

use std::collections::BTreeSet;

use doorway_chaos::Design;
use doorway_core::NodeId;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{Ballot, Body, Command, Msg, Notice, Position, View};

use crate::scene::{DEFAULT, Scene, recipe_of};

fn newest(scene: &Scene, node: NodeId) -> View {
    scene.cluster.nodes()[node.index()].look().newest.cloned().expect("there is one")
}

/// The nodes that vote, if that is not changing.
fn voters(scene: &Scene, node: NodeId) -> Option<BTreeSet<NodeId>> {
    let view = newest(scene, node);
    view.next_voters.is_none().then(|| view.voters.into_values().collect())
}

fn tell(scene: &mut Scene, node: NodeId, command: Command) {
    scene.cluster.command(node, command);
    scene.run(milliseconds(0));
}

#[test]
fn an_appointed_voter_outlasts_its_leader_and_a_full_restart() {
    for seed in 1..=6 {
        let mut scene = Scene::new(5, seed);
        let leader = scene.leader();
        let three = BTreeSet::from([leader, scene.follower(0), scene.follower(3)]);
        scene.announcements.clear();
        tell(&mut scene, leader, Command::Appoint(three.iter().copied().collect()));
        scene.settle();
        let appointed = Notice::Appointed(three.iter().copied().collect());
        assert_eq!(scene.announcements, [(leader, appointed)], "seed {seed}");
        assert_eq!(voters(&scene, leader).as_ref(), Some(&three), "seed {seed}");
        scene.crash(leader);
        scene.run_while("an election", |scene| scene.cluster.leader().is_none());
        scene.run(milliseconds(4_000));
        let next = scene.leader();
        // Left to itself, a leader would make voters of the four that are left, or of five when the last is back.
        assert_eq!(newest(&scene, next).appointed.as_ref(), Some(&three), "seed {seed}");
        scene.restart(leader);
        scene.settle();
        assert_eq!(voters(&scene, next).as_ref(), Some(&three), "seed {seed}");
        NodeId::first(5).for_each(|node| scene.crash(node));
        NodeId::first(5).for_each(|node| scene.restart(node));
        scene.settle();
        assert_eq!(voters(&scene, next).as_ref(), Some(&three), "seed {seed}");
        scene.finish();
    }
}

#[test]
fn a_node_that_does_not_lead_says_who_does_and_changes_nothing() {
    let mut scene = Scene::new(3, 3);
    let (leader, follower) = (scene.leader(), scene.follower(0));
    let before = newest(&scene, leader);
    scene.announcements.clear();
    for command in [Command::Appoint(vec![leader]), Command::Remove(follower)] {
        tell(&mut scene, follower, command);
    }
    let answer = (follower, Notice::NotLeader { leader: Some(leader) });
    assert_eq!(scene.announcements, [answer.clone(), answer]);
    scene.crash(leader);
    scene.run_while("an election", |scene| scene.cluster.leader().is_none());
    scene.restart(leader);
    scene.settle();
    let after = newest(&scene, follower);
    assert_eq!((after.appointed, after.voters, after.removed), (None, before.voters, before.removed));
    scene.finish();
}

#[test]
fn an_impossible_order_gets_a_sentence_and_changes_nothing() {
    let mut scene = Scene::new(3, 4);
    let leader = scene.leader();
    let before = newest(&scene, leader);
    scene.announcements.clear();
    let stranger = NodeId::new(7);
    let wishes = [
        (Command::Appoint(Vec::new()), "1 to 128 nodes can vote, not 0"),
        (Command::Appoint(NodeId::first(129).collect()), "1 to 128 nodes can vote, not 129"),
        (Command::Appoint(vec![leader, stranger]), "this node does not know it"),
        (Command::Remove(stranger), "it is not part of this cluster"),
        (Command::Lead(stranger), "it is not part of this cluster"),
    ];
    for (wish, word) in wishes {
        tell(&mut scene, leader, wish);
        let (_, answer) = scene.announcements.pop().expect("there is an answer at once");
        assert!(matches!(&answer, Notice::NotDone(why) if why.contains(word)), "{answer:?}");
    }
    scene.run(milliseconds(2_000));
    assert_eq!(newest(&scene, leader), before);
    assert_eq!(scene.announcements, []);
}

#[test]
fn a_removed_dead_node_cannot_return_with_its_old_disk() {
    for seed in 1..=6 {
        let mut scene = Scene::of(Design::new(5, recipe_of(DEFAULT), seed));
        let (leader, dead) = (scene.leader(), scene.follower(1));
        let disk = scene.cluster.nodes()[dead.index()].look().incarnation.disk;
        let five: Vec<NodeId> = NodeId::first(5).collect();
        if seed % 2 == 0 {
            tell(&mut scene, leader, Command::Appoint(five.clone()));
            scene.settle();
        }
        scene.crash(dead);
        scene.settle();
        assert!(
            newest(&scene, leader).voters.contains_key(&disk),
            "seed {seed}: it votes although it is dead"
        );
        scene.announcements.clear();
        tell(&mut scene, leader, Command::Remove(dead));
        scene.settle();
        assert_eq!(scene.announcements, [(leader, Notice::Removed(dead))], "seed {seed}");
        let four: BTreeSet<NodeId> = five.iter().copied().filter(|node| *node != dead).collect();
        let view = newest(&scene, leader);
        assert_eq!(voters(&scene, leader), Some(four.clone()), "seed {seed}");
        assert_eq!((view.removed, view.appointed), ([disk].into(), (seed % 2 == 0).then_some(four)));
        // It comes back, and is told that it cannot.
        scene.restart(dead);
        scene.run(milliseconds(6_000));
        assert_eq!(scene.announcements.last(), Some(&(dead, Notice::Expelled)), "seed {seed}");
        assert_eq!(scene.cluster.nodes()[dead.index()].look().standing, Standing::Joining, "seed {seed}");
        assert!(!newest(&scene, leader).members.contains_key(&dead), "seed {seed}");
        // With a new disk it is a new node.
        scene.crash(dead);
        scene.cluster.restart(dead, true);
        scene.settle();
        assert!(newest(&scene, leader).members.contains_key(&dead), "seed {seed}");
        scene.finish();
    }
}

#[test]
fn the_section_of_a_removed_live_node_is_taken_over() {
    let mut scene = Scene::new(3, 9);
    let (leader, gone, other) = (scene.leader(), scene.follower(0), scene.follower(1));
    let holder = scene.hold(gone, "x");
    let waiter = scene.lock(other, "x");
    tell(&mut scene, leader, Command::Remove(gone));
    let begun = scene.now();
    let granted = scene.wait_for(waiter);
    assert!(!scene.is_inside(holder) && granted - begun <= milliseconds(1_200), "{}", granted - begun);
    scene.run(milliseconds(3_000));
    let two = NodeId::first(3).filter(|node| *node != gone).collect();
    assert_eq!(voters(&scene, leader), Some(two));
    assert_eq!(scene.cluster.nodes()[gone.index()].look().standing, Standing::Joining);
    scene.finish();
}

#[test]
fn leadership_goes_around_and_no_lock_is_lost() {
    for seed in 1..=6 {
        let mut scene = Scene::new(5, seed);
        let inside = scene.hold_one_each();
        let views = scene.view_number();
        for next in NodeId::first(5) {
            let leader = scene.leader();
            scene.announcements.clear();
            tell(&mut scene, leader, Command::Lead(next));
            let took = scene.run_while("a hand-over", |scene| scene.cluster.leader() != Some(next));
            assert!(took < milliseconds(100), "seed {seed}: {took}");
            scene.run(milliseconds(50));
            assert_eq!(scene.announcements, [(leader, Notice::Leads(next))], "seed {seed}");
        }
        scene.run(milliseconds(3_000));
        assert!(inside.values().all(|request| scene.is_inside(*request)), "seed {seed}");
        assert_eq!(scene.view_number(), views, "seed {seed}: nobody was left out");
        scene.finish();
    }
}

#[test]
fn a_leader_stays_if_its_successor_is_paused() {
    let mut scene = Scene::new(3, 5);
    let (leader, next) = (scene.leader(), scene.follower(0));
    let term = scene.cluster.nodes()[leader.index()].look().term;
    scene.cluster.pause(next);
    scene.announcements.clear();
    tell(&mut scene, leader, Command::Lead(next));
    scene.run(milliseconds(620));
    assert_eq!(scene.announcements, [(leader, Notice::NotHandedOver { to: next })]);
    scene.cluster.resume(next);
    scene.settle();
    // The word that it finds when it goes on is late: the leader has gone on without it, in another view.
    assert_eq!(scene.leader(), leader);
    assert_eq!(scene.cluster.nodes()[next.index()].look().term, term);
    scene.finish();
}

#[test]
fn a_leader_is_removed_by_its_successor() {
    for seed in 1..=6 {
        let mut scene = Scene::new(5, seed);
        let gone = scene.leader();
        scene.announcements.clear();
        tell(&mut scene, gone, Command::Remove(gone));
        scene.run_while("a hand-over", |scene| scene.cluster.leader().is_none_or(|leader| leader == gone));
        let next = scene.leader();
        scene.run(milliseconds(50));
        assert_eq!(scene.announcements, [(gone, Notice::NotLeader { leader: Some(next) })], "seed {seed}");
        tell(&mut scene, next, Command::Remove(gone));
        scene.run(milliseconds(3_000));
        assert!(scene.announcements.contains(&(next, Notice::Removed(gone))), "seed {seed}");
        assert!(scene.announcements.contains(&(gone, Notice::Expelled)), "seed {seed}");
        let four = NodeId::first(5).filter(|node| *node != gone).collect();
        assert_eq!(voters(&scene, next), Some(four), "seed {seed}");
        assert_eq!(scene.leader(), next, "seed {seed}");
        scene.finish();
    }
}

#[test]
fn a_removed_node_that_stands_for_election_changes_no_term() {
    for seed in 1..=6 {
        let mut scene = Scene::new(3, seed);
        let (leader, gone) = (scene.leader(), scene.follower(1));
        let life = scene.cluster.nodes()[gone.index()].look().incarnation;
        let (disk, state) = (life.disk, life.start());
        tell(&mut scene, leader, Command::Remove(gone));
        scene.run(milliseconds(2_000));
        let term = scene.cluster.nodes()[leader.index()].look().term;
        for round in 1..=20 {
            // It lives on, as the daemon of an older version or of an enemy would, and asks for votes again and again.
            for at in NodeId::first(3).filter(|node| *node != gone) {
                let last = Position { index: 1_000, term };
                let (term, body) = (term + round, Body::AskVote { last });
                let ballot = Ballot { from: disk, state, epoch: None, term, body };
                scene.cluster.forge(gone, at, Msg::Ballot(ballot));
            }
            scene.run(milliseconds(200));
        }
        let looks = NodeId::first(3).filter(|node| *node != gone).map(|node| {
            let look = scene.cluster.nodes()[node.index()].look();
            (look.term, look.leader)
        });
        assert_eq!(looks.collect::<Vec<_>>(), [(term, Some(leader)); 2], "seed {seed}");
        scene.finish();
    }
}
