//! A node whose disk was set back to an earlier copy takes no part, says so, and can come back with a new disk.

use doorway_core::NodeId;
use doorway_node::node::Standing;
use doorway_node::timing::milliseconds;
use doorway_node::{Command, Notice, Reason, Stranger};

use crate::scene::Scene;

/// A cluster whose node 1 starts again with the disk that it had before the others last heard of it.
fn with_a_disk_set_back(nodes: usize, seed: u64) -> Scene {
    let node = NodeId::new(1);
    let mut scene = Scene::new(nodes, seed);
    scene.crash(node);
    let copy = scene.cluster.disk(node).to_vec();
    scene.restart(node);
    scene.settle();
    scene.crash(node);
    scene.announcements.clear();
    scene.cluster.tamper(node, copy);
    scene.restart(node);
    scene.run(milliseconds(2_000));
    scene
}

#[test]
fn a_set_back_disk_is_refused_until_its_node_gets_a_new_one() {
    let node = NodeId::new(1);
    for seed in 1..=10 {
        let mut scene = with_a_disk_set_back(3, seed);
        assert_eq!(standing(&scene, node), Standing::SetBack, "seed {seed}");
        let is_set_back = |(_, notice): &&(NodeId, Notice)| matches!(notice, Notice::SetBack { .. });
        let told: Vec<NodeId> =
            scene.announcements.iter().filter(is_set_back).map(|(teller, _)| *teller).collect();
        assert_eq!(told, [node], "seed {seed}: it says so once");
        let stranger = Notice::Stranger { node, why: Stranger::SetBack };
        let peers = [0, 2].map(NodeId::new);
        assert!(peers.into_iter().any(|peer| scene.announcements.contains(&(peer, stranger.clone()))));
        let refused = scene.lock(node, "x");
        assert_eq!(scene.story(refused).refused.map(|(_, why)| why), Some(Reason::SetBack), "seed {seed}");
        // Starting again does not help, however often.
        for _ in 0..3 {
            scene.crash(node);
            scene.restart(node);
            scene.run(milliseconds(500));
            assert_eq!(standing(&scene, node), Standing::SetBack);
        }
        scene.crash(node);
        scene.cluster.restart(node, true);
        scene.settle();
        let holder = scene.hold(node, "x");
        scene.release(holder);
        scene.finish();
    }
}

fn standing(scene: &Scene, node: NodeId) -> Standing {
    scene.cluster.nodes()[node.index()].look().standing
}

/// The others start again and keep no more than their logs.
fn restart_others(scene: &mut Scene, node: NodeId) {
    let others = NodeId::first(3).filter(|other| *other != node);
    let others: Vec<NodeId> = others.collect();
    others.iter().for_each(|other| scene.crash(*other));
    others.iter().for_each(|other| scene.restart(*other));
}

#[test]
fn the_logs_of_peers_tell_that_a_disk_was_set_back() {
    let node = NodeId::new(1);
    for seed in 1..=5 {
        let mut scene = Scene::new(3, seed);
        scene.crash(node);
        let copy = scene.cluster.disk(node).to_vec();
        scene.restart(node);
        // A view has its next start.
        scene.settle();
        scene.crash(node);
        scene.cluster.tamper(node, copy);
        restart_others(&mut scene, node);
        scene.restart(node);
        scene.run(milliseconds(4_000));
        assert_eq!(standing(&scene, node), Standing::SetBack, "seed {seed}");
        scene.crash(node);
        scene.settle();
        scene.finish();
    }
}

/// Node 0 alone knows that the disk of node 1 was set back, and meets the leader before it meets node 1: the leader replaces the views that say so.
/// The documented limit of R28 let it come to this, so the judge finds violations here; the point is that node 1 is found out.
#[test]
fn a_leader_that_replaces_the_log_does_not_hide_a_set_back_disk() {
    let [knowing, set_back, leading] = [0, 1, 2].map(NodeId::new);
    let mut replaced = 0;
    for seed in 1..=10 {
        let mut scene = Scene::new(3, seed);
        scene.crash(leading);
        scene.settle();
        scene.crash(set_back);
        let copy = scene.cluster.disk(set_back).to_vec();
        scene.restart(set_back);
        scene.settle();
        [knowing, set_back].into_iter().for_each(|node| scene.crash(node));
        scene.cluster.tamper(set_back, copy);
        [set_back, leading].into_iter().for_each(|node| scene.restart(node));
        scene.settle();
        if scene.leader() != leading {
            scene.cluster.command(scene.leader(), Command::Lead(leading));
            scene.settle();
        }
        assert_eq!(scene.leader(), leading, "seed {seed}");
        scene.cut(knowing, set_back);
        scene.restart(knowing);
        scene.run(milliseconds(3_000));
        let newest = |node: NodeId| scene.cluster.nodes()[node.index()].look().newest.cloned();
        replaced += usize::from(newest(knowing) == newest(leading));
        scene.cluster.heal_network();
        scene.run(milliseconds(2_000));
        assert_eq!(standing(&scene, set_back), Standing::SetBack, "seed {seed}");
    }
    assert!(replaced > 0, "no leader replaced the views that tell it");
}

#[test]
fn a_node_stays_set_back_when_its_peers_have_forgotten_why() {
    let node = NodeId::new(1);
    for seed in 1..=5 {
        let mut scene = Scene::new(3, seed);
        // A copy made in the middle of a start: of what it lacks no log tells, only the memory of the peers.
        let copy = scene.cluster.disk(node).to_vec();
        scene.crash(NodeId::new(2));
        scene.settle();
        scene.restart(NodeId::new(2));
        scene.settle();
        scene.crash(node);
        scene.cluster.tamper(node, copy);
        scene.restart(node);
        scene.run(milliseconds(2_000));
        assert_eq!(standing(&scene, node), Standing::SetBack, "seed {seed}");
        scene.crash(node);
        restart_others(&mut scene, node);
        scene.restart(node);
        scene.run(milliseconds(4_000));
        assert_eq!(standing(&scene, node), Standing::SetBack, "seed {seed}: the mark is on its disk");
        scene.crash(node);
        scene.settle();
        scene.finish();
    }
}

#[test]
fn a_set_back_node_and_its_peers_stop_answering_each_other() {
    for seed in 1..=3 {
        let mut scene = with_a_disk_set_back(3, seed);
        scene.cluster.engine().restart_traffic();
        scene.run(milliseconds(2_000));
        // Clocks drift by up to one percent, so each of the two peers has 9 to 11 heartbeats in this time.
        let greetings = greetings(&mut scene);
        assert!((2 * 9..=4 * 11).contains(&greetings), "seed {seed}: {greetings} greetings");
    }
}

fn greetings(scene: &mut Scene) -> u64 {
    let traffic = scene.cluster.engine().traffic();
    traffic.kinds().filter(|(kind, _)| kind.eq_ignore_ascii_case("greeting")).map(|(_, count)| count).sum()
}

#[test]
fn a_set_back_node_stops_at_once_on_request() {
    let node = NodeId::new(1);
    let mut scene = with_a_disk_set_back(3, 1);
    scene.announcements.clear();
    scene.cluster.command(node, Command::Leave { patience: milliseconds(60_000) });
    scene.run(milliseconds(1));
    assert!(scene.announcements.contains(&(node, Notice::Left)), "{:?}", scene.announcements);
}

#[test]
fn a_node_does_not_start_from_the_disk_of_another() {
    let [one, other] = [0, 1].map(NodeId::new);
    let mut scene = Scene::new(3, 1);
    [one, other].into_iter().for_each(|node| scene.crash(node));
    let disk = scene.cluster.disk(one).to_vec();
    scene.cluster.tamper(other, disk);
    let refusal = scene.cluster.try_restart(other).expect_err("it is of another node").to_string();
    assert!(refusal.contains("belongs to another node"), "{refusal}");
}
